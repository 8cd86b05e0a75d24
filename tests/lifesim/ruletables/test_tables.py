"""Tables and trees against what they say, cell by cell."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.tables.rules import CELLS, TableRule
from lifesim.ruletables import RuleFileError, parse
from tests.quick import examples

# Listed as a table lists them; angles of the compass clockwise from north, in eighths of a turn.
AROUND = {
    "vonNeumann": [(-1, 0), (0, 1), (1, 0), (0, -1)],
    "Moore": [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)],
    "hexagonal": [(-1, 0), (0, 1), (1, 1), (1, 0), (0, -1), (-1, -1)],
    "oneDimensional": [(0, -1), (0, 1)],
}
SYMMETRIES = {
    "vonNeumann": "none rotate4 rotate4reflect reflect_horizontal permute",
    "Moore": "none rotate4 rotate8 rotate4reflect rotate8reflect reflect_horizontal permute",
    "hexagonal": "none rotate2 rotate3 rotate6 rotate6reflect permute",
    "oneDimensional": "none reflect permute",
}


Fits = Callable[[list[list[int]], tuple[int, ...]], bool]


def fits_in_some_order(sets: list[list[int]], states: tuple[int, ...]) -> bool:
    """Tell whether each set can be given a state of its own."""
    return not states or any(
        states[0] in one and fits_in_some_order([*sets[:i], *sets[i + 1 :]], states[1:])
        for i, one in enumerate(sets)
    )


def fits_by(around: str, symmetry: str) -> Fits:
    """Return what tells whether neighbours fit sets in one of the orders of a symmetry."""
    if symmetry == "permute":
        return fits_in_some_order
    orders = equal_orders(around, symmetry)
    return lambda sets, states: any(
        all(states[i] in sets[k] for k, i in enumerate(order)) for order in orders
    )


def equal_orders(around: str, symmetry: str) -> set[tuple[int, ...]]:
    """Return all orders of neighbours that a symmetry makes equal."""
    count = len(AROUND[around])
    turns = int(next((c for c in symmetry if c.isdigit()), "1"))
    orders = {tuple((i + k * count // turns) % count for i in range(count)) for k in range(turns)}
    if "reflect" in symmetry:
        mirrored = (
            [AROUND[around].index((y, -x)) for y, x in AROUND[around]]
            if around != "hexagonal"
            else [-i % count for i in range(count)]
        )
        orders |= {tuple(order[i] for i in mirrored) for order in orders}
    return orders


def next_state(rule: TableRule, near: dict[tuple[int, int], int]) -> int:
    node = 0
    for level, cell in zip(rule.levels, CELLS, strict=True):
        at = 4 * (rule.states * node + near.get(cell, 0))
        node = int.from_bytes(level[at : at + 4], "little")
    return node


Transition = tuple[list[str], str]  # the cell and its neighbours, and the next state


def defined(
    transitions: list[Transition],
    variables: dict[str, list[int]],
    fits: Fits,
    cell: int,
    around: tuple[int, ...],
) -> int:
    """Return the next state as the format says it: the first transition that fits."""
    for words, output in transitions:
        bound = sorted(w for w in variables if [*words, output].count(w) > 1)
        for chosen in product(*(variables[w] for w in reversed(bound))):
            state = dict(zip(reversed(bound), chosen, strict=True))
            sets = [
                [state[w]] if w in state else variables[w] if w in variables else [int(w)]
                for w in words
            ]
            if cell in sets[0] and fits(sets[1:], around):
                return state[output] if output in state else int(output)
    return cell


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    ("around", "symmetry"), [(k, s) for k, names in SYMMETRIES.items() for s in names.split()]
)
def test_a_table_is_what_its_transitions_say(around: str, symmetry: str) -> None:
    fits = fits_by(around, symmetry)

    @settings(max_examples=examples(20), deadline=None)
    @given(st.integers(2, 4), st.integers(0, 10**6))
    def check(states: int, seed: int) -> None:
        draw = random.Random(seed)
        variables = {
            name: draw.sample(range(states), draw.randrange(1, states + 1)) for name in "abcd"
        }
        transitions: list[Transition] = []
        count = len(AROUND[around]) + 1
        choices = [*map(str, range(states)), *"aabbccdd"]
        for _ in range(draw.randrange(5)):
            words = [draw.choice(choices) for _ in range(count)]
            outputs = [w for w in words if w in variables] + [str(draw.randrange(states))]
            transitions.append((words, draw.choice(outputs)))
        lines = [f"n_states:{states}", f"neighborhood:{around}", f"symmetries:{symmetry}"]
        lines += [f"var {k}={{{','.join(map(str, v))}}}" for k, v in variables.items()]
        lines += [", ".join([*words, output]) for words, output in transitions]
        rule = parse("\n".join(lines).encode(), "x.table").cells
        for _ in range(40):
            cell = draw.randrange(states)
            near = tuple(draw.randrange(states) for _ in AROUND[around])
            if transitions and draw.random() < 0.7:  # one that some transition may fit
                words = [
                    draw.choice(variables[w]) if w in variables else int(w)
                    for w in draw.choice(transitions)[0]
                ]
                cell, near = words[0], tuple(words[1:])
            found = next_state(rule, {(0, 0): cell, **dict(zip(AROUND[around], near, strict=True))})
            assert found == defined(transitions, variables, fits, cell, near), (lines, near)

    check()


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2, 4), st.sampled_from((4, 8)), st.integers(0, 10**6))
def test_a_tree_is_what_its_nodes_say(states: int, neighbours: int, seed: int) -> None:
    draw = random.Random(seed)
    nodes: list[tuple[int, list[int]]] = []
    depths: dict[int, list[int]] = {}
    for depth in range(1, neighbours + 2):
        for _ in range(1 if depth > neighbours else draw.randrange(1, 6)):
            below = depths[depth - 1] if depth > 1 else range(states)
            depths.setdefault(depth, []).append(len(nodes))
            nodes.append((depth, [draw.choice(below) for _ in range(states)]))
    head = f"num_states={states}\nnum_neighbors={neighbours}\nnum_nodes={len(nodes)}\n"
    text = head + "\n".join(" ".join(map(str, [d, *entries])) for d, entries in nodes)
    rule = parse(f"@RULE x\n@TREE\n{text}\n".encode(), "x.rule").cells
    order = [(-1, 0), (0, -1), (0, 1), (1, 0), (0, 0)]
    if neighbours == 8:
        order = [(-1, -1), (-1, 1), (1, -1), (1, 1), *order]
    for _ in range(60):
        near = {cell: draw.randrange(states) for cell in CELLS}
        node = len(nodes) - 1
        for cell in order:
            node = nodes[node][1][near[cell]]
        assert next_state(rule, near) == node


def test_equal_rules_are_equal() -> None:
    """However a function is written down, its rule is the same."""
    head = "n_states:3\nneighborhood:vonNeumann\nsymmetries:{}\n"
    one = head.format("rotate4") + "var a={1,2}\n0,a,0,0,0,1\n"
    other = head.format("none") + "".join(
        f"0,{','.join(str(s if i == k else 0) for i in range(4))},1\n"
        for s in (2, 1)
        for k in range(4)
    )
    again = other.replace("symmetries:none", "symmetries:permute") + "0,2,0,0,0,2\n"
    bare = one.replace("a={", "a{")
    rules = {parse(text.encode(), "x.table").cells for text in (one, other, again, bare)}
    assert len(rules) == 1


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("1,0,0,0,0,2", 1, "n_states is missing"),
        ("n_states:1", 1, "2 to 256"),
        ("n_states:257", 1, "2 to 256"),
        ("n_states:x", 1, "2 to 256"),
        ("n_states:3\nneighborhood:round", 2, "no neighborhood 'round'"),
        ("n_states:3\nsymmetries:none", 2, "before neighborhood"),
        ("n_states:3\nneighborhood:Moore\nsymmetries:rotate6", 3, "no symmetries"),
        ("HEAD1,0,0,0,2", 4, "6 entries, not 5"),
        ("HEAD1,0,0,0,0,2,2", 4, "6 entries, not 7"),
        ("HEAD1 0 0 0 0 2", 4, "entries"),
        ("HEAD1,0,0,0,0,3", 4, "state 3, where 2 is the last"),
        ("HEAD1,0,0,0,0,-1", 4, "'-1' is no state"),
        ("HEAD1,0,0,b,0,1", 4, "'b' is no state"),
        ("HEADvar a={1,2}\n1,0,0,0,0,a", 5, "may be any of several"),
        ("HEADvar a={1,2}\n100002", 5, "entries"),
        ("HEADvar a={}", 4, "'' is no state"),
        ("HEADvar a={1,9}", 4, "state 9"),
        ("HEAD" + "var a={b}", 4, "'b' is no state"),
        ("HEAD100002\nn_states:4", 5, "behind"),
        ("HEAD" + "\x1b[2J" + "x" * 99, 4, r"entries"),
        ("HEAD1,0,0,\x1b[2J,0,1", 4, r"'\\x1b\[2J'"),
    ],
)
def test_tables_that_are_refused(text: str, line: int, what: str) -> None:
    """One line says what is wrong, and where; nothing of the file reaches the terminal as it is."""
    head = "n_states:3\nneighborhood:vonNeumann\nsymmetries:none\n"
    with pytest.raises(RuleFileError, match=rf"^x.table, line {line}: .*{what}") as refused:
        parse(text.replace("HEAD", head).encode(), "x.table")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("num_states=2\nnum_neighbors=5\nnum_nodes=5", "line 2: num_neighbors is 4 or 8"),
        ("num_states=300", "line 1: num_states is 2 to 256"),
        ("num_states=2\n1 0 1", "line 2: num_neighbors is missing"),
        ("num_states=256\nnum_neighbors=8\nnum_nodes=9999999", "line 3: num_nodes is 1 to"),
        ("HEAD1 0 1\n2 0 1", "line 5: node 1 is not there yet"),
        ("HEAD1 0 2", "line 4: state 2, where 1 is the last"),
        ("HEAD1 0", "line 4: a node has 3 numbers, not 2"),
        ("HEAD1 0 x", "line 4: 'x' is no number"),
        ("HEAD6 0 1", "line 4: depth 6"),
        ("HEAD1 0 1\n3 0 0", "line 5: a node of depth 3 leads to depth 2"),
        ("HEAD1 0 1\n2 0 0\n3 1 1\n4 2 2\n4 2 2", "line 8: the last node"),
        ("HEAD" + "1 0 1\n" * 6, "line 9: more nodes than num_nodes, 5"),
        ("HEAD1 0 1", "line 4: the last node"),
        (
            "num_states=2\nnum_neighbors=4\nnum_nodes=6\n1 0 1\n2 0 0\n3 1 1\n4 2 2\n5 3 3",
            "line 8: 5 nodes, where num_nodes is 6",
        ),
    ],
)
def test_trees_that_are_refused(text: str, what: str) -> None:
    head = "num_states=2\nnum_neighbors=4\nnum_nodes=5\n"
    with pytest.raises(RuleFileError, match=f"^x.tree, {what}"):
        parse(text.replace("HEAD", head).encode(), "x.tree")


@pytest.mark.parametrize(
    "text",
    [
        "n_states:256\nneighborhood:Moore\nsymmetries:permute\n"
        + "".join(f"var {c}={{{','.join(map(str, range(256)))}}}\n" for c in "abcd")
        + "a,a,b,b,c,c,d,d,0,1\n",
        "n_states:9\nneighborhood:Moore\nsymmetries:permute\n"
        + "".join(f"{i},1,2,3,4,5,6,7,8,0\n" for i in range(9)),
    ],
)
def test_tables_that_are_too_much(text: str) -> None:
    """A few lines that stand for very many transitions are refused before these are made."""
    with pytest.raises(RuleFileError, match="more than 131072 transitions"):
        parse(text.encode(), "x.table")


def test_a_table_without_a_small_diagram_is_refused() -> None:
    draw = random.Random(1)
    lines = ["n_states:256", "neighborhood:Moore", "symmetries:none"]
    for i in range(40):
        lines.append(f"var v{i}={{{','.join(map(str, draw.sample(range(256), 128)))}}}")
    lines += [",".join(draw.sample([f"v{i}" for i in range(40)], 9)) + ",1" for _ in range(40)]
    with pytest.raises(RuleFileError, match="too many cases"):
        parse("\n".join(lines).encode(), "x.table")


@settings(max_examples=examples(100), deadline=None)
@given(
    st.binary(max_size=200) | st.text("@TABLREvar n_states:=0123456789,{}\n#", max_size=200),
    st.sampled_from((".rule", ".table", ".tree")),
)
def test_any_bytes_are_read_or_refused(data: bytes | str, kind: str) -> None:
    given = data if isinstance(data, bytes) else data.encode()
    with contextlib.suppress(RuleFileError):
        assert parse(given, "x" + kind).cells.states >= 2
