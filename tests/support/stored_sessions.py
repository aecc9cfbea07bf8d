"""A session as a store without a flaw has it, and the session that goes on with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from tests.support.fakes import World
from tests.support.past_hunks import past_hunk
from tui.core.conversation import BlockKind
from tui.core.document.hunk import Hunk
from tui.core.instructions import STOPPED_BY_ACCIDENT
from tui.core.session_record import (
    BlockSaid,
    EntryMade,
    FileKept,
    KeptEntry,
    SessionLine,
    StoredSession,
    StoredTurn,
    TurnBegan,
    TurnEnded,
    sha_of,
)
from tui.engine.recording import made
from tui.engine.resuming import Resumption
from tui.engine.session import Session, SessionOptions

LINE = SessionLine("7f3k2m00", "/workspace", "app", "", "make it safe", 0, 0, True, 1, 0)


def stored(world: World, *, untold: Iterable[int] = ()) -> StoredSession:
    """All that there is of a session now."""
    session = world.session
    state = session.services.state
    blocks = tuple(
        BlockSaid(n, b.turn, b.kind, b.title, b.speaker, b.call_id, b.state, 0, b.text, b.report)
        for n, b in enumerate(session.transcript.blocks)
    )
    entries, turn = list[EntryMade](), 0
    for n, one in enumerate(session.services.requests.history.entries, 1):
        turn += one.kind == "prompt"
        entries.append(made(KeptEntry(one, one.item, n, float(n), turn)))
    files = {
        path: FileKept(1, path, "after", sha_of(data)) for path, data in world.files.data.items()
    }
    return StoredSession(
        LINE,
        99,
        turns=tuple(_turns(session)),
        entries=tuple(entries),
        entry_count=len(entries),
        blocks=blocks,
        hunks=tuple(past_hunk(state.workspace, hunk) for hunk in session.workspace.hunks),
        files=files,
        untold=frozenset(untold),
    )


def _turns(session: Session) -> Iterable[StoredTurn]:
    said = [b for b in session.transcript.blocks if b.kind is BlockKind.USER]
    for block in said:
        running = session.status.busy and block is said[-1]
        outcome = session.status.outcome if block is said[-1] else "completed"
        ended = None if running else TurnEnded(block.turn, outcome or "completed")
        yield StoredTurn(TurnBegan(block.turn, block.text, "fast", "quick-1", "main"), ended, 0)
    for number in range(said[-1].turn + 1 if said else 1, session.last_turn + 1):
        began = TurnBegan(number, STOPPED_BY_ACCIDENT, "fast", "quick-1", "main")
        yield StoredTurn(began, None, 0)


async def resumed(
    world: World,
    kept: StoredSession,
    *,
    is_fork: bool = False,
    ask: bool = False,
    blobs: Mapping[str, bytes] = MappingProxyType({}),
) -> World:
    """Another duetto over the same files goes on with it."""
    options = SessionOptions(ask=ask, resumed=Resumption(kept, blobs.get, is_fork))
    other = World(world.files.data, options=options, roles=world.roles)
    other.files.private = world.files.private
    await other.runs()
    return other


def changed_since(kept: StoredSession, **shas: str) -> StoredSession:
    """The files had other bytes then."""
    files = {path: replace(kept.files[path], blob=sha) for path, sha in shas.items()}
    return replace(kept, files=kept.files | files)


def numbers(hunks: Iterable[Hunk]) -> list[int]:
    return [hunk.id for hunk in hunks]
