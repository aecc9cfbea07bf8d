"""What is done with sessions as a whole: name one, export it, go to another; and their words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import Struct

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Hunk
from tui.core.document.workspace import Workspace
from tui.core.files import counted
from tui.core.inert_text import inert
from tui.core.session_record import SessionLine
from tui.engine import intents
from tui.engine.notices import Trouble
from tui.engine.ports import SessionStore
from tui.engine.recording import SessionRecording
from tui.engine.services import Services
from tui.engine.session_state import SessionState, Witness
from tui.errors import FileRefused

_MARKDOWN, _JSON = ".md", ".json"
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_LONGEST = 100
_BLOCK = ("kind", "turn", "title", "speaker", "call_id", "state", "text")
_HUNK = ("id", "turn", "call_id", "path", "kind", "target", "stage", "decision", "base", "agent")
_WHY = ("words", "flags", "reason")
"""What an export says of a block, and of a hunk."""


class Onward(Struct, frozen=True):
    """Where to go when this session is left."""

    session_id: str
    """Or the beginning of it, or a name."""
    fork: bool = False
    """Begin a new one with what was said there."""
    turn: int | None = None
    """Up to this one; None: all."""


class SessionKeeping:
    """Names the session, exports it."""

    def __init__(self, services: Services, recording: SessionRecording | None, name: str) -> None:
        """``name`` is what the session is called in the store."""
        self._services, self._recording, self._name = services, recording, name

    def handle(self, intent: intents.Rename | intents.Export) -> None:
        """Do it, and say so."""
        match intent:
            case intents.Rename(name):
                self._rename(" ".join(name.split())[:_LONGEST])
            case intents.Export(path):
                self._export(path)

    def _rename(self, name: str) -> None:
        state = self._services.state
        if self._recording is None:
            why, step = "sessions are not kept", "[store] on = true keeps them"
            state.warn("The session has no name", why, step)
            return
        self._recording.name(name)
        state.note(0, f"this session is called “{name}” now")

    def _export(self, path: str) -> None:
        services = self._services
        name, state, files = self._name, services.state, services.ports.files
        path = path or f"duetto-{name or 'session'}{_MARKDOWN}"
        if not path.endswith((_MARKDOWN, _JSON)):
            path += _MARKDOWN
        blocks, workspace = state.transcript.blocks, state.workspace
        if path.endswith(_JSON):
            items = [one.item for one in services.requests.history.entries]
            text = as_json(name, blocks, workspace, items)
        else:
            text = "\n".join(as_markdown(name, blocks, workspace))
        try:
            files.write(path, text.encode("utf-8", "replace"), None)
        except FileRefused as error:
            step = "/export FILE.md or FILE.json names another"
            state.trouble(Trouble("The session was not exported", str(error), step))
            return
        state.note(0, f"exported to {path}")


def as_markdown(name: str, blocks: Iterable[Block], workspace: Workspace) -> Iterator[str]:
    """The conversation for people; what was said in it stays as it was said."""
    yield f"# duetto session {name}".rstrip()
    speaker = ("", 0)
    for block in blocks:
        text = block.text.strip("\n")
        who = "you" if block.kind is BlockKind.USER else block.speaker
        if block.kind in (BlockKind.USER, BlockKind.TEXT) and (who, block.turn) != speaker:
            speaker = (who, block.turn)
            yield f"\n## {who or 'model'}\n"
        match block.kind:
            case BlockKind.USER | BlockKind.TEXT:
                yield text + "\n"
            case BlockKind.REASONING:
                yield "\n".join(f"> {line}" for line in text.split("\n")) + "\n"
            case BlockKind.TOOL | BlockKind.RUN:
                yield f"`{block.title}`\n\n{_fenced(text)}\n"
            case BlockKind.PATCH:
                yield from _patch(workspace.hunks_of(block.call_id))
            case _:
                yield f"*{text}*\n"


def _patch(hunks: Iterable[Hunk]) -> Iterator[str]:
    """The hunks of a call as a diff, each with what became of it."""
    for hunk in hunks:
        state = hunk.decision if hunk.decision != "pending" else hunk.stage
        words = f": {hunk.words}" if hunk.words else ""
        target = f" → {hunk.target}" if hunk.target else ""
        yield f"{hunk.path}{target}, hunk {hunk.id}, {state}{words}\n"
        lines = [*(f"-{one}" for one in hunk.base.splitlines())]
        lines += [f"+{one}" for one in hunk.agent.splitlines()]
        yield _fenced("\n".join(lines), "diff") + "\n"


def _fenced(text: str, language: str = "") -> str:
    """A text in a fence that is not in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def as_json(
    name: str, blocks: Iterable[Block], workspace: Workspace, items: list[dict[str, object]]
) -> str:
    """All of it for programs."""
    told = {
        "session": name,
        "blocks": [{one: getattr(block, one) for one in _BLOCK} for block in blocks],
        "hunks": [{one: getattr(hunk, one) for one in (*_HUNK, *_WHY)} for hunk in workspace.hunks],
        "items": items,
    }
    return json.dumps(told, indent=1) + "\n"


def turn_asked(argument: str, last: int) -> int | str | None:
    """The turn after which a session is forked; None: the last; a str says what is wrong."""
    if not argument:
        return None if last else "Nothing has been said that could be taken over."
    if argument.isascii() and argument.isdecimal() and 1 <= int(argument[:9]) <= last:
        return int(argument)
    return f"/fork takes the number of a turn, 1 to {last}." if last else "There is no turn yet."


def age_words(ms: int, now_ms: int) -> str:
    """How long ago that was: ``now``, ``5 minutes ago``, ``12 days ago``."""
    seconds = (now_ms - ms) // 1000
    for unit_s, unit in _UNITS:
        if seconds >= unit_s:
            count = seconds // unit_s
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "now"


def title_of(line: SessionLine) -> str:
    """The name of a session, else how it begins; not safe to show as it is."""
    return line.name or line.first_words or "(nothing was said)"


def about(line: SessionLine, now_ms: int) -> list[str]:
    """What else is said of a session, the most telling first; not safe to show as it is."""
    waiting = f"{counted(line.open_hunks, 'hunk')} open"
    said = [waiting] * bool(line.open_hunks)
    said += ["runs now"] * line.alive
    said += [line.kind] * (line.kind not in ("app", "linear"))
    folder = line.folder.rstrip("/").rpartition("/")[2]
    return [*said, folder, age_words(line.last_ms, now_ms)]


def cut_words(line: SessionLine) -> str:
    """That a session was killed, and how it goes on."""
    title, waiting = inert(title_of(line)), f"; {counted(line.open_hunks, 'hunk')} open"
    title = title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"
    what = f"The last session here was cut off: {title}{waiting * bool(line.open_hunks)}"
    return f"{what}\n/resume {line.id} goes on with it"


DELETE_ALL = "Delete all of them"
KEEP_ALL = "Keep them"


async def forgetting(
    state: SessionState, store: SessionStore | None, *, all_sessions: bool
) -> None:
    """Delete what is kept of this session, or, if the user means it, of all.

    Raises StoreRefused: it is deleted as soon as that can be.
    """
    if store is None or not (store.keeps or all_sessions):
        state.trouble(Trouble("Nothing of this session is kept", severity="information"))
        return
    if all_sessions:
        question = "Delete what is kept of all sessions, in every folder?"
        detail = "Conversations, decisions and the files as they were. It cannot be undone."
        if await state.questions.ask(question, detail, (DELETE_ALL, KEEP_ALL)) != DELETE_ALL:
            return
    state.witness = Witness()
    store.forget(all_sessions=all_sessions)
    await store.settled()
    which = "all sessions are" if all_sessions else "this session is"
    state.note(0, f"{which} forgotten; no more of this one is kept")
