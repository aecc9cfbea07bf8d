"""The prompt in the real program: its history over runs, the user's own editor, drafts kept."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from tests.support.terminal import Terminal

Start = Callable[..., Terminal]


def test_what_was_asked_is_there_in_the_next_run(start: Start, tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_text("x = 1\n")
    term = start(".")
    term.wait_for("send")
    term.type("see @ab")
    term.wait_for("▸ a b.py")
    term.type("\t")
    term.wait_for('❯ see @"a b.py"')
    term.type("/or not\r")
    term.wait_gone("❯ see")
    term.leave()
    term = start(".")
    term.wait_for("send")
    term.type("\x1b[A")
    term.wait_for('❯ see @"a b.py" /or not')
    term.type("\x03\x12or")
    term.wait_for("your earlier prompts")
    term.type("\x1b")
    term.wait_gone("your earlier prompts")
    term.type("\x15")
    term.leave()


def test_the_draft_goes_to_the_editor_and_comes_back(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    """Ctrl+C in the editor is the editor's; what fails there leaves the draft as it is."""
    editor = tmp_path / "my editor"
    editor.write_text(
        '#!/bin/sh\nfor f; do :; done\necho "EDITING $(cat "$f")"\nread line < /dev/tty\n'
        '[ "$line" = fail ] && exit 3\nprintf "%s" "$line" > "$f"\n'
    )
    editor.chmod(0o755)
    environment["VISUAL"] = f"{shlex.quote(str(editor))} --wait"
    term = start(".")
    term.wait_for("send")
    for typed, said in (("fail\n", "exit code 3"), ("\x03", "signal 2")):
        term.type("a draft\x07")
        term.wait_for("EDITING a draft")
        term.type(typed)
        term.wait_for(said)
        term.wait_for("❯ a draft")
        term.type("\x15")
    term.type("\x07")
    term.wait_for("EDITING")
    term.type("from the editor\n")
    term.wait_for("❯ from the editor")
    term.type("\x15")
    term.leave()


def test_what_the_editor_has_saved_is_brought_back_after_the_window_was_closed(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    editor = tmp_path / "ed"
    editor.write_text('#!/bin/sh\necho "an hour of work" > "$1"\necho EDITING\nexec sleep 60\n')
    editor.chmod(0o755)
    environment["VISUAL"] = str(editor)
    term = start(".")
    term.wait_for("send")
    term.type("a draft\x07")
    term.wait_for("EDITING")
    assert term.hang_up() is not None
    term = start(".")
    term.wait_for("was ended while your editor")
    term.wait_for("/rescue brings it back")
    term.type("/rescue\r")
    term.wait_for("❯ an hour of work")
    term.type("\x15")
    term.leave()
