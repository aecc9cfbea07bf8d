"""The items of a response: which one an event is about, what it says, what is open on screen.

Servers leave ids out, use one id for several items, or name an item differently in its deltas
and at its end. `Slots` gives every item one key: deltas and ends are led to the open item that
they can only mean, and an end that was said before is known again.

Models write calls of a shell in many ways: a plain function (``shell``), Codex's ``shell`` (an
argv), ``exec_command`` and ``local_shell``, OpenAI's ``shell`` with several commands, Anthropic's
``bash``. All become one `ShellCall`. Of an answer that was cut `CutReply` has what it left
half-said, and what the model is asked to go on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from tui.core.conversation import CALL_OUTPUTS, Block, BlockKind, Item
from tui.core.instructions import STOPPED_BY_ACCIDENT
from tui.core.programs import RunResult
from tui.core.text.patterns import pattern
from tui.core.text.pieces import Pieces
from tui.engine.session_state import SessionState
from tui.engine.tools import Arguments, CallError

if TYPE_CHECKING:
    from tui.core.edit_stream.arguments import ArgumentText
    from tui.core.patches.landing import Landing
    from tui.core.patches.seam import Joint
    from tui.core.steps import Work

LONGEST_S = 3600.0
_LINE_CHARS = 100_000
_COMMAND = ("command", "cmd", "commands", "script", "input")
_FOLDER = ("workdir", "cwd", "working_directory", "directory", "dir_path")
_WHY = ("justification", "description", "reason")


class ShellCall(Struct, frozen=True):
    """A command that the model wants to run."""

    line: str
    """As the user sees it and as it is judged; run by bash unless there is an `argv`."""
    argv: tuple[str, ...] = ()
    folder: str = ""
    """As the call names it; empty: the workspace's root."""
    deadline_s: float = 0.0
    """0: none is named."""
    pty: bool = False
    background: bool = False
    free: bool = False
    """It asks to run outside the sandbox."""
    why: str = ""
    """In the model's words."""
    screen: bool = False
    """It runs on what the screen shows, in a shadow."""

    @property
    def command(self) -> str | tuple[str, ...]:
        """What is handed to the runner."""
        return self.argv or self.line


def shell_call(item: Item) -> ShellCall:
    """What a call asks for. Raises CallError: it cannot be told what."""
    kind = item.get("type")
    action = item.get("action")
    if kind in ("local_shell_call", "shell_call"):
        if not isinstance(action, dict):
            raise CallError("the call has no action")
        return _of(Arguments.of(action))
    if kind == "custom_tool_call":
        return _checked(ShellCall(str(item.get("input") or "")))
    arguments = item.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return _of(Arguments(text))


def _of(arguments: Arguments) -> ShellCall:
    from tui.core.shell.only_reads import for_argv  # after the first paint

    argv = arguments.strings(*_COMMAND)
    several = arguments.has("commands") and len(argv) > 1
    line, argv = ("\n".join(argv), ()) if several or len(argv) == 1 else (for_argv(argv), argv)
    milliseconds = arguments.decimal("timeout_ms", "timeout")
    seconds = arguments.decimal("timeout_s", "deadline_s") or milliseconds / 1000
    if seconds < 0:
        raise CallError("a timeout cannot be negative")
    folders = [arguments.text(name, "") for name in _FOLDER]
    return _checked(
        ShellCall(
            line,
            argv,
            folder=next(filter(None, folders), ""),
            deadline_s=min(seconds, LONGEST_S),
            pty=arguments.flag("tty") or arguments.flag("pty"),
            background=arguments.flag("background") or arguments.flag("run_in_background"),
            free=arguments.first("sandbox_permissions") == "require_escalated"
            or arguments.flag("unsandboxed"),
            why=arguments.first(*_WHY)[:200],
            screen=arguments.flag("screen"),
        )
    )


def _checked(call: ShellCall) -> ShellCall:
    if not call.line.strip():
        raise CallError("the command is empty")
    if "\0" in call.line + call.folder:
        raise CallError("a command and its folder cannot hold a NUL character")
    if len(call.line) > _LINE_CHARS:
        raise CallError(f"the command is longer than {_LINE_CHARS:,} characters")
    return call


def line_so_far(item: Item) -> str:
    """The command line of a call, for its title; empty if it cannot be told."""
    try:
        return shell_call(item).line
    except CallError:
        return ""


def told(
    result: RunResult, output: str, notes: Sequence[str] = (), *, deadline_s: float = 0.0
) -> str:
    """What a command that ended has the model told."""
    seconds = f"{result.seconds:.1f} s"
    if result.error:
        ending = result.error
    elif result.timed_out:
        ending = f"stopped at its deadline of {deadline_s:g} s"
    elif result.stopped:
        ending = f"stopped by the user after {seconds}"
    elif result.status is not None and result.status < 0:
        ending = f"ended by signal {-result.status} after {seconds}"
    else:
        ending = f"exit code {result.status} after {seconds}"
    return "\n".join([ending, *notes, "output:" if output else "no output", output]).rstrip("\n")


def as_answer(kind: str, output: str, result: RunResult | None) -> object:
    """The output member of a call's answer, in the form that its kind has."""
    if kind != "shell_call":
        return output
    timed_out = result is not None and result.timed_out
    code = result.status if result is not None and result.status is not None else 1
    outcome: Mapping[str, object] = (
        {"type": "timeout"} if timed_out else {"type": "exit", "exit_code": code}
    )
    return [{"stdout": output, "stderr": "", "outcome": outcome}]


PATCH_TOOL = "apply_patch"
SHELLS = frozenset(
    {
        "bash",
        "container.exec",
        "exec",
        "exec_command",
        "local_shell",
        "run_command",
        "run_shell_command",
        "shell",
        "shell_command",
        "terminal",
        "unified_exec",
    }
)
"""Names under which models call a shell; some apply a patch that way."""
SHELL_CALLS = ("local_shell_call", "shell_call")
"""Calls of a shell that is a kind of its own on the wire."""

_LINE_END = pattern("[\r\n]")


def message_text(item: Item) -> str:
    """The text of a message item."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = [part.get("text") or part.get("refusal") for part in parts if isinstance(part, dict)]
    return "".join(text for text in found if isinstance(text, str))


def call_text(item: Item) -> str:
    """The whole input of a call: patch, arguments or diff."""
    operation = item.get("operation")
    if isinstance(operation, dict):
        return str(operation.get("diff") or "")
    text = item.get("input") or item.get("arguments") or item.get("action") or ""
    # some servers give the arguments as the object itself
    return text if isinstance(text, str) else json.dumps(text)


def with_text(item: Item, text: str) -> Item:
    """A call whose end nobody said, with the input as it came."""
    operation = item.get("operation")
    if isinstance(operation, dict):
        return {**item, "operation": {**operation, "diff": text}, "status": "completed"}
    member = "input" if item.get("type") == "custom_tool_call" else "arguments"
    return {**item, member: text, "status": "completed"}


def message_item(text: str) -> Item:
    """A message whose end nobody said."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def is_message(item: Item) -> bool:
    """True for what is said."""
    return item.get("type") == "message"


def is_shell(item: Item) -> bool:
    """True for a call of a shell."""
    if item.get("type") in SHELL_CALLS:
        return True
    name = str(item.get("name")).lower()
    if item.get("type") == "custom_tool_call":
        return name in ("bash", "shell")
    return item.get("type") == "function_call" and name in SHELLS


def names_patch(text: str) -> bool:
    """True if a shell's arguments, as far as they came, apply a patch."""
    return "*** Begin Patch" in text


def hosted_header(item: Item) -> str:
    """The envelope that a built-in apply_patch call leaves out."""
    operation = item.get("operation")
    values = operation if isinstance(operation, dict) else {}
    verbs = {"create_file": "Add", "delete_file": "Delete"}
    verb = verbs.get(str(values.get("type")), "Update")
    path = _LINE_END.sub("\ufffd", str(values.get("path") or ""))
    return f"*** Begin Patch\n*** {verb} File: {path}\n"


def closed_json(text: str) -> str:
    """A prefix of a JSON object whose last string is open, closed; empty if it cannot be."""
    for ending in ('"}', "}"):
        try:
            json.loads(text + ending)
        except (ValueError, RecursionError):
            continue
        return text + ending
    return ""


def characters_in(value: object) -> int:
    """Characters of all texts in an item."""
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(characters_in, parts))


Name = tuple[str, str]
"""Kind and wire id."""


class Slots:
    """The items of one response."""

    def __init__(self) -> None:
        self.mended = False
        """A call had no id of its own and was given one: the server does not know it by that."""
        self._count = 0
        self._named: dict[Name, str] = {}
        self._at: dict[tuple[str, int], str] = {}
        self._open: dict[str, str] = {}
        """Key -> kind."""
        self._ended: list[Item] = []
        self._call_ids: set[str] = set()

    def begun(self, kind: str, index: int, *names: str) -> str:
        """An item begins that goes by these names; returns its key."""
        self._count += 1
        key = f"{self._count} {names[0]}" if names else str(self._count)
        self._open[key] = kind
        self._at[kind, index] = key
        self._named.update({(kind, name): key for name in names})
        return key

    def added(self, item: Item, index: int) -> tuple[str, Item] | None:
        """An item begins; returns its key and itself, a call with an id of its own.

        None: it had begun before.
        """
        kind = str(item.get("type"))
        if self._open_one(kind, names_of(item)):
            return None
        item = self._identified(item)
        return self.begun(kind, index, *names_of(item)), item

    def of(self, kind: str, wire_id: str, index: int) -> str:
        """The item of a delta."""
        key = self._named.get((kind, wire_id), "")
        if key in self._open:
            return key
        key = self._at.get((kind, index), "")
        if key not in self._open:
            key = "" if wire_id else self._last_open(kind)
        if not key:
            return self.begun(kind, index, *filter(None, [wire_id]))
        if wire_id:
            self._named[kind, wire_id] = key
        return key

    def ended(self, item: Item, index: int) -> tuple[str, Item] | None:
        """The item that ends here and its key; None: it has ended before, or is no item."""
        kind = str(item.get("type"))
        if not item.get("type") or self.has_ended(item):
            return None
        self._ended.append(item)
        key = self.ending(item, index)
        if not key:
            item = self._identified(item)
            key = self.begun(kind, index, *names_of(item))
        del self._open[key]
        return key, item

    def has_ended(self, item: Item) -> bool:
        """True if the end of this item has been said before."""
        names = names_of(item)
        if not names or self._open_one(str(item.get("type")), names):
            return False
        return any(_says_same(item, one) for one in self._ended)

    def ending(self, item: Item, index: int) -> str:
        """The key of the open item whose end this is; empty: there is none."""
        kind, names = str(item.get("type")), names_of(item)
        key = self._open_one(kind, names)
        if not key and (kind not in CALL_OUTPUTS or not names):
            key = self._at.get((kind, index), "")
            key = key if key in self._open else self._last_open(kind)
        return key

    def _open_one(self, kind: str, names: tuple[str, ...]) -> str:
        """The open item of one of these names."""
        keys = (self._named.get((kind, name), "") for name in names)
        return next((key for key in keys if key in self._open), "")

    def _last_open(self, kind: str) -> str:
        return next((key for key in reversed(self._open) if self._open[key] == kind), "")

    def _identified(self, item: Item) -> Item:
        """A call with a call id that no other call of the response has."""
        if item.get("type") not in CALL_OUTPUTS:
            return item
        call_id = call_id_of(item)
        if not call_id or call_id in self._call_ids:
            self.mended = True
            named = (*names_of(item), "call")[0]
            call_id = f"{named}_{len(self._call_ids) + 1}"
            item = {**item, "call_id": call_id}
        self._call_ids.add(call_id)
        return item


def _says_same(one: Item, other: Item) -> bool:
    """The same item by its names and its text, whatever else is said of it (a status)."""
    if one == other:
        return True
    if any(one.get(name) != other.get(name) for name in ("type", "id", "call_id", "name")):
        return False
    if one.get("type") in CALL_OUTPUTS:
        return call_text(one) == call_text(other)
    return one.get("type") == "message" and message_text(one) == message_text(other)


def names_of(item: Item) -> tuple[str, ...]:
    """Its id and its call id, as far as it has them."""
    values = (item.get("id"), item.get("call_id"))
    return tuple(value for value in values if isinstance(value, str) and value)


def call_id_of(item: Item) -> str:
    """The call id of an item; empty if it has none."""
    value = item.get("call_id")
    return value if isinstance(value, str) else ""


class Page(Struct, frozen=True):
    """Where one model's turn is written."""

    state: SessionState
    turn: int
    speaker: str

    def block(self, kind: BlockKind, title: str = "", call_id: str = "") -> Block:
        """A new block of the conversation."""
        return self.state.add(Block(kind, self.turn, title, speaker=self.speaker, call_id=call_id))

    @property
    def plans(self) -> bool:
        """The model is to plan: nothing that it writes lands."""
        return self.state.status.only_reads

    def unused(self, name: str) -> str:
        """A name for the hunks of a call or a message that no earlier one has."""
        taken = self.state.workspace.hunks_of(name)
        return f"{name} {len(self.state.transcript.blocks)}" if taken else name


class OpenMessage(Struct):
    """A message: text blocks with patches between them."""

    landing: Landing
    block: Block | None = None
    patch: Block | None = None
    said: Pieces = field(default_factory=Pieces)
    ended: bool = False
    """The server finished the item."""
    told: int = 0
    """Characters of it that are shown as text."""
    joint: Joint | None = None
    """It goes on with one that was cut."""
    echoes: list[str] = field(default_factory=list)
    """Messages that stand already: one that repeats them is not shown."""
    held: str = ""
    """What may be such a repetition."""

    def unechoed(self, text: str, *, last: bool) -> str:
        """A piece, unless all of it so far is as a message that stands."""
        if not self.echoes:
            return text
        self.held += text
        self.echoes = [one for one in self.echoes if one.startswith(self.held)]
        if self.echoes and not (last and self.held not in self.echoes):
            return ""
        text, self.held, self.echoes = self.held, "", []
        return text

    @property
    def stands(self) -> str:
        """All of its text, with that of the one that it goes on with."""
        return self.said.text if self.joint is None else self.joint.text

    def joined(self, text: str, page: Page, fresh: Callable[[], Landing], *, last: bool) -> str:
        """What of a piece is new; where it goes on with a message that was cut, that opens."""
        joint = self.joint
        if joint is None:
            return text
        known = joint.known
        new = joint.feed(text, last=last)
        if joint.known and not known:
            self._rejoin(joint, page, fresh)
        return new

    def _rejoin(self, joint: Joint, page: Page, fresh: Callable[[], Landing]) -> None:
        """What stands goes on, or gives way to what is said in its place."""
        old = [block for block in (self.block, self.patch) if block is not None]
        surplus = self.told - joint.prose
        if joint.apart or surplus > (self.block.length if self.block else 0):
            if joint.seam.anew:
                page.state.supersede(old)
            self.landing, self.joint = fresh(), None
            self.block = self.patch = None
            self.told = 0
            return
        if self.block is not None and surplus:
            self.block.say(self.block.text[: self.block.length - surplus])
        self.told -= surplus
        for block in old:
            block.state = "open"
            page.state.changed(block)

    @property
    def shows(self) -> bool:
        """Something of it is on the screen."""
        return self.block is not None or self.patch is not None

    def show(self, page: Page) -> None:
        """What is text goes into a block; a patch in it has a block of its own."""
        landing = self.landing
        if self.patch is None and landing.hunks:
            if self.block is not None:
                page.state.close(self.block)
                self.block = None
            self.patch = page.block(BlockKind.PATCH, PATCH_TOOL, landing.hunks[0].call_id)
        told, landing.prose = landing.prose, []
        for text in told:
            if self.block is None:
                self.block = page.block(BlockKind.TEXT)
            page.state.append(self.block, text)
            self.told += len(text)

    def end(self, page: Page, *, cut: bool) -> None:
        """Nothing more comes."""
        if (self.block or self.patch) is None and not self.said:
            return
        said = self.landing.finished
        self.landing.finish(cut=cut)
        self.show(page)
        for block in (self.block, self.patch):
            if block is not None:
                failed = block is self.patch and not self.landing.placed_all
                page.state.close(block, "cut" if cut else "failed" if failed else "done")
        if not said and (count := self.landing.unnamed):
            blocks = "a code block had" if count == 1 else f"{count} code blocks had"
            page.state.note(page.turn, f"{blocks} no file name above: not applied")


class Call(Struct):
    """A tool call."""

    item: Item
    block: Block
    landing: Landing | None = None
    parts: Pieces = field(default_factory=Pieces)
    done: bool = False
    said: str = ""
    """The whole input, once it is done."""
    joint: Joint | None = None
    """It goes on with one that was cut."""
    unwrapped: ArgumentText | None = None
    """Of a function: takes the patch out of the arguments, to join it."""
    shell: bool = False
    """It calls a shell, maybe to apply a patch."""
    twins: list[Call] = field(default_factory=list)
    """Calls that landed, and that this one repeats as far as it came."""
    compared: int = 0
    """Characters that were compared with theirs."""
    again: bool = False
    """It was applied before: what became of that is its answer."""
    output: str | None = None
    report: Callable[[], Work[str]] | None = None
    """Gives the output, when it is sent: what is in the buffers then."""
    failed: bool = False
    so_far: Callable[[], str] | None = None
    """Of a command that runs: the output if it is ended now."""
    result: RunResult | None = None
    """How its command ended."""
    reads: bool = False
    """It changes nothing, so that others like it may run at its side."""
    lives_on: bool = False
    """Its command goes on in the background, and its block with it."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return PATCH_TOOL if self.landing else str(self.item.get("name") or self.item.get("type"))

    @property
    def text(self) -> str:
        """The input or arguments as far as they came."""
        return self.parts.text

    @property
    def stands(self) -> str:
        """Its patch as far as it came, with that of the call that it goes on with."""
        if self.joint is not None:
            return self.joint.text
        if self.item.get("type") != "function_call":
            return self.text
        from tui.core.edit_stream.arguments import ArgumentText

        return ArgumentText().feed(self.text)

    def joined(self, delta: str, *, last: bool = False) -> str:
        """What of a piece is new, of a call that goes on with another."""
        text = delta if self.unwrapped is None else self.unwrapped.feed(delta)
        assert self.joint is not None
        return self.joint.feed(text, last=last)


class Earlier:
    """The patch calls of a turn that landed."""

    def __init__(self) -> None:
        self.broke = False
        """The connection was lost: the model may say again what it said."""
        self._calls: list[Call] = []

    def add(self, call: Call) -> None:
        """A patch landed."""
        self._calls.append(call)

    def like(self, item: Item) -> list[Call]:
        """Those that this call may be a repetition of: of its name, after a loss of any."""
        return [call for call in self._calls if self.broke or _same(call.item, item)]


def _same(one: Item, other: Item) -> bool:
    """The same call by its name on the wire."""
    kind = one.get("type")
    if kind != other.get("type") or kind not in CALL_OUTPUTS:
        return False
    return one.get("call_id") == other.get("call_id") or bool(
        one.get("id") and one.get("id") == other.get("id")
    )


_TAIL_LINES, _TAIL_CHARS = 30, 4_000
"""Of what stands, so much is quoted as its end."""
_BEHIND = "Go on exactly behind its last character; say nothing of it again, and nothing before it."

_CHANGED = (
    "What it was writing was edited or decided on since: see what stands now. "
    "Send what is still missing, as a new patch where it is one."
)

_STARTED_ANEW = (
    "duetto was started anew since: see what stands now of what it was writing. "
    "Send what is still missing, as a new patch where it is one."
)


class CutReply(Struct):
    """What an answer left half-said."""

    message: OpenMessage | None = None
    call: Call | None = None
    """Of a patch."""
    stands: str = ""
    """The text of the one or the other, up to its last character."""
    whole: Sequence[str] = ()
    """The messages before it that are whole: said once more, they are not shown again."""
    earlier: Earlier | None = None
    """The patches before it, which are not applied twice."""
    apart: bool = False
    """It was cut in a patch in an earlier run, and what comes cannot be joined with that."""

    def settle(self) -> bool:
        """Whether it can be gone on with where it stands: nobody typed in it, or decided on it."""
        half = self.call or self.message
        landing = half.landing if half is not None else None
        able = landing is not None and landing.reopen(self.stands, probe=True) is not None
        if not able:
            self.message = self.call = None
        return able or (half is None and not self.apart)

    def words(self, *, settled: bool) -> str:
        """What the model is asked."""
        lead = STOPPED_BY_ACCIDENT
        if not settled:
            return f"{lead} {_STARTED_ANEW if self.apart else _CHANGED}"
        if self.call is not None:
            again = f"Call the tool again with the rest of the patch. {_BEHIND}"
            return f"{lead} The patch that you were sending ends with:\n\n{self._tail}\n\n{again}"
        if self.message is not None and self.stands:
            return f"{lead} It ends in the middle, with:\n\n{self._tail}\n\n{_BEHIND}"
        return f"{lead} Go on with it."

    @property
    def _tail(self) -> str:
        return "".join(self.stands.splitlines(keepends=True)[-_TAIL_LINES:])[-_TAIL_CHARS:]
