"""``duetto sessions``: the sessions that are kept, as lines or as JSON."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from msgspec.structs import asdict

from tui.core.inert_text import inert
from tui.core.session_record import SessionLine
from tui.errors import EXIT_OK
from tui.settings import Paths

_SHOWN = 30
_EXCERPT = 160


@click.command("sessions")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, all of them.")
@click.option("--search", metavar="WORDS", default="", help="Those in which all of these are.")
@click.option("--here", is_flag=True, help="Those of the current folder only.")
def sessions_command(as_json: bool, search: str, here: bool) -> int:
    """List the sessions that are kept, newest first; duetto resume ID goes on with one.

    Words are found by their beginnings, in whatever you, a model or a command said.
    """
    from tui.effects.store import reading

    data = Paths.find().data_dir
    lines = reading.sessions(data, search, str(Path.cwd()) if here else "")
    found = reading.search(data, search) if search else []
    excerpts = {one.session.id: excerpt(one.text, search) for one in reversed(found)}
    if as_json:
        for line in lines:
            told = asdict(line) | ({"found": excerpts.get(line.id, "")} if search else {})
            click.echo(json.dumps(told))
        return EXIT_OK
    for text in _told(lines[:_SHOWN], excerpts):
        click.echo(inert(text))
    if len(lines) > _SHOWN:
        click.echo(f"and {len(lines) - _SHOWN:,} more: --search WORDS, or --json for all")
    if not lines:
        click.echo("No session has these words." if search else "No session is kept yet.")
    return EXIT_OK


def _told(lines: Iterable[SessionLine], excerpts: dict[str, str]) -> Iterator[str]:
    from tui.engine.sessions import about, title_of

    now_ms = int(time.time() * 1000)
    home = os.path.expanduser("~")
    for line in lines:
        folder = line.folder
        if folder.startswith(home + os.sep):
            folder = "~" + folder[len(home) :]
        *said, _, age = about(line, now_ms)
        yield f"{line.id}  {title_of(line)[:_EXCERPT]}"
        yield f"          {', '.join([folder, *said, age])}"
        if line.id in excerpts:
            yield f"          … {excerpts[line.id]}"


def excerpt(text: str, words: str) -> str:
    """The line in which the first of the words is."""
    wanted = [word.casefold() for word in words.split()]
    lines = [" ".join(line.split()) for line in text.split("\n")]
    best = max(lines, key=lambda line: sum(word in line.casefold() for word in wanted))
    at = next((best.casefold().find(w) for w in wanted if w in best.casefold()), 0)
    first = max(at - _EXCERPT // 4, 0)
    return best[first : first + _EXCERPT].strip()
