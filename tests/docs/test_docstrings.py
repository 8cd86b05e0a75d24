"""Plain docstrings as reStructuredText: docs/extensions/docstrings.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).parents[2] / "docs" / "extensions" / "docstrings.py"


@pytest.fixture(scope="module")
def docstrings() -> ModuleType:
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("docstrings", PATH)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("Take `x` times\n`y`.", "Take ``x`` times ``y``."),
        ("Take `x`s, and *all x_ of a|b.", "Take ``x``\\ s, and \\*all x\\_ of a\\|b."),
        ("x, y: sizes. Of z: no parameter.", "``x``, ``y``\n    sizes. Of z: no parameter."),
        ("Go. x: how far. y: how fast.", "Go.\n\n``x``\n    how far.\n\n``y``\n    how fast."),
        ("x: a size. Raises ValueError for x: 0.", None),
        (">>> x: int = `2`\n>>> x_", ">>> x: int = `2`\n>>> x_"),
        ("- `a`\n- b", "- ``a``\n- b"),
    ],
)
def test_plain_text(plain: str, marked: str | None, docstrings: ModuleType) -> None:
    made = docstrings.converted(plain, ["x", "y"])
    if marked is None:
        first, second = made.split("\n\n")
        assert first == "``x``\n    a size."
        assert second.startswith("Raises ValueError")
    else:
        assert made == marked


def test_signatures_have_types_as_they_are_written(docstrings: ModuleType) -> None:
    class Thing:
        def method(self, words: npt.ArrayLike, path: os.PathLike[str]) -> np.ndarray: ...  # noqa: F821

    shown = docstrings.sign(None, "method", "", Thing.method, None, None, None)
    assert shown == ("(words: ArrayLike, path: PathLike[str])", "ndarray")
