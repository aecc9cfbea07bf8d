"""Composes the requests of a conversation from history, open files and what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from tui.core.context import Changes, Context, Cut, OpenFile, PatchInProse, changes_message
from tui.core.edits.hunk import OPEN, PLACED, Decision
from tui.core.edits.telling.presence import is_kept, presence
from tui.core.edits.telling.report import Account
from tui.core.history import History
from tui.core.instructions import instructions, tools
from tui.core.told import Told
from tui.core.wire.events import ErrorEvent, Failed
from tui.core.wire.untaken import Untaken, fields_refused, without
from tui.engine.desk import AGENTS_FILE, Desk
from tui.engine.intents import Effort
from tui.engine.origins import Origins
from tui.engine.ports import Ports, RoleSpec

Request = dict[str, object]


class Requests:
    """What the model is told."""

    def __init__(self, ports: Ports, desk: Desk, conversation: str, *, chaining: bool) -> None:
        self.history = History()
        self.cut: Cut | None = None
        """The last answer that was cut, until the model was told."""
        self.prose: list[PatchInProse] = []
        """Patches that came in messages, until the model was told."""
        self.told = Told(partial(presence, desk.workspace.ledger))
        self.owed: list[Callable[[], None]] = []
        """Each says what became of a patch, in the answer of its call; asked when that is sent:
        after an Esc the user may decide and type for a while before the next prompt."""
        self._ports = ports
        self._desk = desk
        self._context = Context()
        self._conversation = conversation
        self._chaining = chaining
        self._told_paths: set[str] = set()
        self._instructions = ""
        self._origins = Origins(desk.workspace.ledger)
        self._untaken: dict[str, Untaken] = {}
        """What the endpoints that are dialled do not take, by name."""

    def forget(self) -> None:
        """A new conversation."""
        self.history = History()
        self.cut, self.prose, self.owed = None, [], []
        self._context.forget()
        self._desk.workspace.take_user_changes()
        self._desk.workspace.take_tool_changes()
        self._desk.workspace.take_decisions()
        self.told.mark(self._desk.workspace.hunks)
        self._instructions = ""

    def prompt(self, texts: Sequence[str], spec: RoleSpec, head: Request) -> Request:
        """The request that begins a turn; each text is a message of its own."""
        full = not self.continues(spec, head)
        if full:
            head = self._restarted(spec, head)
        self.history.note(self._news())
        self._origins.begin()
        self.history.context(self._context.message(self._open_files(), full=full))
        for text in texts:
            self.history.prompt(text)
        return self.history.request(head, origin(spec))

    def go_on(self, spec: RoleSpec, head: Request, texts: Sequence[str] = ()) -> Request:
        """The next request of a turn, after its calls were answered; or the same one again.

        ``texts`` is what the user said meanwhile.
        """
        self.history.note(self._news())
        if not self.continues(spec, head):
            head = self._restarted(spec, head)
            self.history.restart(self._context.message(self._open_files(), full=True))
        for text in texts:
            self.history.prompt(text)
        return self.history.request(head, origin(spec))

    def warm(self, spec: RoleSpec, head: Request) -> Request:
        """The request that prepares the server for the first prompt."""
        return self.history.warm(self._restarted(spec, head), origin(spec))

    def chains(self, spec: RoleSpec) -> bool:
        """True if this endpoint may be told only what is new."""
        return self._chaining and spec.chaining

    def continues(self, spec: RoleSpec, head: Request) -> bool:
        """True if the next request may be a continuation."""
        if not self.chains(spec):
            self.history.break_chain()
        return self.history.continues(head, origin(spec))

    def head(self, spec: RoleSpec, effort: Effort | None, tier: str) -> Request:
        """Everything of a request beside its input."""
        head: Request = {
            "model": spec.model,
            "instructions": self._instructions,
            "tools": tools(spec.patch_tool, spec.patch_format),
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": self._conversation,
        }
        if effort is not None:
            head["reasoning"] = {"effort": effort, "summary": "auto"}
        if tier:
            head["service_tier"] = tier
        if spec.max_output_tokens is not None:
            head["max_output_tokens"] = spec.max_output_tokens
        return self._taken(spec, head)

    def learns(self, spec: RoleSpec, head: Request, refusal: ErrorEvent | Failed) -> bool:
        """Whether a refusal names fields of what was sent that this request can do without.

        They are left out from now on.
        """
        param = refusal.param if isinstance(refusal, ErrorEvent) else ""
        fields = fields_refused(f"{refusal.code} {refusal.message}", param, head)
        untaken = self._untaken.setdefault(spec.endpoint, Untaken())
        learnt = untaken.learn(spec.model, fields)
        if learnt:
            self._desk.status.left_out = ", ".join(untaken.of(spec.model))
        return learnt

    def _taken(self, spec: RoleSpec, head: Request) -> Request:
        untaken = self._untaken.get(spec.endpoint)
        return without(head, untaken.of(spec.model)) if untaken is not None else head

    def _restarted(self, spec: RoleSpec, head: Request) -> Request:
        """All is said again: with the instructions as they should be now."""
        self.history.restart("")
        paths = self._desk.catalogue.paths()
        self._told_paths = set(paths)
        rules = self._ports.agents_md()
        if rules and not self._desk.is_sent(AGENTS_FILE):
            rules = ""  # ignored, or a link to a secret
        self._instructions = instructions(paths, rules, spec.patch_tool, spec.patch_format)
        return {**head, "instructions": self._instructions}

    def _news(self) -> str:
        """What changed since the last request, in words; from now on the model knows it."""
        workspace = self._desk.workspace
        owed, self.owed = self.owed, []
        for say in owed:
            say()
        private = cache(self._desk.privacy)
        changes = self._changes()
        changes.edits = [edit for edit in changes.edits if not private(edit.path)]
        formatted = workspace.take_tool_changes()
        changes.formatted = [edit for edit in formatted if not private(edit.path)]
        account = Account(workspace.ledger, private)
        account.before = self._origins.sha
        account.again = self.told.taken_back(changes.hunks)
        self.told.mark(changes.hunks)
        return changes_message(changes, account)

    def _changes(self) -> Changes:
        workspace = self._desk.workspace
        changes = Changes(edits=workspace.take_user_changes(), cut=self.cut, prose=self.prose)
        workspace.take_decisions()
        revision = workspace.hunks_revision + workspace.ledger.rewritten
        changes.hunks = self.told.news(workspace.hunks, revision)
        if self.cut is not None:
            turn = self.cut.turn
            changes.kept = any(
                is_kept(workspace.ledger, h) for h in workspace.hunks if h.turn == turn
            )
        self.cut, self.prose = None, []
        if self._told_paths:
            now = set(self._desk.catalogue.paths())
            changes.appeared = sorted(now - self._told_paths)
            changes.vanished = sorted(self._told_paths - now)
            self._told_paths = now
        return changes

    def _open_files(self) -> Sequence[OpenFile]:
        """The tabs, and the buffers in which a hunk waits for the user."""
        desk = self._desk
        waiting = {
            hunk.path
            for hunk in desk.workspace.roster.unsettled()
            if hunk.stage in PLACED | OPEN and hunk.decision is Decision.PENDING
        }
        paths = [*desk.status.open_paths, *sorted(waiting - set(desk.status.open_paths))]
        return [desk.open_file(path) for path in paths if path in desk.workspace.buffers]


def origin(spec: RoleSpec) -> str:
    """Who said an item: endpoint and model."""
    return f"{spec.endpoint}\t{spec.model}"
