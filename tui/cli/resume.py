"""``duetto resume``: go on with an earlier session; and what ``/resume`` and ``/fork`` go to."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from tui.cli.options import Again, Invocation, invocation_options
from tui.errors import UsageError
from tui.settings import Paths

if TYPE_CHECKING:
    from tui.core.session_record import SessionLine
    from tui.engine.sessions import Onward


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
