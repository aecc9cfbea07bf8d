"""What an editor paints is what its buffer holds, row by row."""

from __future__ import annotations

import re

from tui.core.document.workspace import Workspace
from tui.ui.editor.editor import Editor
from tui.ui.editor.paint import gutter_width
from tui.ui.editor.view import View

BEHIND = re.compile(r" *▍?[␍␊]* *$")
"""What may stand behind a line: cursor, pen, a picture of its ending."""
MORE = re.compile(r"⋯ (\d+) more removed lines? *$")


def check(editor: Editor) -> None:
    """What is painted is what the buffer holds, and between it what was removed, in its place."""
    view = editor.view
    if view is None or not editor.size.height or not editor.size.width:
        return
    assert view.buffer.clamp(view.cursor.position) == view.cursor.position
    workspace = editor.session.workspace
    struck = struck_lines(workspace, view.path)
    gone = {} if view.removed.hidden else removed_texts(workspace, view.path)
    (check_wrapped if view.wrapped else check_plain)(view, texts(editor), struck, gone)


def struck_lines(workspace: Workspace, path: str) -> set[int]:
    """Lines of the buffer that hunks which still come in have struck."""
    record = workspace.documents.records.get(path)
    painters = [section.painter for section in record.sections if section.painter] if record else []
    return {
        painter.row + at
        for painter in painters
        if not painter.trouble
        for at, tag in enumerate(painter.tags)
        if tag == "-"
    }


def removed_texts(workspace: Workspace, path: str) -> dict[int, list[str]]:
    """Line -> the old lines of undecided hunks that stood above it, found by looking at all."""
    found: dict[int, list[str]] = {}
    record = workspace.documents.records.get(path)
    for hunk in workspace.hunks:
        if record is None or hunk.path != path or not hunk.decidable or hunk not in record.live:
            continue
        lines = [line.rstrip("\r\n") for line in hunk.base.splitlines(keepends=True)]
        for offset, first, last in hunk.woven if hunk.woven is not None else ((0, 0, len(lines)),):
            line = min(hunk.start.line + offset, hunk.end.line)
            found.setdefault(line, []).extend(lines[first:last])
    return {line: lines for line, lines in found.items() if lines}


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


def check_plain(
    view: View,
    rows: list[tuple[str, str] | None],
    struck: set[int],
    gone: dict[int, list[str]],
) -> None:
    """One row a line, from the first one on."""
    line, col = view.place
    above = gone[line][len(view.removed.above(line)) + col :] if col < 0 else []
    for row in rows:
        if row is None:
            return  # lines on their way lie over the rest
        number, text = row
        if above:
            assert number == "-"
            if more := MORE.match(text):
                del above[: int(more[1])]
            else:
                taken = next(at for at, one in enumerate(above) if fits(view, one, text))
                assert not taken or len(above) > 1  # several hunks at one place: in any order
                del above[taken]
            continue
        if line >= view.buffer.line_count:
            assert (number, text.strip()) == ("", "")
            continue
        shown = str(line + 1 - sum(one < line for one in struck))
        assert number == ("-" if line in struck else shown)
        assert fits(view, view.buffer.lines[line], text)
        line += 1
        above = [*gone.get(line, [])]


def fits(view: View, line: str, text: str) -> bool:
    """Whether a row shows a line."""
    whole = line.expandtabs(4)
    shown = whole[view.left : view.left + len(text)]
    if len(whole) > view.left + len(text):
        return text == shown[:-1] + "›"
    return text.startswith(shown) and bool(BEHIND.match(text[len(shown) :]))


def check_wrapped(
    view: View,
    rows: list[tuple[str, str] | None],
    struck: set[int],
    gone: dict[int, list[str]],
) -> None:
    """The rows of a line together are the line."""
    found: dict[int, str] = {}
    line: int | None = view.top
    removed = view.place[1] < 0
    numbered = [one for one in range(view.buffer.line_count) if one not in struck]
    old = {"".join(one.split()) for lines in gone.values() for one in lines}
    old |= {"".join(view.buffer.lines[one].split()) for one in struck}
    for row in rows:
        if row is None:
            line = None  # what goes on behind them is a line that is not known
            continue
        number, text = row
        assert number or not text.strip()
        removed = number == "-" or (removed and number == "↳")
        if removed:
            line = None
            plain = "".join(text.split())
            assert MORE.match(text) or any(plain in one for one in old)
            continue
        if number not in ("", "↳"):
            now = numbered[int(number) - 1]
            assert line is None or now == line + (line in found)
            line = now
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
    if whole_picture and found and max({*found, *struck}) + 1 < view.buffer.line_count:
        assert rows[-1][0]
