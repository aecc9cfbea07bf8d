"""What an editor paints is what its buffer holds, row by row."""

from __future__ import annotations

import re

from tui.ui.editor.editor import Editor
from tui.ui.editor.paint import gutter_width
from tui.ui.editor.view import View

BEHIND = re.compile(r" *▍?[␍␊]* *$")
"""What may stand behind a line: cursor, pen, a picture of its ending."""


def check(editor: Editor) -> None:
    """What is painted is what the buffer holds."""
    view = editor.view
    if view is None or not editor.size.height or not editor.size.width:
        return
    assert view.buffer.clamp(view.cursor.position) == view.cursor.position
    (check_wrapped if view.wrapped else check_plain)(view, texts(editor))


def texts(editor: Editor) -> list[tuple[str, str] | None]:
    """Number and text of each row of the file; None where lines on their way lie over it."""
    gutter = gutter_width(editor.view.digits)
    rows: list[tuple[str, str] | None] = []
    for y in range(editor.size.height):
        text = editor.render_line(y).text
        assert len(text) == editor.size.width
        if chips := editor._rows[y].chips:
            under = editor._rows[y]._replace(chips=())
            whole = editor._painter.strip(under, editor._frame).text
            over = "".join(words for words, _ in chips)
            assert text == whole[: -len(over)] + over
            text = whole
        ghost = text[gutter - 2] == "┊"
        rows.append(None if ghost else (text[: gutter - 2].strip(), text[gutter:]))
    return rows


def check_plain(view: View, rows: list[tuple[str, str] | None]) -> None:
    """One row a line, from the first one on."""
    for line, row in enumerate(rows, view.top):
        if row is None:
            assert line != view.cursor.position[0]
            continue
        number, text = row
        if line >= view.buffer.line_count:
            assert (number, text.strip()) == ("", "")
            continue
        assert number == str(line + 1)
        whole = view.buffer.lines[line].expandtabs(4)
        shown = whole[view.left : view.left + len(text)]
        if len(whole) > view.left + len(text):
            assert text == shown[:-1] + "›"
        else:
            assert text.startswith(shown)
            assert BEHIND.match(text[len(shown) :])


def check_wrapped(view: View, rows: list[tuple[str, str] | None]) -> None:
    """The rows of a line together are the line."""
    found: dict[int, str] = {}
    line: int | None = view.top
    for row in rows:
        if row is None:
            line = None  # what goes on behind them is a line that is not known
            continue
        number, text = row
        assert number or not text.strip()
        if number not in ("", "↳"):
            assert line is None or int(number) - 1 == line + (line in found)
            line = int(number) - 1
        if line is not None and (number or text.strip()):
            found[line] = found.get(line, "") + text
    whole_picture = None not in rows
    for at, (line, text) in enumerate(found.items()):
        shown = "".join(re.sub("[▍␍␊]", "", text).split())
        whole = "".join(view.buffer.lines[line].split())
        assert shown in whole
        if whole_picture:
            assert at == 0 or whole.startswith(shown)
            assert at == len(found) - 1 or whole.endswith(shown)
    if whole_picture and view.top + len(found) < view.buffer.line_count:
        assert rows[-1][0]
