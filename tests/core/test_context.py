from __future__ import annotations

from tui.core.buffer import Buffer
from tui.core.context import (
    WHOLE_LIMIT_CHARS,
    WINDOW_CHARS,
    Changes,
    Context,
    Cut,
    OpenFile,
    changes_message,
    cut_report,
    quote,
    window,
)
from tui.core.file_block import file_blocks
from tui.core.hunk import Decision, Hunk, Stage
from tui.core.workspace import FileRead, UserChange, Workspace


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
    return made


def test_a_file_is_quoted_exactly_with_cursor_and_selection() -> None:
    file = OpenFile(Buffer("a.py", "x\r\n</file>\n"), True, (0, 1), ((1, 3), (0, 0)))
    block = next(file_blocks(quote(file)))
    assert block.text == "x\r\n</file>\n"
    assert block.attributes == {"state": "active", "cursor": "1:2", "selection": "1:1-2:4"}


def test_only_changed_files_are_quoted_again() -> None:
    context = Context()
    a, b = Buffer("a.py", "one\n"), Buffer("b.py", "two\n")
    files = [OpenFile(a, True, (0, 0)), OpenFile(b)]
    assert len(list(file_blocks(context.message(files, full=True)))) == 2
    b.replace((0, 0), (0, 0), "# ")
    message = context.message(files, full=False)
    assert [block.path for block in file_blocks(message)] == ["b.py"]
    assert "a.py is unchanged since you last saw it (active, cursor 1:1)" in message
    assert len(list(file_blocks(context.message(files, full=True)))) == 2


def test_private_files_are_named_and_not_quoted() -> None:
    message = Context().message([OpenFile(Buffer(".env", "KEY=1"), private="secrets")], full=True)
    assert "KEY" not in message
    assert ".env" in message
    assert "secrets" in message


def test_a_long_file_is_quoted_around_the_cursor() -> None:
    text = "".join(f"line {n} {'x' * 40}\n" for n in range(5000))
    assert len(text) > WHOLE_LIMIT_CHARS
    block = next(file_blocks(quote(OpenFile(Buffer("a.py", text), True, (2500, 0)))))
    first, last = int(block.attributes["from"]), int(block.attributes["to"])
    assert first < 2501 < last
    assert len(block.text) <= WINDOW_CHARS + 100
    assert block.text.split("\n")[0].startswith(f"line {first - 1} ")
    assert block.text.split("\n")[-1].startswith(f"line {last - 1} ")


def test_the_window_ends_at_the_file_and_holds_a_huge_line() -> None:
    buffer = Buffer("a.py", "a\n" + "x" * (WINDOW_CHARS * 2) + "\nb")
    assert window(buffer, 1)[0] <= 1 <= window(buffer, 1)[1]
    assert window(Buffer("a.py", ""), 99) == (0, 0)


def test_decisions_and_edits_are_stated_from_the_records() -> None:
    place = workspace(a="one\ntwo\nthree\n")
    changes = Changes(
        edits=[UserChange("a.py", 2, "three\n", "drei\n"), UserChange(".env", 0, "", "KEY=1")],
        decisions=[
            hunk(place, decision=Decision.ACCEPTED),
            hunk(place, id=2, decision=Decision.REJECTED, words="keep the name"),
            hunk(place, id=3, stage=Stage.REFUSED, reason="not found"),
        ],
        appeared=["new.py"],
        vanished=["old.py"],
        private={".env": "secrets"},
    )
    message = changes_message(changes, place)
    assert "a.py: hunk 1 accepted, now line 2" in message
    assert 'hunk 2 rejected by the user: "keep the name"' in message
    assert "hunk 3 NOT applied (refused): not found" in message
    assert "a.py at line 3:\n-three\n+drei" in message
    assert "KEY=1" not in message
    assert "New files: new.py" in message
    assert "gone: old.py" in message


def test_nothing_changed_says_nothing() -> None:
    assert changes_message(Changes(), workspace()) == ""


def test_a_cut_answer_is_reported_with_what_the_user_made_of_it() -> None:
    place = workspace(a="one\nzwei\nthree\n")
    report = cut_report(
        Cut(1, 1842), [hunk(place), hunk(place, id=2, stage=Stage.DROPPED)], place, {}
    )
    assert "interrupted by the user after 1842 characters" in report
    assert (
        "hunk 1 kept, pending review, now line 2, edited by the user; it reads now:\nzwei" in report
    )
    assert "hunk 2 NOT applied (dropped)" in report
    hidden = cut_report(Cut(1, 5), [hunk(place)], place, {"a.py": "secret"})
    assert "zwei" not in hidden
