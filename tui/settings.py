"""Settings: ``config.toml``, validated, and the folders that duetto keeps its things in.

Layers, later ones win: defaults, the user's ``config.toml``, the workspace's
``.duetto/config.toml`` (``[verify]``, ``[format]``, ``[hooks]`` and the looks of ``[editor]``
only: a cloned repository may not choose servers or keys), the environment, flags. The last two are
read by ``tui.cli.options``. Settings are read in ``cli`` and ``bridge/__main__`` and handed on as
plain data.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field

from tui import toml_tables
from tui.errors import SettingsError
from tui.toml_tables import (
    NO_VARIABLE,
    is_variable,
    nearest,
    no_address,
    no_header,
    no_header_value,
)

_STRICT: Mapping[str, tuple[str, ...]] = {
    "editor": ("save", "ambiguous", "review"),
    "screen": ("linear",),
    "notify": (),
    "meter": (),
    "prompt": ("history",),
    "keys": (),
}
"""Tables of comfort, each with those of its keys that are none."""


class MistakeFilter(Struct):
    """Takes the mistakes out of the tables of one text."""

    text: str
    origin: str
    kind: type[msgspec.Struct]
    said: list[str] = field(default_factory=list)
    """What was taken out: ``ORIGIN line N: what is wrong; what to do``."""

    def sifted(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Data without them; what stops the start is left in it."""
        known = self.kind.__struct_fields__
        kept: dict[str, Any] = {}
        for name, value in data.items():
            if _meant(name, known) not in _STRICT:
                kept[name] = value
            elif name not in known or not isinstance(value, Mapping):
                self._is_right({name: value})
            else:
                kept[name] = self._table(name, value)
        return kept

    def _table(self, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
        keys = getattr(self.kind(), name)
        known = getattr(keys, "__struct_fields__", ())
        strict = _STRICT[name]
        return {
            key: value
            for key, value in table.items()
            if _meant(key, (*known, *strict)) in strict or self._is_right({name: {key: value}})
        }

    def _is_right(self, data: Mapping[str, Any]) -> bool:
        try:
            toml_tables.converted(self.text, self.origin, data, self.kind)
        except SettingsError as error:
            self.said.append(str(error))
            return False
        return True


def _meant(name: str, known: tuple[str, ...]) -> str:
    """The name, or the one that is misspelled."""
    found = [name] if name in known else difflib.get_close_matches(name, known, 1)
    return found[0] if found else ""


SCHEMA = 1

Positive = Annotated[float, msgspec.Meta(gt=0)]
Rate = Annotated[float, msgspec.Meta(ge=1, le=20_000)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Tokens = Annotated[int, msgspec.Meta(gt=0)]
Price = Annotated[float, msgspec.Meta(ge=0)]
Fallback = Annotated[str, msgspec.Meta(pattern="^[^/]+/.+$")]
"""``ENDPOINT/MODEL``."""
Mode = Literal["manual", "sandbox", "plan"]
PatchTool = Literal["custom", "function", "text"]
ShellTool = Literal["auto", "function", "shell", "local_shell", "bash", "none"]
PatchFormat = Literal["auto", "apply_patch", "search_replace", "unified_diff", "whole_file"]
VerifyWhen = Literal["ask", "landed", "live"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "auto"]
Transport = Literal["auto", "websocket", "http"]


class SettingsTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of which every key is known."""


class EndpointModelSettings(SettingsTable, frozen=True):
    """``[endpoints.NAME.models.MODEL]``: what is known of a model, whoever asks for it."""

    context_window: Tokens | None = None
    max_output_tokens: Tokens | None = None
    images: bool | None = None
    """False: it takes text only."""
    efforts: tuple[str, ...] | None = None
    """The efforts that it knows, weakest first."""
    fallbacks: tuple[Fallback, ...] = ()


class EndpointSettings(SettingsTable, frozen=True):
    """``[endpoints.NAME]``: a server, whatever it speaks."""

    url: str = ""
    """Empty: where ``provider`` is, or the provider that the table is named after."""
    kind: str = ""
    """What it speaks; empty: as its provider does, else what the url lets expect."""
    provider: str = ""
    """Whose facts hold where this table says nothing."""
    key_env: str | None = None
    """Environment variable with the key; None: the provider's, else OPENAI_API_KEY beyond loopback;
    "": no key."""
    key_header: str | None = None
    """The header that the key travels in: as a bearer token in Authorization, bare elsewhere.
    None: the provider's, else Authorization."""
    headers: dict[str, str] = {}
    options: dict[str, Any] = {}
    """Of its kind; see docs/providers.md."""
    model: str = ""
    """Of the kind ``local``: the GGUF file; empty: one that an installed package holds."""
    models: dict[str, EndpointModelSettings] = {}
    query: dict[str, str] = {}
    chaining: bool = True
    """Continue with the parent's id; False for servers that keep only part of a chain."""
    compression: Literal["auto"] | bool = "auto"
    """permessage-deflate; ``auto``: beyond this machine only."""
    transport: Transport = "auto"
    """``auto``: HTTP+SSE where the WebSocket is refused or keeps breaking."""


class PriceSettings(SettingsTable, frozen=True):
    """``price``: US dollars for a million tokens."""

    input: Price
    output: Price
    cached_input: Price | None = None
    """None: as ``input``."""


class ModelSettings(SettingsTable, frozen=True):
    """``[models.fast]`` and ``[models.deep]``: who answers for a role."""

    name: Name
    endpoint: str = ""
    """A name of ``[endpoints]``, or of a known provider; may be left out when there is one only."""
    effort: Effort | None = None
    context_window: Tokens | None = None
    """Tokens."""
    max_output_tokens: Tokens | None = None
    """Most that one answer may have; asked for where a provider reserves quota by it."""
    images: bool | None = None
    """False: it takes text only."""
    tier: str = ""
    """Service tier asked for (``fast``, ``priority``, ``flex``...); empty: the server's own."""
    fallbacks: tuple[Fallback, ...] = ()
    """``ENDPOINT/MODEL`` to ask, in this order, where this one does not begin to answer."""
    price: PriceSettings | None = None
    """None: as the price list says."""
    patch_tool: PatchTool = "custom"
    """How it hands over a patch: a freeform tool, a function tool, or in its prose."""
    shell_tool: ShellTool = "auto"
    """How it is offered a shell; ``none``: it runs no commands."""
    patch_format: PatchFormat = "auto"
    """What it is asked to write patches in; ``auto``: apply_patch, others are known in prose."""


class ModelsSettings(SettingsTable, frozen=True):
    """``[models]``."""

    fast: ModelSettings | None = None
    deep: ModelSettings | None = None


class OwnVerifier(SettingsTable, frozen=True):
    """``[[verify.own]]``: a verifier that duetto does not know."""

    name: Name
    command: str | list[str]
    """Where ``{files}`` stands in it, it is given what changed."""
    files: tuple[Name, ...] = ("*",)
    """Patterns of the files that concern it."""
    kind: Literal["lint", "types", "tests"] = "lint"
    """When it runs; the same as what costs as much."""


class ProjectVerifySettings(SettingsTable, frozen=True):
    """``[verify]``: what F5 runs; a workspace may say it, too."""

    command: str | list[str] | None = None
    """What runs the tests. A string is run by the shell, a list is run as it is."""
    own: tuple[OwnVerifier, ...] = ()
    """``[[verify.own]]``: further ones; one with the name of a known verifier replaces it."""
    skip: tuple[Name, ...] = ()
    """Names of verifiers that do not run: ``mypy``."""
    deadline_s: Positive = 120.0
    """Of each."""
    memory_gb: Positive | None = None
    """Of each with all that it starts; None: half of the machine's."""
    when: VerifyWhen = "ask"
    """``landed``: also when a turn has ended; ``live``: each file, too, as soon as it is whole."""


class VerifySettings(ProjectVerifySettings, frozen=True):
    """``[verify]`` of the user: also what is done of itself."""

    fix: Literal["ask", "auto"] = "ask"
    """When the model is asked to mend what failed: on a key, or at once."""
    fix_with: Literal["fast", "deep"] | None = None
    """The model that does; None: the one that answers now."""
    fix_tries: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    fix_usd: Positive | None = None
    """US dollars of all tries; None: as much as it takes."""
    fix_time_s: Positive | None = 300.0
    """Of all tries; behind it none begins."""
    escalate: tuple[Literal["effort", "attempts", "deep"], ...] = ()
    """What is done when the tries were in vain, one after the other."""


class AttemptsSettings(SettingsTable, frozen=True):
    """``[attempts]``: how several tries at one prompt are made."""

    runner: Name = "here"
    """Where they are judged: on this machine, or by the workers of ``dask://HOST:PORT``."""
    fallback: Literal["here", "none"] = "here"
    """Where they are judged if the workers cannot."""
    send: tuple[Name, ...] = ()
    """Patterns of files that git ignores and the tests need on workers; none that is private."""


class CommandsSettings(SettingsTable, frozen=True):
    """``[commands]``: what the model may run, and how long one turn may go on."""

    mode: Mode = "manual"
    """What it starts with; /mode changes it."""
    allow: tuple[Name, ...] = ()
    """Beginnings of commands that run without a question: ``pytest``, ``npm run test``."""
    network: bool = False
    """Commands in the sandbox may use the network."""
    deadline_s: Positive = 120.0
    """Of a command for which the model names none."""
    max_rounds: Annotated[int, msgspec.Meta(gt=0)] = 40
    """Responses of one turn."""
    max_tokens: Tokens | None = None
    """Of output."""
    max_cost: Positive | None = None
    """US dollars, as far as the price is known."""
    max_time_s: Positive | None = None


class LimitsSettings(SettingsTable, frozen=True):
    """``[limits]``: US dollars, as far as prices are known; None: as much as it takes."""

    session_usd: Positive | None = None
    day_usd: Positive | None = None
    """From midnight on, of all sessions."""
    switch_usd: Positive | None = None
    """Another model that reads the conversation anew for more than that is asked about."""


class FormatSettings(SettingsTable, frozen=True):
    """``[format]``: what runs on the files that were written, after a save or an accept."""

    command: str | list[str] | None = None
    """A string is run by the shell, a list is run as it is; the files' paths are appended."""
    deadline_s: Positive = 10.0


class HooksSettings(SettingsTable, frozen=True):
    """``[hooks]``: commands that look at what happens, and may refuse it (docs/project.md)."""

    before_command: str | list[str] | None = None
    """Before each command of the model."""
    after_edit: str | list[str] | None = None
    """After files were written by a save or an accept."""
    turn_end: str | list[str] | None = None
    deadline_s: Positive = 30.0
    """Of each."""


class EditorSettings(SettingsTable, frozen=True):
    """``[editor]``."""

    save: Literal["on-accept", "manual"] = "on-accept"
    ambiguous: Literal["ask", "first", "reject"] = "ask"
    """An edit that fits in several places: choose, take the first (flagged), or refuse it."""
    review: Literal["ask", "auto"] = "ask"
    """``auto``: hunks are accepted when their patch ends, but those with a flag never are."""
    theme: str = ""
    """``auto`` or empty: one of the next two, as the terminal's background is."""
    theme_light: str = "paper"
    theme_dark: str = "dusk"
    follow: bool = True
    """Start with the view following the landing edit."""
    wrap: bool = False
    """Start with long lines wrapped (Alt+Z changes it for the session)."""
    reduced_motion: bool | Literal["auto"] = "auto"
    """Nothing slides, figures change once a second; auto: where ``REDUCE_MOTION`` is set."""


class ScreenSettings(SettingsTable, frozen=True):
    """``[screen]``: what the terminal can show, where it is not found out rightly."""

    colours: Literal["auto", "none", "16", "256", "true"] = "auto"
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    ambiguous: Literal["auto", "narrow", "wide"] = "auto"
    """Signs whose width Unicode leaves open: one cell or two."""
    background: Literal["auto", "dark", "light"] = "auto"
    linear: bool = False
    """Lines of text instead of a screen, as ``--linear``."""


class NotifySettings(SettingsTable, frozen=True):
    """``[notify]``: what is said outside of the window when a turn ends."""

    bell: bool = False
    title: bool = False
    desktop: Literal["auto", "osc9", "osc777", "off"] = "auto"
    after_s: Positive = 15.0
    """Turns that end sooner are not told of."""
    prompt: bool = False
    """The beginning of the prompt stands in the notification."""


class MeterSettings(SettingsTable, frozen=True):
    """``[meter]``: the status line, and the ghost in the editor's gutter."""

    line: Any = ""
    """A template (docs/meter.md); what is wrong in it is told, and the rest is shown."""
    gutter_ghost: Literal["linger", "turn", "off"] = "linger"
    """How long it is there: until it has written all, until the turn ends, not at all."""


class PromptSettings(SettingsTable, frozen=True):
    """``[prompt]``: the line that everything is asked in."""

    history: bool = True
    """Keep what was asked for the next runs, in the state folder; False: nor is it read."""
    editor: str = ""
    """Command of the editor that the draft can be opened in; empty: VISUAL, else EDITOR."""
    vi: bool = False
    """The keys of vi in the prompt."""
    propose: bool = True
    """The other model is proposed where the user's own statistics speak for it."""


class StoreSettings(SettingsTable, frozen=True):
    """``[store]``: what is kept of sessions."""

    on: bool = True
    """False: nothing of them is kept."""
    keep_days: Annotated[int, msgspec.Meta(ge=0)] = 90
    """How long a session is kept in which nothing happens; 0: for ever."""


class StatsSettings(SettingsTable, frozen=True):
    """``[stats]``."""

    ask: bool | None = None
    """Once a day, how much faster it felt; None: ``/stats`` says how to allow it."""


class MapSettings(SettingsTable, frozen=True):
    """``[map]``: the map of the project that a model is told before the first prompt."""

    when: Literal["auto", "on", "off"] = "auto"
    """``auto``: where the list of all files is too long for the instructions."""
    tokens: Annotated[int, msgspec.Meta(ge=500, le=32_000)] = 2000
    """That it may have; never more than a sixteenth of the model's window."""


class RehearsalSettings(SettingsTable, frozen=True):
    """``[rehearsal]``: the model for no key."""

    fast_tokens_s: Rate = 1000.0
    deep_tokens_s: Rate = 65.0
    seed: int | None = None
    mistakes: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """Share of the exercises that the fast one gets wrong at first; None: its own."""


class Settings(SettingsTable, frozen=True):
    """The user's ``config.toml``, with what the workspace adds."""

    schema: int = SCHEMA
    endpoints: dict[str, EndpointSettings] = {}
    models: ModelsSettings = ModelsSettings()
    verify: VerifySettings = VerifySettings()
    format: FormatSettings = FormatSettings()
    hooks: HooksSettings = HooksSettings()
    attempts: AttemptsSettings = AttemptsSettings()
    commands: CommandsSettings = CommandsSettings()
    limits: LimitsSettings = LimitsSettings()
    editor: EditorSettings = EditorSettings()
    screen: ScreenSettings = ScreenSettings()
    notify: NotifySettings = NotifySettings()
    meter: MeterSettings = MeterSettings()
    prompt: PromptSettings = PromptSettings()
    store: StoreSettings = StoreSettings()
    stats: StatsSettings = StatsSettings()
    map: MapSettings = MapSettings()
    rehearsal: RehearsalSettings = RehearsalSettings()
    keys: dict[str, Any] = {}
    """``[keys.SCOPE]``: action to key or list of keys; checked by `tui.ui.keymap`, row by row."""


class ProjectEditorSettings(SettingsTable, frozen=True):
    """``[editor]`` of a workspace: looks only."""

    theme: str | None = None
    follow: bool | None = None
    wrap: bool | None = None


class ProjectSettings(SettingsTable, frozen=True):
    """A workspace's ``.duetto/config.toml``: what a repository may say."""

    schema: int = SCHEMA
    verify: ProjectVerifySettings = ProjectVerifySettings()
    format: FormatSettings = FormatSettings()
    """Run only with the user's consent, as the test command is."""
    hooks: HooksSettings = HooksSettings()
    """The same."""
    editor: ProjectEditorSettings = ProjectEditorSettings()


PROJECT_FILE = ".duetto/config.toml"


class Paths(Struct, frozen=True):
    """Where duetto keeps its things; ``DUETTO_HOME`` puts all of them under one folder."""

    config_file: Path
    data_dir: Path
    """The practice workspace."""
    state_dir: Path
    """Log, consents, history: private (mode 0700)."""

    @property
    def providers_dir(self) -> Path:
        """The user's own files about providers."""
        return self.config_file.parent / "providers"

    @property
    def themes_dir(self) -> Path:
        """The user's own themes."""
        return self.config_file.parent / "themes"

    @property
    def log_file(self) -> Path:
        """The log; rotated beside itself."""
        return self.state_dir / "duetto.log"

    @classmethod
    def find(cls, environment: Mapping[str, str] = os.environ) -> Paths:
        """The places on this machine, whether they exist or not."""
        if home := environment.get("DUETTO_HOME"):
            root = Path(home).expanduser().absolute()
            return cls(root / "config.toml", root / "data", root / "state")
        import platformdirs  # not where the folder is named: it takes 6 ms

        dirs = platformdirs.PlatformDirs("duetto", appauthor=False)
        return cls(dirs.user_config_path / "config.toml", dirs.user_data_path, dirs.user_state_path)

    def own(self) -> tuple[str, ...]:
        """All of them, for who keeps others out."""
        return str(self.config_file.parent), str(self.data_dir), str(self.state_dir)

    def make_state_dir(self) -> Path:
        """Make the state folder, mode 0700. Raises SettingsError."""
        return _made(self.state_dir, 0o700)

    def make_data_dir(self) -> Path:
        """Make the data folder. Raises SettingsError."""
        return _made(self.data_dir, 0o755)


def _made(folder: Path, mode: int) -> Path:
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"cannot make the folder {folder}: {error.strerror}; "
            "set DUETTO_HOME to a folder that you may write to"
        ) from error
    return folder


def load(config_file: Path, *, required: bool = False) -> Settings:
    """Read the user's settings; a missing file means the defaults, unless ``required``.

    Raises SettingsError: ``FILE line N: what is wrong; what to do``.
    """
    text = toml_tables.read(config_file, required=required)
    return Settings() if text is None else parse(text, str(config_file))


def parse(text: str, origin: str) -> Settings:
    """Settings from the text of a ``config.toml``; ``origin`` names it in errors."""
    settings = _validated(text, origin, Settings)
    for name, endpoint in settings.endpoints.items():
        for key, wrong in _wrong_in(endpoint):
            place = toml_tables.line_of(text, ("endpoints", name, *key))
            dotted = ".".join((name, *key))
            raise SettingsError(f"{origin} line {place}: endpoints.{dotted} {wrong}")
    runner = settings.attempts.runner
    if runner != "here" and not _is_cluster(runner):
        place = toml_tables.line_of(text, ("attempts", "runner"))
        wrong = f'is {runner!r}: write "here", or "dask://HOST:PORT" of a Dask scheduler'
        raise SettingsError(f"{origin} line {place}: attempts.runner {wrong}")
    for role in ("fast", "deep"):
        model: ModelSettings | None = getattr(settings.models, role)
        if model is None:
            continue
        if why := _unknown(model.endpoint, settings, origin):
            place = toml_tables.line_of(text, ("models", role, "endpoint"))
            raise SettingsError(f"{origin} line {place}: models.{role}.endpoint {why}")
        for fallback in model.fallbacks:
            if why := _unknown(fallback.partition("/")[0], settings, origin):
                place = toml_tables.line_of(text, ("models", role, "fallbacks"))
                raise SettingsError(f"{origin} line {place}: models.{role}.fallbacks {why}")
    return settings


def _is_cluster(address: str) -> bool:
    from tui.core.cluster import server_of  # few have one, and the first paint waits

    return bool(server_of(address))


def _unknown(name: str, settings: Settings, origin: str) -> str:
    """Why this is not the name of an endpoint; empty: it is one, or names a provider."""
    if not name or name in settings.endpoints or name == "rehearsal":
        return ""
    # rarely needed: a table names most endpoints, and the first paint waits for the settings
    from tui.bridge.providers import provider_files

    known = provider_files.names(Path(origin).parent / "providers")
    if name in known:
        return ""
    hint = nearest(name, [*settings.endpoints, *known])
    return f"names {name!r}, which is not set up; add [endpoints.{name}]{hint}"


def _wrong_in(endpoint: EndpointSettings) -> Iterator[tuple[tuple[str, ...], str]]:
    """What the types do not say: the key's path in the endpoint's table, and what is wrong."""
    if endpoint.key_env and not is_variable(endpoint.key_env):
        yield ("key_env",), NO_VARIABLE
    if endpoint.key_header is not None and (why := no_header(endpoint.key_header)):
        yield ("key_header",), why
    for header, value in endpoint.headers.items():
        if why := no_header(header) or no_header_value(value):
            yield ("headers", header), why
    if endpoint.url and (why := no_address(endpoint.url)):
        yield ("url",), why


def load_project(workspace: Path) -> ProjectSettings:
    """Read what a workspace says of itself. Raises SettingsError."""
    file = workspace / PROJECT_FILE
    text = toml_tables.read(file, required=False)
    return ProjectSettings() if text is None else _validated(text, str(file), ProjectSettings)


def with_project(settings: Settings, project: ProjectSettings) -> Settings:
    """The user's settings under the workspace's looks; its test command is not taken here.

    (``tui.cli.workspace_commands`` asks before it runs that one.)
    """
    looks = {
        name: value
        for name in project.editor.__struct_fields__
        if (value := getattr(project.editor, name)) is not None
    }
    editor = msgspec.structs.replace(settings.editor, **looks)
    return msgspec.structs.replace(settings, editor=editor)


T = TypeVar("T", Settings, ProjectSettings)
_ELSEWHERE = dict.fromkeys(
    Settings.__struct_fields__,
    "; a workspace may set [verify], [format], [hooks] and [editor] only,"
    " put it in your config.toml",
)


def _validated(text: str, origin: str, kind: type[T]) -> T:
    data = toml_tables.parsed(text, origin, SCHEMA)
    elsewhere = _ELSEWHERE if kind is ProjectSettings else None
    try:
        return toml_tables.converted(text, origin, data, kind, elsewhere)
    except SettingsError:
        sifted = MistakeFilter(text, origin, kind).sifted(data)
        return toml_tables.converted(text, origin, sifted, kind, elsewhere)


def unused(config_file: Path) -> list[str]:
    """What of the user's settings was left out, since it is wrong and only comfort.

    A sentence each, as an error would have it; nothing where `load` raises one.
    """
    return _left_out(config_file, Settings)


def unused_in_project(workspace: Path) -> list[str]:
    """What of a workspace's own was left out; see `unused`."""
    file = workspace / PROJECT_FILE
    text = toml_tables.read_again(file)
    try:
        table = toml_tables.parsed(text, str(file), SCHEMA).get("verify", {})
    except SettingsError:
        return []
    limits = [key for key in table if key not in ("command", "own", "skip")]
    return _left_out(file, ProjectSettings) + [
        f"{file} line {toml_tables.line_of(text, ('verify', key))}: verify.{key} counts only in"
        " your own config.toml"
        for key in limits
    ]


def _left_out(file: Path, kind: type[T]) -> list[str]:
    text = toml_tables.read_again(file)
    try:
        data = toml_tables.parsed(text, str(file), SCHEMA)
    except SettingsError:
        return []
    try:
        toml_tables.converted(text, str(file), data, kind)
    except SettingsError:
        sieve = MistakeFilter(text, str(file), kind)
        sieve.sifted(data)
        return sieve.said
    return []
