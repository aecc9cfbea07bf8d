"""Screens of text that is looked at once a second: the status, skills, the meter, statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core.cycles import CycleReport
from tui.core.files import amount, counted
from tui.core.inert_text import inert
from tui.core.meter import PRICE_UNKNOWN, Cost, dollars
from tui.core.wire.endpoint_facts import SocketView
from tui.core.wire.rate_limits import sentences
from tui.engine.feeling import CONSENT
from tui.engine.intents import Role
from tui.engine.notices import Status
from tui.engine.ports import Abilities, SessionArchive
from tui.engine.session import Session
from tui.engine.stats_words import sections, since_asked
from tui.errors import StoreRefused
from tui.ui.conversation.views import ROLE_GLYPHS
from tui.ui.keymap import way_out
from tui.ui.styled_text import breaks, clip, clip_left, one_line
from tui.ui.stylesheets import sheet
from tui.ui.widgets.figures import StatusFacts
from tui.ui.widgets.line_template import FIELDS, default_template

Parts = list[Content | str | tuple[str, str]]
"""Text and the ``$token`` of its colour."""
_INDENT = "  "
Columns = tuple[tuple[str, int], ...]
_COLUMNS: Columns = (("age", 7), ("round trip", 11), ("in", 9), ("out", 9))
"""Right-aligned figures behind endpoint, state and transport; cells."""
_STATE, _TRANSPORT = 11, 10
_LEAST_NAME, _MOST_NAME = 10, 20
_LEAST_WORDS = 20
"""Cells of a row of words."""
_BESIDE = 60
"""Cells from which two abilities stand in a row, and who answers now is said in words."""
_STATES = {
    "open": ("● open", "$success"),
    "connecting": ("◌ opening", "$warning"),
    "retiring": ("◐ retiring", "$warning"),
    "closed": ("○ closed", "$error"),
}
_TRANSPORTS = {"websocket": "WebSocket", "http": "HTTP", "bridge": "bridge"}
_ROLES: tuple[Role, ...] = ("fast", "deep")


def status_report(
    status: Status,
    can: Abilities,
    sockets: Sequence[SocketView],
    width: int,
    cost: Cost | None = None,
) -> Content:
    """All of it, in rows of at most ``width`` cells."""
    name, endpoint = one_line(status.models.get(status.role, "")), one_line(status.endpoint)
    parts: Parts = [("Models\n", "bold $accent"), *_models(status, width)]
    if cost is not None and (cost.session_usd is not None or cost.session_unknown):
        parts += paragraph(_dollars(cost), "$muted", width)
    parts.append(("\nWhat it can do", "bold $accent"))
    parts.append((f"  {clip(f'{name} at {endpoint}', width - 16)}\n", "$faint"))
    parts += _abilities(can, width)
    parts += [
        ("\nSockets", "bold $accent"),
        *_connection(status, clip(endpoint, max(width - 34, 8))),
    ]
    if sockets:
        parts += _table(sockets, width)
    else:
        parts += paragraph("none now: the next prompt opens one", "$muted", width)
    return Content.assemble(*parts).rstrip("\n")


def further(title: str, sentences: Sequence[str], width: int) -> Content:
    """More sentences under a title of their own; nothing if there are none."""
    if not sentences:
        return Content()
    parts: Parts = [(f"\n\n{title}\n", "bold $accent")]
    for words in sentences:
        parts += paragraph(one_line(words), "$muted", width)
    return Content.assemble(*parts).rstrip("\n")


def _models(status: Status, width: int) -> Parts:
    parts: Parts = []
    for role in _ROLES:
        if not (name := one_line(status.models.get(role, ""))):
            continue
        answers = role == status.role
        now = "   answers now" if answers and width >= _BESIDE else ""
        asked = (status.effort_words(role), one_line(status.tiers.get(role, "")))
        effort = "".join(f" · {one}" for one in asked if one)
        room = width - len(_INDENT) - 8 - len(effort) - len(now)
        parts.append((f"{_INDENT}{ROLE_GLYPHS[role]} {role:<6}", f"bold ${role}"))
        parts.append((clip(name, room), "$foreground" if answers else "$muted"))
        parts += [(effort, "$muted"), (now, "$faint")]
        parts.append("\n")
        if why := status.auto.get(role):
            parts += paragraph(f"Effort {status.efforts.get(role)}: {why}.", "$muted", width)
        if answers:
            parts += _served(status, name, width)
    if status.advice:
        parts += paragraph(f"Proposals of the other model: {status.advice}.", "$muted", width)
    if status.rehearsal:
        words = "This is a rehearsal: scripted answers, no model."
        parts += paragraph(words, "$warning", width)
    return parts


def paragraph(words: str, colour: str, width: int, indent: str = _INDENT) -> Parts:
    """A sentence, wrapped."""
    rows = breaks(words, max(width - len(indent), _LEAST_WORDS))
    return [(f"{indent}{words[start:end]}\n", colour) for start, end in rows]


def _dollars(cost: Cost) -> str:
    """What turn and session cost, where prices are known."""
    said = []
    if cost.unknown:
        said.append(f"{PRICE_UNKNOWN} for this turn")
    elif cost.turn_usd is not None:
        about = "about " if cost.estimated else ""
        said.append(f"{about}{dollars(cost.turn_usd)} for this turn")
    least = "" if cost.session_whole else "at least "
    if cost.session_usd is not None:
        said.append(f"{least}{dollars(cost.session_usd)} in this session")
    elif not cost.unknown:
        said.append(f"{PRICE_UNKNOWN} for this session")
    return ", ".join(said)


def _connection(status: Status, endpoint: str) -> Parts:
    """How the model that answers now is connected."""
    if status.retry_s is not None:
        return [(f"  again in {math.ceil(max(status.retry_s, 0))} s\n", "$warning")]
    ready = status.connection == "ready"
    over = " by HTTP" if ready and status.transport == "http" else ""
    return [(f"  {endpoint} is {status.connection}{over}\n", "$faint")]


def _served(status: Status, asked: str, width: int) -> Parts:
    """What the server says it used, if it said so."""
    indent = f"{_INDENT}{'':8}"
    served, tier = one_line(status.served_model), one_line(status.served_tier)
    if not served:
        words = clip("the server has not said what it uses", width - len(indent))
        return [(f"{indent}{words}\n", "$faint")]
    as_asked = served == asked and not status.served_endpoint
    said = "served as asked" if as_asked else f"served: {served}"
    if status.served_endpoint:
        said += f" on {one_line(status.served_endpoint)}"
    if tier:
        said += f" · {tier}"
    expected = served.startswith(asked) and not status.served_endpoint
    parts: Parts = [
        (f"{indent}{clip(said, width - len(indent))}\n", "$faint" if expected else "$warning")
    ]
    if status.left_out:
        words = f"not sent, for it is not taken there: {one_line(status.left_out)}"
        parts += paragraph(words, "$muted", width, indent)
    if status.fallback_reason:
        words = f"a fallback: {one_line(status.fallback_reason)}"
        parts += paragraph(words, "$muted", width, indent)
    return parts


def _abilities(can: Abilities, width: int) -> Parts:
    """Yes, no, or not tried; nothing is claimed that was not seen."""
    known = (
        ("steer", can.steer),
        ("interrupt", can.interrupt),
        ("prewarm", can.prewarm),
        ("lanes", can.lanes),
        ("images", can.images),
    )
    beside = 2 if width >= _BESIDE else 1
    rows = [known[at : at + beside] for at in range(0, len(known), beside)]
    words = {True: "✓ yes", False: "✗ no", None: "· not tried"}
    colours = {True: "$success", False: "$warning", None: "$faint"}
    parts: Parts = []
    for row in rows:
        parts.append(_INDENT)
        for name, able in row:
            said = words[able] if beside == 1 else f"{words[able]:<18}"
            parts += [(f"{name:<11}", "$muted"), (said, colours[able])]
        parts.append("\n")
    return parts


def _table(sockets: Sequence[SocketView], width: int) -> Parts:
    """Figures in columns where there is room for them, else in words below the endpoint."""
    fixed = len(_INDENT) + _STATE + _TRANSPORT + sum(cells for _, cells in _COLUMNS)
    columns = _COLUMNS if width >= fixed + _LEAST_NAME else ()
    room = width - fixed if columns else width - len(_INDENT) - _STATE - _TRANSPORT
    longest = max(cell_len(one_line(socket.endpoint)) for socket in sockets) + 2
    name = min(max(longest, _LEAST_NAME), _MOST_NAME, max(room, _LEAST_NAME))
    head = f"{_INDENT}{'endpoint':<{name}}{'state':<{_STATE}}{'over':<{_TRANSPORT}}"
    head += "".join(f"{title:>{cells}}" for title, cells in columns)
    parts: Parts = [(f"{head.rstrip()}\n", "$faint")]
    counted_for: set[str] = set()
    for socket in sockets:
        parts += _row(socket, name, columns)
        said = _said_of(socket, told=bool(columns), first=socket.endpoint not in counted_for)
        counted_for.add(socket.endpoint)
        parts += _below([*said, ("at", clip_left(one_line(socket.address), width - 11))], width)
    return parts


def _row(socket: SocketView, name: int, columns: Columns) -> Parts:
    state, colour = _STATES.get(socket.state, (one_line(socket.state), "$muted"))
    shown = clip(one_line(socket.endpoint), name - 1)
    plain = socket.transport != "http"
    transport = _TRANSPORTS.get(socket.transport, one_line(socket.transport))
    cells = " " * max(_TRANSPORT - cell_len(transport), 0) if columns else ""
    cells += "".join(
        f"{figure:>{width}}" for figure, (_, width) in zip(_figures(socket), columns, strict=False)
    )
    return [
        (f"{_INDENT}{shown}{' ' * (name - cell_len(shown))}", "$foreground"),
        (f"{state:<{_STATE}}", colour),
        (transport, "$foreground" if plain else "$warning"),
        (f"{cells}\n", "$foreground"),
    ]


def _figures(socket: SocketView) -> tuple[str, str, str, str]:
    """In the order of the columns."""
    trip = "–" if socket.round_trip_s is None else f"{socket.round_trip_s * 1000:.0f} ms"
    return span(socket.age_s), trip, amount(socket.bytes_in), amount(socket.bytes_out)


def _said_of(socket: SocketView, *, told: bool, first: bool) -> list[tuple[str, str]]:
    """What is said of a socket in words, each with its title.

    ``told``: its figures are in the table; ``first``: the endpoint's counts are not told yet.
    """
    age, trip, came, went = _figures(socket)
    said = [("lanes", _lanes(socket.lanes))]
    if not told:
        said.insert(0, ("now", f"{age} old · {trip} there and back · in {came} · out {went}"))
    if first:
        requests = counted(socket.requests, "request")
        words = f"{requests}, {socket.continued} with the new items only"
        said.append(("sent", f"{words} · {counted(socket.reconnects, 'reconnect')}"))
    if socket.why:
        said.append(("why", one_line(socket.why)))
    return said


def _below(said: Iterable[tuple[str, str]], width: int) -> Parts:
    """Title and words, wrapped."""
    parts: Parts = []
    for title, words in said:
        head = title
        for start, end in breaks(words, width - 11):
            parts.append((f"{_INDENT}  {head:<7}", "$faint"))
            parts.append((f"{words[start:end]}\n", "$muted"))
            head = ""
    return parts


def _lanes(names: Iterable[str]) -> str:
    shown = [f"{one_line(name.rstrip('*'))}{' busy' * name.endswith('*')}" for name in names]
    return ", ".join(shown) or "none"


def span(seconds: float) -> str:
    """``42 s``, ``12 min``, ``2 h 05``, ``5 days``."""
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    minutes = math.floor(seconds / 60)
    if minutes >= 100 * 60:
        return f"{minutes // (24 * 60)} days"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02}"


_LOOK_S = 1.0
"""How often it is looked at."""
_LEAST_WIDTH = 32


class StatusScreen(ModalScreen[None]):
    """Reads the session; nothing can be changed here, all of it can be copied."""

    ABOUT: ClassVar[str] = "status"
    CSS_PATH = sheet("status")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", show=False),
        Binding("c,y", "copy", "Copy", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._report = Static(id="status-report", markup=False)
        self._shown: Content | None = None
        self.box = VerticalScroll(id="status-box")
        self.box.border_title = self.ABOUT

    def compose(self) -> ComposeResult:
        """A box that scrolls."""
        with self.box:
            yield self._report

    def on_mount(self) -> None:
        """The columns need the width; from then on it is live."""
        self.say_ways()
        self.call_after_refresh(self.look)
        self.set_interval(_LOOK_S, self.look)

    def on_resize(self) -> None:
        """Other columns."""
        self.call_after_refresh(self.look)

    def say_ways(self) -> None:
        """The keys of the screen itself."""
        self.box.border_subtitle = f"c copies · {way_out(self)}"

    def look(self) -> None:
        """Show what is so now; a selection made with the mouse is left alone."""
        if self.selections:
            return
        report = self.report(max(self._report.size.width, _LEAST_WIDTH))
        if self._shown is None or not report.is_same(self._shown):  # it is laid out and painted
            self._shown = report
            self._report.update(report)

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        session = self._session
        can, sockets = session.abilities(), session.network()
        cost = session.meter.view(session.now()).cost
        said = sentences(session.status.limits, session.now())
        return Content.assemble(
            status_report(session.status, can, sockets, width, cost),
            further("Limits of the server", said, width),
            further("Instructions of the project", session.project_words()[0], width),
        )

    def action_scroll(self, rows_down: int) -> None:
        """Scroll the box."""
        self.box.scroll_relative(y=rows_down, animate=False)

    def action_copy(self) -> None:
        """All of it as plain text into the clipboard."""
        self.app.copy_to_clipboard(str(self._report.content).rstrip())
        self.notify("Copied.", timeout=2, markup=False)


class SkillsScreen(StatusScreen):
    """The skills that were found."""

    ABOUT: ClassVar[str] = "skills"

    def report(self, width: int) -> Content:
        """A row or more for each."""
        lines = self._session.project_words()[1]
        parts: Parts = []
        for words in lines or ["No skill was found (docs/project.md says where)."]:
            name, _, rest = words.partition(": ")
            colour = "bold $foreground" if rest else "$muted"
            parts.append((f"{_INDENT}{clip(name, width - 2)}\n", colour))
            parts += paragraph(rest, "$muted", width, 2 * _INDENT) if rest else []
        return Content.assemble(*parts).rstrip("\n")


EXPLAINED: dict[str, str] = {
    "news": "Whether the answer is being stopped, or where it stopped.",
    "rate": "Output tokens a second: over the last second while an answer streams, over the whole"
    " turn afterwards. ~ is an estimate from characters, until the server's own count comes."
    " The time to first token is left out.",
    "spark": "The rate of the last tenths of a second, the newest at the right; a bar's height is"
    " its rate's place on the scale. ':' and a number: how many bars.",
    "scale": "Where the rate stands between 20 tokens/s (work that you delegate) and 5,000 (a"
    " model that you work with), by factors, not by differences; the tick stands for 50 tokens/s."
    " ':words', ':plain', or ':' and the cells of the ruler.",
    "ghost": "How much of the same output a model at 50 tokens/s would have by now, and how far it"
    " is behind. It gets the same time to first token and the same pauses for tools.",
    "ttft": "Time to first token of the newest response: from its request until its first output"
    " came. What tools took before is not in it.",
    "tokens": "Output tokens of the turn; ~ while they are estimated.",
    "seconds": "From the prompt until now, or until the turn ended.",
    "tools": "Seconds of the turn in which tools ran; in no rate. How long you take to allow a"
    " command is not in it.",
    "reasoning": "+ if reasoning is counted in the rate, − if it came hidden, before the first"
    " output, and is left out. Nothing is said until a server told how much it was.",
    "context": "Tokens that the conversation fills of the model's window, and the window where it"
    " is known.",
    "cached": "How much of the turn's input came from the server's cache, at a fraction of the"
    " price, by the server's count.",
    "cost": "Dollars of the turn, if the price of every answer in it is known; ~ if a count was"
    " estimated; price unknown (or $?) if an answer is charged for at a tier or of a model that has"
    " no known price.",
    "session_cost": "Dollars of the session; + if answers without a known price come on top.",
    "running": "The command that runs: the tests, or what you started with an exclamation mark.",
    "verdict": "How the last tests ended.",
    "throttle": "That you slowed the model down, and to how many tokens/s.",
    "served": "The model that answered, as the server says. Where it is another one than was"
    " asked: asked → served, and on which endpoint.",
    "tier": "The service tier that was served; asked → served where they differ.",
    "limits": "What is left of the server's rate limit when little is left, and when it is lifted;"
    " or how long the server says to wait. ':all' shows it at any time.",
    "connection": "● and the round trip: connected; http: over HTTP instead of a WebSocket; ◌:"
    " connecting, or when it is tried again; ○: idle, offline or lost.",
    "role": "Which of your two models answers: fast or deep.",
    "model": "The model that is asked.",
    "effort": "The reasoning effort that is asked for.",
    "endpoint": "The endpoint's name.",
    "transport": "WebSocket or HTTP.",
    "trip": "The round trip to the endpoint, where it was measured.",
    "queue": "How many of your prompts wait.",
    "path": "The file that is shown.",
    "workspace": "The folder's name.",
    "branch": "The git branch.",
    "clock": "The time of day.",
}
_NAME = 14
_GUTTER = (
    "▹ in the editor is the same ghost: the line in which a model at 50 tokens/s would be writing"
    " now, in the same edit. It goes when it has written all, or when all hunks are decided."
)
_OWN = (
    "A line of your own: [meter] line in config.toml, with these names and the ones below in"
    " braces (docs/meter.md)."
)


def meter_report(scene: StatusFacts, width: int) -> Content:
    """All figures in rows of at most ``width`` cells, those of the usual line first."""
    names = [one.name for half in default_template() for chunk in half for one in chunk.figures()]
    parts: Parts = [("What the meter says now\n", "bold $accent")]
    for name in names:
        parts += _figure(name, scene, width)
    parts += [("\nIn the gutter\n", "bold $accent"), *paragraph(_GUTTER, "$muted", width)]
    parts += [("\nFor a line of your own\n", "bold $accent"), *paragraph(_OWN, "$muted", width)]
    for name in FIELDS:
        if name not in names:
            parts += _figure(name, scene, width)
    return Content.assemble(*parts).rstrip("\n")


def _figure(name: str, scene: StatusFacts, width: int) -> Parts:
    forms = FIELDS[name].forms(scene, "all" if name == "limits" else "")
    value = "".join(text for text, _ in forms[0]).strip() if forms else "nothing now"
    shown = value if len(value) <= width - _NAME - 2 else f"{value[: width - _NAME - 3]}…"
    head = [(f"  {name:<{_NAME}}", "$foreground"), (f"{shown}\n", "$foreground bold")]
    if not forms:
        head[1] = (f"{shown}\n", "$muted")
    return [*head, *paragraph(EXPLAINED[name], "$muted", width, "    ")]


class MeterScreen(StatusScreen):
    """As the status screen: it scrolls, can be copied, and is looked at once a second."""

    def __init__(self, session: Session, scene: Callable[[], StatusFacts]) -> None:
        """``scene`` is what the status line shows."""
        super().__init__(session)
        self._scene = scene
        self.box.border_title = "meter"

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        return meter_report(self._scene(), width)


class StatsScreen(StatusScreen):
    """As the status screen: it scrolls and can be copied."""

    ABOUT: ClassVar[str] = "stats"

    def __init__(self, session: Session, archive: SessionArchive, wanted: str) -> None:
        """``wanted``: from when on."""
        super().__init__(session)
        self._archive, self._wanted = archive, wanted
        self._found: CycleReport | str = "looking…"

    def on_mount(self) -> None:
        """Ask the store."""
        self.run_worker(self._read(), name="statistics")

    async def _read(self) -> None:
        since_ms = since_asked(self._wanted)
        try:
            found: CycleReport | str = str(since_ms)
            if isinstance(since_ms, int):
                found = await self._archive.stats(since_ms)
        except StoreRefused as error:
            found = str(error)
        self._found = found
        self.look()

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        found = self._found
        if isinstance(found, str):
            return Content.assemble(*paragraph(inert(found), "$muted", width)).rstrip("\n")
        parts: Parts = []
        for section in sections(found, width - len(_INDENT)):
            parts.append((f"{section.title}\n", "bold $accent"))
            for line in section.lines:
                parts += paragraph(inert(line), "$foreground", width)
            parts.append(("\n", ""))
        if self._session.feeling.asks is None:
            parts += paragraph(CONSENT, "$muted", width)
        return Content.assemble(*parts).rstrip("\n")


def show_stats(app: App[int], session: Session, wanted: str) -> None:
    """Show them from then on."""
    if session.archive is None:
        app.notify("No sessions are kept here.", severity="warning")
    else:
        app.push_screen(StatsScreen(session, session.archive, wanted))
