"""The README's pictures: ``python -m tests.pictures`` plays an exercise and takes them.

The app is the real one, with its bridge and the rehearsal, in a practice workspace of its own. The
asciicast of the first minute is made with them (`tests.cast`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
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


STILLS = ("landing", "redirect", "review", "green")
MOVING = (
    ("landing", 1.2),
    ("going on", 0.8),
    ("stopped", 3.5),
    ("typed", 1.8),
    ("redirect", 2.2),
    ("green", 3.5),
)
"""The moments of the moving picture, with the seconds of each."""


async def main() -> None:
    """Play and take all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for size, suffix in (((120, 34), ""), ((80, 24), "-80x24"), ((104, 28), None)):
        moments: dict[str, str] = {}
        while not moments:  # on a busy machine a moment is over before it was looked at
            with tempfile.TemporaryDirectory() as home, contextlib.suppress(MissedError):
                os.environ["DUETTO_HOME"] = home
                moments = await play(size)
        if suffix is None:
            whole = moving([(moments[name], seconds) for name, seconds in MOVING])
            (FOLDER / "freeze.svg").write_text(whole, encoding="utf-8")
            continue
        for name in STILLS:
            (FOLDER / f"{name}{suffix}.svg").write_text(moments[name], encoding="utf-8")


async def play(size: tuple[int, int]) -> dict[str, str]:
    """One exercise from the prompt to green tests: the pictures of its moments."""
    paths = Paths.find()
    root = ensure(paths.data_dir)
    settings = Settings(verify=VerifySettings(command="pytest -q tests/test_cache.py"))
    setup = SessionSetup(root, settings, resolve(settings, ModelFlags(), {}), paths)
    composition = Composition(setup, options_for(setup))
    session, moments = composition.session, dict[str, str]()
    app = DuettoApp(session, workspace=str(root))
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(composition.close)
        pilot = await stack.enter_async_context(app.run_test(size=size))
        await until(lambda: session.status.connection == "ready")
        session.submit(Prompt(FIRST))
        await until(lambda: session.status.busy)
        await caught(session, 3)
        moments["landing"] = await taken(pilot)
        await caught(session, 4)
        moments["going on"] = await taken(pilot)
        session.submit(Interrupt())
        await until(lambda: not session.status.busy)
        if not session.workspace.hunk_list.cut():
            raise MissedError
        moments["stopped"] = await taken(pilot)
        app.bench.prompt_box.restore(SECOND)
        moments["typed"] = await taken(pilot)
        app.bench.prompt_box.prompt.clear()
        session.submit(Prompt(SECOND))
        await until(lambda: session.status.busy)
        await until(lambda: not session.status.busy)
        moments["redirect"] = await taken(pilot)
        await pilot.press("f7", "n")
        moments["review"] = await taken(pilot)
        await pilot.press("escape")
        session.submit(Accept())
        session.submit(Verify())
        await until(lambda: session.status.verdict == "passed")
        moments["green"] = await taken(pilot)
    return moments


def moving(frames: Sequence[tuple[str, float]]) -> str:
    """One SVG that shows pictures one after the other, each so many seconds, again and again.

    Where nothing moves, be it that the user wants it so, the last one is shown.
    """
    total, at_s = sum(seconds for _, seconds in frames), 0.0
    rules = [
        f".frame {{ visibility: hidden; animation: {total:g}s step-end infinite }}",
        f".frame-{len(frames) - 1} {{ visibility: visible }}",
        "@media (prefers-reduced-motion: reduce) { .frame { animation: none } }",
    ]
    parts = []
    for number, (svg, seconds) in enumerate(frames):
        head, inner = svg.split(">", 1)
        inner = re.sub(r"\bterminal-", f"t{number}-", inner).replace("rich-terminal", "")
        begins, ends = 100 * at_s / total, 100 * (at_s + seconds) / total
        first = "visible" if not number else "hidden"
        rules.append(
            f".frame-{number} {{ animation-name: shown-{number} }} @keyframes shown-{number} {{"
            f" 0% {{ visibility: {first} }} {begins:.2f}% {{ visibility: visible }}"
            f" {ends:.2f}% {{ visibility: hidden }} }}"
        )
        parts.append(f'<g class="frame frame-{number}">{inner.rsplit("</svg>", 1)[0]}</g>')
        at_s += seconds
    return f"{head}><style>{' '.join(rules)}</style>{''.join(parts)}</svg>\n"


class MissedError(Exception):
    """The answer was over before the moment was seen."""


async def caught(session: Session, count: int) -> None:
    """Wait for the moment in which this hunk, or a later one, is being written."""

    def landing() -> bool:
        hunks = session.workspace.hunks
        return len(hunks) >= count and any(hunk.stage is Stage.LANDING for hunk in hunks)

    await until(lambda: landing() or not session.status.busy)
    if not landing():
        raise MissedError


async def until(ready: Callable[[], object]) -> None:
    """Wait for a state of the session. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_S):
        while not ready():
            await asyncio.sleep(0.005)


async def taken(pilot: Pilot[int]) -> str:
    """The screen as it is painted next."""
    painted = asyncio.Event()
    pilot.app.call_after_refresh(painted.set)
    await painted.wait()
    await asyncio.sleep(0.05)
    return portable(pilot.app.export_screenshot(title="duetto"))


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
