"""Settings: ``config.toml``, validated, and the folders that duetto keeps its things in.

Layers, later ones win: defaults, the user's ``config.toml``, the workspace's
``.duetto/config.toml`` (``[verify]`` and ``[editor]`` without ``save`` only: a cloned
repository may not choose servers or keys), the environment, flags. The last two are read by
``tui.cli.options``. Settings are read in ``cli`` and ``bridge/__main__`` and handed on as
plain data.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
import msgspec.inspect
import platformdirs

from tui import toml_lines
from tui.errors import SettingsError
from tui.setting_names import NO_VARIABLE as NO_VARIABLE
from tui.setting_names import is_variable as is_variable
from tui.setting_names import no_address, no_header, no_header_value

SCHEMA = 1
PROJECT_FILE = ".duetto/config.toml"
LIMIT_BYTES = 1 << 20
"""Of a settings file."""

Positive = Annotated[float, msgspec.Meta(gt=0)]
Rate = Annotated[float, msgspec.Meta(ge=1, le=20_000)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
PatchTool = Literal["custom", "function", "text"]
Transport = Literal["auto", "websocket", "http"]


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of which every key is known."""


class EndpointSettings(Strict, frozen=True):
    """``[endpoints.NAME]``: a server that speaks Responses WebSocket mode."""

    url: Name
    key_env: str | None = None
    """Environment variable with the key; None: OPENAI_API_KEY beyond loopback; "": no key."""
    key_header: str = "Authorization"
    """The header that the key travels in: as a bearer token in Authorization, bare elsewhere."""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    chaining: bool = True
    """Continue with the parent's id; False for servers that keep only part of a chain."""
    compression: Literal["auto"] | bool = "auto"
    """permessage-deflate; ``auto``: beyond this machine only."""
    transport: Transport = "auto"
    """``auto``: HTTP+SSE where the WebSocket is refused or keeps breaking."""


class ModelSettings(Strict, frozen=True):
    """``[models.fast]`` and ``[models.deep]``: who answers for a role."""

    name: Name
    endpoint: str = ""
    """A name of ``[endpoints]``; may be left out when there is one only."""
    effort: Literal["low", "medium", "high", "xhigh"] | None = None
    context_window: Annotated[int, msgspec.Meta(gt=0)] | None = None
    """Tokens."""
    patch_tool: PatchTool = "custom"


class ModelsSettings(Strict, frozen=True):
    """``[models]``."""

    fast: ModelSettings | None = None
    deep: ModelSettings | None = None


class VerifySettings(Strict, frozen=True):
    """``[verify]``: what F5 runs."""

    command: str | list[str] | None = None
    """A string is run by the shell, a list is run as it is."""
    deadline_s: Positive = 120.0


class EditorSettings(Strict, frozen=True):
    """``[editor]``."""

    save: Literal["on-accept", "manual"] = "on-accept"
    theme: str = ""
    """Empty: the theme that duetto starts with."""
    follow: bool = True
    """Start with the view following the landing edit."""
    wrap: bool = False
    """Start with long lines wrapped (Alt+Z changes it for the session)."""
    reduced_motion: bool | Literal["auto"] = "auto"
    """Nothing slides, figures change once a second; auto: where ``REDUCE_MOTION`` is set."""


class RehearsalSettings(Strict, frozen=True):
    """``[rehearsal]``: the model for no key."""

    fast_tokens_s: Rate = 1000.0
    deep_tokens_s: Rate = 65.0
    seed: int | None = None
    mistakes: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """Share of the exercises that the fast one gets wrong at first; None: its own."""


class Settings(Strict, frozen=True):
    """The user's ``config.toml``, with what the workspace adds."""

    schema: int = SCHEMA
    endpoints: dict[str, EndpointSettings] = {}
    models: ModelsSettings = ModelsSettings()
    verify: VerifySettings = VerifySettings()
    editor: EditorSettings = EditorSettings()
    rehearsal: RehearsalSettings = RehearsalSettings()


class ProjectEditorSettings(Strict, frozen=True):
    """``[editor]`` of a workspace: looks only."""

    theme: str | None = None
    follow: bool | None = None
    wrap: bool | None = None


class ProjectSettings(Strict, frozen=True):
    """A workspace's ``.duetto/config.toml``: what a repository may say."""

    schema: int = SCHEMA
    verify: VerifySettings = VerifySettings()
    editor: ProjectEditorSettings = ProjectEditorSettings()


@dataclass(frozen=True, slots=True)
class Paths:
    """Where duetto keeps its things; ``DUETTO_HOME`` puts all of them under one folder."""

    config_file: Path
    data_dir: Path
    """The practice workspace."""
    state_dir: Path
    """Log, consents, history: private (mode 0700)."""

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
        dirs = platformdirs.PlatformDirs("duetto", appauthor=False)
        return cls(dirs.user_config_path / "config.toml", dirs.user_data_path, dirs.user_state_path)

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
    text = _read(config_file, required=required)
    return Settings() if text is None else parse(text, str(config_file))


def parse(text: str, origin: str) -> Settings:
    """Settings from the text of a ``config.toml``; ``origin`` names it in errors."""
    settings = _validated(text, origin, Settings)
    for name, endpoint in settings.endpoints.items():
        for key, wrong in _wrong_in(endpoint):
            place = toml_lines.line_of(text, ("endpoints", name, *key))
            dotted = ".".join((name, *key))
            raise SettingsError(f"{origin} line {place}: endpoints.{dotted} {wrong}")
    for role in ("fast", "deep"):
        model: ModelSettings | None = getattr(settings.models, role)
        known = [*settings.endpoints, "rehearsal"]
        if model is None or not model.endpoint or model.endpoint in known:
            continue
        place = toml_lines.line_of(text, ("models", role, "endpoint"))
        raise SettingsError(
            f"{origin} line {place}: models.{role}.endpoint names {model.endpoint!r}, which is not"
            f" set up; add [endpoints.{model.endpoint}]{_nearest(model.endpoint, known)}"
        )
    return settings


def _wrong_in(endpoint: EndpointSettings) -> Iterator[tuple[tuple[str, ...], str]]:
    """What the types do not say: the key's path in the endpoint's table, and what is wrong."""
    if endpoint.key_env and not is_variable(endpoint.key_env):
        yield ("key_env",), NO_VARIABLE
    if why := no_header(endpoint.key_header):
        yield ("key_header",), why
    for header, value in endpoint.headers.items():
        if why := no_header(header) or no_header_value(value):
            yield ("headers", header), why
    if why := no_address(endpoint.url):
        yield ("url",), why


def load_project(workspace: Path) -> ProjectSettings:
    """Read what a workspace says of itself. Raises SettingsError."""
    file = workspace / PROJECT_FILE
    text = _read(file, required=False)
    return ProjectSettings() if text is None else _validated(text, str(file), ProjectSettings)


def with_project(settings: Settings, project: ProjectSettings) -> Settings:
    """The user's settings under the workspace's looks; its test command is not taken here.

    (``tui.cli.verify_command`` asks before it runs that one.)
    """
    looks = {
        name: value
        for name in project.editor.__struct_fields__
        if (value := getattr(project.editor, name)) is not None
    }
    editor = msgspec.structs.replace(settings.editor, **looks)
    return msgspec.structs.replace(settings, editor=editor)


def _read(file: Path, *, required: bool) -> str | None:
    """The text; a pipe or a device is read only where the user named it (``required``)."""
    if not required and file.exists() and not (file.is_file() or file.is_dir()):
        raise SettingsError(f"cannot read {file}: it is not a file")
    try:
        with file.open("rb") as opened:
            data = opened.read(LIMIT_BYTES + 1)
        if len(data) > LIMIT_BYTES:
            raise SettingsError(f"cannot read {file}: it is larger than 1 MB, no settings file")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        if required:
            raise SettingsError(f"{file} does not exist; check --config") from None
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError(f"{file} line {line}: not UTF-8; save it as UTF-8") from error


T = TypeVar("T", Settings, ProjectSettings)


def _validated(text: str, origin: str, kind: type[T]) -> T:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, what = toml_lines.syntax_trouble(text, error)
        raise SettingsError(f"{origin} line {line}: not valid TOML: {what}") from error
    except RecursionError:
        raise SettingsError(f"{origin}: not valid TOML: nested too deeply") from None
    schema = data.get("schema", SCHEMA)
    if isinstance(schema, int) and schema < 1:
        line = toml_lines.line_of(text, ("schema",))
        raise SettingsError(f"{origin} line {line}: there is no schema {schema}; write {SCHEMA}")
    if isinstance(schema, int) and schema > SCHEMA:
        line = toml_lines.line_of(text, ("schema",))
        raise SettingsError(
            f"{origin} line {line}: schema {schema} is newer than this duetto, which reads"
            f" schema {SCHEMA}; upgrade duetto"
        )
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise SettingsError(_explained(text, origin, kind, str(error))) from error


_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<field>[^`]*)`")
_AT = re.compile(r" - at `(?P<path>[^`]*)`$")


def _explained(text: str, origin: str, kind: type, message: str) -> str:
    """The message of msgspec with the line, the dotted key, and what to do."""
    at = _AT.search(message)
    what = message[: at.start()] if at else message
    path = _key_path(text, at["path"] if at else "$")
    if unknown := _UNKNOWN.search(what):
        key = (*path, unknown["field"])
        line = toml_lines.line_of(text, key)
        advice = _nearest(key[-1], _known_keys(kind, path)) or "; remove it"
        if kind is ProjectSettings and key[-1] in Settings.__struct_fields__:
            advice = "; a workspace may set [verify] and [editor] only, put it in your config.toml"
        return f"{origin} line {line}: unknown key {'.'.join(key)!r}{advice}"
    line = toml_lines.line_of(text, path)
    if missing := _MISSING.search(what):
        return f"{origin} line {line}: [{'.'.join(path)}] lacks {missing['field']!r}; add it"
    what = what.replace("`", "").replace("Expected", "expected", 1).replace("Invalid", "invalid", 1)
    return f"{origin} line {line}: {'.'.join(path) or 'the file'}: {what}{_choices(kind, path)}"


def _key_path(text: str, path: str) -> tuple[str, ...]:
    """A path like ``$.a[...].b`` as names; ``[...]`` is a dict's key, which it does not say."""
    parts = re.findall(r"\[\.\.\.\]|[^.\[\]]+", path.removeprefix("$"))
    names: list[str] = []
    table: object = tomllib.loads(text)
    for part in parts:
        name = _failing(table, names) if part == "[...]" else part
        names.append(name)
        table = table.get(name) if isinstance(table, dict) else None
    return tuple(names)


def _failing(table: object, path: list[str]) -> str:
    """The first key of a dict whose value is not what it should be: tried one by one."""
    kind = EndpointSettings if path == ["endpoints"] else str
    for name, value in table.items() if isinstance(table, dict) else ():
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return str(name)
    return "..."


def _type_at(kind: type, path: Sequence[str]) -> msgspec.inspect.Type | None:
    here: msgspec.inspect.Type | None = msgspec.inspect.type_info(kind)
    for name in path:
        if isinstance(here, msgspec.inspect.StructType):
            here = next((field.type for field in here.fields if field.name == name), None)
        elif isinstance(here, msgspec.inspect.DictType):
            here = here.value_type
        if isinstance(here, msgspec.inspect.UnionType):
            here = here.types[0]
    return here


def _known_keys(kind: type, path: Sequence[str]) -> list[str]:
    here = _type_at(kind, path)
    if isinstance(here, msgspec.inspect.StructType):
        return [field.name for field in here.fields]
    return []


def _choices(kind: type, path: Sequence[str]) -> str:
    """What may stand there, where that can be listed."""
    here = _type_at(kind, path[:-1])
    fields = here.fields if isinstance(here, msgspec.inspect.StructType) else ()
    leaf = next((field.type for field in fields if path and field.name == path[-1]), None)
    whole = leaf.types if isinstance(leaf, msgspec.inspect.UnionType) else (leaf,)
    types = [one for one in whole if not isinstance(one, msgspec.inspect.NoneType)]
    values: list[str] = []
    for one in types:
        if isinstance(one, msgspec.inspect.LiteralType):
            quoted = len(types) > 1
            values[:0] = [f'"{value}"' if quoted else str(value) for value in one.values]
        elif isinstance(one, msgspec.inspect.BoolType):
            values += ["true", "false"]
    return "; one of " + ", ".join(values) if values else ""


def _nearest(name: str, known: list[str]) -> str:
    found = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {found[0]!r}?" if found else ""
