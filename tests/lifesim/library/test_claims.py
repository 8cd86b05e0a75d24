"""What the files of our patterns claim: each is run by our engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from lifesim import BitGrid, Box, Life, LifesimError
from lifesim.library import KINDS, PatternEntry, PatternLibrary
from lifesim.library.entry import key_of
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.rules.jvn import states as jvn
from tests.lifesim.library.speeds import speed_text

LIBRARY = PatternLibrary.of_ours()
ENTRIES = list(LIBRARY)
STILL = ("still life", "eater")
ROOM = 32  # dead cells between two patterns
# What the default suite runs: of small patterns, by rules that need no circuit to be looked for.
QUICK_CELLS, QUICK_PERIOD, QUICK_LIFESPAN = 2500, 60, 300


def of(*kinds: str) -> list[PatternEntry]:
    return [entry for entry in ENTRIES if entry.kind in kinds]


def primes_of(number: int) -> Iterator[int]:
    for prime in range(2, number + 1):
        if number % prime == 0 and all(prime % other for other in range(2, prime)):
            yield prime


@dataclass
class Picture:
    """The live cells' bounding box of a universe at one time, and the cells in it."""

    box: Box
    cells: bytes

    @classmethod
    def of(cls, life: Life) -> Picture:
        box = life.frame()
        return cls(box, life.grid().crop(Box(0, 0, box.width, box.height)).words.tobytes())

    def moved_to(self, other: Picture) -> tuple[int, int] | None:
        """Return how far the same cells have moved to become `other`; None if they are others."""
        same = (self.box.width, self.box.height, self.cells) == (
            other.box.width, other.box.height, other.cells,
        )  # fmt: skip
        return (other.box.x - self.box.x, other.box.y - self.box.y) if same else None


def check_repeats(entry: PatternEntry) -> None:
    """The period is the least, and the speed is as it says."""
    assert entry.period, entry.name
    life = Life.from_pattern(entry.path, threads=1, engine="dense")
    first, now = Picture.of(life), 0
    for generation in sorted({entry.period // prime for prime in primes_of(entry.period)}):
        life.run(generation - now)
        now = generation
        assert first.moved_to(Picture.of(life)) is None, (entry.name, generation)
    life.run(entry.period - now)
    moved = first.moved_to(Picture.of(life))
    assert moved is not None, entry.name
    assert speed_text(*moved, entry.period) == entry.speed, (entry.name, moved)


def is_quick(entry: PatternEntry) -> bool:
    cells = (entry.width or 0) * (entry.height or 0)
    period = entry.period or 0
    return entry.rule == "B3/S23" and cells <= QUICK_CELLS and period <= QUICK_PERIOD


def test_every_file_says_what_it_must() -> None:
    assert len(ENTRIES) >= 150
    found = {entry.kind for entry in ENTRIES}
    assert found == set(KINDS)
    for entry in ENTRIES:
        path = Path(entry.path)
        assert entry.name == path.stem
        assert entry.name == entry.name.lower()
        assert " " not in entry.name
        assert entry.about.endswith("."), entry.name
        assert len(entry.about) < 200, entry.name
        assert entry.title != entry.name or not entry.name.islower()
        assert (entry.period == 1) if entry.kind in STILL else True
        assert (entry.kind != "methuselah") or entry.speed == "", entry.name
    assert LIBRARY.notes == ()


def test_every_file_is_read_and_is_as_large_as_it_says() -> None:
    for entry in ENTRIES:
        pattern = LIBRARY.read(entry)
        grid = pattern.grid
        assert (entry.width, entry.height) == (grid.width, grid.height), entry.name
        assert grid.bounding_box() == (0, 0, grid.width, grid.height) or pattern.size, entry.name
        assert pattern.name == entry.title
        assert pattern.notes == ()
        rule = entry.rule.partition(":")[0]
        parsed = Rule.parse(rule, beside=entry.path)
        assert str(pattern.rule or "B3/S23") == str(parsed) == rule, entry.name


def test_names_lead_to_one_pattern() -> None:
    called: dict[str, str] = {}
    for entry in ENTRIES:
        for name in {key_of(name) for name in (entry.name, entry.title, *entry.others)}:
            assert called.setdefault(name, entry.name) == entry.name
    for entry in ENTRIES[::40]:
        assert LIBRARY.find(entry.name) is LIBRARY.find(entry.title.upper()) is entry


def test_what_stays_in_its_place() -> None:
    """Still lifes and quick oscillators, below each other, are what they were after their periods,
    and not before."""
    chosen = [entry for entry in of("oscillator", *STILL) if is_quick(entry)]
    assert len(chosen) > 180
    grids = [LIBRARY.read(entry).grid for entry in chosen]
    tops = [ROOM + sum(grid.height + ROOM for grid in grids[:i]) for i in range(len(grids))]
    cells = [
        (x + ROOM, y + top)
        for grid, top in zip(grids, tops, strict=True)
        for x, y in grid.cells().tolist()
    ]
    width, height = max(grid.width for grid in grids) + 2 * ROOM, tops[-1] + grids[-1].height + ROOM
    life = Life(BitGrid.from_cells(width, height, cells), topology="plane", threads=1)
    first, now = life.words().copy(), 0
    periods = [entry.period or 0 for entry in chosen]
    asked = [{period} | {period // prime for prime in primes_of(period)} for period in periods]
    for generation in sorted(set().union(*asked)):
        life.run(generation - now)
        now, words = generation, life.words()
        for entry, period, asks, top, grid in zip(chosen, periods, asked, tops, grids, strict=True):
            if generation in asks:
                rows = slice(top - ROOM // 2, top + grid.height + ROOM // 2)
                is_same = np.array_equal(words[rows], first[rows])
                assert is_same == (generation == period), (entry.name, generation)


def test_ships() -> None:
    quick = [entry for entry in of("spaceship") if is_quick(entry)]
    assert len(quick) > 40
    for entry in quick[::3]:
        check_repeats(entry)


@pytest.mark.slow
def test_what_repeats_itself() -> None:
    for entry in of("oscillator", "spaceship", "agar"):
        check_repeats(entry)


def test_every_small_period_is_there() -> None:
    """Conway's rule has oscillators of all periods; those up to 60 are there."""
    periods = {entry.period for entry in of("oscillator") if entry.rule == "B3/S23"}
    assert set(range(2, 61)) <= periods


def around(life: Life, pattern: Pattern, width: int) -> npt.NDArray[np.bool_]:
    """Return the cells of a universe in a frame around where those of the pattern were."""
    frame, grid = life.frame(), pattern.grid
    shown = np.zeros((grid.height + 2 * width, grid.width + 2 * width), bool)
    ys, xs = np.nonzero(life.grid().to_bool())
    xs, ys = xs + frame.x - pattern.x + width, ys + frame.y - pattern.y + width
    inside = (xs >= 0) & (ys >= 0) & (xs < shown.shape[1]) & (ys < shown.shape[0])
    shown[ys[inside], xs[inside]] = True
    shown[width : width + grid.height, width : width + grid.width] = False
    return shown


def check_gun(entry: PatternEntry) -> None:
    """The stream that comes out of it repeats itself, and not sooner than is said."""
    assert entry.period, entry.name
    pattern = LIBRARY.read(entry)
    life = Life.from_pattern(pattern, threads=1)
    width = entry.period // 2 + 8  # which no ship crosses sooner than the next one comes
    life.run(4 * entry.period + 100)
    first, population, now = around(life, pattern, width), life.population(), 0
    assert first.any(), entry.name
    for generation in sorted({entry.period // prime for prime in primes_of(entry.period)}):
        life.run(generation - now)
        now = generation
        assert not np.array_equal(around(life, pattern, width), first), (entry.name, generation)
    life.run(entry.period - now)
    assert np.array_equal(around(life, pattern, width), first), entry.name
    life.run(3 * entry.period)
    assert life.population() > population, entry.name


def test_guns() -> None:
    quick = [entry for entry in of("gun") if is_quick(entry)]
    assert len(quick) >= 8
    for entry in quick:
        check_gun(entry)


@pytest.mark.slow
def test_slow_guns() -> None:
    for entry in of("gun"):
        if not is_quick(entry):
            check_gun(entry)


def check_grows(entry: PatternEntry) -> None:
    """It is proved to grow for ever, and its source has the period and the speed."""
    life = Life.from_pattern(entry.path, threads=1)
    found = life.run_until("stable", 9000)
    assert (found.kind, found.proved) == ("growing", True), entry.name
    assert found.period == entry.period, entry.name
    assert found.growth, entry.name
    assert speed_text(*(found.displacement or (0, 0)), entry.period) == entry.speed, entry.name


def test_rakes_and_a_puffer() -> None:
    for entry in of("rake"):
        check_grows(entry)
    pufferfish = LIBRARY.find("pufferfish")
    assert pufferfish is not None
    check_grows(pufferfish)


@pytest.mark.slow
def test_puffers() -> None:
    moving = [entry for entry in of("puffer") if entry.speed]
    assert len(moving) >= 6
    for entry in moving:
        check_grows(entry)


@pytest.mark.slow
def test_what_grows_without_a_known_period() -> None:
    for entry in of("puffer", "breeder", "replicator"):
        life = Life.from_pattern(entry.path, threads=1)
        before = life.population()
        life.run(3000)
        assert life.population() > before, entry.name


def test_rule_files_beside_patterns_are_found() -> None:
    names = [entry.name for entry in LIBRARY.search(rule="Langtons-Loops")]
    assert names == ["langtons-loop"]
    with pytest.raises(LifesimError, match="unknown rule"):
        LIBRARY.search(rule="Langtons-Leaps")


def check_settles(entry: PatternEntry) -> None:
    assert entry.lifespan is not None
    life = Life.from_pattern(entry.path, threads=1)
    found = life.run_until("stable", 3 * entry.lifespan + 200)
    assert (found.began, found.met) == (entry.lifespan, True), entry.name


def test_methuselahs() -> None:
    quick = [entry for entry in of("methuselah") if (entry.lifespan or 1 << 30) < QUICK_LIFESPAN]
    assert len(quick) >= 6
    for entry in quick:
        check_settles(entry)


@pytest.mark.first
@pytest.mark.slow
def test_long_lived_methuselahs() -> None:
    for entry in of("methuselah"):
        if (entry.lifespan or 0) >= QUICK_LIFESPAN:
            check_settles(entry)


# After how many generations a conduit gives back its Herschel, and how that is turned then.
CONDUITS = {
    "r64": (64, "right"),
    "fx77": (77, "mirrored"),
    "l112": (112, "left"),
    "f117": (117, "same"),
    "fx119": (119, "mirrored"),
    "l156": (156, "left"),
    "r190": (190, "right"),
    "f116": (116, "same"),
    "b60": (60, "back"),
}
HERSCHEL = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1]], bool)
TURNED = {
    "same": HERSCHEL,
    "mirrored": HERSCHEL[::-1],
    "right": np.rot90(HERSCHEL, -1),
    "left": np.rot90(HERSCHEL),
    "back": np.rot90(HERSCHEL, 2),
}


def places_of(shape: npt.NDArray[np.bool_], life: Life) -> list[tuple[int, int]]:
    """Return where a shape lies with dead cells around it."""
    frame, around = life.frame(), np.pad(shape, 1)
    cells = np.pad(life.grid().to_bool(), 1)
    windows = np.lib.stride_tricks.sliding_window_view(cells, around.shape)
    ys, xs = np.nonzero((windows == around).all(axis=(2, 3)))
    return [(int(x) + frame.x, int(y) + frame.y) for x, y in zip(xs, ys, strict=True)]


def test_conduits_give_back_their_herschel() -> None:
    for name, (generations, turned) in CONDUITS.items():
        entry = LIBRARY.find(name)
        assert entry is not None
        assert f"after {generations} generations" in entry.about
        life = Life.from_pattern(entry.path, threads=1, engine="dense")
        [began] = places_of(HERSCHEL, life)
        life.run(generations)
        [there] = places_of(TURNED[turned], life)
        assert there != began, name


def test_other_conduits_and_the_rest_do_what_is_said() -> None:
    def run(name: str, generations: int) -> Life:
        entry = LIBRARY.find(name)
        assert entry is not None
        life = Life.from_pattern(entry.path, threads=1)
        life.run(generations)
        return life

    assert run("diehard", 129).population() == 2
    assert run("diehard", 130).population() == 0
    assert [run("grow-by-one", n).population() for n in range(12)] == list(range(44, 56))
    assert run("highlife-replicator", 24).population() == 24
    for name in ("silver-reflector", "boojum-reflector"):
        life = run(name, 0)
        before = life.population()
        found = life.run_until("stable", 2000)
        assert found.kind == "debris with ships"
        # All that stays is what was there before the glider came.
        assert found.ships is not None
        assert life.population() - 5 * found.ships == before - 5, name


def states_of(life: Life) -> npt.NDArray[np.uint8]:
    return life.grid().states()


def test_what_patterns_of_several_states_do() -> None:
    def life_of(name: str) -> Life:
        entry = LIBRARY.find(name)
        assert entry is not None
        return Life.from_pattern(entry.path, threads=1, engine="dense")

    ours = "jvn-ring", "jvn-clock", "jvn-rebuilder", "nobili-eight", "star-wars-ship"
    for name in (*ours, "brians-diagonal-ship"):
        entry = LIBRARY.find(name)
        assert entry is not None
        check_repeats(entry)

    # By von Neumann's own rule the pulse ends where it would cross.
    eight = Life(life_of("nobili-eight").grid(), rule="JvN29", topology="plane", threads=1)
    eight.run(40)
    assert not any(jvn.is_excited(s) for s in np.unique(states_of(eight)) if jvn.is_arrow(s))

    # The clock's line has one pulse a round, in its third cell.
    clock, pulses = life_of("jvn-clock"), []
    for _ in range(44):
        pulses.append(clock.grid().states()[1, 2] == jvn.ORDINARY + jvn.EXCITED + jvn.UP)
        clock.run(1)
    assert sum(pulses) == 4
    assert np.diff(np.nonzero(pulses)[0]).tolist() == [11, 11, 11]

    # An arrow is gone in some generations of each round, and there in others.
    rebuilder = life_of("jvn-rebuilder")
    seen = set()
    for _ in range(17):
        seen.add(int(states_of(rebuilder)[2, 4]))
        rebuilder.run(1)
    assert {jvn.GROUND, jvn.S, jvn.S_000, jvn.ORDINARY + jvn.RIGHT} <= seen

    builder = life_of("jvn-line-builder")
    widths = []
    for _ in range(6):
        builder.run(13)
        widths.append(builder.width)
    assert np.diff(widths).tolist() == [1, 1, 1, 1, 1]

    writer = life_of("jvn-writer")
    assert writer.width == 6
    writer.run(20)
    arrow = jvn.ORDINARY + jvn.RIGHT
    assert states_of(writer).tolist() == [[arrow] * 6 + [jvn.C_00]]
    writer.run(1)
    assert states_of(writer).tolist() == [[arrow] * 6 + [jvn.C_00]]

    loop = life_of("langtons-loop")
    first = states_of(loop)
    loop.run(151)
    at = 11 - loop.frame().x, -loop.frame().y
    second = states_of(loop)[at[1] : at[1] + first.shape[0], at[0] : at[0] + first.shape[1]]
    assert np.array_equal(second, first)


@pytest.mark.slow
def test_the_sawtooth_comes_back() -> None:
    entry = LIBRARY.find("sawtooth")
    assert entry is not None
    life = Life.from_pattern(entry.path, threads=1)
    populations = []
    for _ in range(8000):
        populations.append(life.population())
        life.run(1)
    least = [generation for generation, count in enumerate(populations) if count == 194]
    assert len(least) >= 2
    assert max(populations) > 400


def test_facts_are_written_as_json_has_them() -> None:
    """No field is of a kind that --json cannot write."""
    from dataclasses import asdict

    assert json.loads(json.dumps([asdict(entry) for entry in ENTRIES]))
