"""The direction of the arrows: contracts on imports, and what a fresh interpreter really loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.sizes import cycles, imported, imports_of_modules
from tests.support.sources import ROOT, Source, package, reads_all

CORE_MODULES = [source.module for source in package() if source.path.startswith("tui/core/")]


IN_CYCLES: set[str] = set()
"""Modules that import each other today, most for types only: the list may only shrink."""


@reads_all
def test_no_modules_import_each_other_not_even_for_types() -> None:
    assert {" ".join(sorted(ring)) for ring in cycles(imports_of_modules())} == IN_CYCLES


def test_cycles_are_found_over_others_and_under_type_checking() -> None:
    text = "import os\nif TYPE_CHECKING:\n    from a import b, c\ndef f():\n    import d\n"
    source = Source("x.py")
    source.__dict__["text"] = text
    assert {*imported(source, {"a", "a.b", "d", "os"})} == {"os", "a.b", "a"}
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}, "g": ()}
    rings = cycles({name: frozenset(found) for name, found in graph.items()})
    assert rings == {frozenset("abc"), frozenset("de")}


def loaded_by(code: str, *, home: Path) -> set[str]:
    """Modules that a fresh interpreter has after running ``code``."""
    script = f"{code}\nimport sys\nprint('\\n@@' + ' '.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"PATH": "", "DUETTO_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "@@" in ran.stdout, ran.stderr
    return set(ran.stdout.rpartition("@@")[2].split())


def test_the_core_loads_nothing_of_the_outside(tmp_path: Path) -> None:
    code = "\n".join(f"import {module}" for module in CORE_MODULES)
    loaded = loaded_by(code, home=tmp_path)
    assert loaded & {"asyncio", "textual", "rich", "websockets", "click", "watchfiles"} == set()
    ours = {name for name in loaded if name.startswith("tui.") and not name.startswith("tui.core")}
    assert ours <= {"tui.errors"}


def test_what_asks_a_cluster_asks_no_model(tmp_path: Path) -> None:
    """Attempts are answered by endpoints of their own, never through workers."""
    loaded = loaded_by("import tui.cli.cluster.client", home=tmp_path)
    assert "tui.cli.cluster.worker" in loaded
    assert loaded & {"tui.effects.wire", "tui.bridge", "tui.cli.network", "aiohttp"} == set()


def test_the_engine_loads_no_screen_and_no_socket(tmp_path: Path) -> None:
    loaded = loaded_by("import tui.engine.session", home=tmp_path)
    assert loaded & {"textual", "rich", "websockets", "tui.ui", "tui.effects", "tui.cli"} == set()


def test_what_needs_no_screen_loads_none(tmp_path: Path) -> None:
    runs = "\n".join(f"run([{argument!r}])" for argument in ("--version", "--help", "exce"))
    loaded = loaded_by(f"from tui.cli.main import run\n{runs}", home=tmp_path)
    heavy = {"textual", "rich", "websockets", "watchfiles", "tui.engine.session", "pytest"}
    assert loaded & heavy == set()


def test_commands_without_a_screen_load_no_textual(tmp_path: Path) -> None:
    commands = ("exec", "apply", "bridge", "doctor")
    runs = "\n".join(f"run([{command!r}, '--help'])" for command in commands)
    assert "textual" not in loaded_by(f"from tui.cli.main import run\n{runs}", home=tmp_path)


def test_the_bridge_loads_no_screen_and_no_engine(tmp_path: Path) -> None:
    loaded = loaded_by("import tui.bridge.server", home=tmp_path)
    assert loaded & {"textual", "rich", "tui.ui", "tui.engine", "tui.effects", "tui.cli"} == set()


_FIRST_PAINT = """
import tui.cli.main, tui.cli.open_app, tui.cli.composition
from tests.support.scripted_session import ScriptedSession
from tui.ui.app import DuettoApp
class Painted(DuettoApp):
    def _start(self):
        self.exit(0)
assert Painted(ScriptedSession().as_session()).run(headless=True) == 0
"""


def test_the_first_paint_waits_for_nothing_that_comes_later(tmp_path: Path) -> None:
    """Each of these costs 3 to 50 ms; what the first answer or the first file needs can wait."""
    later = {
        "websockets",
        "urllib.request",
        "markdown_it",
        "pathspec",
        "pygments",
        "watchfiles",
        "tui.effects.wire",
        "tui.effects.watcher",
        "tui.effects.git",
        "tui.ui.highlight.colours",
        "tui.ui.files.finder",
        "tui.ui.files.file_tree",
        "tui.ui.screens.help",
        "tui.ui.screens.dialogs",
    }
    assert loaded_by(_FIRST_PAINT, home=tmp_path) & later == set()
