"""House style that a linter does not know."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import ROOT, Source, package, sources

STYLES = ROOT / "tui" / "ui" / "styles"
TCSS = sorted((ROOT / "tui").rglob("*.tcss"))
THEMES = sorted((ROOT / "themes").glob("*.toml"))
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "tools2"}
CATCH_ALL = (
    "tui/cli/main.py",  # the last handler
    "tui/ui/app.py",  # the app's last handler
    "tui/engine/supervisor.py",  # the task supervisor
    "tui/bridge/endpoints/",  # the plug-in edge
)
WAVED = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma: no cover|TODO|FIXME|XXX)")
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint"}
IMPURE_MODULES = {"asyncio", "random", "time", "os", "socket", "subprocess", "threading"}
COLOUR = re.compile(
    r"#[0-9a-fA-F]{3,8}\b(?=[\s;])|\b(?:rgb|rgba|hsl|hsla)\(|"
    r"(?:^|\s)(?:color|background|border[\w-]*|tint)\s*:[^;]*"
    r"\b(?:red|green|blue|white|black|yellow|cyan|magenta|gr[ae]y|orange|ansi_\w+)\b"
)

each_module = pytest.mark.parametrize("source", package(), ids=lambda source: source.path)
each_source = pytest.mark.parametrize("source", sources(), ids=lambda source: source.path)
each_tcss = pytest.mark.parametrize("file", TCSS, ids=lambda file: file.name)
each_theme = pytest.mark.parametrize("file", THEMES, ids=lambda file: file.name)


@each_tcss
def test_styles_hold_no_colour(file: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
    assert [found[0] for found in COLOUR.finditer(text)] == []


@each_tcss
def test_styles_belong_to_a_screen_or_a_widget(file: Path) -> None:
    modules = list((ROOT / "tui" / "ui").rglob("*.py"))
    owners = {path.stem for path in modules} | {
        f"{path.parent.name}_{path.stem}" for path in modules
    }
    assert file.parent == STYLES
    assert file.stem == "base" or file.stem in owners


def test_there_are_styles_and_themes() -> None:
    assert TCSS
    assert THEMES


@each_theme
def test_themes_hold_colours_and_no_selector(file: Path) -> None:
    theme = tomllib.loads(file.read_text())
    text = file.read_text()
    assert theme
    assert "{" not in re.sub(r"=\s*\{[^}]*\}", "", text)
    assert re.search(r"^\s*[.#&][\w-]+\s", text, re.M) is None or all(
        isinstance(value, (str, int, float, bool, dict)) for value in theme.values()
    )


@each_module
def test_no_style_hides_in_a_module(source: Source) -> None:
    names = [
        target.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("DEFAULT_CSS", "CSS")
    ]
    assert names == []


@each_source
def test_modules_are_nouns_of_their_own(source: Source) -> None:
    stem = Path(source.path).stem
    assert stem not in VAGUE
    if source.path.startswith("tui/"):
        parents = source.path.split("/")
        # a command's module is called as the command is; inside a package no top-level
        # standard-library name is hidden, but a reader should not have to think of that
        clash = stem in sys.stdlib_module_names and not stem.startswith("__")
        assert not clash, f"{'/'.join(parents)} is called like a module of the standard library"


@each_module
def test_everything_is_caught_in_three_places_only(source: Source) -> None:
    wide = [
        f"{source.path}:{handler.lineno}"
        for handler in handlers(source.tree)
        if catches_all(handler)
    ]
    if source.path.startswith(CATCH_ALL):
        assert len(wide) <= 1
    else:
        assert wide == []


def handlers(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler))


def catches_all(handler: ast.ExceptHandler) -> bool:
    """A bare except, or one of Exception; one of BaseException that ends in ``raise`` cleans up."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {node.id if isinstance(node, ast.Name) else "" for node in caught if node is not None}
    if handler.type is not None and not names & {"Exception", "BaseException"}:
        return False
    last = handler.body[-1]
    return not (isinstance(last, ast.Raise) and last.exc is None)


@each_module
def test_the_core_is_pure(source: Source) -> None:
    if not source.path.startswith("tui/core/"):
        return
    calls = [
        f"{source.path}:{node.lineno} {node.func.id}()"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in IMPURE_CALLS
    ]
    imported = [
        f"{source.path}:{line} {name}"
        for name, line in source.imports()
        if name.split(".")[0] in IMPURE_MODULES
    ]
    assert calls + imported == []


@each_source
def test_nothing_is_waved_through(source: Source) -> None:
    waved = [
        f"{source.path}:{token.start[0]} {token.string}"
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline)
        if token.type == tokenize.COMMENT and WAVED.match(token.string)
    ]
    assert waved == []


@each_source
def test_every_package_is_a_package(source: Source) -> None:
    assert (ROOT / source.path).with_name("__init__.py").exists()
