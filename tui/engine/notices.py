"""All that the engine tells a front end: `Session.drain()` returns one merged `Notices`.

Nothing here is sent per token: the notices say *what* changed since the last drain, the front
end reads the state itself (`Session.transcript`, `Session.workspace`, `Session.status`).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from tui.core.price import SameTiers
from tui.core.session_record import LeftDelegate
from tui.core.wire.rate_limits import Limit
from tui.engine.intents import Against, Effort, Mode, Role

FORGOTTEN = "new conversation: the model forgets what was said"
"""The note behind which everything is new to the model."""


class Trouble(Struct, frozen=True):
    """Something went wrong, in words for the user."""

    what: str
    why: str = ""
    next_step: str = ""
    severity: Literal["information", "warning", "error"] = "error"
    unreachable: bool = False
    """The endpoint could not be reached, or refused the key."""
    noted: bool = False
    """The conversation says it, too."""
    over_budget: bool = False
    """A limit of money is reached."""

    @property
    def words(self) -> str:
        """What and why, without the next step."""
        return ": ".join(filter(None, (self.what, self.why)))


class Ask(Struct, frozen=True):
    """A question that waits for `intents.Answer`; nothing happens until then."""

    id: int
    question: str
    detail: str
    choices: tuple[str, ...]
    """In words; the last one is the safe refusal."""
    command: str = ""
    """What the model wants to run; the question waits in the prompt's strip and takes no keys from
    who types."""
    takes_words: bool = False
    """With the refusal go words to the model (`intents.Answer.words`)."""
    letters: str = ""
    """A key for each of the choices; empty: they are numbered."""


class TaskView(Struct, frozen=True):
    """A command of the model that runs, or ran in the background."""

    number: int
    """What `/tasks`, `intents.ToBackground` and the model call it."""
    command: str
    call_id: str
    """Of its block in the conversation."""
    began_s: float
    """On the session's clock."""
    background: bool = False
    """The answer does not wait for it, Esc does not end it."""
    stopping: bool = False
    """It was told to end, and will in a moment."""
    ended: str = ""
    """How it ended, in words; empty: it runs."""


DelegateState = Literal["works", "paused", "failed", "done", "home", "stopped"]
OVER: frozenset[DelegateState] = frozenset({"home", "stopped"})


class DelegateView(Struct, frozen=True):
    """What is delegated: a lane of its own, beside the conversation."""

    number: int
    """`/tasks` calls it ``d1``."""
    prompt: str
    model: str
    began_s: float
    """On the session's clock."""
    state: DelegateState = "works"
    """``failed`` and ``paused``: it waits for the user; ``done``: it waits to come home."""
    last: str = ""
    """What it did or said last, in a line."""
    tokens: int = 0
    estimated: bool = True
    usd: float | None = None
    """None: nothing is known of that."""
    files: int = 0
    """How many it changed."""
    ask: Ask | None = None
    """What it asks, in the tray."""
    ended: str = ""
    """How it ended, or why it waits, in words."""


class Notices(Struct):
    """What changed since the last drain."""

    transcript_from: int | None = None
    """Index of the first changed block; the ones before it are as they were."""
    hunks: bool = False
    """Stages, decisions or places of hunks changed (read `workspace.hunks`)."""
    buffers: set[str] = field(default_factory=set)
    """Paths whose text changed, by whomever."""
    tabs: bool = False
    """The open files, the active one, or their saved state changed."""
    meter: bool = False
    status: bool = False
    """Role, models, connection, busy state, queue or asks changed."""
    landing: tuple[str, int] | None = None
    """Path and line where the model wrote last, for follow mode."""
    goto: tuple[str, int, int] | None = None
    """Path, line and column to show because the user asked for it."""
    gotos_before: list[tuple[str, int, int]] = field(default_factory=list)
    """Others that were asked for in the same frame: each file stands there when it is shown."""
    diff: tuple[str, Against] | None = None
    """The file to be shown in a diff view, and against what: the user asked for it."""
    folders: set[str] = field(default_factory=set)
    """Folders in which files came or went, while the file tree is in sight (the root: empty)."""
    git: bool = False
    """What git says of the files changed."""
    listing: bool = False
    """All files were listed anew: what is looked for by name may be another one."""
    troubles: list[Trouble] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self != Notices()


SteerFate = Literal["sent", "accepted", "pending"]
"""``accepted``: the server has it; ``pending``: it goes with the next tool outputs."""
Connection = Literal["starting", "offline", "connecting", "ready", "lost"]
"""``starting``: nobody was called yet."""


class Status(Struct):
    """The engine's state in a few words, for the title, the prompt label and the meter line."""

    role: Role = "fast"
    models: dict[Role, str] = field(default_factory=dict)
    """The model's name a role."""
    efforts: dict[Role, Effort | None] = field(default_factory=dict)
    auto: dict[Role, str] = field(default_factory=dict)
    """The roles whose effort is ``auto``, and why it is what it is now; empty: it began so."""
    levels: dict[Role, tuple[str, ...] | None] = field(default_factory=dict)
    """The efforts that a role's model has; None: not known."""
    advice: str = ""
    """How often proposals of the other model were right; empty: there was none, or not read yet."""
    tiers: dict[Role, str] = field(default_factory=dict)
    """Service tier that is asked for a role; empty: the server's own choice."""
    same_tiers: dict[Role, SameTiers] = field(default_factory=dict)
    """Names of tiers that are one where a role is asked."""
    served_model: str = ""
    """What the server says it used; empty until it said so."""
    served_tier: str = ""
    served_endpoint: str = ""
    """Who answered in the endpoint's stead; empty: nobody did."""
    fallback_reason: str = ""
    """Why, in the bridge's words."""
    left_out: str = ""
    """Fields that the server refused, and that it is not sent any more."""
    endpoint: str = ""
    rehearsal: bool = False
    connection: Connection = "starting"
    round_trip_ms: float | None = None
    busy: bool = False
    """A foreground turn is running (streaming, or between its rounds)."""
    stopping: bool = False
    """Interrupted; the buffers stand still and the lane is not free yet."""
    outcome: Literal["", "completed", "interrupted", "failed"] = ""
    """How the last turn ended; empty while one runs."""
    deciding: str = ""
    """How far a decision on very many hunks is: ``accepting 3,400 of 10,000 hunks``."""
    compacting: bool = False
    """The user asked for a summary, which has not taken effect yet."""
    running: str = ""
    """The command line that runs now (verify or ``!``), empty if none."""
    verdict: Literal["", "passed", "same", "failed", "timeout", "error"] = ""
    """Of the last verification."""
    judged: Literal["tests", "checks"] = "tests"
    """What came to that verdict: the tests, or only linters and types."""
    outdated: bool = False
    """The texts that it judged are others now."""
    can_send_failure: bool = False
    notes: int = 0
    """On lines, which go with the next request."""
    queued: list[str] = field(default_factory=list)
    steering: list[str] = field(default_factory=list)
    """Texts that the server has and no response has used yet."""
    steering_fates: list[SteerFate] = field(default_factory=list)
    """How far each of `steering` is, in the same order; a missing one counts as ``sent``."""
    can_steer: bool | None = None
    """Of the model that answers now; None: not known before it was tried."""
    transport: Literal["websocket", "http"] = "websocket"
    """How the endpoint is spoken to; ``http``: HTTP+SSE through the bridge."""
    retry_s: float | None = None
    """Seconds until the next try, counting down; Esc cancels. None: nothing is being retried."""
    limits: tuple[Limit, ...] = ()
    """What the server said last of its rate limits; empty: nothing."""
    asks: list[Ask] = field(default_factory=list)
    unsent: str = ""
    """A prompt that could not be sent (endpoint, key): the prompt box takes it back."""
    stopped: str = ""
    """``stopped after 512 tokens, 3 ms``; empty unless the last turn was interrupted."""
    throttle: float | None = None
    mode: Mode = "manual"
    asking: bool = False
    """The last prompt is answered without edits."""
    sandbox: str = ""
    """What confines the model's commands, in words; empty: it is not known yet."""
    sandboxed: bool = False
    """There is a sandbox that works."""
    delegates: list[DelegateView] = field(default_factory=list)
    left: list[LeftDelegate] = field(default_factory=list)
    """What was delegated in earlier sessions, and did not come home."""
    tasks: list[TaskView] = field(default_factory=list)
    """Running ones first, then those of the background that ended."""
    can_continue: bool = False
    """The last answer was cut, and `Continue` lets it go on."""
    can_go_on: bool = False
    """A limit, or a hook, stopped the last turn: Enter in an empty prompt lets it go on."""
    auto_accept: bool = False
    """Hunks are accepted when their patch ends, but for those that a person must look at."""
    prompts: list[str] = field(default_factory=list)
    """Prompts to offer in the prompt box (the practice workspace's exercises)."""
    suggestion: str = ""
    """The one of `prompts` to offer now (first unsolved exercise), empty if none."""
    branch: str = ""
    """That git has checked out; empty where there is no git."""
    open_paths: list[str] = field(default_factory=list)
    active_path: str = ""

    def effort_words(self, role: Role) -> str:
        """The effort of a role; empty: the server's own choice."""
        return " ".join(filter(None, ("auto" * (role in self.auto), self.efforts.get(role))))

    @property
    def only_reads(self) -> bool:
        """Nothing that the model writes lands: in plan mode, and in an answer without edits."""
        return self.mode == "plan" or self.asking
