"""Settings: ``config.toml``, validated, and the folders that duetto keeps its things in.

Layers, later ones win: defaults, the user's ``config.toml``, the workspace's
``.duetto/config.toml`` (``[verify]``, ``[format]`` and the looks of ``[editor]`` only: a cloned
repository may not choose servers or keys), the environment, flags. The last two are read by
``tui.cli.options``. Settings are read in ``cli`` and ``bridge/__main__`` and handed on as
plain data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from tui import toml_lines, toml_tables
from tui.errors import SettingsError
from tui.setting_names import NO_VARIABLE as NO_VARIABLE
from tui.setting_names import is_variable as is_variable
from tui.setting_names import no_address, no_header, no_header_value
from tui.setting_tables import SCHEMA as SCHEMA
from tui.setting_tables import EditorSettings as EditorSettings
from tui.setting_tables import EndpointSettings as EndpointSettings
from tui.setting_tables import FormatSettings as FormatSettings
from tui.setting_tables import MeterSettings as MeterSettings
from tui.setting_tables import ModelSettings as ModelSettings
from tui.setting_tables import ModelsSettings as ModelsSettings
from tui.setting_tables import NotifySettings as NotifySettings
from tui.setting_tables import PatchFormat as PatchFormat
from tui.setting_tables import PatchTool as PatchTool
from tui.setting_tables import ProjectSettings as ProjectSettings
from tui.setting_tables import PromptSettings as PromptSettings
from tui.setting_tables import RehearsalSettings as RehearsalSettings
from tui.setting_tables import ScreenSettings as ScreenSettings
from tui.setting_tables import Settings as Settings
from tui.setting_tables import Transport as Transport
from tui.setting_tables import VerifySettings as VerifySettings
from tui.toml_tables import LIMIT_BYTES as LIMIT_BYTES
from tui.toml_tables import nearest

PROJECT_FILE = ".duetto/config.toml"


@dataclass(frozen=True, slots=True)
class Paths:
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
            place = toml_lines.line_of(text, ("endpoints", name, *key))
            dotted = ".".join((name, *key))
            raise SettingsError(f"{origin} line {place}: endpoints.{dotted} {wrong}")
    for role in ("fast", "deep"):
        model: ModelSettings | None = getattr(settings.models, role)
        if model is None:
            continue
        if why := _unknown(model.endpoint, settings, origin):
            place = toml_lines.line_of(text, ("models", role, "endpoint"))
            raise SettingsError(f"{origin} line {place}: models.{role}.endpoint {why}")
        for fallback in model.fallbacks:
            if why := _unknown(fallback.partition("/")[0], settings, origin):
                place = toml_lines.line_of(text, ("models", role, "fallbacks"))
                raise SettingsError(f"{origin} line {place}: models.{role}.fallbacks {why}")
    return settings


def _unknown(name: str, settings: Settings, origin: str) -> str:
    """Why this is not the name of an endpoint; empty: it is one, or names a provider."""
    if not name or name in settings.endpoints or name == "rehearsal":
        return ""
    # rarely needed: a table names most endpoints, and the first paint waits for the settings
    from tui.bridge.providers import facts

    known = facts.names(Path(origin).parent / "providers")
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

    (``tui.cli.verify_command`` asks before it runs that one.)
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
    "; a workspace may set [verify], [format] and [editor] only, put it in your config.toml",
)


def _validated(text: str, origin: str, kind: type[T]) -> T:
    data = toml_tables.parsed(text, origin, SCHEMA)
    elsewhere = _ELSEWHERE if kind is ProjectSettings else None
    try:
        return toml_tables.converted(text, origin, data, kind, elsewhere)
    except SettingsError:
        from tui.setting_comfort import Sieve  # few have mistakes in them

        sifted = Sieve(text, origin, kind).sifted(data)
        return toml_tables.converted(text, origin, sifted, kind, elsewhere)


def unused(config_file: Path) -> list[str]:
    """What of the user's settings was left out, since it is wrong and only comfort.

    A sentence each, as an error would have it; nothing where `load` raises one.
    """
    return _left_out(config_file, Settings)


def unused_in_project(workspace: Path) -> list[str]:
    """What of the looks of a workspace was left out; see `unused`."""
    return _left_out(workspace / PROJECT_FILE, ProjectSettings)


def _left_out(file: Path, kind: type[T]) -> list[str]:
    text = toml_tables.read_again(file)
    try:
        data = toml_tables.parsed(text, str(file), SCHEMA)
    except SettingsError:
        return []
    try:
        toml_tables.converted(text, str(file), data, kind)
    except SettingsError:
        from tui.setting_comfort import Sieve

        sieve = Sieve(text, str(file), kind)
        sieve.sifted(data)
        return sieve.said
    return []
