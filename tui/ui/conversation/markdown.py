"""Markdown as rows: headings, emphasis, code, lists, quotes, fences and tables; all inert.

Raw HTML stays text, links are shown and not active, images are their alternative text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from tui.ui import theme
from tui.ui.conversation.fences import code_lines, led
from tui.ui.rows import Line, Piece, flat, inert, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_DEEPEST = 12
"""Nesting of lists and quotes beyond which no further indent is made."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def markdown_lines(source: str, width: int) -> list[Line]:
    """Render a Markdown text to rows of at most ``width`` cells."""
    from markdown_it.tree import SyntaxTreeNode

    root = SyntaxTreeNode(_parser().parse(source))
    return _blocks(root.children, max(width, 8), 0)


def _blocks(nodes: Iterable[SyntaxTreeNode], width: int, depth: int) -> list[Line]:
    """Blocks one under the other, with an empty row between them."""
    lines: list[Line] = []
    for node in nodes:
        found = _block(node, width, depth)
        if lines and found:
            lines.append(Line([]))
        lines += found
    return lines


def _block(node: SyntaxTreeNode, width: int, depth: int) -> list[Line]:
    palette = theme.active()
    kind = node.type
    if kind in ("fence", "code_block"):
        language = node.info.split()[0] if kind == "fence" and node.info.strip() else ""
        return code_lines(node.content, language, width)
    if kind == "hr":
        return [Line([("─" * width, palette.style("line"))])]
    if kind in ("bullet_list", "ordered_list"):
        return _list(node, width, depth)
    if kind == "blockquote":
        bar = ("▎ ", palette.style("faint"))
        inner = _blocks(node.children, max(width - 2, 8), depth + 1)
        return [Line(led(bar, line.pieces), line.back) for line in inner]
    if kind == "table":
        return _table(node, width)
    if kind == "heading":
        style = palette.style("syntax-heading", more="bold")
        return [Line(row) for row in wrap(_inline(node, style), width)]
    if node.children:
        return [Line(row) for row in wrap(_inline(node, palette.style("foreground")), width)]
    return [Line([(flat(inert(node.content)), palette.style("foreground"))])]


def _list(node: SyntaxTreeNode, width: int, depth: int) -> list[Line]:
    style = theme.active().style("accent")
    ordered = node.type == "ordered_list"
    number = int(node.attrs.get("start", 1)) if ordered else 0
    loose = any(
        not child.hidden
        for item in node.children
        for child in item.children
        if child.type == "paragraph"
    )
    lines: list[Line] = []
    for item in node.children:
        bullet = f"{number}. " if ordered else "• "
        number += 1
        indent = len(bullet) if depth < _DEEPEST else 0
        inner = _item(item, max(width - indent, 8), depth)
        if loose and lines:
            lines.append(Line([]))
        for index, line in enumerate(inner or [Line([])]):
            lead = (bullet if index == 0 else " " * indent, style)
            lines.append(Line(led(lead, line.pieces), line.back))
    return lines


def _item(item: SyntaxTreeNode, width: int, depth: int) -> list[Line]:
    """The blocks of a list item; nested lists stand close to their text."""
    lines: list[Line] = []
    for child in item.children:
        if lines and not child.type.endswith("_list") and child.type != "fence":
            lines.append(Line([]))
        lines += _block(child, width, depth + 1)
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
        return [(f"[image: {inert(node.content)}]", palette.style("muted"))]
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
    address = inert(str(node.attrs.get("href", "")))
    link = [(text, piece_style + Style(underline=True)) for text, piece_style in pieces]
    if address in ("", shown):
        return link
    return [*link, (f" ({address})", palette.style("muted"))]


def _table(node: SyntaxTreeNode, width: int) -> list[Line]:
    palette = theme.active()
    rows: list[list[list[Piece]]] = []
    for part in node.children:
        style = palette.style("foreground", more="bold" if part.type == "thead" else "")
        rows += [[_inline(cell, style) for cell in row.children] for row in part.children]
    columns = max(len(row) for row in rows)
    widths = _column_widths(rows, columns, width - 3 * (columns - 1))
    rule = palette.style("line")
    lines: list[Line] = []
    for number, row in enumerate(rows):
        lines += _table_row(row, widths, rule)
        if number == 0:
            lines.append(Line([("─┼─".join("─" * cells for cells in widths), rule)]))
    return lines


def _table_row(row: list[list[Piece]], widths: list[int], rule: Style) -> list[Line]:
    """One row of a table: as many lines as its tallest cell."""
    wrapped = [wrap(cell, cells) for cell, cells in zip(row, widths, strict=False)]
    lines = []
    for index in range(max(map(len, wrapped), default=0)):
        pieces: list[Piece] = []
        for cell, cells in zip(wrapped, widths, strict=False):
            if pieces:
                pieces.append((" │ ", rule))
            shown = cell[index] if index < len(cell) else []
            used = sum(cell_len(text) for text, _ in shown)
            pieces += [*shown, (" " * max(cells - used, 0), rule)]
        lines.append(Line(pieces))
    return lines


def _column_widths(rows: list[list[list[Piece]]], columns: int, room: int) -> list[int]:
    """Natural widths; where they do not fit, the widest columns shrink first."""
    widths = [1] * columns
    for row in rows:
        for index, cell in enumerate(row):
            widths[index] = max(widths[index], sum(cell_len(text) for text, _ in cell))
    while sum(widths) > max(room, columns):
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths
