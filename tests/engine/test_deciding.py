"""Decisions through intents: written, undone, asked about, and made by themselves (I02, I07)."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import land, update
from tui.core.document.hunk import Decision, Stage
from tui.core.patches.landing import Landing
from tui.engine import decisions, intents
from tui.engine.session import SessionOptions

TEXT = "one\ntwo\nthree\nfour\nfive\n"
ADD = "*** Begin Patch\n*** Add File: new.py\n+made\n+lines\n*** End Patch\n"
ASKING = SessionOptions(ask=True)
AUTO = SessionOptions(ask=True, auto_accept=True)


def decided(world: World) -> list[str]:
    return [hunk.decision.value for hunk in world.session.workspace.hunks]


def answer(world: World, choice: str) -> None:
    (ask,) = world.session.status.asks
    assert choice in ask.choices
    world.session.submit(intents.Answer(ask.id, choice))


def said(world: World) -> list[str]:
    return [trouble.what for trouble in world.session.drain().troubles]


async def test_a_decision_on_a_file_whose_name_says_turn_is_no_turn() -> None:
    world = World({"return.py": TEXT}, options=SessionOptions(save="manual"))
    land(world, update("return.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    world.session.submit(intents.SaveFile("return.py"))
    accepted = world.files.data["return.py"]
    world.session.submit(intents.UndoDecision())
    assert world.files.data["return.py"] == accepted != TEXT.encode()


async def test_a_place_that_was_chosen_is_taken_back_and_chosen_again() -> None:
    world = World({"a.py": "x\ny\nx\n"}, options=ASKING)
    land(world, update("a.py", "-x", "+X"))
    (hunk,) = world.session.workspace.hunks
    world.session.submit(intents.PlaceHunk(hunk.id, 2))
    assert world.session.workspace.buffers["a.py"].text() == "x\ny\nX\n"
    world.session.submit(intents.UndoDecision())
    assert said(world) == ["Taken back: choosing a place for hunk 1 of a.py"]
    assert (hunk.placeable, world.session.workspace.buffers["a.py"].text()) == (True, "x\ny\nx\n")
    world.session.submit(intents.RedoDecision())
    assert said(world) == ["Decided again: choosing a place for hunk 1 of a.py"]
    assert world.session.workspace.buffers["a.py"].text() == "x\ny\nX\n"
    assert world.files.data["a.py"] == b"x\ny\nx\n"


async def test_nothing_to_undo_is_said() -> None:
    world = World({"a.py": TEXT})
    world.session.submit(intents.UndoDecision())
    world.session.submit(intents.RedoDecision())
    troubles = world.session.drain().troubles
    assert [trouble.what for trouble in troubles] == ["Not taken back", "Not brought back"]
    assert troubles[0].why == "there is no decision to take back"


async def test_a_turn_that_was_taken_back_is_brought_back() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    before = world.files.data["a.py"]
    world.session.submit(intents.UndoTurn())
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.drain()
    world.session.submit(intents.RedoDecision())
    assert world.files.data["a.py"] == before
    assert decided(world) == ["accepted"]
    assert said(world) == ["Brought back: turn 1"]


async def test_where_saving_is_the_users_an_undone_decision_is_not_written() -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(save="manual"))
    land(world, update("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    world.session.submit(intents.SaveFile("a.py"))
    world.session.submit(intents.UndoDecision())
    assert b"TWO" in world.files.data["a.py"]
    assert world.session.workspace.is_dirty("a.py")
    world.session.submit(intents.SaveFile("a.py"))
    assert world.files.data["a.py"] == TEXT.encode()


async def test_a_write_that_is_refused_leaves_nothing_to_undo() -> None:
    world = World({"a.py": TEXT})
    land(world, update("a.py", "-two", "+TWO"))
    world.files.read_only.add("a.py")
    world.session.submit(intents.Accept())
    assert decided(world) == ["pending"]
    assert world.session.workspace.last_decision() is None


@pytest.mark.case("I02")
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
async def test_i02_without_anybody_to_ask_what_was_typed_stays() -> None:
    world = World({})
    land(world, ADD)
    world.session.workspace.edit("new.py", (2, 0), (2, 0), "mine\n")
    world.session.submit(intents.Reject())
    assert world.session.workspace.buffers["new.py"].text() == "mine\n"


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


@each(
    "choice, text, decision",
    [
        (decisions.KEEP_TEXT, "TWO and mine", "rejected"),
        (decisions.PUT_BACK, "two", "rejected"),
        (decisions.LATER, "TWO and mine", "pending"),
    ],
)
async def test_changed_lines_are_asked_about(choice: str, text: str, decision: str) -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    land(world, update("a.py", "-two", "+TWO"))
    workspace = world.session.workspace
    workspace.edit("a.py", (1, 3), (1, 3), " and mine")
    world.session.submit(intents.Reject((1,), "no"))
    answer(world, choice)
    await settle()
    assert workspace.buffers["a.py"].text() == TEXT.replace("two", text)
    assert decided(world) == [decision]
    world.session.submit(intents.UndoDecision())
    assert workspace.buffers["a.py"].text() == TEXT.replace("two", "TWO and mine")


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


@pytest.mark.case("I07")
async def test_auto_accept_writes_a_plain_patch_at_its_end() -> None:
    world = World({"a.py": TEXT}, options=AUTO)
    landing = Landing(world.session.workspace, turn=1, call_id="c")
    landing.feed("*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+TWO\n three\n")
    assert world.files.data["a.py"] == TEXT.encode()
    landing.feed("*** End Patch\n")
    landing.finish(cut=False)
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()
    assert decided(world) == ["accepted"]
    world.session.submit(intents.UndoDecision())
    assert world.files.data["a.py"] == TEXT.encode()
    assert decided(world) == ["pending"]


@pytest.mark.case("I07")
async def test_a_patch_that_was_cut_is_not_accepted_by_itself() -> None:
    world = World({"a.py": TEXT}, options=AUTO)
    whole = "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+ONE\n@@\n-three\n+TH"
    land(world, whole, cut=True)
    assert decided(world)[0] == "pending"
    assert world.files.data["a.py"] == TEXT.encode()


@pytest.mark.case("I07")
async def test_what_lies_on_a_hunk_that_needs_a_look_waits_too() -> None:
    world = World({"a.py": "one\n    two\n    three\n"}, options=SessionOptions(ask=True))
    land(world, update("a.py", "-two", "-three", "+TWO", "+THREE"))
    assert world.session.workspace.hunks[0].flags
    world.session.submit(intents.SetAutoAccept(True))
    assert world.session.status.auto_accept
    land(world, update("a.py", "-    TWO", "+    Two"), turn=2)
    assert decided(world) == ["pending", "pending"]
    world.session.submit(intents.SetAutoAccept(False))
    assert not world.session.status.auto_accept


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
