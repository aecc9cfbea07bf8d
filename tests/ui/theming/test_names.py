"""Every colour that a module or a style asks for by name is one that themes have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import ROOT, Source, package
from tui.ui.theming.mixes import MIXES, is_colour
from tui.ui.theming.pairs import GROUNDS, texts

TCSS = sorted((ROOT / "tui" / "ui" / "styles").glob("*.tcss"))
MODULES = [source for source in package() if source.path.startswith("tui/ui/")]
EXTRA = {"muted-over"}
"""Variables that are made of a theme's colours."""


def asked(source: Source) -> Iterator[tuple[str, int]]:
    """The names in calls of ``style(...)``: first the colour, then what it lies on."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name != "style":
            continue
        for argument in node.args[:2]:
            for one in choices(argument):
                if isinstance(one, ast.Constant):
                    yield str(one.value), node.lineno


def choices(node: ast.expr) -> Iterator[ast.expr]:
    """What ``a if x else b`` may be."""
    if isinstance(node, ast.IfExp):
        yield from choices(node.body)
        yield from choices(node.orelse)
    else:
        yield node


def test_modules_ask_for_colours_that_there_are() -> None:
    unknown = [
        f"{source.path}:{line} {name}"
        for source in MODULES
        for name, line in asked(source)
        if name and not is_colour(name)
    ]
    assert unknown == []


@pytest.mark.parametrize("file", TCSS, ids=lambda file: file.name)
def test_styles_ask_for_colours_that_there_are_and_that_read(file: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
    for block in re.findall(r"\{([^{}]*)\}", text):
        found = dict(re.findall(r"([\w-]+):[^;]*?\$([\w-]+)", block))
        for name in found.values():
            assert is_colour(name) or name in EXTRA, name
        colour, back = found.get("color"), found.get("background")
        assert colour is None or colour in texts() or colour in EXTRA, colour
        if back == "selection":
            assert colour in (None, "foreground", *EXTRA), f"{colour} may not read on it"
        assert back is None or back in (*GROUNDS, "selection", "line", "accent"), back


def test_every_mix_is_of_what_is_there_before_it() -> None:
    known = {"background", "foreground", "accent"}
    for name, (start, towards, share) in MIXES.items():
        assert {start, towards} <= known, name
        assert 0 <= share <= 1
        known.add(name)
