"""Which of the model's commands may run: unasked, in the sandbox, or when the user says so."""

from __future__ import annotations

import asyncio
import json
import posixpath
import shlex
from collections.abc import Iterable

from msgspec.structs import replace

from tui.core.programs import Confinement, RunOptions, is_below
from tui.core.shell.only_reads import Judgement, allowed, judge, prefix_of
from tui.engine.open_files import SEND, OpenFiles
from tui.engine.ports import Ports
from tui.engine.response_items import ShellCall
from tui.engine.session_state import SessionState
from tui.engine.tools import CallError

ONCE = "Run it once"
REFUSE = "Do not run it"
_LETTERS = "yspn"
"""Once, this session, in this project, not."""
READING = Confinement(writable=False)
_RECONSIDERED = "the mode changed"
_DECLINED = "this command was declined"
_GO_ON = "go on without it, or ask what to do instead"
_EXACT, _PREFIX = ":run ", ":run all "
"""What a consent for good is kept as, among those of the workspace's own commands."""


class CommandConsent:
    """Asks the user, where no answer is known yet."""

    def __init__(
        self,
        state: SessionState,
        ports: Ports,
        open_files: OpenFiles,
        allow: Iterable[tuple[str, ...]] = (),
        *,
        network: bool = False,
    ) -> None:
        """``allow``: the prefixes that the user's own settings allow."""
        self._state = state
        self._ports = ports
        self._open_files = open_files
        self._prefixes = set(allow)
        self._network = network
        self.granted = ""
        """Why the last one may run."""
        self._asked: set[asyncio.Future[str]] = set()
        self._lines: set[str] = set()
        """What was allowed for this session, as `_exact` names it."""
        for consent in ports.consents:
            if consent.startswith(_PREFIX):
                self._prefixes.add(tuple(json.loads(consent.removeprefix(_PREFIX))))

    async def permit(self, call: ShellCall, folder: str) -> RunOptions:
        """How a command may run; ``folder`` is its own, below the root.

        Raises CallError: it may not, with the user's words.
        """
        judgement = judge(call.line)
        names = (*judgement.writes, *judgement.files)
        places = self._ports.runner.places(folder, names)
        how = replace(_options(call, folder), names=names, places=places)
        key = self._exact(call, how)
        led = [place for _, place in self._leads(how, judgement.files)]
        inside, outside = self._split((*judgement.files, *judgement.folders, *led), folder)
        await self._allow_private(inside)
        setting = await self._git_setting(judgement, folder)
        why = judgement.why
        if setting:
            why = f"the repository's own configuration has git do more ({setting})"
        elif judgement.reads:
            why = f"it looks into {outside[0]}" if outside else "it reads whatever lies there"
        calm = not (outside or judgement.sweeps or setting)
        why += self._led(how, judgement.writes)
        while (decided := await self._decided(call, how, key, judgement, calm=calm)) is None:
            if await self._ask(call, how, key, judgement, why):
                return how
        return decided

    def _leads(self, how: RunOptions, names: Iterable[str]) -> list[tuple[str, str]]:
        """Names that are not where they seem to be -> where they lead."""
        top = posixpath.join(self._ports.files.root, how.folder)
        there = zip(how.names, how.places[1:], strict=False)
        return [
            (name, place)
            for name, place in there
            if place
            and name in names
            and not name.startswith("~")
            and place != posixpath.normpath(posixpath.join(top, name))
        ]

    def _led(self, how: RunOptions, names: Iterable[str]) -> str:
        """The same, in words."""
        return "".join(f" ({name} leads to {place})" for name, place in self._leads(how, names))

    def _exact(self, call: ShellCall, how: RunOptions) -> str:
        """A command, where it runs, and where what it writes to is if a link leads there."""
        led = "".join(f" > {place}" for _, place in self._leads(how, how.names))
        return f"{how.folder or '.'} {call.line}{led}"

    async def _decided(
        self, call: ShellCall, how: RunOptions, key: str, judgement: Judgement, *, calm: bool
    ) -> RunOptions | None:
        """What the mode and earlier answers say; ``calm``: if it reads, then nothing private.

        Raises CallError: it may not run. None: it is to be asked about.
        """
        mode, sandbox = self._state.status.mode, await self._ports.runner.sandbox()
        if judgement.reads and calm and not call.free:
            self.granted = "it only reads"
            return replace(how, reads=True, confined=READING if sandbox.works else None)
        if mode == "plan" and not judgement.reads:
            raise CallError(
                f"plan mode: only commands that read may run, and {judgement.why};"
                " say what you would run instead"
            )
        if mode == "sandbox" and sandbox.works and not call.free:
            self.granted = "it is confined"
            return replace(how, confined=Confinement(network=self._network))
        if self._is_known(key, judgement):
            self.granted = "the user allowed it before"
            return how
        return None

    def reconsider(self) -> None:
        """Plan mode decides what is still asked about.

        Another mode does not: the keys go through all, and none is to start a command.
        """
        for answer in self._asked:
            if not answer.done():
                answer.set_result(_RECONSIDERED)

    async def _git_setting(self, judgement: Judgement, folder: str) -> str:
        """What would make a command of git do more than read; empty: nothing."""
        if not judgement.reads or not any(words[:1] == ("git",) for words in judgement.programs):
            return ""
        places = [posixpath.join(folder, place) for place in ("", *judgement.folders)]
        return await self._ports.runner.git_programs(places)

    def only_reads(self, call: ShellCall) -> bool:
        """True for a command that may run beside others."""
        return judge(call.line).reads

    def _is_known(self, exact: str, judgement: Judgement) -> bool:
        if exact in self._lines or _EXACT + exact in self._ports.consents:
            return True
        if judgement.reads:  # what it reads is why it is asked about
            return all(any(w[: len(p)] == p for p in self._prefixes) for w in judgement.programs)
        return allowed(judgement, self._prefixes, self._ports.files.root)

    def _split(self, files: Iterable[str], folder: str) -> tuple[list[str], list[str]]:
        """Files by where they lie: workspace paths, and what is named outside of it."""
        inside, outside = list[str](), list[str]()
        root = self._ports.files.root
        for name in files:
            path = posixpath.normpath(posixpath.join(root, folder, name))
            if name.startswith("~") or not is_below(path, root):
                outside.append(name)
            elif path != root:
                inside.append(posixpath.relpath(path, root))
        return inside, outside

    async def _allow_private(self, paths: list[str]) -> None:
        """Ask for each private file. Raises CallError: one may not be sent."""
        await self._open_files.catalogue.prepare(paths)
        for path in paths:
            reason = self._open_files.privacy(path)
            if reason and not await self._open_files.consents.ask(SEND, path, reason):
                raise CallError(f"the user declined to send {path} ({reason}); go on without it")

    async def _ask(
        self, call: ShellCall, how: RunOptions, key: str, judgement: Judgement, why: str
    ) -> bool:
        """False: the mode changed meanwhile. Raises CallError: the user said no."""
        prefix = prefix_of(judgement)
        words = f"{shlex.join(prefix)} …" if prefix else "it"
        session, always = f"Allow {words} this session", f"Allow {words} in this project"
        asked = self._state.questions.ask(
            f"Run {' ⏎ '.join(call.line.splitlines())} ?",
            self._detail(call, how.folder, why),
            (ONCE, session, always, REFUSE),
            command=call.line,
            letters=_LETTERS,
        )
        self._asked.add(asked)
        asked.add_done_callback(self._asked.discard)
        answer = await asked
        if answer == _RECONSIDERED:
            return False
        choice, _, said = answer.partition("\n")
        if choice == REFUSE:
            raise CallError(f"{_DECLINED}: {said}" if said else f"{_DECLINED}; {_GO_ON}")
        self.granted = choice
        if choice in (session, always):
            self._remember(key, prefix, for_good=choice == always)
        return True

    def _remember(self, exact: str, prefix: tuple[str, ...], *, for_good: bool) -> None:
        if prefix:
            self._prefixes.add(prefix)
        else:
            self._lines.add(exact)
        if for_good:
            consent = _PREFIX + json.dumps(prefix) if prefix else _EXACT + exact
            self._ports.consents.add(consent)
            self._ports.remember_consent(consent)

    def _detail(self, call: ShellCall, folder: str, why: str) -> str:
        """Where it would run, what it may touch, and why it is asked about."""
        status = self._state.status
        where = folder or "the workspace"
        copy = f"a throw-away copy of {where} as the screen shows it" if call.screen else where
        lines = [
            f"In {copy}, not confined: it can write {'elsewhere ' * call.screen}wherever you can,"
            " and use the network.",
            f"Asked because {why}.",
        ]
        if status.mode == "sandbox" and not status.sandboxed:
            lines.append(f"Sandbox mode asks, too: {status.sandbox}.")
        if call.free:
            lines.append("The model asks to leave the sandbox.")
        if call.why:
            lines.append(f"The model says: {call.why}")
        return "\n".join(lines)


def _options(call: ShellCall, folder: str) -> RunOptions:
    """How it runs with nothing around it."""
    return RunOptions(folder, pty=call.pty, bash=True, keys=False)
