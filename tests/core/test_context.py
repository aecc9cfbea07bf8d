from __future__ import annotations

from tui.core.context import (
    WHOLE_LIMIT_CHARS,
    WINDOW_CHARS,
    Changes,
    Context,
    CutAnswer,
    FileInContext,
    PatchInProse,
    Told,
    changes_message,
    quote,
    window,
)
from tui.core.conversation import user_item
from tui.core.document.file_record import UserChange
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.core.document.report import QUOTE_CHARS, HunkAccount
from tui.core.document.workspace import Workspace
from tui.core.files import FileRead, file_blocks
from tui.core.steps import finished
from tui.core.text.buffer import Buffer
from tui.core.wire.recording import prompt_of


def workspace(**files: str) -> Workspace:
    texts = {f"{name}.py": text for name, text in files.items()}
    made = Workspace(lambda path: FileRead(texts[path].encode() if path in texts else None))
    for path in texts:
        made.open(path)
    return made


def hunk(place: Workspace, **fields: object) -> Hunk:
    made = Hunk(1, 1, "call", "a.py", stage=Stage.LANDED, agent="two\n")
    buffer = place.buffers["a.py"]
    made.start, made.end = buffer.mark(1), buffer.mark(2, right=True)
    for name, value in fields.items():
        setattr(made, name, value)
    place.documents.layers.own(made).above = [made]  # so there is something to be quoted
    return made


def test_a_file_is_quoted_exactly_with_cursor_and_selection() -> None:
    file = FileInContext(Buffer("a.py", "x\r\n</file>\n"), True, (0, 1), ((1, 3), (0, 0)))
    block = next(file_blocks(quote(file)))
    assert block.text == "x\r\n</file>\n"
    assert block.attributes == {"state": "active", "cursor": "1:2", "selection": "1:1-2:4"}


def test_only_changed_files_are_quoted_again() -> None:
    context = Context()
    a, b = Buffer("a.py", "one\n"), Buffer("b.py", "two\n")
    files = [FileInContext(a, True, (0, 0)), FileInContext(b)]
    assert len(list(file_blocks(context.message(files, full=True)))) == 2
    b.replace((0, 0), (0, 0), "# ")
    message = context.message(files, full=False)
    assert [block.path for block in file_blocks(message)] == ["b.py"], message
    assert "a.py is unchanged since you last saw it (active, cursor 1:1)" in message
    assert len(list(file_blocks(context.message(files, full=True)))) == 2


def test_of_what_is_attached_only_what_changed_is_said_and_only_once() -> None:
    context, buffer = Context(), Buffer("a.py", "".join(f"line {n}\n" for n in range(1, 41)))
    part = FileInContext(buffer, attached=True, lines=(5, 30))
    whole = FileInContext(buffer, attached=True)
    assert len([*file_blocks(context.message([part, whole], full=True))]) == 2
    assert context.message([part, whole], full=False) == ""
    buffer.replace((14, 0), (14, 0), "new ")
    found = [*file_blocks(context.message([part, whole], full=False))]
    change = "@@ -15,1 +15,1 @@\n-line 15\n+new line 15\n"
    assert [(one.path, one.text) for one in found] == [("a.py", change)] * 2
    assert (found[0].is_difference, found[0].attributes) == (True, {"state": "attached"})
    buffer.replace((30, 0), (30, 0), "far ")
    context.told([UserChange("a.py", 30, "line 31\n", "far line 31\n")])
    assert context.message([part, whole], full=False) == ""
    buffer.replace((0, 0), (40, 0), "all is new\n")
    assert 'state="attached"' in context.message([whole], full=False)


def test_of_an_open_file_only_what_changed_is_said_with_the_place_of_the_cursor() -> None:
    context, buffer = Context(), Buffer("a.py", "".join(f"line {n}\n" for n in range(1, 41)))
    file = FileInContext(buffer, True, (14, 0))
    context.message([file], full=True)
    buffer.replace((14, 0), (14, 0), "new ")
    (found,) = file_blocks(context.message([file], full=False))
    assert found.text == "@@ -15,1 +15,1 @@\n-line 15\n+new line 15\n"
    assert (found.is_difference, found.attributes) == (True, {"state": "active", "cursor": "15:1"})
    buffer.replace((30, 0), (30, 0), "far ")
    context.told([UserChange("a.py", 30, "line 31\n", "far line 31\n")])
    context.told([])  # a request of the same turn, with no change of its own
    known = "a.py is as you last saw it, with the changes told above (active, cursor 15:1)."
    assert context.message([file], full=False) == known
    assert "unchanged" in context.message([file], full=False)
    buffer.replace((0, 6), (1, 0), "\r\n")
    (found,) = file_blocks(context.message([file], full=False))
    assert not found.is_difference, "no line is another one, but the text is"
    assert "\r\n" in found.text


def test_where_there_is_little_room_the_lines_around_the_cursor_are_quoted_and_it_is_said() -> None:
    buffer = Buffer("a.py", "".join(f"line {n}\n" for n in range(1, 2001)))
    context = Context()
    message = context.message([FileInContext(buffer, True, (1000, 0))], full=True, room=3000)
    (found,) = file_blocks(message)
    first, last = int(found.attributes["from"]), int(found.attributes["to"])
    assert first < 1001 < last
    assert len(message) < 3000
    words = f"Of a.py only lines {first}-{last} of 2001 are quoted; read_file has all."
    assert words in message
    assert context.take_cut() == [("a.py", (first, last), 2001)]
    assert context.take_cut() == []
    selected = FileInContext(buffer, True, (100, 0), ((90, 0), (100, 0)))
    assert "unchanged" not in context.message([selected], full=False, room=3000)
    assert "unchanged" in context.message([selected], full=False, room=3000)
    lines = FileInContext(buffer, attached=True, lines=(1, 1500))
    (found,) = file_blocks(context.message([lines], full=False, room=3000))
    assert found.text.startswith("line 1\n")
    assert len(found.text) < 3000


def test_why_what_is_attached_is_not_quoted_is_said_once() -> None:
    context, buffer = Context(), Buffer("a.bin", "x")
    for reason in ({"private": "a key"}, {"view": True, "read_only": "it is binary"}):
        file = FileInContext(buffer, attached=True, **reason)
        said = context.message([file], full=False)
        assert said.startswith("a.bin is attached but ")
        assert context.message([file], full=False) == ""
    assert context.message([file], full=True) == said


def test_private_files_are_named_and_not_quoted() -> None:
    message = Context().message(
        [FileInContext(Buffer(".env", "KEY=1"), private="secrets")], full=True
    )
    assert "KEY" not in message
    assert ".env" in message
    assert "secrets" in message


def test_a_long_file_is_quoted_around_the_cursor() -> None:
    text = "".join(f"line {n} {'x' * 40}\n" for n in range(5000))
    assert len(text) > WHOLE_LIMIT_CHARS
    block = next(file_blocks(quote(FileInContext(Buffer("a.py", text), True, (2500, 0)))))
    first, last = int(block.attributes["from"]), int(block.attributes["to"])
    assert first < 2501 < last
    assert len(block.text) <= WINDOW_CHARS + 100
    assert block.text.split("\n")[0].startswith(f"line {first - 1} ")
    assert block.text.split("\n")[-1].startswith(f"line {last - 1} ")


def test_the_window_is_as_large_as_it_may_be_above_and_below() -> None:
    for lines in (["x" * (WINDOW_CHARS - 2), "y"], ["y", "x" * (WINDOW_CHARS - 2)]):
        for cursor in (0, 1):
            assert window(Buffer("a.py", "\n".join(lines)), cursor) == (0, 1)
            assert window(Buffer("a.py", "\n".join([*lines, "z"])), cursor)[1] == 1
            assert window(Buffer("a.py", "x" + "\n".join(lines)), cursor) == (cursor, cursor)
    lines = ["x" * (n % 89) for n in range(4000)]
    buffer = Buffer("a.py", "\n".join(lines))
    for cursor in (-1, 0, 1, 2000, 3998, 3999, 9999):
        first, last = window(buffer, cursor)
        assert first <= min(max(cursor, 0), 3999) <= last
        assert len("\n".join(lines[first : last + 1])) <= WINDOW_CHARS
        for wider in (lines[max(first - 1, 0) : last + 1], lines[first : last + 2]):
            assert len("\n".join(wider)) > WINDOW_CHARS or len(wider) == last + 1 - first
        assert first == 0 or last == 3999 or abs(cursor - first - (last - cursor)) < 20, "centred"


def account(place: Workspace, **private: str) -> HunkAccount:
    reasons = {f"{name}.py": why for name, why in private.items()}
    return HunkAccount(place.documents, lambda path: reasons.get(path, ""))


def test_what_is_quoted_of_regions_and_edits_has_one_limit() -> None:
    lines = "".join(f"line {n} {'x' * 90}\n" for n in range(400))
    place = workspace(a=lines)
    buffer = place.buffers["a.py"]
    hunks = [
        hunk(place, id=n, start=buffer.mark(n * 40), end=buffer.mark(n * 40 + 20, right=True))
        for n in range(10)
    ]
    edits = [UserChange("a.py", 0, "", lines)]
    message = changes_message(Changes(hunks=hunks, edits=edits), account(place))
    assert len(message) < QUOTE_CHARS + 2_000
    assert "(not quoted here; use read_file)" in message


def test_very_many_edits_are_told_by_their_lines() -> None:
    place = workspace(a="one\n")
    edits = [UserChange("a.py", 2 * n, "a\n" * 20, "b\n" * 20) for n in range(1000)]
    message = changes_message(Changes(edits=edits), account(place))
    assert len(message) < QUOTE_CHARS + 4_000
    assert message.endswith("more (not quoted here; use read_file)")


def test_whatever_is_told_is_known_not_to_be_typed_by_the_user() -> None:
    place = workspace(a="one\ntwo\n")
    good, edit = [hunk(place)], UserChange("a.py", 0, "", "x\n")
    for changes in (
        Changes(hunks=good),
        Changes(hunks=[hunk(place, stage=Stage.REFUSED)]),
        Changes(cut=CutAnswer(1, 5)),
        Changes(prose=[PatchInProse(good, "line 3: no", False)]),
        Changes(edits=[edit]),
        Changes(formatted=[edit]),
        Changes(appeared=["a"]),
        Changes(vanished=["a"]),
    ):
        said = changes_message(changes, account(place))
        assert said
        assert prompt_of({"input": [user_item(said)]}) == "", said
    shown = Context().message([FileInContext(Buffer("a.py", "x"), private="secret")], full=True)
    assert prompt_of({"input": [user_item(shown)]}) == ""


def landed(number: int, **fields: object) -> Hunk:
    made = Hunk(number, 1, "call", "a.py", stage=Stage.LANDED)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_decision_that_was_undone_before_it_was_told_is_none() -> None:
    told, hunk = Told(), landed(1)
    told.mark([hunk])
    hunk.decision = Decision.REJECTED
    hunk.decision = Decision.PENDING
    assert finished(told.news([hunk], 2)) == []
    assert finished(told.taken_back([hunk])) == frozenset()


def test_a_decision_that_was_told_and_undone_is_told_again() -> None:
    told, hunk = Told(), landed(1, decision=Decision.REJECTED, words="no")
    told.mark([hunk])
    hunk.decision, hunk.words = Decision.PENDING, ""
    assert finished(told.news([hunk], 2)) == [hunk]
    assert finished(told.taken_back([hunk])) == frozenset({1})
