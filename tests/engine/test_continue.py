"""/continue: an answer that was stopped by accident goes on, and nothing of it is there twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.engine.test_patches import CHANNELS, WHOLE, tree
from tests.support.fakes import World, settle
from tests.support.scenarios import Scenario
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.stored_sessions import resumed, stored
from tests.support.tables import each
from tests.support.turns import begun, texts, update
from tui.core.conversation import BlockKind
from tui.core.document.hunk import Stage
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import PatchFormat, PatchTool, RoleSpec
from tui.engine.response_items import message_text
from tui.engine.session import SessionOptions

LINES = {"exactly": 0, "the last lines again": 3, "all again": 10_000}
"""How a model goes on -> lines of what stands that it says once more."""
PROSE = "I take one lock and hold it in every method, as get is called in put, too.\n\nIt is one."


def world_of(files: Mapping[str, str | bytes], channel: PatchTool, fmt: PatchFormat) -> World:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool=channel, patch_format=fmt)
    return World(files, roles={"fast": spec}, options=SessionOptions(ask=True))


class Model(SteppedRehearsal):
    """Sends a text as a message, or as a call of the patch tool."""

    def __init__(self, world: World, channel: PatchTool) -> None:
        super().__init__(world.wire)
        self._channel, self._key, self._text = channel, "", ""

    def opens(self, name: str) -> None:
        """It begins to send."""
        self._text = ""
        if self._channel == "text":
            self._key = self.open_text()
        elif self._channel == "custom":
            self._key = self.open_patch(name)
        else:
            self._key = f"fc_{name}"
            self.wire.give(events.ItemAdded(0, self._call("")))
            self.wire.give(events.ArgumentsDelta(self._key, '{"input": "'))

    def sends(self, text: str, size: int = 11) -> None:
        """More of it, in pieces."""
        self._text += text
        for at in range(0, len(text), size):
            piece = text[at : at + size]
            if self._channel == "text":
                self.say(self._key, piece)
            elif self._channel == "custom":
                self.patch_delta(self._key, piece)
            else:
                self.wire.give(events.ArgumentsDelta(self._key, json.dumps(piece)[1:-1]))

    def closes(self) -> None:
        """That was all."""
        if self._channel == "text":
            self.close_text(self._key, self._text)
        elif self._channel == "custom":
            self.close_patch(self._key, self._key.removeprefix("ctc_"), self._text)
        else:
            self.item(self._call(json.dumps({"input": self._text})))
        self.complete()

    def _call(self, arguments: str) -> dict[str, Any]:
        call_id = self._key.removeprefix("fc_")
        item = {"type": "function_call", "id": self._key, "call_id": call_id}
        return {**item, "name": "apply_patch", "arguments": arguments}


async def stopped(world: World, channel: PatchTool, text: str) -> Model:
    """An answer is stopped behind a text."""
    await begun(world)
    model = Model(world, channel)
    model.begin()
    model.opens("first")
    model.sends(text)
    world.session.drain()
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    return model


async def goes_on(world: World, model: Model) -> None:
    """The user lets it go on, and its next answer begins."""
    sent = len(world.wire.requests)
    world.session.submit(intents.Continue())
    await settle()
    assert len(world.wire.requests) == sent + 1
    model.begin()


def outcome(world: World) -> object:
    """Texts of files, hunks but for their numbers, and what is said."""
    workspace = world.session.workspace
    hunks = [(h.path, h.kind, h.stage, h.base, h.agent, h.flags) for h in workspace.hunks]
    blocks = [block for block in world.session.transcript.blocks if block.state != "failed"]
    said = "".join(block.text for block in blocks if block.kind is BlockKind.TEXT)
    return {path: b.encode() for path, b in workspace.buffers.items()}, hunks, said


async def uncut(scenario: Scenario, fmt: PatchFormat, channel: PatchTool) -> object:
    world = world_of(tree(scenario), channel, fmt)
    await begun(world)
    model = Model(world, channel)
    model.begin()
    model.opens("first")
    model.sends(scenario.patch)
    model.closes()
    await settle()
    return outcome(world)


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("scenario", "fmt"), WHOLE, ids=str)
async def test_a_patch_comes_out_as_if_it_had_not_been_stopped(
    scenario: Scenario, fmt: PatchFormat, channel: PatchTool
) -> None:
    text = scenario.patch
    expected = await uncut(scenario, fmt, channel)
    for at in range(min(20, len(text) // 2), len(text), len(text) // 3 | 1):
        for manner, lines in LINES.items():
            world = world_of(tree(scenario), channel, fmt)
            model = await stopped(world, channel, text[:at])
            if any(
                hunk.reason.startswith("the patch broke") for hunk in world.session.workspace.hunks
            ):
                break
            await goes_on(world, model)
            model.opens("second")
            again = "".join(text[:at].splitlines(keepends=True)[-lines:]) if lines else ""
            model.sends(again + text[at:])
            model.closes()
            await settle()
            assert outcome(world) == expected, (manner, text[max(at - 80, 0) : at])


@each("manner", LINES)
async def test_words_go_on_in_their_own_block(manner: str) -> None:
    for at in range(10, len(PROSE), 9):
        world = world_of({}, "text", "apply_patch")
        model = await stopped(world, "text", PROSE[:at])
        await goes_on(world, model)
        asked = world.wire.requests[-1]["input"]
        assert PROSE[:at] in [message_text(one) for one in asked if one["role"] == "assistant"]
        model.opens("second")
        again = PROSE[:at].splitlines(keepends=True)[-LINES[manner] :] if LINES[manner] else []
        model.sends("".join(again) + PROSE[at:])
        model.closes()
        await settle()
        said = [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.TEXT]
        assert said == [PROSE], (manner, at)


PATCH = update("a.py", " one", "-two", "+TWO", " three", "-four", "+FOUR and more", " five")
FILE = {"a.py": "one\ntwo\nthree\nfour\nfive\n"}
CUT = PATCH.index("and more")


async def test_a_patch_of_another_kind_takes_the_place_of_the_cut_hunk() -> None:
    world = world_of(FILE, "custom", "apply_patch")
    model = await stopped(world, "custom", PATCH[:CUT])
    await goes_on(world, model)
    assert "FOUR" in world.session.workspace.buffers["a.py"].text(), "it stays while it waits"
    model.opens("second")
    model.sends(PATCH.replace("TWO", "2").replace("FOUR and more", "4"))
    model.closes()
    await settle()
    assert world.session.workspace.buffers["a.py"].text() == "one\n2\nthree\n4\nfive\n"
    hunks = world.session.workspace.hunks
    assert [(hunk.id, hunk.stage) for hunk in hunks] == [(1, Stage.LANDED), (2, Stage.LANDED)]


async def test_a_message_that_stands_is_not_shown_again() -> None:
    world = world_of(FILE, "custom", "apply_patch")
    await begun(world)
    model = Model(world, "custom")
    model.begin()
    model.text("I make both loud.")
    model.opens("first")
    model.sends(PATCH[:CUT])
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    await goes_on(world, model)
    model.text("I make both loud.")
    model.opens("second")
    model.sends(PATCH)
    model.closes()
    await settle()
    assert (
        world.session.workspace.buffers["a.py"].text() == "one\nTWO\nthree\nFOUR and more\nfive\n"
    )
    said = [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.TEXT]
    assert said == ["I make both loud."]


async def test_what_the_user_typed_in_the_cut_hunk_stays_and_the_model_is_told() -> None:
    world = world_of(FILE, "custom", "apply_patch")
    model = await stopped(world, "custom", PATCH[:CUT])
    world.session.workspace.edit("a.py", (3, 0), (3, 0), "my ")
    await goes_on(world, model)
    assert "was edited or decided on since" in "\n".join(texts(world.wire.requests[-1]))
    model.opens("second")
    model.sends(update("a.py", " three", " my FOUR ", "+more", " five"))
    model.closes()
    await settle()
    text = world.session.workspace.buffers["a.py"].text()
    assert text == "one\nTWO\nthree\nmy FOUR \nmore\nfive\n"


async def test_it_can_be_stopped_and_go_on_again() -> None:
    world = world_of(FILE, "custom", "apply_patch")
    model = await stopped(world, "custom", PATCH[: CUT - 12])
    await goes_on(world, model)
    model.opens("second")
    model.sends(PATCH[CUT - 12 : CUT])
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    await goes_on(world, model)
    model.opens("third")
    model.sends(PATCH[CUT:])
    model.closes()
    await settle()
    assert (
        world.session.workspace.buffers["a.py"].text() == "one\nTWO\nthree\nFOUR and more\nfive\n"
    )


ENDS = {"left": True, "killed": False}
"""How duetto ended -> the answer was stopped before."""


async def left(channel: PatchTool, text: str, *, stops: bool) -> tuple[World, Model]:
    """Another duetto goes on with a session whose answer is cut behind a text."""
    world = world_of(FILE, channel, "apply_patch")
    if stops:
        await stopped(world, channel, text)
    else:
        await begun(world)
        model = Model(world, channel)
        model.begin()
        model.opens("first")
        model.sends(text)
        world.session.drain()
        await settle()
    other = await resumed(world, stored(world), ask=True)
    await settle()
    assert other.session.status.can_continue
    return other, Model(other, channel)


@each("end", ENDS)
@each("manner", LINES)
async def test_words_go_on_where_a_resumed_session_cut_them(end: str, manner: str) -> None:
    at = PROSE.index("called")
    world, model = await left("text", PROSE[:at], stops=ENDS[end])
    await goes_on(world, model)
    asked = world.wire.requests[-1]["input"]
    assert [message_text(one) for one in asked].count(PROSE[:at]) == 1
    model.opens("second")
    again = PROSE[:at].splitlines(keepends=True)[-LINES[manner] :] if LINES[manner] else []
    model.sends("".join(again) + PROSE[at:])
    model.closes()
    await settle()
    said = [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.TEXT]
    assert said == [PROSE]
    world.session.submit(intents.Continue())
    assert "the last answer is whole" in world.session.drain().troubles[-1].what


@each("manner", LINES)
@pytest.mark.parametrize("channel", ["custom", "function"])
async def test_a_patch_goes_on_where_a_resumed_session_cut_it(
    channel: PatchTool, manner: str
) -> None:
    world, model = await left(channel, PATCH[:CUT], stops=True)
    await goes_on(world, model)
    stands = PATCH[: PATCH.rindex("\n", 0, CUT) + 1]
    assert stands.splitlines()[-1] in "\n".join(texts(world.wire.requests[-1]))
    model.opens("second")
    again = stands.splitlines(keepends=True)[-LINES[manner] :] if LINES[manner] else []
    model.sends("".join(again) + PATCH[len(stands) :])
    model.closes()
    await settle()
    text = world.session.workspace.buffers["a.py"].text()
    assert text == "one\nTWO\nthree\nFOUR and more\nfive\n"
    hunks = world.session.workspace.hunks
    assert [(hunk.id, hunk.stage) for hunk in hunks] == [(1, Stage.LANDED), (2, Stage.LANDED)]


async def test_of_a_patch_that_was_decided_on_before_a_resume_the_rest_is_asked_for() -> None:
    world, model = await left("custom", PATCH[:CUT], stops=True)
    world.session.submit(intents.Accept((1,)))
    await settle()
    await goes_on(world, model)
    assert "duetto was started anew since" in "\n".join(texts(world.wire.requests[-1]))
    model.opens("second")
    model.sends(update("a.py", " three", "-FOUR ", "+FOUR and more", " five"))
    model.closes()
    await settle()
    text = world.session.workspace.buffers["a.py"].text()
    assert text == "one\nTWO\nthree\nFOUR and more\nfive\n"


async def test_a_continuation_that_was_killed_is_no_prompt_of_the_user() -> None:
    world, model = await left("text", PROSE[:20], stops=True)
    await goes_on(world, model)
    other = await resumed(world, stored(world))
    assert not other.session.status.unsent
    assert other.session.status.can_continue


async def test_nothing_was_cut() -> None:
    world = World()
    world.session.submit(intents.Continue())
    (trouble,) = world.session.drain().troubles
    assert trouble.what == "Nothing to continue: the last answer is whole"
    assert not world.wire.requests
