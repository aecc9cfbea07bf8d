"""Decisions through intents: written, undone, asked about, and made by themselves (I02, I07)."""

from __future__ import annotations

import pytest

from tests.support.fakes import World, settle
from tui.core.edits.hunk import Decision
from tui.core.edits.patches.landing import Landing
from tui.engine import deciding, intents
from tui.engine.session import Options

TEXT = "one\ntwo\nthree\nfour\nfive\n"
ADD = "*** Begin Patch\n*** Add File: new.py\n+made\n+lines\n*** End Patch\n"
ASKING = Options(ask=True)
AUTO = Options(ask=True, auto_accept=True)


def patch(path: str, *lines: str) -> str:
    body = "\n".join(lines)
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{body}\n*** End Patch\n"


def land(world: World, text: str, turn: int = 1, *, cut: bool = False) -> Landing:
    landing = Landing(world.session.workspace, turn=turn, call_id=f"call_{turn}")
    landing.feed(text)
    landing.finish(cut=cut)
    return landing


def decisions(world: World) -> list[str]:
    return [hunk.decision.value for hunk in world.session.workspace.hunks]


def answer(world: World, choice: str) -> None:
    (ask,) = world.session.status.asks
    assert choice in ask.choices
    world.session.submit(intents.Answer(ask.id, choice))


def said(world: World) -> list[str]:
    return [trouble.what for trouble in world.session.drain().troubles]


async def test_undo_and_redo_of_a_decision_are_written() -> None:
    world = World({"a.py": TEXT})
    land(world, patch("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    accepted = world.files.data["a.py"]
    world.session.submit(intents.UndoDecision())
    assert world.files.data["a.py"] == TEXT.encode()
    assert "TWO" in world.session.workspace.buffers["a.py"].text()
    assert said(world) == ["Taken back: accepting hunk 1 of a.py"]
    world.session.submit(intents.RedoDecision())
    assert world.files.data["a.py"] == accepted
    assert said(world) == ["Decided again: accepting hunk 1 of a.py"]


async def test_a_decision_on_a_file_whose_name_says_turn_is_no_turn() -> None:
    world = World({"return.py": TEXT}, options=Options(save="manual"))
    land(world, patch("return.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    world.session.submit(intents.SaveFile("return.py"))
    accepted = world.files.data["return.py"]
    world.session.submit(intents.UndoDecision())
    assert world.files.data["return.py"] == accepted != TEXT.encode()


async def test_a_place_that_was_chosen_is_taken_back_and_chosen_again() -> None:
    world = World({"a.py": "x\ny\nx\n"}, options=ASKING)
    land(world, patch("a.py", "-x", "+X"))
    (hunk,) = world.session.workspace.hunks
    world.session.submit(intents.Place(hunk.id, 2))
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
    land(world, patch("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    before = world.files.data["a.py"]
    world.session.submit(intents.UndoTurn())
    assert world.files.data["a.py"] == TEXT.encode()
    world.session.drain()
    world.session.submit(intents.RedoDecision())
    assert world.files.data["a.py"] == before
    assert decisions(world) == ["accepted"]
    assert said(world) == ["Brought back: turn 1"]


async def test_where_saving_is_the_users_an_undone_decision_is_not_written() -> None:
    world = World({"a.py": TEXT}, options=Options(save="manual"))
    land(world, patch("a.py", "-two", "+TWO"))
    world.session.submit(intents.Accept())
    world.session.submit(intents.SaveFile("a.py"))
    world.session.submit(intents.UndoDecision())
    assert b"TWO" in world.files.data["a.py"]
    assert world.session.workspace.is_dirty("a.py")
    world.session.submit(intents.SaveFile("a.py"))
    assert world.files.data["a.py"] == TEXT.encode()


async def test_a_write_that_is_refused_leaves_nothing_to_undo() -> None:
    world = World({"a.py": TEXT})
    land(world, patch("a.py", "-two", "+TWO"))
    world.files.read_only.add("a.py")
    world.session.submit(intents.Accept())
    assert decisions(world) == ["pending"]
    assert world.session.workspace.last_decision() is None


@pytest.mark.case("I02")
@pytest.mark.parametrize("choice", [deciding.KEEP_LINES, deciding.REMOVE_FILE, deciding.LEAVE_FILE])
async def test_i02_a_new_file_that_the_user_typed_in_is_asked_about(choice: str) -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    land(world, ADD)
    workspace = world.session.workspace
    workspace.edit("new.py", (2, 0), (2, 0), "mine\n")
    world.session.submit(intents.Reject())
    assert workspace.buffers["new.py"].text() == "made\nlines\nmine\n"
    assert decisions(world) == ["pending"]
    world.session.submit(intents.Reject())  # asked once
    answer(world, choice)
    await settle()
    left = {deciding.KEEP_LINES: "mine\n", deciding.LEAVE_FILE: "made\nlines\nmine\n"}
    buffer = workspace.buffers.get("new.py")
    assert (buffer.text() if buffer else None) == left.get(choice)
    if choice != deciding.LEAVE_FILE:
        world.session.submit(intents.UndoDecision())
        assert workspace.buffers["new.py"].text() == "made\nlines\nmine\n"
    assert decisions(world) == ["pending"]
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
    answer(world, deciding.KEEP_LINES)
    await settle()
    answer(world, deciding.KEEP_TEXT)
    await settle()
    assert world.session.workspace.buffers["new.py"].text() == "my own\nlines\n"
    assert decisions(world) == ["rejected"]


@pytest.mark.parametrize(
    ("choice", "text", "decision"),
    [
        (deciding.KEEP_TEXT, "TWO and mine", "rejected"),
        (deciding.PUT_BACK, "two", "rejected"),
        (deciding.LATER, "TWO and mine", "pending"),
    ],
)
async def test_changed_lines_are_asked_about(choice: str, text: str, decision: str) -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    land(world, patch("a.py", "-two", "+TWO"))
    workspace = world.session.workspace
    workspace.edit("a.py", (1, 3), (1, 3), " and mine")
    world.session.submit(intents.Reject((1,), "no"))
    answer(world, choice)
    await settle()
    assert workspace.buffers["a.py"].text() == TEXT.replace("two", text)
    assert decisions(world) == [decision]
    world.session.submit(intents.UndoDecision())
    assert workspace.buffers["a.py"].text() == TEXT.replace("two", "TWO and mine")


async def test_a_hunk_that_is_still_landing_is_not_decided_on_and_that_is_said() -> None:
    world = World({"a.py": TEXT})
    landing = Landing(world.session.workspace, turn=1, call_id="c")
    landing.feed("*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+TW")
    world.session.submit(intents.Reject((1,)))
    world.session.submit(intents.Accept((1,)))
    assert said(world) == ["A hunk is still landing"] * 2
    landing.feed("O\n three\n*** End Patch\n")
    landing.finish(cut=False)
    assert decisions(world) == ["pending"]


@pytest.mark.case("I07")
async def test_auto_accept_writes_a_plain_patch_at_its_end() -> None:
    world = World({"a.py": TEXT}, options=AUTO)
    landing = Landing(world.session.workspace, turn=1, call_id="c")
    landing.feed("*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+TWO\n three\n")
    assert world.files.data["a.py"] == TEXT.encode()
    landing.feed("*** End Patch\n")
    landing.finish(cut=False)
    assert world.files.data["a.py"] == TEXT.replace("two", "TWO").encode()
    assert decisions(world) == ["accepted"]
    world.session.submit(intents.UndoDecision())
    assert world.files.data["a.py"] == TEXT.encode()
    assert decisions(world) == ["pending"]


LONG = "".join(f"line {number}\n" for number in range(20))
LOOKS = {
    "fuzzy": ("a.py", patch("a.py", "-two", "+TWO"), "one\n    two\n", ["re-indented 0->4"]),
    "anchor not found": (
        "a.py",
        patch("a.py", "-two", "+TWO").replace("@@", "@@ def gone"),
        TEXT,
        ["anchor not found"],
    ),
    "out of order": (
        "a.py",
        patch("a.py", "-four", "+FOUR", "@@", "-two", "+TWO"),
        TEXT,
        ["", "out of order"],
    ),
    "overwrite": (
        "a.py",
        "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n",
        TEXT,
        ["overwrites an existing file"],
    ),
    "delete": (
        "a.py",
        "*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n",
        TEXT,
        ["deletes the file"],
    ),
    "implicit end": (
        "a.py",
        "*** Begin Patch\n*** Update File: a.py\n@@\n-two\n+TWO\n",
        TEXT,
        ["no End Patch"],
    ),
    "ambiguous": ("a.py", patch("a.py", "-x", "+X"), "x\ny\nx\n", ["ambiguous: it fits at"]),
    "shrink": (
        "a.py",
        patch("a.py", *(f"-line {number}" for number in range(1, 19))),
        LONG,
        ["shrink: 18 of 20 lines"],
    ),
    "placeholder": (
        "a.py",
        patch("a.py", "-two", "-three", "+# ... rest of the code unchanged ..."),
        TEXT,
        ["placeholder: a line says"],
    ),
    "private": (".env", patch(".env", "-two", "+TWO"), TEXT, ["a private file"]),
}
"""A path, a patch, the file's text, and why each of its hunks waits (empty: it does not)."""


@pytest.mark.case("I07")
@pytest.mark.parametrize("name", LOOKS)
async def test_i07_what_needs_a_look_is_not_accepted_by_itself(name: str) -> None:
    path, text, content, wanted = LOOKS[name]
    world = World({path: content}, options=AUTO)
    landing = land(world, text)
    for hunk, why in zip(landing.hunks, wanted, strict=True):
        assert hunk.decision is (Decision.PENDING if why else Decision.ACCEPTED)
        reasons = [*hunk.flags, hunk.reason]
        assert any(one.startswith(why) for one in reasons) if why else not any(reasons)
    assert "1 hunk waits for a look" in said(world)


@pytest.mark.case("I07")
async def test_a_patch_that_was_cut_is_not_accepted_by_itself() -> None:
    world = World({"a.py": TEXT}, options=AUTO)
    whole = "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+ONE\n@@\n-three\n+TH"
    land(world, whole, cut=True)
    assert decisions(world)[0] == "pending"
    assert world.files.data["a.py"] == TEXT.encode()


@pytest.mark.case("I07")
async def test_what_lies_on_a_hunk_that_needs_a_look_waits_too() -> None:
    world = World({"a.py": "one\n    two\n    three\n"}, options=Options(ask=True))
    land(world, patch("a.py", "-two", "-three", "+TWO", "+THREE"))
    assert world.session.workspace.hunks[0].flags
    world.session.submit(intents.SetAutoAccept(True))
    assert world.session.status.auto_accept
    land(world, patch("a.py", "-    TWO", "+    Two"), turn=2)
    assert decisions(world) == ["pending", "pending"]
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
    land(world, patch("a.py", " one", "-two", "+TWO", "+more", " three"))
    land(world, patch("a.py", " four", "-five", "+FIVE"), turn=2)
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
    answer(world, deciding.PUT_BACK)
    await settle()
    assert session.workspace.buffers["a.py"].encode() == world.files.data["a.py"]
    assert not session.workspace.is_dirty("a.py")
    await session.close()


async def test_very_many_hunks_are_decided_on_in_slices_and_one_decision_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deciding, "SLICE_S", -1.0)
    text = "".join(f"{number}\n" for number in range(500))
    world = World({"a.txt": text}, options=Options(in_slices=True))
    sections = (f"@@\n-{number}\n+new {number}\n" for number in range(0, 500, 2))
    land(world, f"*** Begin Patch\n*** Update File: a.txt\n{''.join(sections)}*** End Patch\n")
    world.session.submit(intents.Accept())
    assert decisions(world).count("accepted") == 100
    assert not world.session.at_rest
    world.session.submit(intents.UndoDecision())
    assert decisions(world).count("accepted") == 100, "it waits for the one before"
    while not world.session.at_rest:
        await settle()
    assert decisions(world).count("pending") == 250
    assert world.files.data["a.txt"] == text.encode(), "both are written"
