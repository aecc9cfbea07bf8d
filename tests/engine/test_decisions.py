"""Decisions through intents: written, undone, asked about, and made by themselves (I02, I07)."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import land, notes, update
from tui.core.document.hunk import Decision, Stage
from tui.core.edit_stream.events import Notation
from tui.core.patches.landing import Landing
from tui.engine import decisions, intents
from tui.engine.session import SessionOptions

TEXT = "one\ntwo\nthree\nfour\nfive\n"
ADD = "*** Begin Patch\n*** Add File: new.py\n+made\n+lines\n*** End Patch\n"
ASKING = SessionOptions(ask=True)


def decided(world: World) -> list[str]:
    return [hunk.decision.value for hunk in world.session.workspace.hunks]


def answer(world: World, choice: str) -> None:
    (ask,) = world.session.status.asks
    assert choice in ask.choices
    world.session.submit(intents.Answer(ask.id, choice))


def said(world: World) -> list[str]:
    return [trouble.what for trouble in world.session.drain().troubles]


async def test_a_place_that_was_chosen_is_taken_back_and_chosen_again() -> None:
    world = World({"a.py": "x\ny\nx\n"}, options=ASKING)
    land(world, update("a.py", "-x", "+X"))
    (hunk,) = world.session.workspace.hunks
    world.session.submit(intents.PlaceHunk(hunk.id, 2))
    assert world.session.workspace.buffers["a.py"].text() == "x\ny\nX\n"
    world.session.submit(intents.UndoDecision())
    assert said(world) == ["Undone: choosing a place for hunk 1 of a.py"]
    assert (hunk.placeable, world.session.workspace.buffers["a.py"].text()) == (True, "x\ny\nx\n")
    world.session.submit(intents.RedoDecision())
    assert said(world) == ["Decided again: choosing a place for hunk 1 of a.py"]
    assert world.session.workspace.buffers["a.py"].text() == "x\ny\nX\n"
    assert world.files.data["a.py"] == b"x\ny\nx\n"


async def test_the_conversation_says_each_time_that_a_turn_goes_or_comes_back() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    steps = (intents.UndoTurn(), intents.RedoDecision(), intents.UndoTurn(), intents.UndoDecision())
    for step in steps:
        world.session.submit(step)
    gone, here = decisions.TAKEN_BACK, decisions.BROUGHT_BACK
    assert notes(world) == [gone, here, gone, here]
    world.session.submit(intents.RedoDecision())
    assert notes(world)[4:] == [gone]


async def test_nothing_to_undo_is_said() -> None:
    world = World({"a.py": TEXT})
    world.session.submit(intents.UndoDecision())
    world.session.submit(intents.RedoDecision())
    troubles = world.session.drain().troubles
    assert [trouble.what for trouble in troubles] == ["Not undone", "Not brought back"]
    assert troubles[0].why == "there is no decision to take back"


async def test_a_write_that_is_refused_leaves_nothing_to_undo() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    world.files.read_only.add("a.py")
    world.session.submit(intents.Accept())
    assert decided(world) == ["pending"]
    assert world.session.workspace.last_decision() is None


@each("choice", [decisions.KEEP_LINES, decisions.REMOVE_FILE, decisions.LEAVE_FILE])
async def test_i02_a_new_file_that_the_user_typed_in_is_asked_about(choice: str) -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    land(world, ADD)
    workspace = world.session.workspace
    workspace.edit("new.py", (2, 0), (2, 0), "mine\n")
    world.session.submit(intents.Reject())
    assert workspace.buffers["new.py"].text() == "made\nlines\nmine\n"
    assert decided(world) == ["pending"]
    world.session.submit(intents.Reject())  # asked once
    answer(world, choice)
    await settle()
    left = {decisions.KEEP_LINES: "mine\n", decisions.LEAVE_FILE: "made\nlines\nmine\n"}
    buffer = workspace.buffers.get("new.py")
    assert (buffer.text() if buffer else None) == left.get(choice)
    if choice != decisions.LEAVE_FILE:
        world.session.submit(intents.UndoDecision())
        assert workspace.buffers["new.py"].text() == "made\nlines\nmine\n"
    assert decided(world) == ["pending"]
    assert "new.py" not in world.files.data


@pytest.mark.case("I02")
async def test_a_file_whose_lines_do_not_come_apart_is_asked_about_again() -> None:
    world = World({}, options=ASKING)
    land(world, ADD)
    world.session.workspace.edit("new.py", (0, 0), (0, 4), "my own")
    world.session.submit(intents.Reject())
    answer(world, decisions.KEEP_LINES)
    await settle()
    answer(world, decisions.KEEP_TEXT)
    await settle()
    assert world.session.workspace.buffers["new.py"].text() == "my own\nlines\n"
    assert decided(world) == ["rejected"]


async def test_a_hunk_in_conflict_is_accepted_as_the_user_left_it_if_it_is_named() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    world.session.workspace.edit("a.py", (1, 3), (1, 3), " and mine")
    world.session.submit(intents.Reject((1,)))
    (hunk,) = world.session.workspace.hunks
    world.session.submit(intents.Accept())
    assert (hunk.stage, hunk.decision) == (Stage.CONFLICT, Decision.PENDING)
    world.session.submit(intents.Accept((1,)))
    assert (hunk.stage, hunk.decision) == (Stage.LANDED, Decision.ACCEPTED)
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO and mine").encode()
    world.session.submit(intents.UndoDecision())
    assert (hunk.stage, hunk.decision) == (Stage.CONFLICT, Decision.PENDING)
    assert world.files.data["a.py"] == TEXT.encode()


async def test_a_hunk_that_is_still_landing_is_not_decided_on_and_that_is_said() -> None:
    world = World({"a.py": TEXT})
    landing = Landing(world.session.workspace, turn=1, call_id="c")
    landing.feed("*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+TW")
    world.session.submit(intents.Reject((1,)))
    world.session.submit(intents.Accept((1,)))
    assert said(world) == ["A hunk is still landing"] * 2
    landing.feed("O\n three\n*** End Patch\n")
    landing.finish(cut=False)
    assert decided(world) == ["pending"]


async def test_a_diff_is_shown_of_the_active_file_unless_another_is_named() -> None:
    world = World({"a.py": TEXT, "b.py": TEXT})
    world.session.submit(intents.OpenFile("a.py"))
    world.session.submit(intents.ShowDiff())
    assert world.session.drain().diff == ("a.py", "disk")
    world.session.submit(intents.ShowDiff("b.py", "head"))
    assert world.session.drain().diff == ("b.py", "head")
    assert world.session.drain().diff is None


@pytest.mark.case("G06")
async def test_what_is_typed_inside_a_pending_hunk_is_not_saved_with_it_and_that_is_said() -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    session = world.session
    session.submit(intents.OpenFile("a.py"))
    land(world, update("a.py", " one", "-two", "+TWO", "+more", " three"))
    land(world, update("a.py", " four", "-five", "+FIVE"), turn=2)
    session.workspace.edit("a.py", (1, 0), (1, 0), "x")
    session.drain()
    for _ in range(2):
        session.submit(intents.SaveFile("a.py"))
        assert world.files.data["a.py"] == TEXT.encode()
        (trouble,) = session.drain().troubles
        assert trouble.what == "a.py is saved without the lines of hunk 1"
    session.submit(intents.Accept((2,)))
    assert world.files.data["a.py"] == TEXT.replace("five", "FIVE").encode()
    assert session.drain().troubles == [], "it was said"
    assert session.workspace.is_dirty("a.py")
    session.submit(intents.Reject((1,)))
    answer(world, decisions.PUT_BACK)
    await settle()
    assert session.workspace.buffers["a.py"].encode() == world.files.data["a.py"]
    assert not session.workspace.is_dirty("a.py")


async def test_very_many_hunks_are_decided_on_in_slices_and_one_decision_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decisions, "SLICE_S", -1.0)
    text = "".join(f"{number}\n" for number in range(500))
    world = World({"a.txt": text}, options=SessionOptions(in_slices=True))
    sections = (f"@@\n-{number}\n+new {number}\n" for number in range(0, 500, 2))
    land(world, f"*** Begin Patch\n*** Update File: a.txt\n{''.join(sections)}*** End Patch\n")
    world.session.submit(intents.Accept())
    while not (accepted := decided(world).count("accepted")):
        await asyncio.sleep(0)
    assert not world.session.at_rest
    world.session.submit(intents.UndoDecision())
    assert decided(world).count("accepted") == accepted < 250, "it waits for the one before"
    while not world.session.at_rest:
        await settle()
    assert decided(world).count("pending") == 250
    assert world.files.data["a.txt"] == text.encode(), "both are written"


@pytest.mark.slow
@each(
    "before, decide, becomes, said",
    [
        ([], intents.Accept(), "accepted", "accepting 0 of 250 hunks"),
        ([], intents.Reject(), "rejected", "rejecting 0 of 250 hunks"),
        (
            [intents.Accept()],
            *(intents.UndoDecision(), "pending", "taking back 0 of 250 hunks"),
        ),
        (
            [intents.Reject(), intents.UndoDecision()],
            *(intents.RedoDecision(), "rejected", "deciding again on 0 of 250 hunks"),
        ),
        ([intents.Accept()], intents.UndoTurn(), "rejected", "taking back 0 hunks"),
    ],
)
async def test_what_is_decided_on_very_many_hunks_can_be_stopped_and_gone_on_with(
    before: list[intents.Intent],
    decide: intents.Intent,
    becomes: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decisions, "SLICE_S", -1.0)
    text = "".join(f"{number}\n" for number in range(500))
    world = World({"a.txt": text}, options=SessionOptions(in_slices=True))
    sections = (f"@@\n-{number}\n+new {number}\n" for number in range(0, 500, 2))
    land(world, f"*** Begin Patch\n*** Update File: a.txt\n{''.join(sections)}*** End Patch\n")
    for intent in before:
        await in_slices_decided(world, intent)
    (was,) = set(decided(world))
    world.session.submit(decide)
    assert world.session.status.deciding == said
    while becomes not in decided(world):
        await asyncio.sleep(0)
    world.session.submit(intents.Accept())
    await in_slices_decided(world, intents.StopDeciding())
    made = decided(world).count(becomes)
    assert 0 < made < 250
    assert decided(world).count(was) == 250 - made
    assert world.session.status.deciding == ""
    assert [one.what for one in world.session.drain().troubles if "Stopped" in one.what]
    assert world.files.data["a.txt"] == world.session.workspace.disk_plan("a.txt").data
    await in_slices_decided(world, decide)
    assert decided(world) == [becomes] * 250
    assert world.files.data["a.txt"] == world.session.workspace.disk_plan("a.txt").data


async def in_slices_decided(world: World, intent: intents.Intent) -> None:
    world.session.submit(intent)
    while not world.session.at_rest:
        await settle()


async def test_what_is_written_among_very_many_hunks_is_found_out_in_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decisions, "SLICE_S", -1.0)
    lines = [f"{number}\n" for number in range(1000)]
    world = World({"a.txt": "".join(lines)}, options=SessionOptions(in_slices=True))
    sections = (f"@@\n-{number}\n+new {number}\n" for number in range(0, 1000, 2))
    land(world, f"*** Begin Patch\n*** Update File: a.txt\n{''.join(sections)}*** End Patch\n")
    world.session.submit(intents.Accept((1,)))
    assert decided(world).count("accepted") == 1, "the key is answered at once"
    assert not world.session.at_rest
    unsaved = world.session.unsaved("").files
    assert [file.path for file in unsaved] == ["a.txt"], "who leaves now is asked"
    world.session.workspace.edit("a.txt", (1, 0), (1, 1), "typed meanwhile")
    while not world.session.at_rest:
        await settle()
    lines[:2] = ["new 0\n", "typed meanwhile\n"]
    assert world.files.data["a.txt"] == "".join(lines).encode()


pytestmark = pytest.mark.case("I07")
DEEP = "def f():\n    one\n    two\n    three\n"
QUOTED = "say 'one'\ntwo\n"
GAP = "one\n\ntwo\nthree\n"


class Look(NamedTuple):
    """A file, what streams, and a word of the flag or the reason."""

    content: str
    stream: str
    why: str


def block(old: str, new: str, path: str = "a.py") -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def patch(body: str, head: str = "*** Update File: a.py") -> str:
    return f"*** Begin Patch\n{head}\n{body}*** End Patch\n"


def diff(body: str) -> str:
    return f"--- a/a.py\n+++ b/a.py\n{body}"


def whole(body: str, fence: str = "```\n") -> str:
    return f"a.py\n```\n{body}{fence}"


LOOKS: dict[Notation, dict[str, Look]] = {
    "search_replace": {
        "empty SEARCH": Look(TEXT, block("", "six\n"), "empty SEARCH"),
        "placeholder": Look(TEXT, block("two\n", "TWO\n# ... rest of the code ...\n"), "placeh"),
        "indentation": Look(DEEP, block("one\ntwo\n", "ONE\ntwo\n"), "indent"),
        "punctuation": Look(QUOTED, block("say ‘one’\n", "say it\n"), "punctuation"),
        "blank lines": Look(TEXT, block("\ntwo\n", "\nTWO\n"), "blank lines"),
        "ambiguous": Look("x\ny\nx\n", block("x\n", "X\n"), "ambiguous"),
        "left out": Look(GAP, block("one\ntwo\n", "one\nTWO\n"), "left out"),
    },
    "unified_diff": {
        "counts": Look(TEXT, diff("@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n"), "counts"),
        "placeholder": Look(TEXT, diff("@@\n one\n-two\n+// ... existing code ...\n"), "placeh"),
        "indentation": Look(DEEP, diff("@@\n one\n-two\n+TWO\n"), "indent"),
        "punctuation": Look(QUOTED, diff("@@\n-say ‘one’\n+say it\n two\n"), "punctuation"),
        "create-over": Look(TEXT, "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+new\n", "exists"),
        "delete": Look("x\n", "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "deletes"),
        "out of order": Look(TEXT, diff("@@\n-four\n+FOUR\n@@\n-two\n+TWO\n"), "out of order"),
        "nearest": Look("x\ny\nx\n", diff("@@ -3 +3 @@\n-x\n+X\n"), "several places"),
        "ambiguous": Look("x\ny\nx\n", diff("@@\n-x\n+X\n"), "ambiguous"),
        "only added": Look(TEXT, diff("@@\n+six\n"), "only added lines"),
        "left out": Look(GAP, diff("@@\n one\n-two\n+TWO\n"), "left out"),
        "prefix": Look(DEEP, diff("@@\n    one\n-    two\n+    TWO\n    three\n"), "prefix"),
        "both": Look(GAP, diff("@@\none\n-two\n+TWO\nthree\n"), "prefix"),
    },
    "whole_file": {
        "placeholder": Look(TEXT, whole("one\n# ... rest of the code unchanged ...\n"), "placeh"),
        "shrink": Look(TEXT, whole("one\ntwo\n"), "shrink"),
        "no fence": Look(TEXT, whole(TEXT.replace("two", "TWO"), ""), "fence"),
    },
    "apply_patch": {
        "placeholder": Look(TEXT, patch("@@\n-two\n+# ... existing code ...\n"), "placeh"),
        "indentation": Look(DEEP, patch("@@\n-two\n+TWO\n"), "indent"),
        "punctuation": Look(QUOTED, patch("@@\n-say ‘one’\n+say it\n"), "punctuation"),
        "anchor": Look(TEXT, patch("@@ gone\n-two\n+TWO\n"), "anchor not found"),
        "only added": Look(TEXT, patch("@@ two\n+more\n"), "only added lines"),
        "not at the end": Look(TEXT, patch("@@\n-two\n+TWO\n*** End of File\n"), "not at the end"),
        "create-over": Look(TEXT, patch("+new\n", "*** Add File: a.py"), "overwrites"),
        "delete": Look(TEXT, patch("", "*** Delete File: a.py"), "deletes"),
        "move-over": Look(
            TEXT, patch("*** Move to: b.py\n@@\n-two\n+TWO\n"), "moves over an existing file"
        ),
        "ambiguous": Look("x\ny\nx\n", patch("@@\n-x\n+X\n"), "ambiguous"),
        "left out": Look(GAP, patch("@@\n one\n-two\n+TWO\n"), "left out"),
        "prefix": Look(DEEP, patch("@@\n    one\n-    two\n+    TWO\n    three\n"), "prefix"),
        "both": Look(GAP, patch("@@\none\n-two\n+TWO\nthree\n"), "prefix"),
        "no End Patch": Look(TEXT, "*** Begin Patch\n*** Update File: a.py\n-two\n+TWO\n", "End"),
    },
}


def streamed(world: World, fmt: Notation, stream: str, chars: int) -> Landing:
    landing = Landing(world.session.workspace, turn=1, call_id="c", channel="text", fmt=fmt)
    for at in range(0, len(stream), chars):
        landing.feed(stream[at : at + chars])
        landing.tail()
    landing.finish(cut=False)
    return landing


@each("chars", [1, 4000])
@each("fmt, name", [(fmt, name) for fmt in LOOKS for name in LOOKS[fmt]])
async def test_i07_what_is_flagged_waits_for_a_look(fmt: Notation, name: str, chars: int) -> None:
    content, stream, why = LOOKS[fmt][name]
    world = World(
        {"a.py": content, "b.py": "there\n"}, options=SessionOptions(ask=True, auto_accept=True)
    )
    landing = streamed(world, fmt, stream, chars)
    odd = [hunk for hunk in landing.hunks if why in "; ".join([*hunk.flags, hunk.reason])]
    assert odd, [(hunk.flags, hunk.reason) for hunk in landing.hunks]
    assert all(hunk.decision is Decision.PENDING for hunk in odd)
    plain = [hunk for hunk in landing.hunks if not hunk.flags and hunk.stage is Stage.LANDED]
    assert all(hunk.decision is Decision.ACCEPTED for hunk in plain)
    if not plain:
        assert world.files.data == {"a.py": content.encode(), "b.py": b"there\n"}


HELD = "".join(f"line {row}\n" for row in range(40))


def patch_saying(said: str) -> str:
    rows = range(1, 40, 2)
    sections = "".join(f"@@\n line {r - 1}\n-line {r}\n+{said} {r}\n" for r in rows)
    return f"*** Begin Patch\n*** Update File: a.py\n{sections}*** End Patch\n"


async def test_memory_goes_back_once_when_all_is_decided_and_nothing_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decisions, "MANY", 19)
    world, given = World({"a.py": HELD}), list[int]()
    world.ports.give_memory_back = lambda: given.append(1)
    land(world, patch_saying("new"))
    record = world.session.workspace.documents.records["a.py"]
    world.session.submit(intents.Accept((1,)))
    await rest(world)
    assert given == [], "hunks wait"
    world.session.submit(intents.Accept())
    assert given == [], "the decision is still being made"
    await rest(world)
    assert (given, record._index) == ([1], None)
    world.session.submit(intents.UndoDecision())
    world.session.submit(intents.RedoDecision())
    await rest(world)
    assert given == [1], "once"
    assert land(world, patch_saying("newer").replace("-line", "-new"), 2).placed_all


async def rest(world: World) -> None:
    await settle()
    world.clock.advance(decisions.IDLE_S)
    await settle()
