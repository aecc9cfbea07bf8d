"""What a provider has read once stands at the head of all that follows, whatever happens between.

Two things begin a head anew, and both are the user's: another model, and other tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cached_session import WAYS, Pair, head_of, long_session, marks, working
from tests.support.endpoint_servers import Say, Think
from tests.support.fakes import settle
from tests.support.tables import each
from tui.engine import intents
from tui.engine.ports import MAIN_LANE

OPENED = ("src/part_00.py", "src/part_01.py")
STEPS = ("ask", "patch", "stop", "type", "accept", "reject", "open", "close", "appear", "vanish",
         "lose", "effort", "tier", "undo", "prewarm")  # fmt: skip


@pytest.mark.slow
@each("name", list(WAYS))
async def test_each_request_begins_with_the_whole_of_the_last_one(name: str) -> None:
    async with working(WAYS[name]) as pair:
        await long_session(pair, 14)
        assert head_of(pair.bodies).breaks == []
        marked = head_of(pair.bodies, marked=WAYS[name].kind == "anthropic")
        assert marked.share > 0.9, f"{marked.share:.3f}"
        assert all(len(marks(body)) <= 4 for body in pair.bodies), "Anthropic refuses more"


@settings(max_examples=12, deadline=None)
@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=4, max_size=14),
    name=st.sampled_from(["Responses, all said each time", "Chat Completions", "Mistral"]),
)
def test_whatever_a_user_does_nothing_is_said_before_what_was_said(
    steps: Sequence[str], name: str
) -> None:
    async def played() -> None:
        async with working(WAYS[name]) as pair:
            for path in OPENED:
                pair.session.submit(intents.OpenFile(path))
            await settle()
            for step in ("ask", *steps, "ask"):
                await _does(pair, step)
            assert head_of(pair.bodies).breaks == [], steps

    asyncio.run(played())


async def _does(pair: Pair, step: str) -> None:
    path, odd = OPENED[pair.turn % 2], pair.turn % 2 == 1
    if step in ("patch", "type"):
        pair.session.submit(intents.OpenFile(path))
        await settle()
    if step in ("ask", "patch", "stop"):
        await _speaks(pair, step, path)
    elif step == "type":
        pair.types(path, 60)
    elif step in ("appear", "vanish"):
        if step == "vanish":
            pair.files.data.pop("src/part_39.py", None)
        await pair.appears(f"src/new_{pair.turn}.py")
    elif step == "lose":
        pair.endpoint.lane(MAIN_LANE).drop()
    else:
        wanted: dict[str, intents.Intent] = {
            "accept": intents.Accept(),
            "reject": intents.Reject(),
            "open": intents.OpenFile(f"src/part_{pair.turn + 2:02}.py"),
            "close": intents.CloseFile(path),
            "effort": intents.SetEffort("low" if odd else "high"),
            "tier": intents.SetTier("priority" if odd else ""),
            "undo": intents.UndoTurn(),
            "prewarm": intents.Prewarm(),
        }
        pair.session.submit(wanted[step])
    await settle()


async def _speaks(pair: Pair, step: str, path: str) -> None:
    if step == "ask":
        await pair.ask([Think("Hm."), Say("It is so.")])
    elif step == "stop":
        await pair.stopped(f"half{pair.turn}")
    else:
        call = pair.patch(path, 3 + 2 * pair.turn)
        await pair.ask([Think("Hm."), Say("Now."), call, pair.read(path)], [Say("Done.")])


@pytest.mark.parametrize("intent", [intents.SetMode("plan"), intents.NewConversation()])
async def test_other_tools_and_a_new_conversation_begin_anew_with_the_files_as_they_are(
    intent: intents.Intent,
) -> None:
    async with working(WAYS["Responses, all said each time"]) as pair:
        pair.session.submit(intents.OpenFile(OPENED[0]))
        await pair.ask([Say("It is so.")])
        pair.types(OPENED[0], 3)
        pair.session.submit(intent)
        await pair.ask([Say("It is so.")])
        assert head_of(pair.bodies).breaks == [1]
        told = str(pair.bodies[-1]["input"])
        assert told.count(f'path=\\"{OPENED[0]}\\"'.replace("\\", "")) == 1
