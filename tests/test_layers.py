"""The direction of the arrows: contracts on imports, and what a fresh interpreter really loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sources import ROOT, package

CORE_MODULES = [source.module for source in package() if source.path.startswith("tui/core/")]


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


def test_import_contracts_hold() -> None:
    ran = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]


def test_the_core_loads_nothing_of_the_outside(tmp_path: Path) -> None:
    code = "\n".join(f"import {module}" for module in CORE_MODULES)
    loaded = loaded_by(code, home=tmp_path)
    assert loaded & {"asyncio", "textual", "rich", "websockets", "click", "watchfiles"} == set()
    ours = {name for name in loaded if name.startswith("tui.") and not name.startswith("tui.core")}
    assert ours <= {"tui.errors"}


def test_the_engine_loads_no_screen_and_no_socket(tmp_path: Path) -> None:
    loaded = loaded_by("import tui.engine.session", home=tmp_path)
    assert loaded & {"textual", "rich", "websockets", "tui.ui", "tui.effects", "tui.cli"} == set()


@pytest.mark.parametrize("argument", ["--version", "--help", "exce"])
def test_what_needs_no_screen_loads_none(tmp_path: Path, argument: str) -> None:
    loaded = loaded_by(f"from tui.cli.main import run\nrun([{argument!r}])", home=tmp_path)
    heavy = {"textual", "rich", "websockets", "watchfiles", "tui.engine.session", "pytest"}
    assert loaded & heavy == set()


@pytest.mark.parametrize("command", ["exec", "apply", "bridge", "doctor", "bench"])
def test_commands_without_a_screen_load_no_textual(tmp_path: Path, command: str) -> None:
    code = f"from tui.cli.main import run\nrun([{command!r}, '--help'])"
    assert "textual" not in loaded_by(code, home=tmp_path)


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
        "tui.effects.git.status",
        "tui.ui.highlight.colours",
        "tui.ui.files.finder",
        "tui.ui.files.tree",
        "tui.ui.screens.help",
        "tui.ui.screens.leave",
    }
    assert loaded_by(_FIRST_PAINT, home=tmp_path) & later == set()
