"""Rules that people call by a name: what each is known for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule with a name: how it is written, other names of it, and what it is known for."""

    name: str
    rule: str
    known_for: str
    others: tuple[str, ...] = ()


def _of(names: str, rule: str, known_for: str) -> NamedRule:
    name, *others = names.split("|")
    return NamedRule(name, rule, known_for, tuple(others))


NAMED = (
    _of("Life|Conway|Conway's Life|Game of Life", "B3/S23",
        "John Conway's rule of 1970, by far the most explored: gliders, guns, computers."),
    _of("HighLife", "B36/S23", "Much like Life, but with a small pattern that copies itself."),
    _of("Day & Night|DayNight|Day and Night", "B3678/S34678",
        "Dead cells among live ones behave as live ones among dead ones do."),
    _of("Seeds", "B2/S", "Every live cell dies at once, yet nearly all patterns explode."),
    _of("Replicator", "B1357/S1357",
        "Every pattern is in time replaced by copies of itself."),
    _of("Fredkin", "B1357/S02468",
        "Parity of all nine cells: every pattern makes copies of itself."),
    _of("Life without Death|Inkspot|LwoD", "B3/S012345678",
        "Nothing dies; ladders that grow from it can compute."),
    _of("Maze", "B3/S12345", "Fills the plane with corridors of a maze."),
    _of("Mazectric", "B3/S1234", "As Maze, with longer and straighter corridors."),
    _of("2x2", "B36/S125", "Patterns of blocks of 2x2 cells stay made of such blocks."),
    _of("DiAmoeba", "B35678/S5678", "Large diamonds whose edges never settle."),
    _of("Morley|Move", "B368/S245", "Slow spaceships, and a puffer that is often found."),
    _of("Anneal|Vote 4/5|Twisted Majority", "B4678/S35678",
        "A majority vote, twisted near a tie: edges between live and dead are smoothed."),
    _of("Majority|Vote", "B5678/S45678", "Each cell becomes what most of the nine cells are."),
    _of("34 Life", "B34/S34", "An early rival of Life, with small oscillators and spaceships."),
    _of("Gnarl", "B1/S1", "A single cell explodes into tangled growth."),
    _of("H-trees", "B1/S012345678", "A single cell grows to a fractal of H shapes."),
    _of("Coral", "B3/S45678", "Slow growth with a texture as of coral."),
    _of("Coagulations", "B378/S235678", "Blobs that expand without end and coagulate."),
    _of("Corrosion of Conformity", "B3/S124", "Slow growth out of soups that eats its way."),
    _of("Walled Cities", "B45678/S2345", "Activity that stays within walls."),
    _of("Stains", "B3678/S235678", "Patterns spread into stains and stop."),
    _of("Assimilation", "B345/S4567", "Diamonds with a stable inside, which grow together."),
    _of("Long Life", "B345/S5", "Oscillators with very long periods are common."),
    _of("Amoeba", "B357/S1358", "Large random blobs that move and split."),
    _of("Pseudo Life", "B357/S238", "Looks like Life from afar; most of its patterns differ."),
    _of("Serviettes|Persian Rug", "B234/S", "A single 2x2 block becomes a set of Persian rugs."),
    _of("Dry Life", "B37/S23", "Life with birth on 7 neighbours too, and spaceships of its own."),
    _of("Pedestrian Life", "B38/S23", "Life with birth on 8 neighbours too."),
    _of("Eight Life", "B3/S238", "Life with survival on 8 neighbours too."),
    _of("HoneyLife", "B38/S238", "Life with birth and survival on 8 neighbours too."),
    _of("Live Free or Die", "B2/S0", "Only cells without neighbours survive."),
    _of("DotLife", "B3/S023", "Life in which a cell without neighbours survives."),
    _of("Flock", "B3/S12", "Soups settle soon to small still lifes and oscillators."),
    _of("Snow Life", "B3/S1237", "Life with survival on 1 and 7 neighbours too."),
    _of("Iceballs", "B25678/S5678", "Balls that freeze and grow."),
    _of("Logarithmic replicator rule|LogLife", "B36/S245",
        "Has a replicator whose copies spread ever more slowly."),
    _of("Bacteria", "B34/S456", "Patterns grow at their edges as colonies do."),
    _of("Geology", "B3578/S24678", "Layers as of rocks."),
    _of("Land Rush", "B36/S234578", "Patches of land grow in slow rushes."),
    _of("Plow World", "B378/S012345678", "Nothing dies; growth ploughs through space."),
    _of("Blinkers", "B345/S2", "Soups leave blinkers behind."),
    _of("Electrified Maze", "B45/S12345", "A maze whose dead ends stay active."),
    _of("AntiLife", "B0123478/S01234678", "Life with live and dead exchanged."),
    _of("Just Friends", "B2-a/S12",
        "David Bell's rule: two neighbours give birth unless they touch; small spaceships."),
    _of("tlife", "B3/S2-i34q", "Close to Life, with small spaceships of its own."),
    _of("Hexagonal Life|Hexlife", "B2/S34H",
        "A rule of six neighbours with gliders and oscillators."),
    _of("Parity", "B13/S024V", "Fredkin's copying rule of a cell and the four beside it."),
    _of("Rule 22", "W22", "One cell becomes Sierpinski's triangle, denser than that of rule 90."),
    _of("Rule 30", "W30", "One cell becomes chaos that passes for random."),
    _of("Rule 54", "W54", "Particles that cross and collide on a periodic ground."),
    _of("Rule 90", "W90", "One cell becomes Sierpinski's triangle: the parity of two neighbours."),
    _of("Rule 110", "W110", "Can compute whatever can be computed, as Matthew Cook proved."),
    _of("Rule 184", "W184", "Cars on a road: each moves on where the place before it is free."),
    _of("Brian's Brain|BriansBrain", "/2/3",
        "Brian Silverman's rule: cells fire, rest, and may fire again; spaceships everywhere."),
    _of("Star Wars|StarWars", "345/2/4",
        "Mirek Wojtowicz's rule of ships that shoot on lasting walls."),
    _of("Banners", "2367/3457/5", "Explodes into waving bands."),
    _of("Bloomerang", "234/34678/24", "Expands in blossoms that come back."),
    _of("Bombers", "345/24/25", "Ships that leave long trails of ageing cells."),
    _of("Burst", "0235678/3468/9", "Expands in bursts."),
    _of("Circuit Genesis", "2345/1234/8", "Grows what looks like the tracks of circuits."),
    _of("Cooties", "23/2/8", "Rudy Rucker's rule of many small moving things."),
    _of("Ebb & Flow|Ebb and Flow", "012478/36/18", "Waves that come and go."),
    _of("Faders", "2/2/25", "Ships with long tails that fade."),
    _of("Fireworks", "2/13/21", "Explodes as fireworks do."),
    _of("Frogs", "12/34/3", "Scott Robert Ladd's chaotic rule of things that leap."),
    _of("Lava", "12345/45678/8", "Expands as slow, glowing flows."),
    _of("Lines", "012345/458/3", "Settles to lines."),
    _of("Meteor Guns", "01245678/3/8", "Soups make guns of small fast ships."),
    _of("Nova", "45678/2478/25", "Expands as stars that burst."),
    _of("OrthoGo", "3/2/4", "Ships along rows and columns."),
    _of("Prairie on Fire", "345/34/6", "Fronts of fire that run and burn out."),
    _of("RainZha", "2/23/8", "Chaos with a texture as of rain."),
    _of("SediMental", "45678/25678/4", "Layers settle as sediment does."),
    _of("Spirals", "2/234/5", "Soups turn into spirals."),
    _of("Sticks", "3456/2/6", "Rudy Rucker's rule of sticks that grow."),
    _of("Transers", "345/26/5", "Ships that cross and leave walls."),
    _of("Xtasy", "1456/2356/16", "John Elliott's exploding rule."),
    _of("Bosco's Rule|Bosco|Bugs", "R5,C0,M1,S34..58,B34..45,NM",
        "Kellie Evans's rule of bugs: large rounded ships, and the oscillator Bosco."),
    _of("Bugsmovie", "R10,C0,M1,S123..212,B123..170,NM", "David Griffeath's rule of larger bugs."),
    _of("Globe", "R8,C0,M0,S163..223,B74..252,NM", "Mirek Wojtowicz's rule that expands."),
    _of("Majorly", "R7,C0,M1,S113..225,B113..225,NM", "A majority vote among 225 cells."),
    _of("ModernArt", "R10,C255,M1,S2..3,B3..3,NM",
        "Charles Rockafellor's rule of 255 states that paints."),
    _of("Waffle", "R7,C0,M1,S100..200,B75..170,NM", "Kellie Evans's rule that grows waffles."),
)  # fmt: skip

_BY_NAME = {name.casefold(): named for named in NAMED for name in (named.name, *named.others)}


def find(name: str) -> NamedRule | None:
    """Return the rule of a name, in any case of letters; None where there is none."""
    return _BY_NAME.get(name.casefold())


def names() -> list[str]:
    """Return all names, in small letters."""
    return list(_BY_NAME)
