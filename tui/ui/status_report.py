"""What ``/status`` says: the models, what they can do, and the sockets as a table of figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content

from tui.core.traffic import SocketView
from tui.engine.intents import Role
from tui.engine.notices import Status
from tui.engine.ports import Abilities
from tui.ui.rows import breaks, clip, clip_left, one_line
from tui.ui.widgets.transcript_views import ROLE_GLYPHS

Parts = list[Content | str | tuple[str, str]]
"""Text and the ``$token`` of its colour."""
_INDENT = "  "
_COLUMNS = (("age", 9), ("round trip", 12), ("in", 10), ("out", 10))
"""Right-aligned figures behind endpoint, state and transport; cells."""
_STATE, _TRANSPORT = 12, 10
_LEAST_NAME, _MOST_NAME = 9, 20
_STATES = {
    "open": ("●", "$success"),
    "connecting": ("◌", "$warning"),
    "retiring": ("◐", "$warning"),
    "closed": ("○", "$error"),
}
_TRANSPORTS = {"websocket": "WebSocket", "http": "HTTP"}
_ROLES: tuple[Role, ...] = ("fast", "deep")


def status_report(
    status: Status, can: Abilities, sockets: Sequence[SocketView], width: int
) -> Content:
    """All of it, in rows of at most ``width`` cells."""
    parts: Parts = [("Models\n", "bold $accent"), *_models(status, width)]
    parts += [("\nWhat it can do", "bold $accent"), ("  this model, here\n", "$faint")]
    parts += _abilities(can)
    parts += [("\nSockets\n", "bold $accent")]
    if sockets:
        parts += _table(sockets, width)
    else:
        parts.append((f"{_INDENT}none yet; one is opened when you begin to type\n", "$muted"))
    return Content.assemble(*parts)


def _models(status: Status, width: int) -> Parts:
    parts: Parts = []
    for role in _ROLES:
        if not (name := one_line(status.models.get(role, ""))):
            continue
        answers = role == status.role
        parts.append((f"{_INDENT}{ROLE_GLYPHS[role]} {role:<6}", f"bold ${role}"))
        parts.append((clip(name, width - 36), "$foreground" if answers else "$muted"))
        if effort := status.efforts.get(role):
            parts.append((f" · {effort}", "$muted"))
        if answers:
            parts.append(("   answers now", "$faint"))
        parts.append("\n")
        if answers:
            parts += _served(status, name, width)
    if status.rehearsal:
        words = "This is a rehearsal: scripted answers, no model."
        parts.append((f"{_INDENT}{words}\n", "$warning"))
    return parts


def _served(status: Status, asked: str, width: int) -> Parts:
    """What the server says it used, if it said so."""
    indent = f"{_INDENT}{'':8}"
    served, tier = one_line(status.served_model), one_line(status.served_tier)
    if not served:
        return [(f"{indent}not asked yet\n", "$faint")]
    as_asked = served == asked
    said = "served as asked" if as_asked else f"served: {served}"
    if tier:
        said += f" · {tier}"
    colour = "$faint" if as_asked else "$warning"
    return [(f"{indent}{clip(said, width - len(indent))}\n", colour)]


def _abilities(can: Abilities) -> Parts:
    """Yes, no, or not tried; nothing is claimed that was not seen."""
    known = (
        ("steer", can.steer),
        ("interrupt", can.interrupt),
        ("prewarm", can.prewarm),
        ("lanes", can.lanes),
    )
    parts: Parts = [_INDENT]
    for index, (name, able) in enumerate(known):
        word, colour = {
            True: ("✓ yes", "$success"),
            False: ("✗ no", "$error"),
            None: ("· not tried", "$faint"),
        }[able]
        parts += ["    " if index else "", (f"{name} ", "$muted"), (word, colour)]
    return [*parts, "\n"]


def _table(sockets: Sequence[SocketView], width: int) -> Parts:
    fixed = len(_INDENT) + _STATE + _TRANSPORT + sum(cells for _, cells in _COLUMNS)
    longest = max(cell_len(one_line(socket.endpoint)) for socket in sockets) + 2
    name = min(max(longest, _LEAST_NAME), _MOST_NAME, max(width - fixed, _LEAST_NAME))
    head = f"{_INDENT}{'endpoint':<{name}}{'state':<{_STATE}}{'over':<{_TRANSPORT}}"
    head += "".join(f"{title:>{cells}}" for title, cells in _COLUMNS)
    parts: Parts = [(f"{head}\n", "$faint")]
    for socket in sockets:
        parts += _row(socket, name)
        parts += _below(socket, width)
    return parts


def _row(socket: SocketView, name: int) -> Parts:
    glyph, colour = _STATES.get(socket.state, ("·", "$muted"))
    shown = clip(one_line(socket.endpoint), name - 1)
    plain = socket.transport == "websocket"
    trip = "–" if socket.round_trip_s is None else f"{socket.round_trip_s * 1000:.0f} ms"
    figures = (span(socket.age_s), trip, amount(socket.bytes_in), amount(socket.bytes_out))
    cells = "".join(
        f"{figure:>{width}}" for figure, (_, width) in zip(figures, _COLUMNS, strict=True)
    )
    transport = _TRANSPORTS.get(socket.transport, one_line(socket.transport))
    return [
        (f"{_INDENT}{shown}{' ' * (name - cell_len(shown))}", "$foreground"),
        (f"{glyph} {socket.state:<{_STATE - 2}}", colour),
        (f"{transport:<{_TRANSPORT}}", "$foreground" if plain else "$warning"),
        (f"{cells}\n", "$foreground"),
    ]


def _below(socket: SocketView, width: int) -> Parts:
    """What is said of a socket in words."""
    reconnects = counted(socket.reconnects, "reconnect")
    requests = counted(socket.requests, "request")
    said = [
        ("lanes", _lanes(socket.lanes)),
        ("sent", f"{requests}, {socket.continued} with the new items only · {reconnects}"),
        ("at", clip_left(one_line(socket.address), width - 11)),
    ]
    if socket.transport != "websocket":
        said.append(("why", "the WebSocket was refused or kept breaking; it is tried again"))
    parts: Parts = []
    for title, words in said:
        first = True
        for start, end in breaks(words, width - 11):
            parts.append((f"{_INDENT}  {title if first else '':<7}", "$faint"))
            parts.append((f"{words[start:end]}\n", "$muted"))
            first = False
    return parts


def _lanes(names: Iterable[str]) -> str:
    shown = [f"{one_line(name.rstrip('*'))}{' busy' * name.endswith('*')}" for name in names]
    return ", ".join(shown) or "none used yet"


def counted(number: int, thing: str) -> str:
    """``1 request``, ``2 requests``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def span(seconds: float) -> str:
    """``42 s``, ``12 min``, ``1 h 05``."""
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    minutes = math.floor(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02}"


def amount(size_bytes: int) -> str:
    """``640 B``, ``34.1 kB``, ``1.2 MB``; thousands, as networks count."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    for unit, factor in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if size_bytes < 999.95 * factor or unit == "GB":
            return f"{size_bytes / factor:.1f} {unit}"
    raise AssertionError("unreachable")
