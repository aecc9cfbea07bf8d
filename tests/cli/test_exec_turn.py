"""The decisions of ``duetto exec`` and what it tells, with a model that the test steps."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import pytest

from tests.support.fakes import World
from tests.support.stepped_rehearsal import SteppedRehearsal
from tui.cli.exec import JsonReport, Turn
from tui.core.files import LINK_OUTSIDE
from tui.engine.ports import PatchFormat, RoleSpec
from tui.engine.session import SessionOptions

TEXT = "one\ntwo\nthree\nfour\n"


def patch(old: str, new: str, anchor: str = "@@") -> str:
    return f"*** Begin Patch\n*** Update File: a.py\n{anchor}\n-{old}\n+{new}\n*** End Patch\n"


async def played(
    world: World, *patches: str, apply: bool, dial_s: float = 0.0
) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the events of a turn in which the model calls with these patches."""
    out = io.StringIO()
    turn = asyncio.create_task(Turn(world.session, JsonReport(out)).play("do it", apply=apply))
    await asyncio.sleep(0)
    world.clock.advance(dial_s)
    await world.wire.request(1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    for number, text in enumerate(patches):
        world.clock.advance(0.3)
        model.patch(text, f"call_{number}")
    model.complete(100)
    if patches:
        await world.wire.request(2)
        model.begin()
        world.clock.advance(0.3)
        model.complete(10)
    code = await asyncio.wait_for(turn, 10)
    await world.session.close()
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("linked", [False, True])
async def test_a_hard_link_that_leads_elsewhere_is_written_only_with_the_option(
    linked: bool,
) -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(linked=linked))
    world.files.links["a.py"] = LINK_OUTSIDE
    code, events = await played(world, patch("two", "TWO"), apply=True)
    new = TEXT.replace("two", "TWO") if linked else TEXT
    assert world.files.data["a.py"] == new.encode()
    assert code == (0 if linked else 1)
    assert ("hard link" in json.dumps(events)) is not linked


@pytest.mark.case("I07")
@pytest.mark.parametrize(
    ("form", "flagged", "plain"),
    [
        (
            "search_replace",
            "a.py\n<<<<<<< SEARCH\n=======\nfive\n>>>>>>> REPLACE\n",
            "a.py\n<<<<<<< SEARCH\nfour\n=======\nFOUR\n>>>>>>> REPLACE\n",
        ),
        (
            "unified_diff",
            "--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n-one\n+ONE\n two\n",
            "--- a/a.py\n+++ b/a.py\n@@ -4,1 +4,1 @@\n-four\n+FOUR\n",
        ),
        ("apply_patch", patch("two", "TWO", "@@\none"), patch("four", "FOUR")),
    ],
)
async def test_flagged_hunks_of_other_formats_are_left_out(
    form: PatchFormat, flagged: str, plain: str
) -> None:
    world = World(
        {"a.py": TEXT}, roles={"fast": RoleSpec("fast", "quick-1", "main", patch_format=form)}
    )
    code, events = await played(world, flagged, plain, apply=True)
    assert world.session.workspace.hunks[0].flags
    assert world.files.data["a.py"] == TEXT.replace("four", "FOUR").encode()
    assert (code, events[-1]["left_out"]) == (1, [1])


async def test_refused_hunks_fail_the_run_whether_or_not_it_writes() -> None:
    for apply in (True, False):
        world = World({"a.py": TEXT})
        code, events = await played(world, patch("nothing like it", "x"), apply=apply)
        assert (code, events[-1]["left_out"]) == (1, [1])


async def test_the_meters_seconds_never_go_down_and_done_is_said_once() -> None:
    world = World({"a.py": TEXT})
    _, events = await played(world, patch("two", "TWO"), apply=True, dial_s=0.7)
    meters = [event for event in events if event["type"] == "meter"]
    seconds = [meter["seconds"] for meter in meters]
    assert seconds == sorted(seconds)
    assert seconds[-1] >= 1.3
    assert [meter["state"] for meter in meters].count("done") == 1
    assert meters[-1]["state"] == "done"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("please", "no edit in it: line 1: no Begin Patch"),
        (patch("two", "TWO").replace("*** End Patch", "*** Tweak File: b"), "broke off: line 6:"),
    ],
)
async def test_a_patch_that_cannot_be_read_is_told(text: str, why: str) -> None:
    code, events = await played(World({"a.py": TEXT}), text, apply=False)
    (told,) = [event for event in events if event["type"] == "error"]
    assert (told["severity"], told["message"]) == ("warning", "A patch could not be read")
    assert told["why"].startswith(why)
    assert code == events[-1]["exit_code"] == 1
