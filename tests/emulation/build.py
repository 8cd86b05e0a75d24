"""Compiles a .cu file against cuda_emulation.hpp, or takes it from the cache.

What runs kernels (engine.cpp) is most of the work of the compiler, and the same for all: it is
compiled once, and linked into each.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What is undefined on the device too, or what C++ forbids and a device happens
# to allow; engine.cpp has the handlers.
CHECKS = (
    "alignment,null,bounds,bool,shift,integer-divide-by-zero,signed-integer-overflow,"
    "unreachable,return"
)
FLAGS = (
    "-std=c++17",
    "-g1",
    "-fPIC",
    "-fno-strict-aliasing",
    # Equally named templates of two modules must not become one.
    "-fno-gnu-unique",
    "-fno-omit-frame-pointer",
    f"-fsanitize={CHECKS}",
)
# What __global__ expands to, before the name of a kernel.
KERNEL = re.compile(
    r'extern\s+"C"\s+__attribute__\(\(noinline, noclone, used\)\)\s+void\s+(\w+)\s*\('
)


@functools.cache
def compiler() -> str:
    """The command of a GNU C++ compiler. Raises RuntimeError where there is none."""
    command = os.environ.get("CXX", "g++")
    if shutil.which(command) is None:
        raise RuntimeError(f"emulation needs a C++ compiler; there is no {command}")
    return command


@functools.cache
def _version() -> str:
    return _run([compiler(), "-dumpfullversion", "-dumpversion"]).strip()


def _flags(sanitize: bool) -> list[str]:
    flags = list(FLAGS)
    if int(_version().split(".")[0]) >= 12:
        flags.append("-ftrivial-auto-var-init=pattern")  # no zeros by luck
    if sanitize:
        flags += ["-fsanitize=address", "-fsanitize-recover=address"]
        flags.append("-fsanitize-sections=emulated_shared")
    return flags


def build(source: Path, defines: Mapping[str, int | str], *, sanitize: bool) -> Path:
    """The shared library. Raises RuntimeError with the compiler's words.

    A process looks at a source and its headers once: even to see that they are the same takes the
    compiler.
    """
    macros = tuple(f"-D{name}={value}" for name, value in sorted(defines.items()))
    return _built(source, macros, sanitize, cache())


@functools.cache
def _built(source: Path, macros: tuple[str, ...], sanitize: bool, folder: Path) -> Path:
    """The shared library, in the cache; the folder tells caches apart."""
    has_own_engine = any(macro.startswith("-DEMULATION_UCONTEXT=") for macro in macros)
    engine = _engine(macros if has_own_engine else (), sanitize, folder)
    flags = [*_flags(sanitize), "-Og"]
    header = ("-include", str(HERE / "cuda_emulation.hpp"))
    text = _run([compiler(), *flags, *macros, "-E", "-x", "c++", *header, str(source.resolve())])
    text += "\n" + "".join(_signature(name) for name in KERNEL.findall(text))
    # Only the address sanitizer has a runtime library.
    link = ["-shared", "-Wl,-Bsymbolic,-z,now"] + ["-fsanitize=address"] * sanitize
    return _cached(source.stem, text, flags, link, engine)


@functools.cache
def _engine(macros: Sequence[str], sanitize: bool, folder: Path) -> Path:
    """The object of engine.cpp, in the cache; the folder tells caches apart."""
    flags = [*_flags(sanitize), "-O2", "-fvisibility=hidden"]
    text = _run([compiler(), *flags, *macros, "-E", "-x", "c++", str(HERE / "engine.cpp")])
    return _cached("engine", text, flags)


def _cached(
    name: str,
    text: str,
    flags: Sequence[str],
    link: Sequence[str] = (),
    engine: Path | None = None,
) -> Path:
    """An object, or with an engine a library, of a preprocessed text.

    A preprocessed text has in it all it depends on: headers, macros.
    """
    parts = (compiler(), _version(), *flags, *link, engine.name if engine else "", text)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    path = cache() / f"{name}-{digest}.{'so' if engine else 'o'}"
    if path.exists():
        return path
    # In a folder of its own and moved into place whole: others may build the same.
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        unit, compiled, linked = (Path(folder) / f"{name}.{s}" for s in ("ii", "o", "so"))
        unit.write_text(text)
        quiet = ("-Wno-unknown-pragmas", "-Wno-attributes")
        unit_to_object = ("-x", "c++-cpp-output", "-c", str(unit), "-o", str(compiled))
        _run([compiler(), *flags, *quiet, *unit_to_object])
        if engine:
            _run([compiler(), str(compiled), str(engine), *link, "-o", str(linked)])
        os.replace(linked if engine else compiled, path)
    return path


def _signature(kernel: str) -> str:
    return (
        f'extern "C" const char* emulation_signature_{kernel}()'
        f" {{ return ::emulation::Signature<decltype({kernel})>::text; }}\n"
    )


def cache() -> Path:
    folder = os.environ.get("EMULATION_CACHE")
    path = Path(folder or Path(tempfile.gettempdir()) / f"cuda-emulation-{os.getuid()}")
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise RuntimeError(f"{path} belongs to someone else; set EMULATION_CACHE")
    return path


def _run(command: Sequence[str]) -> str:
    # The sanitizer is for the kernels, not for the compiler.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    environment["LC_ALL"] = "C"
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout
