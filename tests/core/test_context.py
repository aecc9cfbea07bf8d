from __future__ import annotations

from tui.core.context import (
    WHOLE_LIMIT_CHARS,
    WINDOW_CHARS,
    Changes,
    Context,
    Cut,
    OpenFile,
    PatchInProse,
    changes_message,
    quote,
    window,
)
from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.core.edits.telling.report import QUOTE_CHARS, Account
from tui.core.edits.workspace import FileRead, UserChange, Workspace
from tui.core.file_block import file_blocks
from tui.core.history import user_item
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


def account(place: Workspace, **private: str) -> Account:
    reasons = {f"{name}.py": why for name, why in private.items()}
    return Account(place.ledger, lambda path: reasons.get(path, ""))


def test_hunks_and_edits_are_stated_from_the_records() -> None:
    place = workspace(a="one\ntwo\nthree\n")
    changes = Changes(
        edits=[UserChange("a.py", 2, "three\n", "drei\n")],
        hunks=[
            hunk(place, decision=Decision.ACCEPTED),
            hunk(place, id=2, decision=Decision.REJECTED, words="keep the name"),
            hunk(place, id=3, stage=Stage.REFUSED, reason="not found"),
        ],
        appeared=["new.py"],
        vanished=["old.py"],
    )
    message = changes_message(changes, account(place))
    assert message.startswith("Your hunks as they stand now; do not send kept hunks again:\na.py (")
    assert "hunk 1 kept, accepted, now line 2" in message
    assert 'hunk 2 rejected by the user: "keep the name"' in message
    assert "hunk 3 NOT applied: not found" in message
    assert "a.py at line 3:\n-three\n+drei" in message
    assert "New files: new.py" in message
    assert "gone: old.py" in message


def test_nothing_changed_says_nothing() -> None:
    assert changes_message(Changes(), account(workspace())) == ""


def test_a_cut_answer_is_reported_with_what_the_user_made_of_it() -> None:
    place = workspace(a="one\nzwei\nthree\n")
    hunks = [hunk(place), hunk(place, id=2, stage=Stage.DROPPED, added=1, removed=2)]
    changes = Changes(hunks=hunks, cut=Cut(1, 1842))
    report = changes_message(changes, account(place))
    assert report.startswith("Your last answer was interrupted by the user after 1842 characters.")
    assert "hunk 1 kept, pending review, now line 2" in report
    assert "hunk 2 NOT applied: dropped, cut after -2/+1 lines" in report
    assert "Current text of a.py, lines 1-3:\none\nzwei\nthree" in report
    hidden = changes_message(changes, account(place, a="secret"))
    assert "zwei" not in hidden
    assert "sha" not in hidden


def test_a_cut_answer_that_changed_nothing_says_so_once() -> None:
    place = workspace(a="one\n")
    head = "Your last answer broke off after 5 characters."
    nothing = Changes(cut=Cut(1, 5, "broke off"))
    assert changes_message(nothing, account(place)) == f"{head}\nNone of it changed a file."
    kept = Changes(cut=Cut(1, 5, "broke off"), kept=True)  # its hunks were told before
    assert changes_message(kept, account(place)) == head


def test_a_patch_in_a_message_is_spoken_of_if_something_is_wrong_with_it() -> None:
    place = workspace(a="one\ntwo\n")
    good = [hunk(place)]
    said = changes_message(
        Changes(hunks=good, prose=[PatchInProse(good, "", False)]), account(place)
    )
    assert said.startswith("Your hunks as they stand now")
    wrong = PatchInProse(good, "line 3: no", False)
    said = changes_message(Changes(prose=[wrong]), account(place))
    assert said == (
        "In your message, the patch is not valid, line 3: no; "
        "nothing behind that was read: 1 of 1 hunk placed"
    )


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


def test_a_path_is_told_on_one_line() -> None:
    place = workspace(a="one\n")
    edits = [UserChange("a\nb", 0, "", "x\n")]
    message = changes_message(Changes(edits=edits, appeared=["c\n\nd"]), account(place))
    assert "a\\nb at line 1" in message
    assert "New files: c\\n\\nd" in message


def test_whatever_is_told_is_known_not_to_be_typed_by_the_user() -> None:
    place = workspace(a="one\ntwo\n")
    good, edit = [hunk(place)], UserChange("a.py", 0, "", "x\n")
    for changes in (
        Changes(hunks=good),
        Changes(hunks=[hunk(place, stage=Stage.REFUSED)]),
        Changes(cut=Cut(1, 5)),
        Changes(prose=[PatchInProse(good, "line 3: no", False)]),
        Changes(edits=[edit]),
        Changes(formatted=[edit]),
        Changes(appeared=["a"]),
        Changes(vanished=["a"]),
    ):
        said = changes_message(changes, account(place))
        assert said
        assert prompt_of({"input": [user_item(said)]}) == "", said
    shown = Context().message([OpenFile(Buffer("a.py", "x"), private="secret")], full=True)
    assert prompt_of({"input": [user_item(shown)]}) == ""
