"""All that a front end may ask of the engine: `Session.submit(intent)`, synchronous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from tui.core.text.change_set import Position
from tui.core.wire.efforts import Effort as Effort

if TYPE_CHECKING:
    from tui.core.attempts import AttemptPlan
    from tui.core.document.documents import AskedLines

Role = Literal["fast", "deep"]
Against = Literal["disk", "head", "turn"]
"""What a file is shown against: the disk's bytes, git's HEAD, its text before the last turn."""
Part = Literal["both", "files", "talk"]
"""What goes back: files and the conversation, or one of them."""
Span = Literal["session", "day"]
"""For how long a limit of money holds; the day begins at midnight."""
Mode = Literal["manual", "sandbox", "plan"]
"""What the model's commands may do: ask, run in the sandbox without a question, only read."""


Tending = Literal["pause", "go", "stop", "take", "tell", "answer"]
"""``take``: bring home what it made before it was stopped."""


class Intent(Struct, frozen=True):
    """What the user wants."""


class TurnWay(Struct, frozen=True):
    """How a prompt is sent, where that is not as most are."""

    takes_notes: bool = True
    """The notes that wait on lines go with it."""
    within: AskedLines | None = None
    """It asks for a change of these lines: what is changed elsewhere is flagged."""
    asks: bool = False
    """It is answered without edits: no tool is offered that changes anything."""
    inspects: bool = False
    """What the answer finds in lines becomes notes on them."""
    typed: str = ""
    """What the user typed for it, where that is not what is sent."""
    words: str = ""
    """What of it the user wrote, where lines are quoted in it."""
    brief: str = ""
    """One line that is shown for it, where duetto wrote it in the user's stead."""


PLAIN = TurnWay()


class Prompt(Intent, frozen=True):
    """Send this; while something streams it interrupts first and redirects."""

    text: str
    way: TurnWay = PLAIN


class Queue(Intent, frozen=True):
    """Send this when the engine is idle."""

    text: str
    way: TurnWay = PLAIN


class Unqueue(Intent, frozen=True):
    """Take a queued message out again (0-based)."""

    index: int


class EditQueued(Intent, frozen=True):
    """Replace the text of a queued message (0-based); empty text takes it out."""

    index: int
    text: str


class HoldQueued(Intent, frozen=True):
    """This queued message (0-based) is being edited: the queue stops in front of it.

    None: no more; what waited for it goes now.
    """

    index: int | None


class Steer(Intent, frozen=True):
    """Add this to the answer that streams, without stopping it; queued where that cannot be."""

    text: str


class Prewarm(Intent, frozen=True):
    """The user begins to type: connect, and have the endpoint prepare for the first turn."""


class Interrupt(Intent, frozen=True):
    """Stop the foreground turn now; what is painted stays as it is."""


class Continue(Intent, frozen=True):
    """Let the answer go on that was cut, from its last character."""


class Accept(Intent, frozen=True):
    """Accept these hunks; None means every decidable one."""

    hunk_ids: tuple[int, ...] | None = None


class Reject(Intent, frozen=True):
    """Reject these hunks, telling the model ``words``; None means every decidable one."""

    hunk_ids: tuple[int, ...] | None = None
    words: str = ""


class RedoHunk(Intent, frozen=True):
    """Have the fast model make a pending hunk anew by these words, while the review goes on."""

    hunk_id: int
    words: str


class StopRedoing(Intent, frozen=True):
    """Make this hunk, or none (0), anew no more; the hunk stays as it is."""

    hunk_id: int = 0


class PlaceHunk(Intent, frozen=True):
    """Put an ambiguous hunk at one of its candidates (a 0-based line)."""

    hunk_id: int
    line: int


class UndoTurn(Intent, frozen=True):
    """Undo the model's last turn, byte for byte."""


class Rewind(Intent, frozen=True):
    """Go back to before a turn, or to before a hunk (0: the whole turn)."""

    turn: int
    hunk: int = 0
    part: Part = "both"
    ask: bool = False
    """What it would do was not shown yet: say it, and ask."""


class Forward(Intent, frozen=True):
    """Take a rewind back: the last one (0), or that of this turn."""

    turn: int = 0


class UndoDecision(Intent, frozen=True):
    """Take the last decision back: accept, reject, or a whole turn that was taken back."""

    hunk_id: int = 0
    """The one that took this hunk back as the user went on, instead; 0: the last one."""


class RedoDecision(Intent, frozen=True):
    """Decide again what was decided before the last `UndoDecision`."""


class SetAutoAccept(Intent, frozen=True):
    """Accept hunks when their patch ends, but for those that a person must look at."""

    on: bool


class ShowDiff(Intent, frozen=True):
    """Show a file (empty path: the active one) against the disk, HEAD or the turn's start."""

    path: str = ""
    against: Against = "disk"


class Switch(Intent, frozen=True):
    """Answer with this role from now on; mid-stream: interrupt and hand the instruction over."""

    role: Role


class UseModel(Intent, frozen=True):
    """Have this model answer for a role in this session; mid-stream as `Switch`."""

    role: Role
    endpoint: str
    model: str


class ChooseModel(Intent, frozen=True):
    """As `UseModel` for the current role, of a name as people type it."""

    name: str


class SetEffort(Intent, frozen=True):
    """Reasoning effort of the current role; ``auto`` follows from what becomes of the answers."""

    effort: Effort | Literal["auto"]


class SetBudget(Intent, frozen=True):
    """Spend no more than so many US dollars (None: no limit); no span: say what was spent."""

    span: Span | None = None
    usd: float | None = None


class SetTier(Intent, frozen=True):
    """Service tier of the current role (``fast``, ``priority``...); empty: the server's own."""

    tier: str


class Throttle(Intent, frozen=True):
    """Let answers come at this many tokens/s, whoever gives them; None: as they come."""

    tokens_s: float | None


class OpenFile(Intent, frozen=True):
    """Open a workspace file in the editor and make it the active one."""

    path: str
    line: int | None = None
    """0-based line to go to."""
    col: int = 0
    aside: bool = False
    """In a tab only: the active file stays the active one."""
    new: bool = False
    """Also if there is no such file: it is made when it is saved."""


class CloseFile(Intent, frozen=True):
    """Close the tab; the buffer of a pending edit lives on."""

    path: str


class SaveFile(Intent, frozen=True):
    """Write the user's text and the accepted hunks; ``force`` overwrites a changed file."""

    path: str
    force: bool = False


class Reload(Intent, frozen=True):
    """Take the file as it is on the disk; undo brings the user's text back."""

    path: str


class Restore(Intent, frozen=True):
    """Bring back what was typed and not saved when duetto was ended by force."""


class Dismiss(Intent, frozen=True):
    """Remove what was kept of it."""


class Verify(Intent, frozen=True):
    """Run the workspace's test command on what the screen shows."""

    disk: bool = False
    """Only on what is on the disk."""
    only: tuple[str, ...] = ()
    """Names or kinds of the verifiers that are meant; empty: all."""
    tests: tuple[str, ...] = ()
    """Tests that are meant, as their runner names them; empty: those that belong, then all."""
    whole: bool = False
    """All tests at once, not first those that belong to what changed."""
    unasked: bool = False
    """Nothing is asked, nobody waits for it, and it gives way to all that is asked for."""
    files: tuple[str, ...] = ()
    """Only what belongs to these files, which were changed; empty: to all that were."""


class FindBlame(Intent, frozen=True):
    """Find the hunks that made the tests fail, or cured them."""


class Felt(Intent, frozen=True):
    """By how many times the work feels faster than without duetto; empty: the user is asked."""

    times: str = ""


class SetAsking(Intent, frozen=True):
    """Whether the user is asked once a day how fast it felt: kept in the user's settings."""

    on: bool


class RunCommand(Intent, frozen=True):
    """Run a shell command (``!command``) in the workspace."""

    command: str


class StopDeciding(Intent, frozen=True):
    """Decide on no more of very many hunks: what is decided stays so, the rest as it was."""


class StopCommand(Intent, frozen=True):
    """End the running command or verification."""


class SendFailure(Intent, frozen=True):
    """Send the last failed run's output to the model."""


class Answer(Intent, frozen=True):
    """The user's answer to an `Ask`."""

    ask_id: int
    choice: str
    words: str = ""
    """What the model is told with a refusal, where the question takes words."""


class PutNote(Intent, frozen=True):
    """Note something for the model on a line; the file stays as it is."""

    path: str
    line: int
    """0-based."""
    text: str
    """Empty: the note is taken away."""
    note: int = 0
    """The number of the one that says this from now on; 0: a new one."""


class TakeNotes(Intent, frozen=True):
    """What a model found goes with the next request, as notes of the user's; None: all of it."""

    notes: tuple[int, ...] | None = None


class DropNotes(Intent, frozen=True):
    """Take these notes away; None: all of them."""

    notes: tuple[int, ...] | None = None


class SendNotes(Intent, frozen=True):
    """Send the notes that wait as the next request, with these words."""

    text: str = ""


class AskChange(Intent, frozen=True):
    """Ask for a change of what is selected, and of nothing else; as `Prompt`."""

    path: str
    start: Position
    end: Position
    text: str


class AskOnly(Intent, frozen=True):
    """As `Prompt`, and this one is answered without edits."""

    text: str


class Inspect(Intent, frozen=True):
    """Have the model review what differs from a commit; what it finds becomes notes on lines."""

    ref: str = "HEAD"


class SetMode(Intent, frozen=True):
    """What the model's commands may do from now on."""

    mode: Mode


class ToBackground(Intent, frozen=True):
    """Let a command of the model go on behind its back, the answer goes on at once.

    0: the newest one that is waited for.
    """

    task: int = 0


class StopTask(Intent, frozen=True):
    """End a command of the model, wherever it runs."""

    task: int


class Delegate(Intent, frozen=True):
    """Have the deep model do this beside the conversation; empty: what streams now."""

    text: str = ""


class TendDelegate(Intent, frozen=True):
    """Look after what is delegated."""

    number: int
    what: Tending
    words: str = ""
    """What it is told, or the answer to what it asks (empty: the refusal)."""
    ask: int = 0
    """The question that was shown, by its id: no other one is answered; 0: what it asks now."""


class ShowContext(Intent, frozen=True):
    """Say what the next request holds, part by part."""


class DropPart(Intent, frozen=True):
    """Leave a part out of all requests: an open file, what is attached, the list of files."""

    name: str


class AddPart(Intent, frozen=True):
    """Send a part again that was left out."""

    name: str


class Pin(Intent, frozen=True):
    """Keep a file attached, or words in mind, through a new conversation, too."""

    words: str
    """Empty: say what is pinned."""


class Forget(Intent, frozen=True):
    """Keep nothing of this session, or of any: what is kept is deleted."""

    all_sessions: bool = False


class NewConversation(Intent, frozen=True):
    """Forget the conversation (files and hunks stay)."""


class Compact(Intent, frozen=True):
    """Have a summary, with all that is certain, stand for what was said before the last turn."""

    words: str = ""
    """What is to be kept above all."""


class StopCompacting(Intent, frozen=True):
    """Leave all as it is said: the summary that `Compact` asked for is not wanted any more."""


class EditSummary(Intent, frozen=True):
    """Say that summary in other words from now on."""

    text: str
    of: str = ""
    """The summary that they were made of, which another one may have followed; empty: this one."""


class Rename(Intent, frozen=True):
    """Call the session so in the list of all."""

    name: str


class Export(Intent, frozen=True):
    """Write the conversation to a new file of the workspace: Markdown, or JSON by its name."""

    path: str = ""
    """Empty: a name is found."""


class MakeAttempts(Intent, frozen=True):
    """Try something several times at once, and have the tests say which one is best."""

    plan: AttemptPlan


class StopAttempts(Intent, frozen=True):
    """End the attempts that run, or one of them."""

    number: int = 0


class TakeAttempt(Intent, frozen=True):
    """Bring what an attempt made into the buffers, as pending hunks."""

    number: int
    path: str = ""
    """Only this file; empty: all that it changed."""
    hunks: tuple[int, ...] = ()
    """Only these, by the numbers in its difference; empty: all of them."""
