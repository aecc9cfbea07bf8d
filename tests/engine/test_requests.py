"""What the model is told: each thing once, as it is when it is sent, and every call answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.effort import lines_run
from tests.support.fakes import World, settle
from tests.support.notations import NOTATIONS, told
from tests.support.patches import Edit
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import CACHE, PATCH, begun, notes, outputs, texts
from tui.core.conversation import BlockKind
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Stage
from tui.core.document.report import file_sha
from tui.core.edit_stream.events import Notation
from tui.core.steps import AT_ONCE, Work
from tui.core.wire import events
from tui.engine import intents, requests, session_state
from tui.engine.ports import PatchTool, RoleSpec
from tui.engine.session import SessionOptions
from tui.engine.session_state import InputFirst

SECOND = """*** Begin Patch
*** Update File: cache.py
@@
 class Cache:
-    def put(self, key):
+    def put(self, key, value):
*** End Patch
"""
APPEND = "*** Begin Patch\n*** Update File: cache.py\n@@\n+# more\n*** End Patch\n"


def notes_of(request: dict[str, Any]) -> str:
    """What we say of our own accord: no prompt, no quoted file."""
    return "\n".join(text for text in texts(request)[:-1] if "<file" not in text)


async def patched(world: World, *patches: str) -> SteppedRehearsal:
    """A turn whose patches are answered and that is over."""
    model = await begun(world)
    for number, patch in enumerate(patches, 1):
        model.patch(patch, f"call_{number}")
    model.complete()
    await world.wire.request(2)
    model.answers("Done.")
    return model


async def asked(world: World, text: str = "and now") -> dict[str, Any]:
    world.session.submit(intents.Prompt(text))
    return await world.wire.request(len(world.wire.requests) + 1)


class GoneThrough(list[str]):
    """Counts how often it is."""

    count = 0

    def __iter__(self) -> Iterator[str]:
        self.count += 1
        return super().__iter__()


async def test_a_list_of_files_that_was_told_is_not_gone_through_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World({"cache.py": CACHE})
    listed = GoneThrough(["cache.py"])
    catalogue = world.session.services.open_files.catalogue
    monkeypatch.setattr(catalogue, "paths", lambda: listed)
    model = await begun(world)
    told = listed.count
    model.patch(PATCH, "call_1")
    model.complete()
    await world.wire.request(2)
    assert listed.count == told
    monkeypatch.setattr(catalogue, "paths", lambda: ["new.py"])
    model.answers("Done.")
    said = notes_of(await asked(world))
    assert "New files: new.py" in said, "another list is compared"


async def test_later_decisions_go_with_the_next_request_and_only_once() -> None:
    world = World({"cache.py": CACHE})
    model = await patched(world, PATCH, SECOND)
    world.session.submit(intents.Accept((1,)))
    world.session.submit(intents.Reject((2,), "the old signature, please"))
    await settle()
    request = await asked(world)
    said = notes_of(request)
    assert "hunk 1 kept, accepted, now lines 3-4" in said
    assert 'hunk 2 rejected by the user: "the old signature, please"' in said
    sha = hashlib.sha256(world.files.data["cache.py"]).hexdigest()[:8]
    assert f"cache.py (saved, sha {sha})" in said
    model.answers("Fine.")
    assert "hunk" not in notes_of(await asked(world, "go on"))


@pytest.mark.case("I05")
async def test_reverted_is_said_when_the_hash_is_that_of_before_the_turn_and_only_then() -> None:
    world = World({"cache.py": CACHE, "other.py": "x = 1\n"})
    model = await patched(world, PATCH)
    world.session.submit(intents.UndoTurn())
    await settle()
    said = notes_of(await asked(world))
    sha = hashlib.sha256(CACHE.encode()).hexdigest()[:8]
    reverted = f"cache.py (saved, sha {sha}, reverted: byte for byte as before your edits)"
    assert reverted in said
    assert "taken back by the user" in said
    model.begin()
    model.patch(PATCH, "call_9")
    model.complete()
    await settle()
    model.answers("Again.")
    world.session.workspace.edit("cache.py", (0, 0), (0, 0), "# mine\n")
    world.session.submit(intents.UndoTurn())
    await settle()
    said = notes_of(await asked(world, "and again"))
    assert "taken back by the user" in said
    assert "revert" not in said


@pytest.mark.case("I04")
async def test_only_a_file_that_changed_is_hashed_anew_for_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed: list[str] = []

    def counted(record: FileRecord) -> str:
        hashed.append(record.path)
        return file_sha(record)

    monkeypatch.setattr(requests, "file_sha", counted)
    world = World({"a.py": "a\n", "b.py": "b\n"})
    world.session.submit(intents.OpenFile("a.py"))
    world.session.submit(intents.OpenFile("b.py"))
    (await begun(world)).complete()
    assert hashed == ["a.py", "b.py"]
    world.session.workspace.edit("b.py", (0, 0), (0, 0), "x")
    (await begun(world)).complete()
    assert hashed == ["a.py", "b.py", "b.py"]


@pytest.mark.case("A18")
async def test_a_call_that_comes_again_after_a_loss_is_not_applied_twice(
    quick_retries: None,
) -> None:
    for again in ("call_1", "call_2"):
        world = World({"cache.py": CACHE})
        model = await begun(world)
        model.patch(APPEND, "call_1")
        world.wire.lose()
        request = await world.wire.request(2)
        assert "kept, pending review" in outputs(request)["call_1"]
        model.begin()
        model.patch(APPEND, again, chunk=3)
        model.complete()
        request = await world.wire.request(3)
        assert world.session.workspace.buffers["cache.py"].text() == f"{CACHE}# more\n"
        answers = [i["output"] for i in request["input"] if str(i["type"]).endswith("_output")]
        assert answers[-1].startswith("already applied")
        assert "hunk 1 kept, pending review, now line 5" in answers[-1]
        assert len(world.session.workspace.hunks) == 1
        patches = [b for b in world.session.transcript.blocks if b.kind is BlockKind.PATCH]
        assert [(b.state, b.text) for b in patches] == [
            ("done", ""),
            ("cut", "already applied: it arrived twice"),
        ]


async def test_a_call_without_a_patch_says_so_on_the_screen_and_to_the_model() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch("please", "call_1")
    model.complete()
    request = await world.wire.request(2)
    assert "no Begin Patch" in outputs(request)["call_1"]
    (block,) = [b for b in world.session.transcript.blocks if b.kind is BlockKind.PATCH]
    assert block.state == "failed"
    assert "no Begin Patch" in block.text


@pytest.mark.case("A18")
async def test_a_call_that_begins_like_one_before_but_is_another_lands(
    quick_retries: None,
) -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(APPEND, "call_1")
    world.wire.lose()
    await world.wire.request(2)
    model.begin()
    other = APPEND.replace("# more", "# more still")
    model.patch(other, "call_2", chunk=3)
    model.complete()
    request = await world.wire.request(3)
    assert world.session.workspace.buffers["cache.py"].text().endswith("# more\n# more still\n")
    assert "hunk 2 kept" in outputs(request)["call_2"]


async def test_a_model_without_a_shell_is_answered_that_there_is_none() -> None:
    spec = RoleSpec("fast", "quick-1", "main", shell_tool="none")
    world = World({"cache.py": CACHE}, roles={"fast": spec})
    model = await begun(world)
    model.call("shell", {"command": ["ls"]}, "call_1")
    model.complete()
    request = await world.wire.request(2)
    assert "shell" not in {tool["name"] for tool in request["tools"]}
    assert "there is no tool 'shell'" in outputs(request)["call_1"]
    assert world.runner.commands == []
    assert world.session.workspace.hunks == []


async def test_a_hosted_call_is_failed_if_anything_of_it_is_not_kept() -> None:
    world = World({"b.txt": "one\ntwo\n"})
    model = await begun(world)
    operation = {"type": "update_file", "path": "b.txt", "diff": "@@\n one\n-two\n+TWO\n"}
    item = {"type": "apply_patch_call", "id": "apc", "call_id": "c", "operation": operation}
    world.wire.give(events.ItemAdded(0, item), events.ItemDone(0, item))
    world.session.submit(intents.Reject((1,)))
    model.complete()
    request = await world.wire.request(2)
    (answer,) = [i for i in request["input"] if i["type"] == "apply_patch_call_output"]
    assert answer["status"] == "failed"
    assert "rejected by the user" in answer["output"]


async def test_nobody_owes_an_answer_when_another_model_takes_over() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world)
    model.patch(PATCH, "call_1")
    model.call("read_file", {"path": "cache.py"}, "call_2")
    world.session.submit(intents.Switch("deep"))
    model.interrupted()
    request = await world.wire.request(2)
    assert request["model"] == "slow-1"
    assert set(outputs(request)) == {"call_1", "call_2"}
    assert "kept, pending review" in outputs(request)["call_1"]


MANY = 1200


async def much_landed(world: World) -> SteppedRehearsal:
    """A patch of very many hunks has just come to its end, and was not answered yet."""
    model = await begun(world)
    key = model.open_patch("call_1")
    parts = [f"@@\n-{number}\n+new {number}\n" for number in range(0, 2 * MANY, 2)]
    parts = ["*** Begin Patch\n*** Update File: a.txt\n", *parts, "*** End Patch\n"]
    for part in parts:
        model.patch_delta(key, part)
    model.close_patch(key, "call_1", "".join(parts))
    model.complete()
    return model


def much() -> World:
    return World({"a.txt": "".join(f"{number}\n" for number in range(2 * MANY))})


async def test_what_is_said_of_very_many_hunks_is_found_out_in_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cost: list[int] = []

    async def stepped(first: InputFirst, work: Work[None], now: object) -> None:
        ends: list[int] = []

        def step() -> None:
            if next(work, ends) is ends:
                ends.append(len(cost))

        while not ends:
            cost.append(lines_run(step))
            await asyncio.sleep(0)

    monkeypatch.setattr(InputFirst, "do", stepped)
    world = much()
    await much_landed(world)
    assert len(world.wire.requests) == 1, "the end of the patch is answered later"
    request = await world.wire.request(2)
    assert f"hunks 1-{MANY} ({MANY} of them) kept" in outputs(request)["call_1"]
    assert len(cost) > 20
    assert max(cost) < 20 * AT_ONCE


@pytest.fixture
def goes_on(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Work that is done in slices stands behind its first one until this is set."""
    goes_on = asyncio.Event()
    monkeypatch.setattr(session_state, "SLICE_S", -1.0)
    monkeypatch.setattr(InputFirst, "pass_by", lambda first: goes_on.wait())
    return goes_on


async def test_a_decision_while_it_is_found_out_is_told_too(goes_on: asyncio.Event) -> None:
    world = much()
    await much_landed(world)
    await settle()
    world.session.submit(intents.Reject((1,)))
    goes_on.set()
    request = await world.wire.request(2)
    said = outputs(request)["call_1"]
    assert "hunk 1 rejected by the user" in said
    assert f"hunks 2-{MANY} ({MANY - 1} of them) kept" in said


async def test_esc_while_it_is_found_out_leaves_it_to_the_next_prompt(
    goes_on: asyncio.Event,
) -> None:
    world = much()
    await much_landed(world)
    await settle()
    world.session.submit(intents.Interrupt())
    assert not world.session.status.busy
    assert len(world.wire.requests) == 1
    goes_on.set()
    request = await asked(world)
    assert f"hunks 1-{MANY} ({MANY} of them) kept" in outputs(request)["call_1"]


LINES = [f"line {number}" for number in range(12)]
TEXT = "".join(f"{line}\n" for line in LINES)
EDIT = Edit(3, 4, ("LINE 3",))
CHANNELS: list[PatchTool] = ["custom", "function", "text"]


def world_of(channel: PatchTool, fmt: Notation) -> World:
    spec = RoleSpec("fast", "quick-1", "main", patch_tool=channel, patch_format=fmt)
    world = World({"a.py": TEXT}, roles={"fast": spec}, options=SessionOptions(conversation="c"))
    world.session.submit(intents.OpenFile("a.py"))
    return world


async def answered(channel: PatchTool, patch: str, model: SteppedRehearsal) -> None:
    if channel == "custom":
        model.patch(patch, "call_1")
    elif channel == "function":
        model.call("apply_patch", {"input": patch}, "call_1")
    else:
        model.text(f"Here it is:\n\n{patch}\n")
    model.complete()
    await settle()


@each("channel", CHANNELS)
@each("fmt", NOTATIONS)
async def test_typed_in_the_same_line_the_users_text_stays(
    fmt: Notation, channel: PatchTool
) -> None:
    world = world_of(channel, fmt)
    workspace = world.session.workspace
    model = await begun(world)
    workspace.edit("a.py", (3, 0), (3, 0), "mine ")
    await answered(channel, told(fmt, LINES, [EDIT], 2, "a.py"), model)
    assert workspace.buffers["a.py"].text() == TEXT.replace("line 3", "mine line 3")
    (hunk,) = workspace.hunks
    assert hunk.stage in (Stage.CONFLICT, Stage.REFUSED)
    assert "LINE 3\n" in hunk.agent
    world.session.submit(intents.Accept())
    await settle()
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.submit(intents.Prompt("go on"))
    said = "\n".join(texts(await world.wire.request(2)))
    assert "mine line 3" in said


LITELLM = "anthropic does not support parameters: ['prompt_cache_key'], for model=claude."


async def refused(world: World, words: str) -> None:
    world.wire.give(events.ErrorEvent(400, "invalid_request_error", words))
    await settle()


async def test_it_is_asked_again_without_and_from_then_on(world: World) -> None:
    await begun(world)
    await refused(world, LITELLM)
    first, second = world.wire.requests
    assert "prompt_cache_key" in first
    assert "prompt_cache_key" not in second
    assert second["input"] == first["input"]
    assert notes(world) == []
    assert world.session.status.left_out == "prompt_cache_key"
    model = SteppedRehearsal(world.wire)
    model.answers("Hi.")
    assert world.session.status.outcome == "completed"
    world.session.submit(intents.Prompt("and now"))
    await settle()
    third = world.wire.requests[2]
    assert "prompt_cache_key" not in third
    assert "previous_response_id" in third, "it goes on with the chain"


async def test_a_server_that_always_finds_something_is_believed_in_the_end(world: World) -> None:
    await begun(world)
    for name in ("prompt_cache_key", "include", "store", "parallel_tool_calls", "reasoning"):
        await refused(world, f"Unknown parameter: '{name}'.")
    assert not world.session.status.busy or len(world.wire.requests) <= 6
    await refused(world, "Unknown parameter: 'instructions'.")
    assert world.session.status.outcome == "failed"
    assert len(world.wire.requests) <= 6


async def test_a_refused_prewarm_teaches_the_same(world: World) -> None:
    world.session.submit(intents.Prewarm())
    await settle()
    await refused(world, LITELLM)
    world.session.submit(intents.Prompt("hello"))
    request = await world.wire.request(1)
    assert "prompt_cache_key" in world.wire.prewarms[0]
    assert "prompt_cache_key" not in request
