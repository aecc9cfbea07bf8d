"""The sessions that are kept: ``duetto sessions``, ``resume`` and ``stats``.

Also what ``/resume`` and ``/fork`` go to. Each command imports what only it needs.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins
from msgspec.structs import asdict, replace

from tui.cli.options import Again, Invocation, invocation_options
from tui.core.inert_text import inert
from tui.errors import EXIT_OK, UsageError
from tui.settings import Paths

if TYPE_CHECKING:
    from tui.core.session_record import SessionLine
    from tui.engine.sessions import Onward


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


def again(paths: Paths, onward: Onward, *, here: bool = False, whole: bool = True) -> Again:
    """What to go on with; ``here``: in the current folder, wherever it was.

    ``whole``: False, if what is shown first will do to begin with. Raises StoreRefused: there is
    no such session; UsageError: it cannot go on.
    """
    from tui.effects.store import reading
    from tui.engine.resuming import Resumption, up_to

    if whole or onward.fork:
        stored, rest = reading.load(paths.data_dir, onward.session_id), None
    else:
        stored, rest = reading.begin(paths.data_dir, onward.session_id)
    line = stored.line
    if line.alive and not onward.fork:
        raise UsageError(
            f"session {line.id} goes on in another duetto;"
            f" duetto resume {line.id} --fork begins a new one with it"
        )
    if onward.turn is not None:
        said_since = any(one.kind == "summary" and one.turn > onward.turn for one in stored.entries)
        stored = up_to(stored, onward.turn)
        if said_since:  # the summary was written later: what it stands for is in the store
            entries = reading.entries_until(paths.data_dir, line.id, onward.turn)
            stored = replace(stored, entries=entries)
    folder = Path.cwd() if here else Path(line.folder)
    if not folder.is_dir():
        raise UsageError(
            f"the folder of session {line.id} is not there any more ({line.folder});"
            f" duetto resume {line.id} --here goes on in the current one"
        )
    blobs = partial(reading.data, paths.data_dir)
    until = partial(reading.entries_until, paths.data_dir, line.id)
    return Again(folder, Resumption(stored, blobs, onward.fork, rest, until))


def newest(paths: Paths, folder: str | None = None) -> SessionLine:
    """The last session of a folder, or of this one, else of all; one that runs is passed over.

    Raises StoreRefused; UsageError: there is none.
    """
    from tui.effects.store import reading

    found = reading.sessions(paths.data_dir, folder=str(Path(folder or ".").resolve()))
    if folder is None:
        found = found or reading.sessions(paths.data_dir)
    line = next((one for one in found if not one.alive), None)
    if line is None:
        where = "" if folder is None else " of this folder"
        raise UsageError(f"there is no earlier session{where} to go on with")
    return line


@click.command("resume")
@click.argument("session", metavar="[ID]", required=False)
@click.option("--last", is_flag=True, help="The last one of this folder, else of all.")
@click.option("--fork", is_flag=True, help="Begin a new session with what was said there.")
@click.option("--here", is_flag=True, help="In the current folder, wherever it was before.")
@invocation_options
def resume_command(
    session: str | None, last: bool, fork: bool, here: bool, asked: Invocation
) -> int:
    """Go on with an earlier session: the conversation, the hunks that wait, the files.

    ID is what duetto said when you left, or the beginning of it, or the session's name. Without
    one a list of all sessions opens, to search in.
    """
    from tui.cli.open_app import opened
    from tui.engine.sessions import Onward

    paths = Paths.find()
    if session and last:
        raise UsageError("say an ID or --last, not both")
    chosen = newest(paths).id if last else session
    if chosen is None and (fork or here):
        raise UsageError("--fork and --here need an ID, or --last")
    if chosen is None:
        return opened(replace(asked, lists=True))
    found = again(paths, Onward(chosen, fork=fork), here=here, whole=asked.linear)
    return opened(replace(asked, again=found))


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
