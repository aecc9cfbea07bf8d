"""The tables of ``config.toml`` and of a workspace's ``.duetto/config.toml``, as plain data."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

SCHEMA = 1

Positive = Annotated[float, msgspec.Meta(gt=0)]
Rate = Annotated[float, msgspec.Meta(ge=1, le=20_000)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Tokens = Annotated[int, msgspec.Meta(gt=0)]
Price = Annotated[float, msgspec.Meta(ge=0)]
Fallback = Annotated[str, msgspec.Meta(pattern="^[^/]+/.+$")]
"""``ENDPOINT/MODEL``."""
PatchTool = Literal["custom", "function", "text"]
PatchFormat = Literal["auto", "apply_patch", "search_replace", "unified_diff", "whole_file"]
Transport = Literal["auto", "websocket", "http"]


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of which every key is known."""


class EndpointModelSettings(Strict, frozen=True):
    """``[endpoints.NAME.models.MODEL]``: what is known of a model, whoever asks for it."""

    context_window: Tokens | None = None
    max_output_tokens: Tokens | None = None
    images: bool | None = None
    """False: it takes text only."""
    efforts: tuple[str, ...] | None = None
    """The efforts that it knows, weakest first."""
    fallbacks: tuple[Fallback, ...] = ()


class EndpointSettings(Strict, frozen=True):
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
    models: dict[str, EndpointModelSettings] = {}
    query: dict[str, str] = {}
    chaining: bool = True
    """Continue with the parent's id; False for servers that keep only part of a chain."""
    compression: Literal["auto"] | bool = "auto"
    """permessage-deflate; ``auto``: beyond this machine only."""
    transport: Transport = "auto"
    """``auto``: HTTP+SSE where the WebSocket is refused or keeps breaking."""


class PriceSettings(Strict, frozen=True):
    """``price``: US dollars for a million tokens."""

    input: Price
    output: Price
    cached_input: Price | None = None
    """None: as ``input``."""


class ModelSettings(Strict, frozen=True):
    """``[models.fast]`` and ``[models.deep]``: who answers for a role."""

    name: Name
    endpoint: str = ""
    """A name of ``[endpoints]``, or of a known provider; may be left out when there is one only."""
    effort: Literal["low", "medium", "high", "xhigh", "none"] | None = None
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
    patch_format: PatchFormat = "auto"
    """What it is asked to write patches in; ``auto``: apply_patch, others are known in prose."""


class ModelsSettings(Strict, frozen=True):
    """``[models]``."""

    fast: ModelSettings | None = None
    deep: ModelSettings | None = None


class VerifySettings(Strict, frozen=True):
    """``[verify]``: what F5 runs."""

    command: str | list[str] | None = None
    """A string is run by the shell, a list is run as it is."""
    deadline_s: Positive = 120.0


class FormatSettings(Strict, frozen=True):
    """``[format]``: what runs on the files that were written, after a save or an accept."""

    command: str | list[str] | None = None
    """A string is run by the shell, a list is run as it is; the files' paths are appended."""
    deadline_s: Positive = 10.0


class EditorSettings(Strict, frozen=True):
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


class ScreenSettings(Strict, frozen=True):
    """``[screen]``: what the terminal can show, where it is not found out rightly."""

    colours: Literal["auto", "none", "16", "256", "true"] = "auto"
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    ambiguous: Literal["auto", "narrow", "wide"] = "auto"
    """Signs whose width Unicode leaves open: one cell or two."""
    background: Literal["auto", "dark", "light"] = "auto"
    linear: bool = False
    """Lines of text instead of a screen, as ``--linear``."""


class NotifySettings(Strict, frozen=True):
    """``[notify]``: what is said outside of the window when a turn ends."""

    bell: bool = False
    title: bool = False
    desktop: Literal["auto", "osc9", "osc777", "off"] = "auto"
    after_s: Positive = 15.0
    """Turns that end sooner are not told of."""
    prompt: bool = False
    """The beginning of the prompt stands in the notification."""


class MeterSettings(Strict, frozen=True):
    """``[meter]``: the status line, and the ghost in the editor's gutter."""

    line: Any = ""
    """A template (docs/meter.md); what is wrong in it is told, and the rest is shown."""
    gutter_ghost: Literal["linger", "turn", "off"] = "linger"
    """How long it is there: until it has written all, until the turn ends, not at all."""


class PromptSettings(Strict, frozen=True):
    """``[prompt]``: the line that everything is asked in."""

    history: bool = True
    """Keep what was asked for the next runs, in the state folder; False: nor is it read."""
    editor: str = ""
    """Command of the editor that the draft can be opened in; empty: VISUAL, else EDITOR."""
    vi: bool = False
    """The keys of vi in the prompt."""


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
    format: FormatSettings = FormatSettings()
    editor: EditorSettings = EditorSettings()
    screen: ScreenSettings = ScreenSettings()
    notify: NotifySettings = NotifySettings()
    meter: MeterSettings = MeterSettings()
    prompt: PromptSettings = PromptSettings()
    rehearsal: RehearsalSettings = RehearsalSettings()
    keys: dict[str, Any] = {}
    """``[keys.SCOPE]``: action to key or list of keys; checked by `tui.ui.keymap`, row by row."""


class ProjectEditorSettings(Strict, frozen=True):
    """``[editor]`` of a workspace: looks only."""

    theme: str | None = None
    follow: bool | None = None
    wrap: bool | None = None


class ProjectSettings(Strict, frozen=True):
    """A workspace's ``.duetto/config.toml``: what a repository may say."""

    schema: int = SCHEMA
    verify: VerifySettings = VerifySettings()
    format: FormatSettings = FormatSettings()
    """Run only with the user's consent, as the test command is."""
    editor: ProjectEditorSettings = ProjectEditorSettings()
