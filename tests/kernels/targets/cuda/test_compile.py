"""The compilers of device code: both of them, the cache, and what is said when none works."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from kernels.gcd.cuda.pairs import ResidueShape
from kernels.life.cuda.engine import SOURCE
from kernels.life.plan import choose_cuda
from kernels.life.rules import LifeRule
from kernels.sums import SOURCE as SUMS
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda import compile as compiler

KERNELS = Path(compiler.__file__).parents[2]
# Macros without a default.
NEEDED = {
    "gcd/gcd": {"WORDS": 2},
    "gcd/pairs": ResidueShape(28, 2, 1).defines,
    "life/life": choose_cuda(16384, 4096, True, 132).defines(LifeRule(8, 12), True),
    "bignum/pool": {"KINDS": 15},
    "bignum/powmod": {"PART_WORDS": 8},
    "rational/rational": {"WORDS": 4},
    "transformations/rows": {"ITEM": 2},
}
SOURCES = {f"{path.parents[1].name}/{path.stem}": path for path in KERNELS.rglob("*.cu")}

nvrtc = pytest.mark.skipif(compiler._nvrtc() is None, reason="NVRTC is not installed")
nvcc = pytest.mark.skipif(compiler._nvcc() is None, reason="nvcc is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bulkbits" / "kernels"


@pytest.mark.sample(1)
@nvrtc
@pytest.mark.parametrize(
    ("width", "torus", "rule", "capability"),
    [(16384, True, (8, 12), (9, 0)), (65535, False, (73, 12), (7, 5))],
)
def test_nvrtc_compiles_life(
    width: int, torus: bool, rule: tuple[int, int], capability: tuple[int, int]
) -> None:
    plan = choose_cuda(width, 4096, torus, 132)
    code = compiler.cubin(SOURCE, plan.defines(LifeRule(*rule), torus), capability)
    assert code.startswith(b"\x7fELF")


@nvrtc
@pytest.mark.sample(1)
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)], ids=str)
@pytest.mark.parametrize("name", sorted(SOURCES))
def test_nvrtc_compiles_every_kernel(name: str, capability: tuple[int, int]) -> None:
    """NVRTC alone does: no kernel includes a header of the CUDA toolkit."""
    code = compiler.cubin(SOURCES[name], NEEDED.get(name, {}), capability)
    assert code.startswith(b"\x7fELF")


class FakeNvrtc:
    """NVRTC of some version."""

    def __init__(self, major: int, minor: int) -> None:
        self.version = (major, minor)

    def nvrtcVersion(self, major: ctypes.c_int, minor: ctypes.c_int) -> int:
        for where, number in zip((major, minor), self.version, strict=True):
            ctypes.cast(where, ctypes.POINTER(ctypes.c_int))[0] = number
        return 0


@pytest.mark.parametrize(
    ("newest", "taken"),
    [((13, 0), "NVRTC 13.5"), ((14, 1), "NVRTC 13.5"), ((12, 2), "NVRTC 12.9"), ((11, 8), "")],
    ids=str,
)
def test_a_compiler_newer_than_the_driver_is_passed_over(
    newest: tuple[int, int], taken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"13": FakeNvrtc(13, 5), "12": FakeNvrtc(12, 9)}
    monkeypatch.setattr(compiler, "_names_of_nvrtc", lambda: ["none", *there])
    monkeypatch.setattr(compiler, "_loaded", there.get)
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)
    compiler._nvrtc.cache_clear()
    try:
        assert compiler.found(newest) == taken
        if not taken:
            expected = "^NVRTC 13.5 makes code that a driver of CUDA 11.8 does not run: pip install"
            with pytest.raises(compiler.CompileError, match=expected):
                compiler.cubin(SUMS, {"K": 3}, (9, 0), newest)
    finally:
        compiler._nvrtc.cache_clear()


@nvcc
def test_nvcc_takes_over_where_nvrtc_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_nvrtc", lambda *newest: None)
    assert compiler.found().startswith("nvcc 1")
    assert compiler.cubin(SUMS, {"K": 3}, (9, 0)).startswith(b"\x7fELF")


@nvrtc
def test_what_is_compiled_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiler.cubin(SUMS, {"K": 3}, (9, 0))
    assert len(list(cache.iterdir())) == 1

    def refuse(*_: object) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr(compiler, "_by_nvrtc", refuse)
    assert compiler.cubin(SUMS, {"K": 3}, (9, 0)) == first
    with pytest.raises(AssertionError, match="compiled again"):
        compiler.cubin(SUMS, {"K": 4}, (9, 0))
    with pytest.raises(AssertionError, match="compiled again"):
        compiler.cubin(SUMS, {"K": 3}, (8, 0))


@nvrtc
def test_a_changed_header_is_compiled_again(cache: Path, tmp_path: Path) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir(), far.mkdir()
    source, deepest = near / "kernel.cu", far / "b.hpp"
    source.write_text('#include "../far/a.hpp"\nextern "C" __global__ void f(int* p) { *p = B; }\n')
    (far / "a.hpp").write_text('#include "b.hpp"\n')
    deepest.write_text("#define B 1\n")
    first = compiler.cubin(source, {}, (9, 0))
    deepest.write_text("#define B 2\n")
    assert compiler.cubin(source, {}, (9, 0)) != first
    assert len(list(cache.iterdir())) == 2


@nvrtc
def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert compiler.cubin(SUMS, {"K": 3}, (9, 0)).startswith(b"\x7fELF")


@nvrtc
def test_an_error_names_its_place(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text('extern "C" __global__ void f(int* p) {\n    *p = nothing;\n}\n')
    with pytest.raises(compiler.CompileError, match=r"wrong\.cu\(2\): error.*nothing") as failure:
        compiler.cubin(source, {}, (9, 0))
    assert "\n" not in str(failure.value)
    assert isinstance(failure.value, BackendUnavailableError)


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_nvrtc", lambda *newest: None)
    monkeypatch.setattr(compiler, "_nvcc", lambda *newest: None)
    assert compiler.found() == ""
    with pytest.raises(compiler.CompileError, match="no CUDA compiler"):
        compiler.cubin(SUMS, {"K": 3}, (9, 0))
