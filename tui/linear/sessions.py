"""``/resume`` and ``/fork`` in lines: sessions are listed and named, then this one is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tui.core.inert_text import brief, inert
from tui.core.session_record import SessionLine
from tui.engine.session import Session
from tui.engine.sessions import Onward, about, title_of, turn_asked
from tui.errors import StoreRefused

_SHOWN = 12

Say = Callable[[Iterable[str]], None]


async def resume(session: Session, say: Say, go: Callable[[Onward], None], wanted: str) -> None:
    """Go to the session that is named; else list those in which the words are."""
    archive, here = session.archive, session.stored_as
    if archive is None:
        say(["No sessions are kept here."])
        return
    line, refused, others = None, "", list[SessionLine]()
    try:
        others = [one for one in await archive.sessions(wanted) if one.id != here]
        line = await archive.find(wanted) if wanted else None
    except StoreRefused as error:
        refused = inert(str(error))
    if refused and not others:
        say([f"{refused[:1].upper()}{refused[1:]}."])
    elif line is not None and line.id == here:
        say(["That is this session."])
    elif line is not None and line.alive:
        say([f"Session {line.id} goes on in another duetto."])
    elif line is not None:
        go(Onward(line.id))
    else:
        now_ms = int(time.time() * 1000)
        said = [
            f"{one.id}: {brief(title_of(one))}, {', '.join(about(one, now_ms))}."
            for one in others[:_SHOWN]
        ]
        if len(others) > _SHOWN:
            said.append(f"And {len(others) - _SHOWN} more.")
        ways = "/resume ID goes on with one, /resume WORDS looks for others."
        say([*map(inert, said), ways] if said else ["No other session is kept."])


def fork(session: Session, say: Say, go: Callable[[Onward], None], argument: str) -> None:
    """Leave for a new session that begins with this one up to a turn."""
    turn = turn_asked(argument, session.last_turn)
    if isinstance(turn, str):
        say([turn])
    elif not session.stored_as:
        say(["This session is not kept: nothing can be taken over."])
    else:
        go(Onward(session.stored_as, fork=True, turn=turn))
