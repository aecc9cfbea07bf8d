"""The user's own status line: ``[meter]`` of ``config.toml`` goes into the screen at the start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui import toml_lines, toml_tables
from tui.cli.finding import Finding
from tui.settings import MeterSettings, Settings

if TYPE_CHECKING:
    from tui.ui.screens.workbench import Workbench

_QUOTES = ('"""', "'''")
_STEP = "docs/meter.md names all fields"


def use_line(bench: Workbench, settings: MeterSettings) -> None:
    """Have this status line, and this ghost in the gutter."""
    if settings.line != "":
        from tui.ui.widgets.line_template import template_of

        text = settings.line
        bench.status_line.follow(template_of(text if isinstance(text, str) else "")[0])
    for side in bench.editor.sides:
        side.editor.background.ghost.mode = settings.gutter_ghost


def line_complaints(settings: Settings, file: Path) -> list[str]:
    """What is wrong with the template: ``FILE line N: meter.line WORDS``."""
    written = settings.meter.line
    if written == "":
        return []
    from tui.ui.widgets.line_template import TemplateProblem, template_of

    if isinstance(written, str):
        found = template_of(written)[1]
    else:
        found = [TemplateProblem(0, 'is not text; write it in quotes: line = "{rate} tok/s"')]
    if not found:
        return []
    text = toml_tables.read_again(file)
    first = toml_lines.line_of(text, ("meter", "line"))
    rows = text.splitlines()
    if len(rows) >= first and rows[first - 1].rstrip().endswith(_QUOTES):
        first += 1  # the text begins in the next line
    return [f"{file} line {first + one.line}: meter.line: {one.words}" for one in found]


def own_line_findings(settings: Settings, file: Path) -> Iterator[Finding]:
    """What ``duetto doctor`` says of it; nothing where there is none."""
    if settings.meter.line == "":
        return
    complaints = line_complaints(settings, file)
    for complaint in complaints:
        yield Finding("status line", "fix", complaint, _STEP)
    if not complaints:
        yield Finding("status line", "ok", "a template of your own")
