"""Composes the requests of a conversation from history, open files and what changed."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.context import Changes, Context, Cut, OpenFile, changes_message, cut_report
from tui.core.history import History
from tui.core.hunk import OPEN, PLACED, Decision
from tui.core.instructions import instructions, tools
from tui.engine.desk import AGENTS_FILE, Desk
from tui.engine.intents import Effort
from tui.engine.ports import Ports, RoleSpec

Request = dict[str, object]


class Requests:
    """What the model is told."""

    def __init__(self, ports: Ports, desk: Desk, conversation: str, *, chaining: bool) -> None:
        self.history = History()
        self.cut: Cut | None = None
        """The last answer that was cut, until the model was told."""
        self.report = ""
        """What became of patches in prose, until the model was told."""
        self._ports = ports
        self._desk = desk
        self._context = Context()
        self._conversation = conversation
        self._chaining = chaining
        self._told_paths: set[str] = set()
        self._instructions = ""

    def forget(self) -> None:
        """A new conversation."""
        self.history = History()
        self.cut, self.report = None, ""
        self._context.forget()
        self._desk.workspace.take_user_changes()
        self._desk.workspace.take_decisions()
        self._instructions = ""

    def prompt(self, texts: Sequence[str], spec: RoleSpec, head: Request) -> Request:
        """The request that begins a turn; each text is a message of its own."""
        full = not self.continues(spec, head)
        if full:
            head = self._restarted(spec, head)
        self.history.note(changes_message(self._changes(), self._desk.workspace))
        self.history.context(self._context.message(self._open_files(), full=full))
        for text in texts:
            self.history.prompt(text)
        return self.history.request(head, origin(spec))

    def go_on(self, spec: RoleSpec, head: Request, texts: Sequence[str] = ()) -> Request:
        """The next request of a turn, after its calls were answered; or the same one again.

        ``texts`` is what the user said meanwhile.
        """
        self.history.note(changes_message(self._changes(), self._desk.workspace))
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

    def head(self, spec: RoleSpec, effort: Effort | None, throttle: float | None) -> Request:
        """Everything of a request beside its input."""
        head: Request = {
            "model": spec.model,
            "instructions": self._instructions,
            "tools": tools(spec.patch_tool),
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": self._conversation,
        }
        if effort is not None:
            head["reasoning"] = {"effort": effort, "summary": "auto"}
        if throttle is not None:
            head["client_metadata"] = {"duetto_tokens_s": f"{throttle:g}"}
        return head

    def _restarted(self, spec: RoleSpec, head: Request) -> Request:
        """All is said again: with the instructions as they should be now."""
        self.history.restart("")
        paths = self._desk.catalogue.paths()
        self._told_paths = set(paths)
        rules = self._ports.agents_md()
        if rules and not self._desk.is_sent(AGENTS_FILE):
            rules = ""  # ignored, or a link to a secret
        self._instructions = instructions(paths, rules, spec.patch_tool)
        return {**head, "instructions": self._instructions}

    def _changes(self) -> Changes:
        workspace = self._desk.workspace
        private = self._desk.private_paths()
        changes = Changes(private=private)
        edits = workspace.take_user_changes()
        changes.edits = [edit for edit in edits if edit.path not in private]
        decisions = workspace.take_decisions()
        if self.cut is not None:
            mine = [hunk for hunk in workspace.hunks if hunk.turn == self.cut.turn]
            changes.cut = cut_report(self.cut, mine, workspace, private)
            decisions = [hunk for hunk in decisions if hunk.turn != self.cut.turn]
        changes.decisions = decisions
        if self.report:
            changes.cut = "\n\n".join(filter(None, (changes.cut, self.report)))
        self.cut, self.report = None, ""
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
