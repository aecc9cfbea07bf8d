"""The syntax of what the screen shows, told by a process that stays."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from tests.support.composed import composed
from tests.support.tables import each
from tests.support.turns import update
from tui.cli.verifiers.finding import KeptSyntax, find_verifiers
from tui.cli.verifiers.project import Project
from tui.core.conversation import BlockKind
from tui.core.patches.landing import Landing
from tui.engine import intents
from tui.engine.ports import Part, VerifyCommand
from tui.settings import Settings, VerifySettings

Texts = dict[str, bytes | None]


def of(kept: KeptSyntax, root: Path, *paths: str) -> VerifyCommand:
    """The check of these files."""
    syntax = next(one for one in find_verifiers(Project(root, {}), 60.0) if one.kind == "syntax")
    served = kept.serving(syntax)
    assert served.part is not None
    small = served.part(Part(paths))
    assert small is not None
    return small


@each(
    "texts, said",
    [
        ({}, (0, b"")),
        ({"a.py": b"x = (\n"}, (1, b"a.py:1: '(' was never closed\n")),
        ({"a.py": "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1")}, (0, b"")),
        ({"a.py": b"x = '\xff'\n"}, 1),
        ({"b.json": b"{\n"}, 1),
        ({"a.py": b"(" * 100_000}, 1),
        ({"a.py": b""}, (0, b"")),
    ],
)
async def test_it_says_of_texts_what_a_run_says(
    tmp_path: Path, texts: Texts, said: tuple[int, bytes] | int
) -> None:
    for name, text in (("a.py", "x = 1\n"), ("b.json", "{}\n")):
        (tmp_path / name).write_text(text)
    kept = KeptSyntax(tmp_path)
    small = of(kept, tmp_path, "a.py", "b.json")
    assert small.at_once is not None
    found = await small.at_once(texts)
    assert found is not None
    assert (found if isinstance(said, tuple) else found[0]) == said
    await kept.close()


async def test_one_that_was_killed_is_started_again_and_what_hangs_is_run(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    kept = KeptSyntax(tmp_path)
    at_once = of(kept, tmp_path, "a.py").at_once
    assert at_once is not None
    assert await at_once({}) == (0, b"")
    process = kept._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    asks = asyncio.create_task(at_once({}))
    await asyncio.sleep(0)
    os.kill(process.pid, signal.SIGKILL)
    assert await asks is None
    assert await at_once({"a.py": b"("}) == (1, b"a.py:1: '(' was never closed\n")
    await kept.close()
    assert kept._process is None


async def test_f5_says_it_of_a_hunk_that_waits(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    settings = Settings(verify=VerifySettings(command="true"))
    async with composed(root, settings) as (seat, _):
        landing = Landing(seat.session.workspace, turn=1, call_id="call")
        landing.feed(update("a.py", "-x = 1", "+x = ("))
        landing.finish(cut=False)
        await seat.rests(intents.Verify())
        cards = [b for b in seat.session.transcript.blocks if b.kind is BlockKind.RUN]
        failed = [one for b in cards if b.report for one in b.report.failed]
    assert [(one.path, one.message) for one in failed] == [("a.py", "'(' was never closed")]
