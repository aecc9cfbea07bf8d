"""``duetto stats``: what the turns that are kept say of speed, as lines or as JSON."""

from __future__ import annotations

import json
import shutil
import sys

import click
from msgspec import to_builtins

from tui.core.inert_text import inert
from tui.errors import EXIT_OK, UsageError
from tui.settings import Paths


@click.command("stats")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, all figures.")
@click.option(
    "--since",
    metavar="WHEN",
    default="",
    help="A day (2026-11-01), a time back (12h, 7d, 4w), today, or all. The last 7 days if left"
    " out.",
)
def stats_command(as_json: bool, since: str) -> int:
    """Say how fast your own turns were.

    From the prompt to the first token, the first hunk, your decision, the verdict and green;
    waiting against working, models by the hour, money.
    """
    from tui.effects.store import cycles
    from tui.engine.stats_words import as_lines, sections, since_asked

    since_ms = since_asked(since)
    if isinstance(since_ms, str):
        raise UsageError(f"--since: {since_ms}")
    report = cycles.measured(Paths.find().data_dir, since_ms)
    if as_json:
        click.echo(json.dumps(to_builtins(report, str_keys=True)))
        return EXIT_OK
    width = shutil.get_terminal_size().columns - 2 if _draws() else 0
    for line in as_lines(sections(report, width)):
        click.echo(inert(line))
    return EXIT_OK


def _draws() -> bool:
    """Whether strips and sparklines can be written here, and somebody sees them."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return sys.stdout.isatty() and encoding == "utf8"
