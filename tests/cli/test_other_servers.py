"""Whole turns against servers of another make: interrupt, redirect, recovery, patches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.other_servers import running
from tests.support.seat import Seat
from tui.cli.composition import Composition
from tui.cli.models import Workplace, resolve
from tui.cli.options import ModelFlags
from tui.engine import intents
from tui.engine.session import SessionOptions
from tui.settings import Paths, Settings

pytestmark = pytest.mark.slow


@asynccontextmanager
async def seated(tmp_path: Path, url: str) -> AsyncIterator[Seat]:
    """A session over that server."""
    root = tmp_path / "work"
    root.mkdir(exist_ok=True)
    models = resolve(Settings(), ModelFlags(endpoint=url, fast="m", deep="n"), {})
    paths = Paths.find({"DUETTO_HOME": str(tmp_path / "home")})
    composition = Composition(
        Workplace(root, Settings(), models, paths), SessionOptions(), watched=False
    )
    try:
        yield Seat(composition.session)
    finally:
        await composition.close()


def sent(record: Path) -> list[tuple[int, dict[str, Any]]]:
    """The client's frames: number of the connection, frame."""
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return [(d["conn"], d["frame"]) for d in lines if d["dir"] == "c2s" and "type" in d["frame"]]


@pytest.mark.parametrize(
    ("manner", "connections"),
    [("accept", 1), ("accept_keep", 1), ("fail", 2), ("error400", 2), ("ignore", 2)],
)
async def test_a_redirect_whatever_the_server_makes_of_interrupts(
    tmp_path: Path, manner: str, connections: int
) -> None:
    record = tmp_path / "frames.jsonl"
    async with (
        running("recserver.py", "--rec", str(record), "--interrupt", manner) as url,
        seated(tmp_path, url) as seat,
    ):
        seat.session.submit(intents.Prompt("SLOW story"))
        await seat.until(lambda: "alpha" in seat.said())
        seat.session.submit(intents.Prompt("PLAIN again"))
        frozen = seat.said()
        assert "Hello from the fake server: PLAIN again" in await seat.idle()
        assert seat.said().startswith(frozen)
    frames = sent(record)
    kinds = [frame["type"] for _, frame in frames]
    assert kinds == ["response.create", "response.interrupt", "response.create"]
    assert frames[-1][0] == connections
    assert ("previous_response_id" in frames[-1][1]) == (connections == 1)
    texts = [item["content"][0]["text"] for item in frames[-1][1]["input"] if "role" in item]
    assert texts[-1] == "PLAIN again"
    assert "interrupted by the user" in texts[-2]
    assert ("Committed first message." in texts) == (connections == 2)


@pytest.mark.parametrize(
    ("prompt", "answer", "connections"),
    [
        ("FAILRESP x", "Hello from", 2),
        ("LIMIT x", "Hello from", 2),
        ("DROPLATE x", "Hello from", 3),
        ("CLOSE1011 x", "Hello from", 2),
        ("PARALLEL x", "All done.", 1),
    ],
)
async def test_turns_that_meet_trouble_end_well(
    tmp_path: Path, prompt: str, answer: str, connections: int
) -> None:
    record = tmp_path / "frames.jsonl"
    async with (
        running("recserver.py", "--rec", str(record)) as url,
        seated(tmp_path, url) as seat,
    ):
        seat.session.submit(intents.Prompt(prompt))
        assert answer in await seat.idle()
        assert seat.session.status.outcome == "completed"
    assert len({number for number, _ in sent(record)}) == connections


async def test_a_patch_lands_and_is_answered(tmp_path: Path) -> None:
    record = tmp_path / "frames.jsonl"
    async with (
        running("recserver.py", "--rec", str(record)) as url,
        seated(tmp_path, url) as seat,
    ):
        seat.session.submit(intents.Prompt("PATCH it"))
        assert "All done." in await seat.idle()
        seat.session.submit(intents.Accept())
        assert (tmp_path / "work" / "hello.txt").read_text() == "hello patch\n"
    follow_up = sent(record)[-1][1]
    assert [item["type"] for item in follow_up["input"]] == ["custom_tool_call_output"]
    assert "pending review" in follow_up["input"][0]["output"]


async def test_a_long_answer_arrives_whole(tmp_path: Path) -> None:
    async with (
        running("replay_server.py") as url,
        seated(tmp_path, url) as seat,
    ):
        seat.session.submit(intents.Prompt("BENCHGO-r5000-n2000-e0007"))
        said = await seat.idle()
        assert said.rstrip().endswith("ENDMARK-0007")
        assert "MARK-1900" in said
        view = seat.session.meter.view(seat.session.now())
        assert view.ttft_s is not None
        assert view.state == "done"
