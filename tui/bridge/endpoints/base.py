"""What endpoints are asked, which facts are known of them, and how their answers fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, TypeVar

import msgspec

from tui.core.images import ImageRules
from tui.core.typed_data import typed
from tui.core.wire.address import Address
from tui.core.wire.refusals import UNUSABLE
from tui.core.wire.request_fields import unsaid, would_miss
from tui.toml_tables import in_words

MOST_READ_CHARS = 2**18
"""Of a call's arguments: longer ones are not read to find out whether they are JSON."""


Tokens = Annotated[int, msgspec.Meta(gt=0)]


class ModelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """What is known of one model of an endpoint, from its provider, its server or the user."""

    context_window: Tokens | None = None
    """Tokens, input and output together."""
    max_output_tokens: Tokens | None = None
    """Most that one answer may have."""
    ask_output_tokens: Tokens | None = None
    """Asked for by every request that names no number, where quota is reserved by it."""
    images: bool | None = None
    """False: it takes text only; None: not known, the provider may decide."""
    image_rules: ImageRules | None = None
    """What an image costs there, and what is taken; None: not known."""
    efforts: tuple[str, ...] | None = None
    """The efforts that it knows, weakest first; empty: none; None: not known."""
    fallbacks: tuple[str, ...] = ()
    """``ENDPOINT/MODEL`` to try, in this order, where this one does not begin to answer."""
    route: str = ""
    """The provider's own name of it; empty: the same."""
    state: str = ""
    """``gone``: it is not served any more; ``legacy``: it will go; empty: nothing is known."""
    successor: str = ""
    """What its provider recommends instead."""
    steers: bool | None = None
    """Whether it can be steered where it is dialled directly; None: not known, it is tried."""
    options: dict[str, Any] = {}
    """How it is asked, over the endpoint's options."""

    def over(self, other: ModelFacts) -> ModelFacts:
        """These, and of what they do not say the other's."""
        mine = {name: value for name in self.__struct_fields__ if (value := getattr(self, name))}
        for name in ("images", "efforts", "steers"):
            if getattr(self, name) is not None:
                mine[name] = getattr(self, name)
        if self.options and other.options:
            mine["options"] = options_over(self.options, other.options)
        return msgspec.structs.replace(other, **mine)


def options_over(options: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """These, and of what they do not say the others; tables are put together key by key."""
    merged = {**others, **options}
    for name in others.keys() & options.keys():
        mine, theirs = options[name], others[name]
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            merged[name] = {**theirs, **mine}
    return merged


T = TypeVar("T")


def read_options(options: Mapping[str, Any], kind: type[T], name: str = "") -> T:
    """The options of an endpoint. Raises Refused: one is wrong."""
    try:
        return typed(dict(options), kind)
    except msgspec.ValidationError as error:
        which = f"the endpoint {name!r}" if name else "this endpoint"
        what, _, place = str(error).partition(" - at ")
        option = place.strip("`$.").partition("[")[0]
        words = f"The option {option!r} of {which}: {in_words(what)}."
        raise Refused(400, "invalid_endpoint", words) from error


class EndpointSpec(msgspec.Struct, frozen=True):
    """One endpoint, as the bridge is told of it: data, no key in it.

    The key is read from ``key_env`` or the keyring where the bridge runs, and from nowhere else.
    """

    kind: str
    """openai-responses, openai-chat, anthropic, responses-ws, auto, rehearsal or a plug-in's."""
    url: str
    """The base URL as SDKs take it (``https://HOST/v1``), or a whole one."""
    provider: str = ""
    """Name of the provider whose facts were used; empty: none."""
    key_env: str = ""
    key_header: str = "Authorization"
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    models: dict[str, ModelFacts] = {}
    """What the user says of models, by name."""
    known_models: dict[str, ModelFacts] = {}
    """What the provider's file says, by name or pattern (``gpt-oss*``)."""
    options: dict[str, Any] = {}
    """What a provider's file says for its kind (see `bridge.providers`)."""


@dataclass(frozen=True, slots=True)
class Target:
    """One endpoint with its key: where a request goes. Its text never holds the key."""

    name: str
    spec: EndpointSpec
    address: Address
    """The base URL with all headers, the key's among them."""

    discovered: dict[str, ModelFacts] = field(default_factory=dict, compare=False)
    """What the endpoint has said of its models (`bridge.providers.discovery`)."""

    def facts(self, model: str) -> ModelFacts:
        """What is known of a model: the user's word first, then the server's, then the file's."""
        known = self.spec.known_models
        facts = self.spec.models.get(model, ModelFacts())
        facts = facts.over(self.discovered.get(model, ModelFacts()))
        fitting = (name for name in known if name == model or fnmatchcase(model, name))
        for name in sorted(fitting, key=lambda name: (name == model, len(name)), reverse=True):
            facts = facts.over(known[name])
        return facts

    def route(self, model: str) -> str:
        """The provider's own name of a model."""
        template = str(self.spec.options.get("model_route") or "")
        name = self.facts(model).route or model
        return template.replace("{model}", name) if template and "/" not in name else name


class Asked(msgspec.Struct, frozen=True):
    """One response that is asked for."""

    model: str
    """The provider's own name of it."""
    request: Mapping[str, Any]
    """The create without its envelope; `input` holds only the new items."""
    items: Sequence[dict[str, Any]]
    """The whole conversation, as Responses items, in order."""
    facts: ModelFacts = msgspec.field(default_factory=ModelFacts)


class Refused(Exception):
    """The request was not answered, and nothing of an answer was said.

    The text is for the client: one sentence, what is wrong and what to do.
    """

    def __init__(self, status: int, code: str, message: str, *, param: str = "") -> None:
        """``status`` as of HTTP."""
        super().__init__(message)
        self.status, self.code, self.param = status, code, param
        self.retry_after_s: float | None = None
        """How long the provider asks to be left alone."""

    @property
    def elsewhere(self) -> bool:
        """Another endpoint may answer the same request: it is not the request that is wrong."""
        return self.status in (401, 402, 403, 404, 408, 409, 425, 429) or self.status >= 500


def left_out(
    request: Mapping[str, Any], said: Collection[str], waived: Collection[str] = ()
) -> list[str]:
    """The fields of a request that an endpoint leaves out, if it says only ``said``.

    Raises Refused: one would be missed that is not among the ``waived``.
    """
    if (missed := would_miss(request, (*said, *waived))) is not None:
        raise Refused(400, missed.code, missed.message, param=missed.param)
    return unsaid(request, said)


class ResponseFailed(Refused):
    """The provider has begun a response that failed before anything of it was said."""

    def __init__(self, response: Mapping[str, Any]) -> None:
        """``response`` as the provider ended it, with its ``error``."""
        error = response.get("error")
        told = error if isinstance(error, Mapping) else {}
        code = str(told.get("code") or "server_error")
        super().__init__(status_of(code), code, str(told.get("message") or "It failed."))
        self.response = response


def status_of(code: str) -> int:
    """An HTTP status for an error's code that came without one."""
    if any(word in code for word in ("rate_limit", "quota", "too_many", "slow_down")):
        return 429
    transient = ("server", "internal", "overload", "unavailable", "timeout", "api_error")
    return 500 if any(word in code for word in transient) else 400


class Broken(Exception):
    """The answer broke off, or there was none; the text says it in one sentence."""

    code = "server_error"
    """For the client, where the endpoint had answered at all."""

    def __init__(self, text: str, *, unreached: bool = False) -> None:
        """``unreached``: the server never answered, which is not an answer that broke off."""
        super().__init__(text)
        self.unreached = unreached


class Unusable(Broken):
    """The endpoint sent more than is taken, or what is not; asked again it would do the same."""

    code = UNUSABLE


class Steered(Exception):
    """From `ResponseWriter.item_done`: the client has added input, this item was the last one."""
