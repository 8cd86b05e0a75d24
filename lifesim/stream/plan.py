"""Choose how long a phase is, and what a block: by a model of times, in pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from kernels.life.contract import ChainShape, LifeShape
from lifesim.errors import LifesimError
from lifesim.grid import bytes_of, human_bytes
from lifesim.store.tilefile import TileFormat, datasets
from lifesim.store.tiling import Tiling
from lifesim.store.universe import Universe
from lifesim.stream.costs import PHASE_COSTS, PhaseCosts
from lifesim.stream.phase import LEAST_CHAINED, PhaseShape

PERIOD = 60  # generations: what most of the things that are left in a settled universe divide
# What a block may take to compute: so long, or so many times as long as to read and write.
_BLOCK_SECONDS, _BLOCK_SHARE = 20.0, 10.0
_LITTLE = 1.03  # what a phase of whole periods may cost more
_LEAST_END = 256  # rows of blocks at the ends of a chain: twice the longest pass of any engine
_GROUPS_SHARE, _MOST_GROUPS = 0.02, 4  # what groups may cost of a phase

ArenaBytes = Callable[[Sequence[LifeShape], int, ChainShape | None], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Rates:
    """The speeds of a machine. cells: cell updates per second of one device; read, write: bytes per
    second."""

    cells: float
    read: float
    write: float


@dataclass(frozen=True, slots=True)
class LaneMachine:
    """The means that a lane has. host, device: bytes of memory that a lane may take; device None:
    the host's.

    arena_bytes: of an engine (LifeEngine.arena_bytes). devices: lanes that work at once,
    each with `workers` threads to read and as many to write. pass_rows: what a block costs
    beside its own rows in each pass, as rows. halo: rows that the first block of a chain computes
    beside its own, for each generation of the phase. reach: cells that news travels in a
    generation; engines have chains of rules that reach one. byte_cost: seconds of computing that a
    byte read or written costs, where the CPU does both.
    """

    host: int
    device: int | None
    arena_bytes: ArenaBytes
    devices: int = 1
    workers: int = 2
    pass_rows: int = PHASE_COSTS.host_rows
    halo: int = 2
    reach: int = 1
    byte_cost: float = 0.0


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """The length of a phase, and how it is cut up. seconds: what the rest of the run should take.
    groups: into how many tasks a lane's part of the phase is cut, where lanes are workers of a
    cluster."""

    generations: int
    shape: PhaseShape
    workers: int
    seconds: float
    groups: int = 1


@dataclass(frozen=True, slots=True)
class PhaseModel:
    """The facts that times and memory of a phase depend on, whatever its length and blocks."""

    tiling: Tiling
    form: TileFormat
    machine: LaneMachine
    rates: Rates
    costs: PhaseCosts = PHASE_COSTS


class BudgetError(LifesimError):
    """There is less memory than one window needs.

    needed, given: bytes. on_device: whether the memory of a device is too small, or the host's.
    """

    def __init__(
        self, message: str, needed: int = 0, given: int = 0, on_device: bool = False
    ) -> None:
        super().__init__(message)
        self.needed, self.given, self.on_device = needed, given, on_device


def next_phase(
    machine: LaneMachine,
    universe: Universe,
    left: int,
    rates: Rates,
    generations: int | None,
    quiet: bool,
) -> PhasePlan:
    """Return the plan of the next phase of a universe, as choose(), of blocks that take no longer
    than a person or a resumed run may wait."""
    known: dict[int, int] = {}

    def linked(generations: int) -> int:
        if generations not in known:
            known[generations] = len(universe.manifest.linked_after(generations))
        return known[generations]

    tiling, last = universe.tiling, universe.manifest.last
    model = PhaseModel(tiling, universe.manifest.form, machine, rates)
    plan = choose(model, left, generations=generations, last=last, linked=linked, quiet=quiet)
    while generations is None:
        most = _most_generations(model, plan, last)
        if most >= plan.generations:
            break
        plan = choose(model, left, generations=most, linked=linked)
    share = 1 - linked(plan.generations) / len(tiling)
    return replace(plan, groups=_groups(model, plan, share))


def _groups(model: PhaseModel, plan: PhasePlan, share: float) -> int:
    """Return the number of groups: as many as cost next to nothing beside one: each begins a chain,
    and with a window to be filled while nothing is computed."""
    machine, rates = model.machine, model.rates
    if machine.devices == 1:
        return 1
    generations, shape = plan.generations, plan.shape
    whole = _phase_seconds(model, generations, shape, share)
    width, height = _lengths(model, generations, shape)
    cost = model.costs.task
    window = width * height / 8 * model.form.planes
    cost += machine.devices * window * (1 / rates.read + 1 / rates.write)
    if shape.chained:
        cost += machine.halo * generations * generations * width / rates.cells
    return min(_MOST_GROUPS, 1 + int(_GROUPS_SHARE * whole / cost))


def _most_generations(model: PhaseModel, plan: PhasePlan, last: int) -> int:
    """Return the most generations of a phase of blocks as in the plan: a block is what Ctrl-C waits
    for and a kill loses."""
    tiling, rates = model.tiling, model.rates
    wide, high = plan.shape.largest(tiling)
    halo = 2 * plan.generations * model.machine.reach
    cells = min(tiling.width, wide + halo) * min(tiling.height, high + halo)
    moved = model.form.planes * (cells / 8 / rates.read + wide * high / 8 / rates.write)
    most = int(max(_BLOCK_SECONDS, _BLOCK_SHARE * moved) * rates.cells / cells)
    if most >= plan.generations:
        return plan.generations
    if last and 2 * most >= last:  # tiles that rest are found by phases of the same length
        return max(1, most // last) * last
    return max(1, most // PERIOD * PERIOD or most)


def choose(
    model: PhaseModel,
    left: int,
    *,
    generations: int | None = None,
    last: int = 0,
    linked: Callable[[int], int] = lambda generations: 0,
    quiet: bool = False,
) -> PhasePlan:
    """Return the plan of the next phase that should end a run of `left` generations soonest.

    generations: of the phase, where it is given. last: of the phase before. linked: how
    many tiles need no work in a phase of so many generations. quiet: whether tiles are
    expected to need none, once a phase has found out. Raises BudgetError where not even a
    window of one tile fits.
    """
    if generations is not None:
        return _best_shape(model, left, generations, linked)
    plans = []
    for candidate in _candidates(left, last):
        try:
            plans.append(_best_shape(model, left, candidate, linked))
        except BudgetError:
            if candidate == 1:
                raise
    best = min(plans, key=lambda plan: plan.seconds)
    if quiet and not last:
        return _first_look(plans, best)
    whole = [p for p in plans if p.generations % PERIOD == 0 or p.generations == left]
    near = min(whole, key=lambda plan: plan.seconds, default=best)
    return near if near.seconds <= _LITTLE * best.seconds else best


def _first_look(plans: list[PhasePlan], best: PhasePlan) -> PhasePlan:
    """Return the shortest phase of whole periods that costs hardly more than its reads and
    writes."""
    whole = sorted(
        (p for p in plans if p.generations % PERIOD == 0), key=lambda plan: plan.generations
    )
    return whole[0] if whole else best


def _candidates(left: int, last: int) -> list[int]:
    """Return the lengths of phases worth a look: even parts of what is left, and multiples of
    periods."""
    found = {1, left, min(left, PERIOD)}
    for parts in (*range(1, 17), *(2**k for k in range(5, 40))):
        if parts <= left:
            even = -(-left // parts)
            found |= {even, min(left, -(-even // PERIOD) * PERIOD)}
            if last:
                found |= {min(left, -(-even // last) * last)}
    if last and last <= left:
        found |= {last, left // last * last}
    return sorted(found)


def _best_shape(
    model: PhaseModel, left: int, generations: int, linked: Callable[[int], int]
) -> PhasePlan:
    machine = model.machine
    share = 1 - linked(generations) / len(model.tiling)
    shapes = _shapes(model.tiling, machine.devices, machine.reach == 1)
    seconds = [_seconds(model, left, generations, shape, share) for shape in shapes]
    # What takes memory is asked of the quickest only, up to the first that fits.
    quickest = sorted(range(len(shapes)), key=seconds.__getitem__)
    for workers in sorted({machine.workers, 1}, reverse=True):
        for i in quickest:
            if _fits(model, generations, shapes[i], workers):
                more = 1 + 0.01 * (machine.workers != workers)
                return PhasePlan(generations, shapes[i], workers, more * seconds[i])
    need_host, need_device = _needs(model, generations, PhaseShape(1, 1, 1), 1)
    where, need, have = "memory", need_host, machine.host
    if machine.device is not None and need_device > machine.device:
        where, need, have = "device memory", need_device, machine.device
    each = f" for each of {machine.devices}" if machine.devices > 1 else ""
    raise BudgetError(
        f"a window of one sub-universe and {generations} generations needs {_amount(need)} "
        f"of {where}{each}, {_amount(have)} may be taken",
        need,
        have,
        on_device=where == "device memory",
    )


def _amount(count: int) -> str:
    """Return the text of an amount of memory, to a tenth of a MiB, or more exactly where it is less
    than one."""
    return human_bytes(count) if count < 1 << 20 else f"{count / 2**20:,.1f} MiB"


@lru_cache(16)
def _shapes(tiling: Tiling, lanes: int, chained: bool) -> list[PhaseShape]:
    found = []
    # Lanes get as many blocks each, which then had better all be of one size.
    ends = 1 if lanes == 1 and _least_rows(tiling) >= _LEAST_END else 0
    for slots in (3, 2, 1):
        for across, down in _blocks(tiling):
            if chained and down < tiling.down and tiling.largest(across, down)[1] >= LEAST_CHAINED:
                found.append(PhaseShape(across, down, slots, chained=True))
                if across == tiling.across and 0 < ends < down < tiling.down - 1 and slots > 1:
                    found.append(PhaseShape(across, down, slots, chained=True, ends=ends))
            found.append(PhaseShape(across, down, slots))
    return found


@lru_cache(16)
def _least_rows(tiling: Tiling) -> int:
    """Return the rows of the lowest tiles."""
    return min(below - above for above, below in pairwise(tiling.rows))


def _blocks(tiling: Tiling) -> list[tuple[int, int]]:
    """Return sizes of blocks in tiles: full rows of tiles in even shares, and less than a row."""
    found = [(tiling.across, down) for down in _shares(tiling.down)]
    found += [(across, 1) for across in _shares(tiling.across)]
    if tiling.across > 1:
        found += [(n, n) for n in _shares(min(tiling.across, tiling.down))]
    return list(dict.fromkeys(found))


def _shares(count: int) -> list[int]:
    parts = {p for p in (*range(1, 33), *(2**k for k in range(5, 24))) if p <= count}
    return sorted({-(-count // p) for p in parts} | {1}, reverse=True)


def _halos(model: PhaseModel, generations: int) -> tuple[int, int]:
    """Return how many cells a window has to the left of its block, and above it."""
    halo = generations * model.machine.reach
    return -(-halo // 64) * 64, halo


def _lengths(model: PhaseModel, generations: int, shape: PhaseShape) -> tuple[int, int]:
    """Return the largest window of such blocks: width and height."""
    tiling = model.tiling
    beside, above = _halos(model, generations)
    widest, tallest = shape.largest(tiling)
    return min(tiling.width, widest + 2 * beside), min(tiling.height, tallest + 2 * above)


def _needs(model: PhaseModel, generations: int, shape: PhaseShape, workers: int) -> tuple[int, int]:
    """Return the bytes of host and of device memory that a lane of such a phase takes."""
    tiling, form, machine = model.tiling, model.form, model.machine
    width, height = _lengths(model, generations, shape)
    planes = form.planes
    shapes = [LifeShape(width, height, tiling.torus, planes)]
    if not tiling.torus:
        shapes.append(LifeShape(width, height, True, planes))
    chain = None
    if shape.chained:
        tallest = shape.largest(tiling)[1]
        chain = ChainShape(width, generations, tiling.torus, tallest, planes)
    host, device = machine.arena_bytes(shapes, shape.slots, chain)
    tile = tiling.largest(1, 1)
    cells = datasets(*tile, replace(form, top=0))[0]
    chunk = cells.chunk_bytes(0) + 8192
    whole_rows = tiling.across == 1 and width == tiling.width
    band = 0 if whole_rows else bytes_of(width, min(form.chunk_rows, tile[1]), planes)
    staging = 2 * workers * (chunk + band) + workers * chunk
    if form.compression != "none":
        staging += 4 * workers * chunk
    if planes > 1:  # which cells live, and whether their states are the rule's
        staging += 5 * workers * chunk // planes
    if form.top:  # counts and levels of two tiles at a time
        staging += bytes_of(*tile) * 3 // 4
    return host + staging, device


def _fits(model: PhaseModel, generations: int, shape: PhaseShape, workers: int) -> bool:
    machine = model.machine
    width, height = _lengths(model, generations, shape)
    bits = width * height * model.form.planes
    if shape.slots * bits > 8 * (machine.host + (machine.device or 0)):
        return False  # wherever windows lie, and soon said
    host, device = _needs(model, generations, shape, workers)
    return host <= machine.host and (machine.device is None or device <= machine.device)


def _seconds(
    model: PhaseModel, left: int, generations: int, shape: PhaseShape, share: float
) -> float:
    """Return the seconds that the rest of a run takes in phases of so many generations."""
    whole, rest = divmod(left, generations)
    seconds = whole * _phase_seconds(model, generations, shape, share)
    if rest:
        seconds += _phase_seconds(model, rest, shape, 1.0)
    return seconds


def _phase_seconds(model: PhaseModel, generations: int, shape: PhaseShape, share: float) -> float:
    """Return the seconds that a phase takes by the model. share: of the tiles that need work."""
    tiling, form, machine, rates = model.tiling, model.form, model.machine, model.rates
    width, height = _lengths(model, generations, shape)
    n_across, n_down = shape.count(tiling)
    count = n_across * n_down
    beside, above = _halos(model, generations)
    across = min(tiling.width + 2 * beside * n_across, width * n_across)
    down = min(tiling.height + 2 * above * n_down, height * n_down)
    if shape.chained:
        halos = machine.halo * generations * machine.devices  # each lane has a chain of its own
        if shape.ends and not tiling.torus and _least_rows(tiling) < generations + _LEAST_END:
            halos += 2 * generations  # they are too low for others to follow, or be followed
        down = min(down, tiling.height + halos + machine.pass_rows * n_down)
    busy = min(machine.devices, count)
    compute = share * across * down * generations / rates.cells / busy
    row_bytes = tiling.width / 8 * form.planes
    # Files are read by whole rows of tiles, which columns of blocks read more than once.
    again = 1.0 if n_across == 1 else 1 + 2 * n_across / max(n_across, tiling.across)
    read = share * down * row_bytes * again / rates.read
    written = tiling.height * row_bytes
    if form.top:
        written += tiling.height * tiling.width / 8 / 6
    write = share * written / rates.write
    compute += machine.byte_cost * share * (down * row_bytes * again + written)
    ends = (read + write) / count
    if shape.ends:
        tiles = tiling.across * shape.ends / len(tiling)
        ends = tiles * (read + write) + 2 * generations / down * read
    if shape.slots == 1 or count == 1:
        seconds = compute + read + write
    elif shape.slots == 2:
        seconds = max(compute, read + write - ends) + ends
    else:
        seconds = max(compute, 0.97 * (read + write - ends)) + ends
    return seconds + model.costs.phase + share * model.costs.file * len(tiling)
