"""The composition root: a session with real effects, from settings and flags."""

from __future__ import annotations

import asyncio
import datetime
import functools
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tui
from tui.cli import logfile
from tui.cli.models import SURE_CHARS, SessionSetup, secrets_of, withheld
from tui.cli.network import Network
from tui.core.conversation import PastPrompt
from tui.core.files import FileRead, GitState
from tui.core.price import Price, Quote, SameTiers
from tui.core.programs import Edited, safe_path
from tui.core.wire.events import Usage
from tui.core.wire.masking import Mask
from tui.effects.commands.runner import CommandRunner
from tui.effects.files import Files
from tui.effects.listing import Listing, warm
from tui.effects.recorder import Recorder
from tui.effects.rescue import RescueFolders
from tui.effects.system import MonotonicClock, give_back
from tui.effects.write_ahead_log import WriteAheadLog
from tui.engine.notices import Trouble
from tui.engine.ports import (
    HookEvent,
    MapRules,
    Ports,
    ProjectMapper,
    ProjectReader,
    SessionArchive,
    SpentToday,
    VerifyCommand,
)
from tui.engine.session import Session, SessionOptions
from tui.errors import FileRefused, SettingsError, StoreRefused, UsageError
from tui.settings import Paths

if TYPE_CHECKING:
    from tui.cli.catalogue import Catalogue
    from tui.cli.connecting import Connector
    from tui.cli.verifiers.finding import KeptSyntax
    from tui.effects.clipboard import ClipboardTool, LocalPictures
    from tui.effects.cluster import Cluster
    from tui.effects.commands.sandbox import Tool
    from tui.effects.git import Git
    from tui.effects.prices import Prices
    from tui.effects.prompt_history import PromptHistory
    from tui.effects.recorder import Tracer
    from tui.effects.shadow.making import ShadowMaker
    from tui.effects.store.writing import StoreWriter
    from tui.effects.text_editor import TextEditor
    from tui.effects.watcher import Watcher
    from tui.ui.prompt.box import PromptBox


class Consents:
    """Commands of workspaces' own files that the user allowed for good, in the state folder.

    A line each, which is only ever added: two instances do not lose each other's answers.
    """

    def __init__(self, paths: Paths, root: str) -> None:
        self._paths = paths
        self._file = paths.state_dir / "consents.jsonl"
        self._root = root

    def known(self) -> set[str]:
        """The commands allowed in this workspace."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return set()
        return {command for root, command in map(_consent, lines) if root == self._root}

    def remember(self, command: str) -> None:
        """Allow a command in this workspace from now on; what cannot be written is asked again."""
        line = f"\n{json.dumps([self._root, command])}\n"
        try:
            self._paths.make_state_dir()
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line)
        except (OSError, SettingsError):
            return


def _consent(line: str) -> tuple[str, str]:
    """Workspace and command of a line; a broken one allows nothing."""
    try:
        root, command = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "", ""
    return str(root), str(command)


class Prompting:
    """History and editor of one workspace; neither is loaded before it is asked for."""

    def __init__(self, setup: SessionSetup, environment: Mapping[str, str]) -> None:
        """``environment`` is that of other programs, where no key is."""
        self._setup = setup
        self._environment = environment

    def serve(self, box: PromptBox) -> None:
        """Be what the prompt asks."""
        chosen = self._setup.settings.prompt
        if chosen.history:
            box.prompt.past.store = self
        if chosen.vi:
            box.prompt.use_vi()
        box.external_editor = self

    def load(self) -> list[PastPrompt]:
        """What was asked in earlier runs."""
        return self._history.load()

    def keep(self, text: str) -> None:
        """What was asked now."""
        self._history.keep(text)

    def refusal(self) -> str:
        """Why no editor can be opened."""
        return self._editor.refusal()

    async def edit(self, text: str) -> Edited:
        """Have the draft edited."""
        return await self._editor.edit(text)

    def written(self) -> str | None:
        """What the editor has saved by now."""
        return self._editor.written() if "_editor" in self.__dict__ else None

    async def leave(self) -> str:
        """End the editor, too; where what is in it can be found, in a sentence."""
        return await self._editor.leave() if "_editor" in self.__dict__ else ""

    def left_over(self) -> Trouble | None:
        """What is said at the start of texts that did not come back from an editor."""
        if not any(self._setup.paths.state_dir.glob("editing-*")):
            return None
        from tui.effects.text_editor import left_behind

        folders = left_behind(self._setup.paths.state_dir)
        if not folders:
            return None
        what = "duetto was ended while your editor had a prompt"
        why = "What it had is in " + ", ".join(map(str, folders))
        step = "take what you need of it, and remove the folder"
        return Trouble(what, why, step, severity="warning", noted=True)

    def close(self) -> None:
        """Have written what is to be kept."""
        if "_history" in self.__dict__:
            self._history.close()

    @functools.cached_property
    def _history(self) -> PromptHistory:
        from tui.effects.prompt_history import PromptHistory

        setup = self._setup
        return PromptHistory(setup.paths.state_dir, os.path.realpath(setup.root))

    @functools.cached_property
    def _editor(self) -> TextEditor:
        from tui.effects.text_editor import TextEditor

        setup = self._setup
        chosen = setup.settings.prompt.editor
        return TextEditor(setup.paths.state_dir, self._environment, chosen)


def prices_for(setup: SessionSetup) -> Prices:
    """What responses cost, by the list of prices and ``[models.X] price``; for a thread."""
    from tui.bridge.providers import provider_files
    from tui.effects.prices import Prices

    models, settings = setup.models, setup.settings.models
    specs = {name: one.spec for name, one in models.endpoints.items()} | models.fallbacks
    known = provider_files.readable(setup.paths.providers_dir)
    lists: dict[str, str] = {}
    same_tiers: dict[str, SameTiers] = {}
    for name, spec in specs.items():
        # not by the provider's name alone: its table may lead to another server
        provider = provider_files.of_url(known, spec.url)
        if provider is not None and provider.prices:
            lists[name] = provider.prices
            same_tiers[name] = provider.same_tiers
    own: dict[tuple[str, str], Price] = {}
    for role, asked in models.roles.items():
        model = settings.fast if role == "fast" else settings.deep
        if model is not None and model.price is not None and asked.model == model.name:
            said = model.price
            own[asked.endpoint, asked.model] = Price(said.input, said.output, said.cached_input)
    return Prices(lists, own, same_tiers)


class Composition:
    """A session and what it stands on; close it when done."""

    def __init__(
        self,
        setup: SessionSetup,
        options: SessionOptions,
        *,
        watched: bool = True,
        record: Path | None = None,
    ) -> None:
        """Nothing is started or dialled yet.

        ``record`` is the file that keeps every frame; raises UsageError if it cannot be made.
        """
        self._setup = setup
        self._recorder = recorder_for(setup, record)
        self._clipboard: ClipboardTool | None = None
        self._git: Git | None = None
        self._watcher: Watcher | None = None
        self._open_files: Iterable[str] = ()
        self._clock = MonotonicClock()
        self._prices: asyncio.Future[Prices] | None = None
        self._network = Network(setup, self._clock, self._recorder)
        root = str(setup.root)
        logfile.mask(secrets_of(setup))
        self._keyless = withheld(setup, os.environ)
        """The environment of other programs."""
        self.prompting = Prompting(setup, self._keyless)
        """For the prompt box, if there is one."""
        self._listing = Listing(root, environment=self._keyless)
        self._files = Files(root, self._listing)
        self.rescue = RescueFolders(setup.paths.state_dir, root)
        self._journal = WriteAheadLog(setup.paths.state_dir, root)
        self._runner = CommandRunner(root, self._keyless, self._find_sandbox)
        self.session = Session(self._ports(watched=watched), setup.models.roles, options)
        if options.resumed is not None:
            _ = self.store  # from here on nobody else goes on with it
        self._network.aside = self.session.input_first.holds_reading
        if self._recorder is not None:
            self._recorder.on_failed = partial(self._warn, "The recording stopped")

    def _ports(self, *, watched: bool) -> Ports:
        """What the session needs of the outside world."""
        setup = self._setup
        consents = Consents(setup.paths, str(setup.root))
        return Ports(
            wires=self._network.wire,
            clock=self._clock,
            files=self._files,
            runner=self._runner,
            verifiers=self._verifiers,
            shadows=lambda: self.shadows,
            workers=None if setup.settings.attempts.runner == "here" else lambda: self.cluster,
            workers_only=setup.settings.attempts.fallback == "none",
            side_by_side=_cores(),
            format_command=self._format_command,
            hooks=self._hook_commands,
            remember_consent=consents.remember,
            consents=consents.known(),
            keep_asking=self._keep_asking,
            project=self._project_folders,
            project_map=None if setup.settings.map.when == "off" else self._mapper,
            map_rules=MapRules(setup.settings.map.when, setup.settings.map.tokens),
            watch=self._watch if watched else None,
            opened=self._opened,
            folder=self._listing.folder,
            sizes=self._listing.sizes,
            branch=self._listing.branch,
            git=self._asked_git,
            git_status=self._git_status,
            git_head=self._git_head,
            rescue=self.rescue if watched else None,
            pictures=self._pictures,
            store=lambda: self.store,
            archive=self._archive,
            journal=self._journal,
            catalogue=lambda: self.catalogue,
            sockets=self._network.views,
            quote=self.quote,
            spent_today=self._spent_today,
            give_memory_back=give_back,
            stamp=setup.stamp,
        )

    def _project_folders(self) -> ProjectReader:
        from tui.effects.project_folders import ProjectFolders

        return ProjectFolders(self._setup.root, self._setup.paths.config_file.parent, os.environ)

    def _pictures(self) -> LocalPictures:
        from tui.effects.clipboard import LocalPictures

        path = safe_path(os.environ, str(self._setup.root))
        return LocalPictures(os.environ, self._keyless, partial(shutil.which, path=path))

    def _mapper(self) -> ProjectMapper:
        from tui.effects.project_map.process import MapProcess

        keeps, state = self._setup.settings.store.on, self._setup.paths.state_dir
        return MapProcess(self._files.root, state / "maps" if keeps else None, self._keyless)

    def _find_sandbox(self) -> Tool:
        from tui.effects.commands.sandbox import find_sandbox
        from tui.effects.leftovers import clear_left
        from tui.effects.shadow.making import clear_shadows

        clear_left()
        clear_shadows(self._setup.paths.state_dir)
        return find_sandbox(str(self._setup.root), self._setup.paths.own(), os.environ)

    def _adopt(self, setup: SessionSetup, renewed: Collection[str]) -> None:
        """Other endpoints are in use from now on."""
        self._setup, self._prices = setup, None
        logfile.mask(secrets_of(setup))
        if self._recorder is not None:
            self._recorder.know(mask_for(setup))
        keyless = withheld(setup, os.environ)
        self._keyless.clear()
        self._keyless.update(keyless)  # other programs have it already
        self._network.adopt(setup, renewed)

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """The models that can be asked."""
        from tui.cli.catalogue import Catalogue

        return Catalogue(self._setup, self._adopt)

    @functools.cached_property
    def shadows(self) -> ShadowMaker:
        """Throw-away copies of the workspace."""
        from tui.cli.verifiers.project import table
        from tui.effects.shadow.copying import ShadowSource
        from tui.effects.shadow.making import ShadowMaker

        source = ShadowSource(self._files.root, table()["caches"], self._files.listing)
        return ShadowMaker(source, self._setup.paths.state_dir, self._runner)

    @functools.cached_property
    def cluster(self) -> Cluster:
        """Shadows on other machines."""
        from tui.core.cluster import server_of
        from tui.effects.cluster import Cluster

        chosen, root = self._setup.settings.attempts, self._files.root
        server = server_of(chosen.runner)
        told = partial(self._warn, why="", severity="information", noted=True)
        return Cluster(server, root, self._keyless, told, chosen.send)

    @functools.cached_property
    def store(self) -> StoreWriter:
        """Where the session is kept."""
        from tui.effects.store.writing import StoreWriter

        chosen, resumed = self._setup.settings.store, self.session.options.resumed
        line = None if resumed is None or resumed.is_fork else resumed.stored.line
        store = StoreWriter(
            self._setup.paths.data_dir,
            self._clock.now,
            resumed=(line.id, resumed.stored.seq) if line and resumed else None,
            keep_days=chosen.keep_days,
            on=chosen.on,
        )
        store.on_trouble = partial(self._warn, noted=True)
        return store

    def _archive(self) -> SessionArchive:
        from tui.effects.store.reading import Archive

        return Archive(self._setup.paths.data_dir)

    @property
    def kept_as(self) -> str:
        """What the session is called in the store; empty: nothing of it is kept."""
        return self.store.id if "store" in self.__dict__ and self.store.kept else ""

    def connector(self) -> Connector:
        """What connects other models to the session."""
        from tui.cli.connecting import Connector

        return Connector(self._setup, self.catalogue)

    async def recorded(self) -> None:
        """Wait until what was said is in the recording; else a warning says why it is not."""
        if self._recorder is not None:
            await self._recorder.settled()

    async def close(self) -> None:
        """End the session, then the sockets, the bridge and the recording."""
        self._listing.close()
        await self.session.close()
        if "store" in self.__dict__:
            await asyncio.to_thread(self.store.close)
        if "shadows" in self.__dict__:
            await self.shadows.close()
        if "kept_syntax" in self.__dict__:
            await self.kept_syntax.close()
        if "cluster" in self.__dict__:
            await self.cluster.close()
        self.prompting.close()
        self._journal.close()
        await self._network.close()
        if self._recorder is not None:
            await self._recorder.close()
        if self._setup.tracer is not None:
            self._setup.tracer.close()

    def copy_here(self, text: str) -> bool:
        """Copy by a program of this machine's desktop; False: there is none."""
        if self._clipboard is None:
            from tui.effects.clipboard import ClipboardTool, command_for

            path = safe_path(os.environ, str(self._setup.root))
            command = command_for(os.environ, which=partial(shutil.which, path=path))
            self._clipboard = ClipboardTool(command, self._keyless)
        return self._clipboard.copy(text)

    def _warn(
        self,
        what: str,
        why: str,
        severity: Literal["information", "warning"] = "warning",
        *,
        noted: bool = False,
    ) -> None:
        self.session.warn(Trouble(what, why, severity=severity, noted=noted))

    async def _watch(self, callback: Callable[[set[str]], None]) -> None:
        from tui.effects.watcher import Watcher

        warm()
        told = partial(self._warn, "Not all files are watched", severity="information")
        self._watcher = Watcher(str(self._setup.root), told, self._keyless)
        self._watcher.opened(self._open_files)
        await self._watcher.watch(callback)

    def _opened(self, paths: Iterable[str]) -> None:
        self._open_files = paths
        if self._watcher is not None:
            self._watcher.opened(paths)

    async def _git_status(self) -> Mapping[str, GitState]:
        return await self._asked_git().states()

    async def _git_head(self, path: str) -> FileRead:
        return await self._asked_git().head(path)

    def _asked_git(self) -> Git:
        from tui.effects.git import Git

        if self._git is None:  # kept: it knows where in its repository the workspace is
            self._git = Git(str(self._setup.root), self._keyless)
        return self._git

    async def _verifiers(self) -> Sequence[VerifyCommand]:
        from tui.cli import workspace_commands

        setup = self._setup
        found = await asyncio.to_thread(
            workspace_commands.find_verifiers, setup.root, setup.settings
        )
        return [self.kept_syntax.serving(one) if one.kind == "syntax" else one for one in found]

    @functools.cached_property
    def kept_syntax(self) -> KeptSyntax:
        """What checks the syntax of texts that nobody saved."""
        from tui.cli.verifiers.finding import KeptSyntax  # at the first verification

        return KeptSyntax(self._setup.root)

    async def _format_command(self) -> VerifyCommand | None:
        from tui.cli import workspace_commands

        setup = self._setup
        return await asyncio.to_thread(workspace_commands.find_format, setup.root, setup.settings)

    async def _hook_commands(self, event: HookEvent) -> Sequence[VerifyCommand]:
        def find() -> Sequence[VerifyCommand]:
            from tui.cli import workspace_commands  # the turn's last frame goes first

            return workspace_commands.find_hooks(self._setup.root, self._setup.settings, event)

        return await asyncio.to_thread(find)

    async def quote(self, endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        """See `engine.ports.Ports.quote`."""
        if self._prices is None:  # the turn's last frame goes first
            self._prices = asyncio.ensure_future(asyncio.to_thread(prices_for, self._setup))
        prices = await asyncio.shield(self._prices)
        return await prices.quote(endpoint, models, usage, tier)

    async def _keep_asking(self, on: bool) -> None:
        from tui.cli.settings_file import keep_value

        file = self._setup.flags.config or self._setup.paths.config_file
        await asyncio.to_thread(keep_value, file, "stats", "ask", on)

    async def _spent_today(self) -> SpentToday:
        from tui.effects.store import reading

        now = datetime.datetime.now()
        midnight_ms = int(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)
        folder, day = self._setup.paths.data_dir, f"{now:%Y-%m-%d}"
        try:
            spent = await asyncio.to_thread(reading.spent, folder, midnight_ms, self.kept_as)
        except StoreRefused:  # nothing was kept yet, or nothing can be read
            return SpentToday(day)
        return SpentToday(day, *spent)

    def unfinished(self) -> list[str]:
        """What an earlier duetto did not write to the end here, a sentence each."""
        from tui.cli.apply import unfinished_sentences

        return unfinished_sentences(self._files, self._journal)


def _cores() -> int:
    """Processors that this process may use."""
    of_ours = getattr(os, "sched_getaffinity", None)
    return len(of_ours(0)) if of_ours is not None else os.cpu_count() or 1


def mask_for(setup: SessionSetup) -> Mask:
    """Knows all keys of a session."""
    known = [s for s in logfile.secrets_of(os.environ) if len(s) >= SURE_CHARS]
    return Mask([*known, *secrets_of(setup)])


def recorder_for(setup: SessionSetup, file: Path | None) -> Recorder | None:
    """What writes a recording, with all keys masked. Raises UsageError: it cannot be written."""
    if file is None:
        return None
    roles = {
        role: {
            "model": spec.model,
            "endpoint": spec.endpoint,
            "patch_tool": spec.patch_tool,
            "patch_format": spec.patch_format,
        }
        for role, spec in setup.models.roles.items()
    }
    about = {"program": f"duetto {tui.__version__}", "roles": roles}
    try:
        return Recorder(file, mask_for(setup), about)
    except FileRefused as error:
        raise UsageError(str(error)) from error


def tracer_for(file: Path | None) -> Tracer | None:
    """What writes a trace. Raises UsageError: it cannot be written."""
    if file is None:
        return None
    from tui.effects.recorder import Tracer

    try:
        return Tracer(file)
    except FileRefused as error:
        raise UsageError(str(error)) from error
