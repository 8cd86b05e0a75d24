from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

compiler: str

def levels() -> list[str]: ...
def vector_bits(level: str) -> int: ...
def life_pass(
    level: str,
    src: npt.NDArray[np.uint64],
    dst: npt.NDArray[np.uint64],
    width: int,
    torus: bool,
    birth: int,
    survival: int,
    steps: int,
    panels: int,
    useful: int,
    columns: int,
    halo: int,
    band_rows: int,
    block_rows: int,
    threads: int,
    stopped: Callable[[], bool] | None = None,
) -> bool: ...
def cells_fill_soup(
    level: str, words: npt.NDArray[np.uint64], y0: int, w0: int, digits: int, key: int
) -> None: ...
def cells_survey(
    level: str,
    words: npt.NDArray[np.uint64],
    y0: int,
    w0: int,
    counts: npt.NDArray[np.uint8] | None,
) -> tuple[int, int, int]: ...
def cells_densities(
    level: str,
    words: npt.NDArray[np.uint64],
    first: int,
    scale: int,
    levels: npt.NDArray[np.uint8],
) -> None: ...
def __getattr__(name: str) -> Any: ...
