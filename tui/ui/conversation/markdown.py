"""Markdown as rows: headings, emphasis, code, lists, quotes, fences and tables; all inert.

Raw HTML stays text, links are shown and not active, images are their alternative text.

Tables as rows: aligned by cells, wrapped where they are wide, one field a row where too wide.
Nothing of a table is left out, however narrow the pane is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.style import Style

from tui.core.text.patterns import pattern
from tui.ui import theme
from tui.ui.conversation.fences import CodeRow, code_lines, led
from tui.ui.styled_text import Piece, RowTarget, StyledLine, flat, inert, one_line, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode


Cell = list[Piece]
_BETWEEN = " │ "
_NARROWEST = 8
"""Cells that a column has where its words are longer; with less room fields stand below another."""
_DELIMITER = pattern(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


_BETWEEN_CELLS = pattern(r"(?<!\\)\|")
_BREAK = pattern(r"\r\n?|\n")


class Table(NamedTuple):
    """The cells of a table, row by row; the first row is its head."""

    rows: list[list[Cell]]
    alignments: list[str]
    """``left``, ``right`` or ``center`` for each column."""


class TableHead(NamedTuple):
    """The beginning of a table of which more comes: its source, and how wide its columns are."""

    source: str
    widths: tuple[int, ...]


def open_head(source: str) -> str:
    """The two lines with which a table begins that goes on to the end of a text; else nothing."""
    lines = source.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number in range(len(lines) - 1, 0, -1):
        if not lines[number].strip():
            return ""
        head = lines[number - 1]
        if "|" in lines[number] and "|" in head and _DELIMITER.match(lines[number]):
            return f"{head}\n{lines[number]}\n"
    return ""


def widened(source: str, tables: Iterable[tuple[int, int, int]]) -> str:
    """The text with a column more for each cell that stands beyond a table's head; else empty.

    ``tables``: the first line of each, the one behind it, and its columns. The parser leaves
    such cells out.
    """
    lines: list[str] = []
    found = False
    for first, behind, columns in tables:
        lines = lines or _BREAK.split(source)
        more = max(map(_cells, lines[first + 2 : behind]), default=0) - columns
        if more > 0:
            lines[first] = _with_columns(lines[first], " |", more)
            lines[first + 1] = _with_columns(lines[first + 1], "-|", more)
            found = True
    return "\n".join(lines) if found else ""


def _cells(line: str) -> int:
    """How many cells a row has."""
    return len(_BETWEEN_CELLS.findall(line.lstrip("> \t").rstrip().strip("|"))) + 1


def _with_columns(line: str, column: str, more: int) -> str:
    bare = line.rstrip()
    return bare + ("" if bare.endswith("|") and not bare.endswith("\\|") else "|") + column * more


def column_widths(table: Table, width: int) -> tuple[int, ...]:
    """Cells of each column; empty: there is no room for them side by side."""
    columns = len(table.alignments)
    natural, words = [1] * columns, [1] * columns
    for row in table.rows:
        for index, cell in enumerate(row[:columns]):
            text = "".join(text for text, _ in cell)
            natural[index] = max(natural[index], cell_len(text))
            words[index] = max(words[index], max(map(cell_len, text.split()), default=1))
    room = width - len(_BETWEEN) * (columns - 1)
    if sum(natural) <= room:
        return tuple(natural)
    for floors in (words, [min(word, _NARROWEST) for word in words]):
        if sum(floors) <= room:
            return _shrunk(natural, floors, room)
    return ()


def _shrunk(natural: Sequence[int], floors: Sequence[int], room: int) -> tuple[int, ...]:
    """The widest columns give way first, none below its floor."""
    low, high = 1, max(natural)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_capped(natural, floors, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    widths = _capped(natural, floors, low)
    left = room - sum(widths)
    for index, full in enumerate(natural):
        if left and widths[index] < full:
            widths[index] += 1
            left -= 1
    return tuple(widths)


def _capped(natural: Sequence[int], floors: Sequence[int], cap: int) -> list[int]:
    return [max(min(full, cap), floor) for full, floor in zip(natural, floors, strict=True)]


def table_lines(table: Table, width: int, head: TableHead | None = None) -> list[StyledLine]:
    """The rows of a table; ``head``: of one whose first row was shown above."""
    fits = head is not None and len(head.widths) == len(table.alignments)
    widths = head.widths if head is not None and fits else column_widths(table, width)
    if not widths:
        return _records(table, width, begun=head is not None)
    rule = theme.active().style("line")
    between = StyledLine([("─┼─".join("─" * cells for cells in widths), rule)])
    wrapped = [_wrapped(row, widths) for row in table.rows]
    ruled = any(len(cell) > 1 for row in wrapped for cell in row)
    lines: list[StyledLine] = []
    for number, row in enumerate(wrapped):
        if number == 0 and head is not None:
            continue
        if number == 1 or (ruled and number):
            lines.append(between)
        lines += _row(row, widths, table.alignments)
    if len(wrapped) == 1 and head is None:
        lines.append(between)
    return lines[1:] if head is not None and lines[:1] == [between] and not ruled else lines


def _wrapped(row: list[Cell], widths: Iterable[int]) -> list[list[Cell]]:
    return [wrap(cell, cells) for cell, cells in zip(row, widths, strict=False)]


def _row(
    row: list[list[Cell]], widths: Sequence[int], alignments: Sequence[str]
) -> list[StyledLine]:
    """One row of a table: as many lines as its tallest cell."""
    rule = theme.active().style("line")
    lines = []
    for index in range(max(map(len, row), default=0)):
        pieces: list[Piece] = []
        for number, cells in enumerate(widths):
            if number:
                pieces.append((_BETWEEN, rule))
            shown = row[number][index] if number < len(row) and index < len(row[number]) else []
            pieces += _aligned(shown, cells, alignments[number], rule)
        lines.append(StyledLine(pieces))
    return lines


def _aligned(cell: Cell, cells: int, alignment: str, blank: Style) -> list[Piece]:
    free = max(cells - sum(cell_len(text) for text, _ in cell), 0)
    before = {"right": free, "center": free // 2}.get(alignment, 0)
    return [(" " * before, blank), *cell, (" " * (free - before), blank)]


def _records(table: Table, width: int, *, begun: bool) -> list[StyledLine]:
    """One field a row, its name before it: for tables that are too wide for the pane."""
    palette = theme.active()
    rule = StyledLine([("─" * width, palette.style("line"))])
    names = ["".join(text for text, _ in cell) for cell in table.rows[0]]
    room = min(max(map(cell_len, names), default=0), width // 3)
    style = palette.style("muted")
    lines: list[StyledLine] = []
    for row in table.rows[1:] or table.rows:
        if lines or begun:
            lines.append(rule)
        for name, cell in zip(names, row, strict=False):
            label = wrap([(name, style)], room)
            value = wrap(cell, max(width - room - 2, 1))
            for index in range(max(len(label), len(value))):
                left = label[index] if index < len(label) else []
                right = value[index] if index < len(value) else []
                lines.append(
                    StyledLine([*_aligned(left, room, "left", style), ("  ", style), *right])
                )
    return lines


MOST_NESTED = 100
"""Levels that the parser goes down; it leaves out what is deeper."""
_MOST_REOPENED = 24
"""Levels that are opened again; what is deeper stands at the margin from there on."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])")
_QUOTE = re.compile(r"[ \t]*> ?")
_NOTHING = "```\n"
"""Opens or closes a fence with nothing in it, which keeps an item open and shows no row."""


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """CommonMark with tables; raw HTML is text, and so are the addresses of reference links.

    A definition may come long after its link, when the link's rows are settled: both are shown
    as they were written.
    """
    from markdown_it import MarkdownIt

    found = MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTED})
    return found.enable(["table", "strikethrough"]).disable("reference")


class Nest(NamedTuple):
    """The items and quotes that a text has left open, and their code."""

    source: str = ""
    """Markdown that opens them again."""
    inside: str = ""
    """What leads the lines within them."""
    coded: bool = False
    """The text ended within code that is fenced."""
    at: int = 0
    """The character of the whole text at which that code's line begins."""

    @property
    def lines(self) -> int:
        """How many lines of `source` show nothing."""
        return self.source.count("\n")


def nest_at_end(source: str, at: int, before: Nest | None = None) -> Nest | None:
    """The nest in which a text ends; None: it ends at the margin.

    ``at``: the character of the whole text with which ``source`` begins. ``before``: the nest in
    which the text begins.
    """
    before = before or Nest()
    tokens: list[Token] = []
    text = f"{before.source}{source}".replace("\r\n", "\n").replace("\r", "\n").rstrip()
    lines = text.split("\n")
    parser().block.parse(f"{text}\n", parser(), {}, tokens)
    reaching = [token for token in tokens if token.map and token.map[1] >= len(lines)]
    nest = [token for token in reaching if token.type in ("blockquote_open", "list_item_open")]
    fence = next((token for token in reaching if token.type == "fence"), None)
    if fence is not None and not _is_open(fence):
        fence = None
    if len(nest) > _MOST_REOPENED or not (nest or fence):
        return None
    opening, inside = _opened(nest, lines)
    if fence is None:
        return Nest(opening, inside)
    begin = _first(fence)
    offset = before.at if begin < before.lines else at + _length(source, begin - before.lines)
    info = fence.info.replace("\n", " ")
    return Nest(f"{opening}{inside}{fence.markup}{info}\n", inside, coded=True, at=offset)


def _opened(nest: list[Token], lines: list[str]) -> tuple[str, str]:
    """Lines that open these items and quotes, and what leads the lines within them."""
    opening, leads = "", [""]
    last, col = -1, 0
    for number, token in enumerate(nest):
        if (first := _first(token)) != last:
            last, col = first, _led(lines[first], nest[:number], leads)
        line = lines[first].expandtabs(4)
        found = (_QUOTE if token.type == "blockquote_open" else _ITEM).match(line, col)
        mark, lead = found[0] if found is not None else "> ", "> "
        end = col + len(mark)
        if token.type == "blockquote_open":
            mark = lead
        else:
            blanks = len(line) - end - len(line[end:].lstrip(" "))
            wide = len(mark) + (blanks if 0 < blanks < 5 and line[end:].strip() else 1)
            mark, lead, end = mark.ljust(wide), " " * wide, col + wide
        outer, col = "".join(leads), end
        opening += f"{outer}{mark}{_NOTHING}{outer}{lead}{_NOTHING}"
        leads.append(lead)
    return opening, "".join(leads)


def _led(line: str, outer: list[Token], leads: list[str]) -> int:
    """The column behind what leads a line within these."""
    line, col = line.expandtabs(4), 0
    for token, lead in zip(outer, leads[1:], strict=False):
        if token.type == "blockquote_open":
            found = _QUOTE.match(line, col)
            col = found.end() if found is not None else col
        else:
            col += len(lead)
    return col


def _first(token: Token) -> int:
    return token.map[0] if token.map else 0


def _is_open(fence: Token) -> bool:
    """True if the fence goes on behind its last line."""
    first, behind = fence.map or (0, 0)
    return fence.content.count("\n") == behind - first - 1


def _length(source: str, lines: int) -> int:
    """How many characters the first lines of a text have."""
    at = 0
    for _ in range(lines):
        at = source.index("\n", at) + 1
    return at


_DEEPEST = 12
"""Nesting of lists and quotes beyond which no further indent is made."""
_NARROW, _LEAST_WIDTH = 8, 4
"""Cells that text has at least beside an indent, and where there is room for none."""
_FLAT = frozenset({"paragraph", "heading", "fence", "code_block", "hr", "table"})
"""Blocks in which nothing is nested."""
_HEADINGS = {"h1": "bold underline", "h2": "bold"}
"""Those below are bold, too."""
_TASK = pattern(r"\[([ xX])\](?:\s+|$)")


class Piecework(NamedTuple):
    """Where a piece of Markdown stands in the whole text."""

    width: int
    at: int = 0
    """The character of the whole text with which the piece begins."""
    source: str = ""
    nest: Nest = Nest()
    """The piece begins within these items and quotes; the lines that open them show nothing."""


def markdown_lines(
    source: str, width: int, at: int = 0, before: TableHead | Nest | None = None
) -> list[StyledLine]:
    """Render a Markdown text to rows of at most ``width`` cells.

    Of a piece of a text, ``at`` is the character of the whole text with which it begins;
    ``before``: it begins with more rows of this table, or within these items and quotes.
    """
    width, head = max(width, 8), before if isinstance(before, TableHead) else None
    opening = "" if before is None else before.source
    nest = before if isinstance(before, Nest) else Nest()
    work = Piecework(width, at - len(opening), f"{opening}{source}", nest)
    lines: list[StyledLine] = []
    nodes = _parsed(work.source)
    if nodes is None:
        rows = wrap([(flat(inert(source)), theme.active().style("foreground"))], width)
        return [StyledLine(row) for row in rows]
    for number, node in enumerate(nodes):
        first = head is not None and number == 0 and node.type == "table"
        found = table_lines(_table(node), width, head) if first else _block(node, work, 0)
        if lines and found:
            lines.append(StyledLine([]))
        lines += found if node.type in _FLAT else _fitting(found, width)
    return lines


def _fitting(lines: Iterable[StyledLine], width: int) -> Iterator[StyledLine]:
    """Rows that are too wide, as many indents left no room, are wrapped once more.

    Code, whose colours are made later, stands below the bullets that leave it no room.
    """
    for line in lines:
        pieces = line.pieces
        if isinstance(pieces, CodeRow):
            if sum(cell_len(text) for text, _ in pieces.lead) > width - _LEAST_WIDTH:
                lead, pieces.lead = pieces.lead, ()
                yield from (StyledLine(row) for row in wrap(lead, width))
            yield line
        elif isinstance(pieces, list) and sum(cell_len(text) for text, _ in pieces) > width:
            yield from (line._replace(pieces=row) for row in wrap(pieces, width))
        else:
            yield line


def table_head(source: str, width: int) -> TableHead | None:
    """The head of the table with which a text ends; None: it does not end with one."""
    lines = open_head(source)
    if not lines:
        return None
    tables = [node for node in _parsed(source) or () if node.type == "table"]
    if not tables:
        return None
    return TableHead(lines, column_widths(_table(tables[-1]), max(width, 8)))


def _parsed(source: str) -> Sequence[SyntaxTreeNode] | None:
    """The blocks of a text; None where they are nested so deep that some would be left out."""
    from markdown_it.tree import SyntaxTreeNode

    tokens = parser().parse(source)
    if wider := widened(source, _tables(tokens)):
        tokens = parser().parse(wider)
    if any(token.level >= MOST_NESTED - 2 for token in tokens):
        return None
    return SyntaxTreeNode(tokens).children


def _tables(tokens: Iterable[Token]) -> Iterator[tuple[int, int, int]]:
    """First line of each table, the one behind it, and how many columns its head has."""
    lines, columns = (0, 0), 0
    for token in tokens:
        if token.type == "table_open" and token.map:
            lines, columns = (token.map[0], token.map[1]), 0
        elif token.type == "th_open":
            columns += 1
        elif token.type == "table_close":
            yield *lines, columns


def _blocks(nodes: Iterable[SyntaxTreeNode], work: Piecework, depth: int) -> list[StyledLine]:
    """Blocks one under the other, with an empty row between them."""
    lines: list[StyledLine] = []
    for node in nodes:
        found = _block(node, work, depth)
        if lines and found:
            lines.append(StyledLine([]))
        lines += found
    return lines


def _block(node: SyntaxTreeNode, work: Piecework, depth: int) -> list[StyledLine]:
    palette = theme.active()
    kind, width = node.type, work.width
    if kind == "fence":
        language = node.info.split()[0] if node.info.strip() else ""
        if _is_above(node, work) and not node.content:
            return []
        target = RowTarget("code", line=_offset(node, work))
        return code_lines(node.content, language, width, target=target)
    if kind == "code_block":
        return code_lines(node.content, "", width)
    if kind == "hr":
        return [StyledLine([("─" * width, palette.style("line"))])]
    if kind in ("bullet_list", "ordered_list"):
        return _list(node, work, depth)
    if kind == "blockquote":
        if depth >= _DEEPEST or width - 2 < _NARROW:
            return _blocks(node.children, work, depth + 1)
        bar = ("▎ ", palette.style("faint"))
        inner = _blocks(node.children, _narrower(work, 2), depth + 1)
        return [line._replace(pieces=led(bar, line.pieces)) for line in inner]
    if kind == "table":
        return table_lines(_table(node), width)
    if kind == "heading":
        style = palette.style("syntax-heading", more=_HEADINGS.get(node.tag, "bold"))
        return [StyledLine(row) for row in wrap(_inline(node, style), width)]
    if node.children:
        return [StyledLine(row) for row in wrap(_inline(node, palette.style("foreground")), width)]
    return [StyledLine([(flat(inert(node.content)), palette.style("foreground"))])]


def _narrower(work: Piecework, cells: int) -> Piecework:
    return work._replace(width=max(work.width - cells, _LEAST_WIDTH))


def _offset(node: SyntaxTreeNode, work: Piecework) -> int:
    """The character of the whole text with which the line begins on which a block begins."""
    line = node.map[0] if node.map else 0
    if _is_above(node, work):
        return work.nest.at
    if not line:
        return work.at
    ends = (found.end() for found in _BREAK.finditer(work.source))
    return work.at + next(islice(ends, line - 1, None), 0)


def _is_above(node: SyntaxTreeNode, work: Piecework) -> bool:
    """It began before this piece of the text."""
    return node.map is not None and node.map[0] < work.nest.lines


def _list(node: SyntaxTreeNode, work: Piecework, depth: int) -> list[StyledLine]:
    ordered = node.type == "ordered_list"
    number = int(node.attrs.get("start", 1)) if ordered else 0
    widest = len(f"{number + len(node.children) - 1}. ")
    loose = any(
        not child.hidden
        for item in node.children
        for child in item.children
        if child.type == "paragraph"
    )
    style = theme.active().style("accent")
    lines: list[StyledLine] = []
    for item in node.children:
        bullet = f"{number}. ".rjust(widest) if ordered else _box(item) or "• "
        number += 1
        roomy = depth < _DEEPEST and work.width - len(bullet) >= _NARROW
        indent = len(bullet) if roomy else 0
        inner = _item(item, _narrower(work, len(bullet)), depth)
        if _is_above(item, work):
            bullet = " " * len(bullet)
            if not inner:
                continue
        if loose and lines:
            lines.append(StyledLine([]))
        for index, line in enumerate(inner or [StyledLine([])]):
            lead = (bullet if index == 0 else " " * indent, style)
            lines.append(line._replace(pieces=led(lead, line.pieces)))
    return lines


def _box(item: SyntaxTreeNode) -> str:
    """The box of a task, empty for other items; its signs are taken out of the text."""
    first = item.children[0] if item.children else None
    inline = first.children[0] if first is not None and first.type == "paragraph" else None
    text = inline.children[0] if inline is not None and inline.children else None
    found = _TASK.match(text.content) if text is not None and text.type == "text" else None
    if found is None or text is None or text.token is None:
        return ""
    text.token.content = text.content[found.end() :]
    return "[ ] " if found[1] == " " else "[✓] "


def _item(item: SyntaxTreeNode, work: Piecework, depth: int) -> list[StyledLine]:
    """The blocks of a list item; nested lists stand close to their text."""
    lines: list[StyledLine] = []
    for child in item.children:
        if lines and not child.type.endswith("_list") and child.type != "fence":
            lines.append(StyledLine([]))
        lines += _block(child, work, depth + 1)
    return lines


def _inline(node: SyntaxTreeNode, style: Style) -> list[Piece]:
    """The styled text of a paragraph, heading or table cell."""
    palette = theme.active()
    kind = node.type
    if kind == "text":
        return [(flat(inert(node.content)), style)]
    if kind == "code_inline":
        return [(inert(node.content), palette.style("syntax-string", "panel"))]
    if kind == "softbreak":
        return [(" ", style)]
    if kind == "hardbreak":
        return [("\n", style)]
    if kind == "image":
        words = " ".join(filter(None, (flat(inert(node.content)), f"({_address(node, 'src')})")))
        return [(f"[image: {words}]", palette.style("muted"))]
    if kind == "strong":
        style += Style(bold=True)
    elif kind == "em":
        style += Style(italic=True)
    elif kind == "s":
        style += Style(strike=True)
    pieces = [piece for child in node.children for piece in _inline(child, style)]
    if kind != "link":
        return pieces or ([(inert(node.content), style)] if not node.children else [])
    shown = "".join(text for text, _ in pieces)
    address = _address(node, "href")
    link = [(text, piece_style + Style(underline=True)) for text, piece_style in pieces]
    if address.removeprefix("mailto:") in ("", shown) or node.info == "auto":
        return link
    return [*link, (f" ({address})", palette.style("muted"))]


def _address(node: SyntaxTreeNode, name: str) -> str:
    """Where a link or an image leads, with its title."""
    address, title = (inert(str(node.attrs.get(key, ""))) for key in (name, "title"))
    return f'{address} "{one_line(title)}"' if title else address


def _table(node: SyntaxTreeNode) -> Table:
    """The cells of a table, the head in bold."""
    palette = theme.active()
    rows: list[list[Cell]] = []
    for part in node.children:
        style = palette.style("foreground", more="bold" if part.type == "thead" else "")
        rows += [[_inline(cell, style) for cell in row.children] for row in part.children]
    head = node.children[0].children[0].children
    return Table(rows, [_alignment(cell) for cell in head])


def _alignment(cell: SyntaxTreeNode) -> str:
    return str(cell.attrs.get("style", "")).rpartition(":")[2] or "left"
