"""Machine code for CUDA devices from .cu files: by NVRTC where it loads, else by nvcc.

NVRTC needs no host compiler and is quicker. What was compiled is kept in a cache on
disk, under the digest of everything that went into it.

A driver runs what compilers of its own CUDA's major version, or of an older one, have made. So
functions here take the newest CUDA that the driver runs, as (12, 8); without it any compiler
will do.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from kernels.draft import Draft
from kernels.targets.contract import BackendUnavailableError

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
HOW_TO_GET = "no CUDA compiler: pip install 'bulkbits[gpu]', or put nvcc on the PATH"
ANY = (1 << 30, 0)  # a driver that runs whatever a compiler makes


class CompileError(BackendUnavailableError):
    """The compiler refused; the message is its first error, `log` all that it printed."""

    def __init__(self, log: str) -> None:
        lines = log.strip().splitlines() or ["the device compiler failed without a word"]
        super().__init__(next((line for line in lines if "error" in line), lines[0]))
        self.log = log


def found(newest: tuple[int, int] = ANY) -> str:
    """Return the name and version of the compiler that will be used; '' if there is none."""
    if library := _nvrtc(newest):
        return "NVRTC {}.{}".format(*_version(library))
    if nvcc := _nvcc(newest):
        return f"nvcc {_nvcc_version(nvcc)}"
    return ""


def why_none(newest: tuple[int, int] = ANY) -> str:
    """Return what to do where found() finds nothing."""
    if newer := found():
        driver = "{}.{}".format(*newest)
        return (
            f"{newer} makes code that a driver of CUDA {driver} does not run: "
            f"pip install nvidia-cuda-nvrtc-cu{newest[0]}, or update the driver"
        )
    return HOW_TO_GET


def cubin(
    source: Path,
    defines: Mapping[str, int | str],
    capability: tuple[int, int],
    newest: tuple[int, int] = ANY,
) -> bytes:
    """Return machine code of a .cu file for a compute capability, from the cache or fresh.

    Raises CompileError.
    """
    arch = f"sm_{capability[0]}{capability[1]}"
    options = [f"-D{name}={value}" for name, value in sorted(defines.items())]
    key = hashlib.blake2b(digest_size=16)
    for text in (found(newest), arch, *options, source.name):
        key.update(text.encode() + b"\0")
    for path in sorted(_with_headers(source)):
        key.update(path.name.encode() + b"\0" + path.read_bytes())
    cached = cache_folder() / f"{source.stem}-{key.hexdigest()}.cubin"
    try:
        return cached.read_bytes()
    except OSError:
        pass
    if library := _nvrtc(newest):
        code = _by_nvrtc(library, source, arch, options)
    elif nvcc := _nvcc(newest):
        code = _by_nvcc(nvcc, source, arch, options)
    else:
        raise CompileError(why_none(newest))
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with Draft(cached) as out:
            out.append(code)
    except OSError:
        pass  # a cache that cannot be written only costs time
    return code


def _with_headers(source: Path) -> set[Path]:
    """The file and all that it includes by a quoted name, directly or not."""
    found: set[Path] = set()
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in found and path.is_file():
            found.add(path)
            names = _INCLUDE.findall(path.read_text(encoding="utf-8"))
            waiting += [(path.parent / name).resolve() for name in names]
    return found


def cache_folder() -> Path:
    """Return the folder of compiled kernels, of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bulkbits" / "kernels"


@lru_cache(maxsize=4)
def _nvrtc(newest: tuple[int, int] = ANY) -> ctypes.CDLL | None:
    for name in _names_of_nvrtc():
        library = _loaded(name)
        if library is not None and _version(library)[0] <= newest[0]:
            return library
    return None


def _names_of_nvrtc() -> list[str]:
    """Return where NVRTC may be: in a wheel, where the system looks, in a CUDA toolkit."""
    wheels = [
        name
        for folder in sys.path
        for name in glob.glob(f"{folder}/nvidia/*/lib/libnvrtc.so.[1-9]*")
    ]
    # Several may be installed: libnvrtc.so.13 before libnvrtc.so.12.
    names = sorted(wheels, key=lambda name: int(name.rpartition(".")[2]), reverse=True)
    names += ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda*"):
        if home:
            names += sorted(glob.glob(f"{home}/lib*/libnvrtc.so"), reverse=True)
    return names


@lru_cache(maxsize=64)
def _loaded(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def _version(library: ctypes.CDLL) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def _by_nvrtc(library: ctypes.CDLL, source: Path, arch: str, options: list[str]) -> bytes:
    program = ctypes.c_void_p()
    _check(
        library,
        library.nvrtcCreateProgram(
            ctypes.byref(program), source.read_bytes(), str(source).encode(), 0, None, None
        ),
    )
    try:
        flags = [f"--gpu-architecture={arch}", "--std=c++17", "-default-device"]
        flags += [f"-I{source.parent}", *options]
        array = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        failed = library.nvrtcCompileProgram(program, len(flags), array)
        if failed:
            size = ctypes.c_size_t()
            _check(library, library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
            log = ctypes.create_string_buffer(size.value)
            _check(library, library.nvrtcGetProgramLog(program, log))
            raise CompileError(log.value.decode(errors="replace"))
        size = ctypes.c_size_t()
        _check(library, library.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        code = ctypes.create_string_buffer(size.value)
        _check(library, library.nvrtcGetCUBIN(program, code))
        return code.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise CompileError(library.nvrtcGetErrorString(status).decode())


def _nvcc(newest: tuple[int, int] = ANY) -> str | None:
    for name in ("nvcc", "/usr/local/cuda/bin/nvcc"):
        if (path := shutil.which(name)) and newest == ANY:
            return path
        if path and int(_nvcc_version(path).split(".")[0] or 0) <= newest[0]:
            return path
    return None


@lru_cache(maxsize=4)
def _nvcc_version(nvcc: str) -> str:
    text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    return next((word[1:] for word in text.replace(",", " ").split() if word[:2] == "V1"), "0")


def _by_nvcc(nvcc: str, source: Path, arch: str, options: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernel.cubin"
        # It takes a comma for the end of a macro, unless a backslash stands before it.
        macros = [option.replace(",", "\\,") for option in options]
        command = [nvcc, "-cubin", f"-arch={arch}", "-std=c++17", *macros, "-o", str(out)]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise CompileError(done.stderr.strip())
        return out.read_bytes()
