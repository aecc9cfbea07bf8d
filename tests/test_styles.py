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

from tests.support.sources import ROOT, Source, reads_all, sources

pytestmark = reads_all

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
SCREEN = ("tui/ui/", "tui/cli/open_app.py")
COLOUR = re.compile(
    r"#[0-9a-fA-F]{3,8}\b(?=[\s;])|\b(?:rgb|rgba|hsl|hsla)\(|"
    r"(?:^|\s)(?:color|background|border[\w-]*|tint)\s*:[^;]*"
    r"\b(?:red|green|blue|white|black|yellow|cyan|magenta|gr[ae]y|orange|ansi_\w+)\b"
)


def test_styles_hold_no_colour_and_belong_to_a_screen_or_a_widget() -> None:
    modules = list((ROOT / "tui" / "ui").rglob("*.py"))
    owners = {"base", *(path.stem for path in modules)}
    owners |= {f"{path.parent.name}_{path.stem}" for path in modules}
    assert TCSS
    assert {file.parent for file in TCSS} == {STYLES}
    assert {file.stem for file in TCSS} <= owners
    texts = {file.name: re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S) for file in TCSS}
    assert {name: found for name, text in texts.items() if (found := COLOUR.findall(text))} == {}


def test_themes_hold_colours_and_no_selector() -> None:
    assert THEMES
    for file in THEMES:
        text = file.read_text()
        assert tomllib.loads(text), file.name
        assert "{" not in re.sub(r"=\s*\{[^}]*\}", "", text), file.name


def hidden_styles(source: Source) -> Iterator[str]:
    """Styles belong in tcss files."""
    for node in source.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in ("DEFAULT_CSS", "CSS"):
                    yield f"{source.path}:{node.lineno} {target.id}"


def vague_names(source: Source) -> Iterator[str]:
    """A module is a noun of its own, and no module of the standard library."""
    stem = Path(source.path).stem
    clash = stem in sys.stdlib_module_names and not stem.startswith("__")
    if stem in VAGUE or (source.path.startswith("tui/") and clash):
        yield source.path


def catch_alls(source: Source) -> Iterator[str]:
    """Everything is caught in three places only, once in each."""
    if not source.path.startswith("tui/"):
        return
    handlers = (node for node in source.nodes if isinstance(node, ast.ExceptHandler))
    wide = [f"{source.path}:{one.lineno}" for one in handlers if catches_all(one)]
    yield from wide[1:] if source.path.startswith(CATCH_ALL) else wide


def catches_all(handler: ast.ExceptHandler) -> bool:
    """A bare except, or one of Exception; one of BaseException that ends in ``raise`` cleans up."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {node.id if isinstance(node, ast.Name) else "" for node in caught if node is not None}
    if handler.type is not None and not names & {"Exception", "BaseException"}:
        return False
    last = handler.body[-1]
    return not (isinstance(last, ast.Raise) and last.exc is None)


LOCK = ("tui/core/typed_data.py", "threading")
"""The core starts no thread, but is asked in many."""


def impurities(source: Source) -> Iterator[str]:
    """The core opens, prints and times nothing."""
    if not source.path.startswith("tui/core/"):
        return
    for node in source.nodes:
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in IMPURE_CALLS:
            yield f"{source.path}:{called.lineno} {called.id}()"
    for name, line in source.imports():
        if name.split(".")[0] in IMPURE_MODULES and (source.path, name) != LOCK:
            yield f"{source.path}:{line} {name}"


def waved_through(source: Source) -> Iterator[str]:
    """No check is switched off and nothing is left to do."""
    if "#" in source.text and WAVED.search(source.text):
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT and WAVED.match(token.string):
                yield f"{source.path}:{token.start[0]} {token.string}"


def missing_packages(source: Source) -> Iterator[str]:
    """Each folder with modules is a package."""
    if not (ROOT / source.path).with_name("__init__.py").exists():
        yield source.path


def private_imports(source: Source) -> Iterator[str]:
    """A name with an underscore is its module's own."""
    if source.path.startswith("tui/"):
        for name, line in source.imports():
            if name == "_thread":
                continue  # Python's own, and documented
            if any(part.startswith("_") and not part.startswith("__") for part in name.split(".")):
                yield f"{source.path}:{line} {name}"


def textual_elsewhere(source: Source) -> Iterator[str]:
    """Textual belongs to the screen."""
    if source.path.startswith("tui/") and not source.path.startswith(SCREEN):
        for name, line in source.imports():
            if name.split(".")[0] in ("textual", "rich"):
                yield f"{source.path}:{line} {name}"


def bare_inputs(source: Source) -> Iterator[str]:
    """A bare `Input` paints what is in it as it is, control characters too."""
    if source.path.startswith("tui/") and source.path != "tui/ui/widgets/field.py":
        for node in source.nodes:
            made = [node.func] if isinstance(node, ast.Call) else getattr(node, "bases", [])
            if "Input" in (getattr(one, "id", getattr(one, "attr", "")) for one in made):
                yield f"{source.path}:{getattr(node, 'lineno', 0)}"


RULES = (
    hidden_styles,
    vague_names,
    catch_alls,
    impurities,
    waved_through,
    missing_packages,
    private_imports,
    textual_elsewhere,
    bare_inputs,
)


def test_every_module_keeps_the_rules() -> None:
    broken = [
        f"{rule.__name__}: {one}" for rule in RULES for each in sources() for one in rule(each)
    ]
    assert broken == []
