"""What is imported before the first paint: ``python -m tests.first_paint`` writes the list anew.

Each line of ``tests/first_paint.txt`` costs every start its time. A new one belongs there only if
the first picture cannot be made without it; else import it where it is used, or in
`tui.ui.preload`, which runs right after the first paint.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.support.sources import ROOT

LIST = ROOT / "tests" / "first_paint.txt"
REASONS = {
    "tui.core.wire": "what a server can do is known from before: the status line says it",
    "tui.core": "buffers, hunks and the conversation, which the screen shows",
    "tui.engine": "the session that the screen shows; it starts after the first paint",
    "tui.effects": "what the composition root plugs in; sockets and watchers come later",
    "tui.bridge": "whether this is the practice workspace, whose exercises the prompt offers",
    "tui.cli": "the command line and the composition root",
    "tui.ui.conversation": "the conversation, with its welcome",
    "tui.ui.editor": "the editor, its tabs and bars",
    "tui.ui.keys": "the footer says what the keys do",
    "tui.ui.painting": "the way to the terminal",
    "tui.ui.prompt": "the prompt has the focus",
    "tui.ui.screens": "the workbench",
    "tui.ui.theming": "everything is painted in the theme's colours",
    "tui.ui.widgets": "header, panes, status line, footer",
    "tui.ui": "the app, the driver, the theme",
    "tui": "settings",
    "others": "Textual and Rich paint; click, msgspec and platformdirs read flags and settings",
}
"""Room, the most exact name wins -> why the first paint needs it."""

_RUN = """
import sys
import tui.cli.open_app as opening
from textual.app import App
from tui.cli.main import run
opening.require_screen = lambda: None
run_async = App.run_async
def headless(self, **more):
    type(self)._start = painted
    return run_async(self, headless=True, size=(120, 40))
def painted(self):
    print("\\n@@" + " ".join(sys.modules))
    self.exit(0)
App.run_async = headless
run([sys.argv[1]])
"""


def loaded() -> set[str]:
    """Our modules, and the names of others' packages, that ``duetto FOLDER`` has at its paint."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "work"
        work.mkdir()
        home = str(Path(place) / "home")
        ran = subprocess.run(
            [sys.executable, "-c", _RUN, str(work)],
            env={"PATH": os.defpath, "DUETTO_HOME": home, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "@@" in ran.stdout, ran.stdout[-2000:] + ran.stderr[-2000:]
    names = set(ran.stdout.rpartition("@@")[2].split())
    ours = {name for name in names if name.split(".")[0] == "tui"}
    tops = {name.split(".")[0] for name in names - ours}
    known = {name for name in tops if name in sys.stdlib_module_names or name.startswith("_")}
    return ours | (tops - known)


def room(module: str) -> str:
    """The entry of `REASONS` that a module belongs to."""
    found = [name for name in REASONS if module == name or module.startswith(f"{name}.")]
    return max(found, key=len, default="others")


def text_of(modules: set[str]) -> str:
    """The list as it is kept."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for module in sorted(modules):
        rooms[room(module)].append(module)
    parts = [f"# {name}: {REASONS[name]}\n" + "\n".join(rooms[name]) for name in sorted(rooms)]
    return "\n\n".join(parts) + "\n"


def listed() -> set[str]:
    """The modules of the list."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


if __name__ == "__main__":
    LIST.write_text(text_of(loaded()), encoding="utf-8")
