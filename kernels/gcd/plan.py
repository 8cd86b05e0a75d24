"""How GCDs and residues are cut up on a device: pure functions of sizes.

Words have 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernels.bignum.cuda.layouts import SLAB
from kernels.targets.cuda.device import DeviceInfo

# --- GCDs (cuda/gcd.cu) -------------------------------------------------------------------

CLASSES = (2, 4, 8, 12, 16, 24, 32)  # words for which the registers suffice
THREADS = 256  # of a block, at most
SHARED = 48 << 10  # bytes that a block has without asking for more
ROOM = 28 << 10  # of them, if a team of FEW threads is enough: more warps fit then
FEW = 4
MAX_TEAM = 32  # threads that have a pair together
CHUNK = 4  # limbs in memory are read so many at a time
LIMB = 4 * 2 * SLAB  # bytes of a limb of two numbers for each thread of a warp
WARPS = 8  # of a multiprocessor, where the numbers are in global memory


@dataclass(frozen=True, slots=True)
class GcdLaunch:
    """A launch for numbers of one width."""

    defines: dict[str, int | str]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    limbs: int = 0  # of a number in memory; 0 where it is in registers
    shared: int = 0  # bytes
    scratch: int = 0  # bytes of global memory


def gcd_launch(words: int, count: int, info: DeviceInfo) -> GcdLaunch:
    """Return where the numbers lie: in registers, else shared memory, else global memory."""
    if not words or not count:
        raise ValueError("nothing to compute")
    slabs = -(-count // SLAB)
    for width in CLASSES:
        if words <= width:
            threads = THREADS
            while threads > SLAB and -(-slabs * SLAB // threads) < 2 * info.multiprocessors:
                threads //= 2
            return GcdLaunch({"WORDS": width}, (-(-slabs * SLAB // threads), 1, 1), (threads, 1, 1))
    team, part = 1, _limbs(words, 1)
    while part * LIMB > (ROOM if team < FEW else SHARED) and team < MAX_TEAM:
        team *= 2
        part = _limbs(words, team)
    room = LIMB * part
    defines: dict[str, int | str] = {"CHUNK": CHUNK, "TEAM": team}
    warps, limbs, block = slabs * team, part * team, (SLAB, 1, 1)
    if room <= SHARED:
        return GcdLaunch(defines, (warps, 1, 1), block, limbs, shared=room)
    warps = min(warps, WARPS * info.multiprocessors)
    return GcdLaunch({**defines, "SCRATCH": 1}, (warps, 1, 1), block, limbs, scratch=warps * room)


def _limbs(words: int, team: int) -> int:
    """Return the limbs of a thread of a team that has a pair: one above a multiple of CHUNK."""
    limbs = -(-32 * words // 31)
    return max(1, -(-(limbs - team) // (CHUNK * team))) * CHUNK + 1


# --- residues of products (cuda/pairs.cu) -------------------------------------------------

RESIDUE_THREADS = 128  # of a block
PRODUCT_THREADS = 128  # of a block with one product of short numbers
THREAD_LIMBS = 37  # that registers have room for, beside 64-bit sums of as many


@dataclass(frozen=True, slots=True)
class ResidueShape:
    """The way in which a number is cut for the residues (see pairs.cu)."""

    bits: int  # of a limb
    limbs: int  # of a thread
    team: int  # threads

    @property
    def numbers(self) -> int:
        """Return how many numbers a block has."""
        return RESIDUE_THREADS // self.team

    @property
    def rows(self) -> int:
        """Return the limbs of a number."""
        return self.limbs * self.team

    @property
    def product_threads(self) -> int:
        """Return the threads of a block that makes a product."""
        return PRODUCT_THREADS * min(8, -(-self.rows // THREAD_LIMBS))

    @property
    def shared(self) -> int:
        """Return the bytes for a block: a product, then the block's residues."""
        return 4 * self.rows * max(SLAB, self.numbers)

    @property
    def defines(self) -> dict[str, int | str]:
        """Return the macros that kernels of this shape are compiled with."""
        return {
            "BITS": self.bits,
            "LIMBS": self.limbs,
            "TEAM": self.team,
            "THREADS": RESIDUE_THREADS,
        }


def residue_shape(bits: int) -> ResidueShape | None:
    """Return the shape for numbers of at most that many bits; None where they are too long."""
    for limb in (28, 26):
        limbs = max(1, -(-bits // limb))
        team = 1
        while limbs > THREAD_LIMBS * team:
            team *= 2
        shape = ResidueShape(limb, max(2, -(-limbs // team)), team)
        fits = team <= MAX_TEAM and shape.rows < 1 << (63 - 2 * limb)
        if fits and shape.shared <= SHARED:
            return shape
    return None
