"""What plans suppose of a machine, measured anew and printed as the source has it.

    python -m benchmarks.costs [life] [parsing] [numbers] [disk] [gpu] [--folder DIR] [--seconds S]

Each `costs.py` beside a plan holds what was measured on one machine: seconds, ratios, and sizes
from which on one way is quicker. This prints such an instance for the machine that it runs on, with
the source's values beside; paste it there. Fields that this cannot measure (several GPUs, a
cluster) stay as they are, and say so; costs with no other fields are named in the end. Without a
CUDA device the GPU's are left out. A machine that nobody else uses gives better figures; --folder
is on the disk that universes will lie on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.costs import disk, gpu, life, numbers, parsing
from benchmarks.costs.fit import Found
from benchmarks.costs.place import Place
from benchmarks.costs.show import source_of
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target

MODELS: dict[str, Callable[[Place], Iterator[Found]]] = {
    "life": life.measure,
    "parsing": parsing.measure,
    "numbers": numbers.measure,
    "disk": disk.measure,
    "gpu": gpu.measure,
}


# Of several GPUs, and how long Ctrl-C may wait.
NOT_MEASURED = (
    "PLOT_COSTS",
    "STRIP_COSTS",
    "PART_COSTS",
    "WEIGHTED_PART_COSTS",
    "BATCH_COSTS",
    "AGEING_COSTS",
    "SETTLING_COSTS",
    "DEVICE_SETTLING_COSTS",
    "FOLD_COSTS",
)


def device() -> Target | None:
    """Return the CUDA device; None, and why on standard error, where there is none."""
    try:
        return pick("cuda")
    except BackendUnavailableError as error:
        print(f"no CUDA device: {error}", file=sys.stderr)
        return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the costs of the models that are named, or of all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.costs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)} [all]")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--seconds", type=float, default=0.05, help="for each piece of work [0.05]")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, to try the code: figures mean nothing"
    )
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.models) - set(MODELS):
        parser.error(f"there is no model {min(unknown)!r}: {', '.join(MODELS)}")
    if not chosen.folder.is_dir():
        parser.error(f"{chosen.folder} is no folder")
    place = Place(device(), chosen.folder, chosen.seconds)
    if chosen.quick:
        place = Place(place.gpu, chosen.folder, min(chosen.seconds, 1e-3), 1, 16)
    print(f"# {pick('auto').describe()}")
    for name in chosen.models or MODELS:
        for found in MODELS[name](place):
            print(f"\n{source_of(found)}", flush=True)
    print(f"\n# not measured by any model: {', '.join(NOT_MEASURED)}")
