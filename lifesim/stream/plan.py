"""How long a phase is, and what a block: found by a model of times, in pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lifesim.errors import LifesimError
from lifesim.store.tilefile import Format, datasets
from lifesim.store.tiling import Tiling
from lifesim.store.universe import Universe
from lifesim.stream.phase import LEAST_CHAINED, Shape

PERIOD = 60  # generations: what most of the things that are left in a settled universe divide
# What a block may take to compute: so long, or so many times as long as to read and write.
_BLOCK_SECONDS, _BLOCK_SHARE = 20.0, 10.0
_LITTLE = 1.03  # what a phase of whole periods may cost more
_FILE_SECONDS = 0.002  # to make, sync and rename a file
_PHASE_SECONDS = 0.02
_TASK_SECONDS = 0.03  # of a cluster's worker, from one task to the next
_GROUPS_SHARE, _MOST_GROUPS = 0.02, 4  # what groups may cost of a phase

Chain = tuple[int, int, bool, int]
ArenaBytes = Callable[[Sequence[tuple[int, int, bool]], int, Chain | None], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Rates:
    """cells: cell updates per second of one device; read, write: bytes per second."""

    cells: float
    read: float
    write: float


@dataclass(frozen=True, slots=True)
class Machine:
    """host, device: bytes of memory that a lane may take; device None: the host's.

    arena_bytes: of a backend (Backend.arena_bytes). devices: lanes that work at once,
    each with `workers` threads to read and as many to write. pass_rows: what a block costs
    beside its own rows in each pass, as rows. byte_cost: seconds of computing that a byte
    read or written costs, where the CPU does both.
    """

    host: int
    device: int | None
    arena_bytes: ArenaBytes
    devices: int = 1
    workers: int = 2
    pass_rows: int = 48
    byte_cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """seconds: what the rest of the run should take. groups: into how many tasks a lane's part
    of the phase is cut, where lanes are workers of a cluster."""

    generations: int
    shape: Shape
    workers: int
    seconds: float
    groups: int = 1


class BudgetError(LifesimError):
    """Less memory than one window needs."""


def next_phase(
    machine: Machine,
    universe: Universe,
    left: int,
    rates: Rates,
    generations: int | None,
    quiet: bool,
) -> Plan:
    """The plan of the next phase of a universe, as choose(), of blocks that take no longer than
    a person or a resumed run may wait."""
    known: dict[int, int] = {}

    def linked(generations: int) -> int:
        if generations not in known:
            known[generations] = len(universe.linked_after(generations))
        return known[generations]

    tiling, form, last = universe.tiling, universe.manifest.form, universe.manifest.last
    plan = choose(
        tiling,
        form,
        left,
        machine,
        rates,
        generations=generations,
        last=last,
        linked=linked,
        quiet=quiet,
    )
    while generations is None:
        most = _most_generations(tiling, plan, rates, last)
        if most >= plan.generations:
            break
        plan = choose(tiling, form, left, machine, rates, generations=most, linked=linked)
    share = 1 - linked(plan.generations) / len(tiling)
    return replace(plan, groups=_groups(tiling, form, plan, machine, rates, share))


def _groups(
    tiling: Tiling, form: Format, plan: Plan, machine: Machine, rates: Rates, share: float
) -> int:
    """As many as cost next to nothing beside one: each begins a chain, and with a window to be
    filled while nothing is computed."""
    if machine.devices == 1:
        return 1
    generations, shape = plan.generations, plan.shape
    whole = _phase_seconds(tiling, form, generations, shape, machine, rates, share)
    width, height = _lengths(tiling, generations, shape)
    cost = _TASK_SECONDS
    cost += machine.devices * width * height / 8 * (1 / rates.read + 1 / rates.write)
    if shape.chained:
        cost += 2 * generations * generations * width / rates.cells
    return min(_MOST_GROUPS, 1 + int(_GROUPS_SHARE * whole / cost))


def _most_generations(tiling: Tiling, plan: Plan, rates: Rates, last: int) -> int:
    """Of a phase of blocks as in the plan: a block is what Ctrl-C waits for and a kill loses."""
    wide, high = tiling.largest(plan.shape.across, plan.shape.down)
    halo = 2 * plan.generations
    cells = min(tiling.width, wide + halo) * min(tiling.height, high + halo)
    moved = cells / 8 / rates.read + wide * high / 8 / rates.write
    most = int(max(_BLOCK_SECONDS, _BLOCK_SHARE * moved) * rates.cells / cells)
    if most >= plan.generations:
        return plan.generations
    if last and 2 * most >= last:  # tiles that rest are found by phases of the same length
        return max(1, most // last) * last
    return max(1, most // PERIOD * PERIOD or most)


def choose(
    tiling: Tiling,
    form: Format,
    left: int,
    machine: Machine,
    rates: Rates,
    *,
    generations: int | None = None,
    last: int = 0,
    linked: Callable[[int], int] = lambda generations: 0,
    quiet: bool = False,
) -> Plan:
    """The plan of the next phase that should end a run of `left` generations soonest.

    generations: of the phase, where it is given. last: of the phase before. linked: how
    many tiles need no work in a phase of so many generations. quiet: whether tiles are
    expected to need none, once a phase has found out. Raises BudgetError where not even a
    window of one tile fits.
    """
    if generations is not None:
        return _best_shape(tiling, form, left, generations, machine, rates, linked)
    plans = []
    for candidate in _candidates(left, last):
        try:
            plans.append(_best_shape(tiling, form, left, candidate, machine, rates, linked))
        except BudgetError:
            if candidate == 1:
                raise
    best = min(plans, key=lambda plan: plan.seconds)
    if quiet and not last:
        return _first_look(plans, best)
    whole = [p for p in plans if p.generations % PERIOD == 0 or p.generations == left]
    near = min(whole, key=lambda plan: plan.seconds, default=best)
    return near if near.seconds <= _LITTLE * best.seconds else best


def _first_look(plans: list[Plan], best: Plan) -> Plan:
    """The shortest phase of whole periods that costs hardly more than its reads and writes."""
    whole = sorted(
        (p for p in plans if p.generations % PERIOD == 0), key=lambda plan: plan.generations
    )
    return whole[0] if whole else best


def _candidates(left: int, last: int) -> list[int]:
    """Lengths of phases worth a look: even parts of what is left, and multiples of periods."""
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
    tiling: Tiling,
    form: Format,
    left: int,
    generations: int,
    machine: Machine,
    rates: Rates,
    linked: Callable[[int], int],
) -> Plan:
    share = 1 - linked(generations) / len(tiling)
    shapes = _shapes(tiling)
    seconds = [
        _seconds(tiling, form, left, generations, shape, machine, rates, share) for shape in shapes
    ]
    # What takes memory is asked of the quickest only, up to the first that fits.
    quickest = sorted(range(len(shapes)), key=seconds.__getitem__)
    for workers in sorted({machine.workers, 1}, reverse=True):
        for i in quickest:
            if _fits(tiling, form, generations, shapes[i], workers, machine):
                more = 1 + 0.01 * (machine.workers != workers)
                return Plan(generations, shapes[i], workers, more * seconds[i])
    need_host, need_device = _needs(tiling, form, generations, Shape(1, 1, 1), 1, machine)
    where, need, have = "memory", need_host, machine.host
    if machine.device is not None and need_device > machine.device:
        where, need, have = "device memory", need_device, machine.device
    each = f" for each of {machine.devices}" if machine.devices > 1 else ""
    raise BudgetError(
        f"a window of one sub-universe and {generations} generations needs {need / 2**20:,.1f} "
        f"MiB of {where}{each}, {have / 2**20:,.1f} MiB may be taken"
    )


@lru_cache(16)
def _shapes(tiling: Tiling) -> list[Shape]:
    found = []
    for slots in (3, 2, 1):
        for across, down in _blocks(tiling):
            if down < tiling.down and tiling.largest(across, down)[1] >= LEAST_CHAINED:
                found.append(Shape(across, down, slots, chained=True))
            found.append(Shape(across, down, slots))
    return found


def _blocks(tiling: Tiling) -> list[tuple[int, int]]:
    """Sizes of blocks in tiles: full rows of tiles in even shares, and less than a row."""
    found = [(tiling.across, down) for down in _shares(tiling.down)]
    found += [(across, 1) for across in _shares(tiling.across)]
    if tiling.across > 1:
        found += [(n, n) for n in _shares(min(tiling.across, tiling.down))]
    return list(dict.fromkeys(found))


def _shares(count: int) -> list[int]:
    parts = {p for p in (*range(1, 33), *(2**k for k in range(5, 24))) if p <= count}
    return sorted({-(-count // p) for p in parts} | {1}, reverse=True)


def _lengths(tiling: Tiling, generations: int, shape: Shape) -> tuple[int, int]:
    """The largest window of such blocks: width and height."""
    halo = -(-generations // 64) * 64
    widest, tallest = tiling.largest(shape.across, shape.down)
    return (
        min(tiling.width, widest + 2 * halo),
        min(tiling.height, tallest + 2 * generations),
    )


def _needs(
    tiling: Tiling, form: Format, generations: int, shape: Shape, workers: int, machine: Machine
) -> tuple[int, int]:
    """Bytes of host and of device memory that a lane of such a phase takes."""
    width, height = _lengths(tiling, generations, shape)
    shapes = [(width, height, tiling.torus)]
    if not tiling.torus:
        shapes.append((width, height, True))
    chain = None
    if shape.chained:
        chain = width, generations, tiling.torus, tiling.largest(shape.across, shape.down)[1]
    host, device = machine.arena_bytes(shapes, shape.slots, chain)
    tile = tiling.largest(1, 1)
    cells = datasets(*tile, replace(form, top=0))[0]
    chunk = cells.chunk_bytes(0) + 8192
    whole_rows = tiling.across == 1 and width == tiling.width
    band = 0 if whole_rows else -(-width // 64) * 8 * min(form.chunk_rows, tile[1])
    staging = 2 * workers * (chunk + band) + workers * chunk
    if form.compression != "none":
        staging += 4 * workers * chunk
    if form.top:  # counts and levels of two tiles at a time
        staging += cells.rows * cells.row_bytes * 3 // 4
    return host + staging, device


def _fits(
    tiling: Tiling, form: Format, generations: int, shape: Shape, workers: int, machine: Machine
) -> bool:
    width, height = _lengths(tiling, generations, shape)
    if shape.slots * width * height > 8 * (machine.host + (machine.device or 0)):
        return False  # wherever windows lie, and soon said
    host, device = _needs(tiling, form, generations, shape, workers, machine)
    return host <= machine.host and (machine.device is None or device <= machine.device)


def _seconds(
    tiling: Tiling,
    form: Format,
    left: int,
    generations: int,
    shape: Shape,
    machine: Machine,
    rates: Rates,
    share: float,
) -> float:
    whole, rest = divmod(left, generations)
    seconds = whole * _phase_seconds(tiling, form, generations, shape, machine, rates, share)
    if rest:
        seconds += _phase_seconds(tiling, form, rest, shape, machine, rates, 1.0)
    return seconds


def _phase_seconds(
    tiling: Tiling,
    form: Format,
    generations: int,
    shape: Shape,
    machine: Machine,
    rates: Rates,
    share: float,
) -> float:
    """share: of the tiles that need work."""
    width, height = _lengths(tiling, generations, shape)
    n_across, n_down = -(-tiling.across // shape.across), -(-tiling.down // shape.down)
    count = n_across * n_down
    halo = -(-generations // 64) * 64
    across = min(tiling.width + 2 * halo * n_across, width * n_across)
    down = min(tiling.height + 2 * generations * n_down, height * n_down)
    if shape.chained:
        halos = 2 * generations * machine.devices  # each lane has a chain of its own
        down = min(down, tiling.height + halos + machine.pass_rows * n_down)
    busy = min(machine.devices, count)
    compute = share * across * down * generations / rates.cells / busy
    row_bytes = tiling.width / 8
    # Files are read by whole rows of tiles, which columns of blocks read more than once.
    again = 1.0 if n_across == 1 else 1 + 2 * n_across / max(n_across, tiling.across)
    read = share * down * row_bytes * again / rates.read
    written = tiling.height * row_bytes * (7 / 6 if form.top else 1)
    write = share * written / rates.write
    compute += machine.byte_cost * share * (down * row_bytes * again + written)
    ends = (read + write) / count
    if shape.slots == 1 or count == 1:
        seconds = compute + read + write
    elif shape.slots == 2:
        seconds = max(compute, read + write - ends) + ends
    else:
        seconds = max(compute, 0.97 * (read + write - ends)) + ends
    return seconds + _PHASE_SECONDS + share * _FILE_SECONDS * len(tiling)
