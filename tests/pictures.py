"""The README's pictures: ``python -m tests.pictures`` plays an exercise and takes them.

The app is the real one, with its bridge and the rehearsal, in a practice workspace of its own. The
asciicast of the first minute is made with them (`tests.cast`).
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

from rich.cells import cell_len
from textual.pilot import Pilot

from tests import cast
from tests.support.sources import ROOT
from tui.cli.composition import Composition
from tui.cli.models import SessionSetup, resolve
from tui.cli.open_app import options_for
from tui.cli.options import ModelFlags
from tui.cli.practice import ensure
from tui.core.document.hunk import Stage
from tui.engine.intents import Accept, Interrupt, Prompt, Verify
from tui.engine.session import Session
from tui.settings import Paths, Settings, VerifySettings
from tui.ui.app import DuettoApp

FOLDER = ROOT / "docs" / "pictures"
FIRST = "make the cache safe for threads"
SECOND = "make the cache safe for threads, with a plain Lock"
PATIENCE_S = 30.0


async def main() -> None:
    """Play and take all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for size, suffix in (((120, 34), ""), ((80, 24), "-80x24")):
        with tempfile.TemporaryDirectory() as home:
            os.environ["DUETTO_HOME"] = home
            await play(size, suffix)


async def play(size: tuple[int, int], suffix: str) -> None:
    """One exercise from the prompt to green tests, at one size of the terminal."""
    paths = Paths.find()
    root = ensure(paths.data_dir)
    settings = Settings(verify=VerifySettings(command="pytest -q tests/test_cache.py"))
    setup = SessionSetup(root, settings, resolve(settings, ModelFlags(), {}), paths)
    composition = Composition(setup, options_for(setup))
    session = composition.session
    app = DuettoApp(session, workspace=str(root))
    async with app.run_test(size=size) as pilot:
        await until(lambda: session.status.connection == "ready")
        session.submit(Prompt(FIRST))
        await until(lambda: landing(session) and len(session.workspace.hunks) >= 3)
        await taken(pilot, f"landing{suffix}")
        session.submit(Interrupt())
        await until(lambda: not session.status.busy)
        session.submit(Prompt(SECOND))
        await until(lambda: session.status.busy)
        await until(lambda: not session.status.busy)
        await taken(pilot, f"redirect{suffix}")
        await pilot.press("f7", "n")
        await taken(pilot, f"review{suffix}")
        await pilot.press("escape")
        session.submit(Accept())
        session.submit(Verify())
        await until(lambda: session.status.verdict == "passed")
        await taken(pilot, f"green{suffix}")
    await composition.close()


def landing(session: Session) -> bool:
    """Whether a hunk is being written at this moment."""
    return any(hunk.stage is Stage.LANDING for hunk in session.workspace.hunks)


async def until(ready: Callable[[], object]) -> None:
    """Wait for a state of the session. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_S):
        while not ready():
            await asyncio.sleep(0.005)


async def taken(pilot: Pilot[int], name: str) -> None:
    """Write the screen as it is painted next."""
    painted = asyncio.Event()
    pilot.app.call_after_refresh(painted.set)
    await painted.wait()
    await asyncio.sleep(0.05)
    svg = pilot.app.export_screenshot(title="duetto")
    (FOLDER / f"{name}.svg").write_text(portable(svg), encoding="utf-8")


CELL = 12.2
"""Width of a character in Textual's pictures."""
TEXT = re.compile(
    r'<text(?P<style>[^>]*?) x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" textLength="[\d.]+"'
    r"(?P<clip>[^>]*)>(?P<before>(?:&#160;)*)(?P<words>.*?)(?:&#160;)*</text>"
)


def portable(svg: str) -> str:
    """Without fonts from elsewhere, and with names that are the same every time.

    Blanks at the ends of a text become its place: some renderers leave them out.
    """
    svg = TEXT.sub(_placed, svg)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.S)
    svg = svg.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")
    return re.sub(r"terminal-\d+", "terminal", svg)


def _placed(text: re.Match[str]) -> str:
    if not text["words"]:
        return ""
    x = float(text["x"]) + CELL * text["before"].count(";")
    length = CELL * cell_len(unescape(text["words"]))
    return (
        f'<text{text["style"]} x="{x:g}" y="{text["y"]}" textLength="{length:g}"{text["clip"]}>'
        f"{text['words']}</text>"
    )


if __name__ == "__main__":
    asyncio.run(main())
    cast.make(FOLDER / "first-minute.cast")
