"""Connecting a model in lines of text: the same questions as on the screen, with numbers to answer.

`duetto connect` and ``/connect`` of the linear mode are this, over different lines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Protocol

from msgspec.structs import replace

from tui.core.inert_text import inert
from tui.engine.connecting import (
    Connecting,
    ConnectOutcome,
    ConnectPort,
    Listed,
    Measured,
    ModelSource,
    Plan,
    key_wrong,
    named_source,
)
from tui.engine.intents import Role
from tui.engine.model_choice import offer_words
from tui.engine.ports import ModelOffer
from tui.engine.session import Session

_MOST_LISTED = 30
NOTHING = "Nothing was written."


class Talk(Protocol):
    """Somebody who is told, and asked."""

    def say(self, lines: Iterable[str]) -> None:
        """Whole lines."""

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        """A line, which is shown nowhere if it is ``secret``; None: no more will come."""


class Gone(Exception):
    """No answer comes, or the user leaves."""


async def connect(
    port: ConnectPort, talk: Talk, now: Mapping[Role, str], wanted: str = ""
) -> tuple[ConnectOutcome, Connecting] | None:
    """From who shall answer to what is written; None: the user left, and there is no trace.

    ``wanted`` is a provider or an address that was named already.
    """
    talk.say(
        ["Connect a model. An empty line goes back a step; nothing is written before the end."]
    )
    try:
        chosen = await _models_chosen(port, talk, now, wanted)
        await test_all(port, talk, chosen)
        plan = await port.plan(chosen)
        talk.say(plan_lines(port, plan))
        if plan.wrong:
            raise Gone
        answer = await _answer(talk, "Write it and use it? yes or no.")
        if answer.lower() not in ("y", "yes", "1"):
            raise Gone
        written = await port.write(chosen)
    except Gone:
        talk.say([NOTHING])
        return None
    if written.wrong:
        talk.say([written.wrong, NOTHING])
        return None
    talk.say(done_lines(chosen, written))
    return written, chosen


async def test_all(port: ConnectPort, talk: Talk, chosen: Connecting) -> list[Measured]:
    """One short answer of each model; what came of it is said."""
    measured: list[Measured] = []

    def told(one: Measured) -> None:
        if one.is_over:
            measured.append(one)
            talk.say([f"{one.model}: {one.words}"])

    talk.say(["Testing with one short answer of each."])
    await port.test(chosen, told)
    return measured


def plan_lines(port: ConnectPort, plan: Plan) -> list[str]:
    """What will be written, in lines."""
    if plan.wrong:
        return [
            plan.wrong,
            *(["To be written by hand:", *plan.by_hand.splitlines()] if plan.by_hand else []),
        ]
    if not plan.lines:
        lines = [f"{port.config_file} says it already."]
    else:
        lines = [f"{port.config_file} will say:"]
        lines += [f"{line.sign} {line.text}" for line in plan.lines]
    return [*lines, plan.key] if plan.key else lines


def done_lines(chosen: Connecting, written: ConnectOutcome) -> list[str]:
    """What was done, and what is left to do."""
    roles = ", ".join(f"{role} is {model}" for role, model in sorted(chosen.models, reverse=True))
    return [f"Connected: {roles}, on {written.endpoint}.", *written.notes]


async def _models_chosen(
    port: ConnectPort, talk: Talk, now: Mapping[Role, str], wanted: str
) -> Connecting:
    """Who answers, with what key, and the models."""
    talk.say(["Looking for keys and local servers…"])
    sources = await port.look(lambda found: None)
    meant = named_source(wanted, sources) if wanted else ""
    while True:
        if isinstance(meant, str):
            talk.say([meant] if meant else [])
            meant = await _source(talk, sources)
        listed = await _listed(port, talk, meant)
        meant = ""
        if listed is None:
            continue
        chosen = await _with_models(talk, now, *listed)
        if chosen is not None:
            return chosen


async def _source(talk: Talk, sources: Sequence[ModelSource]) -> Connecting:
    talk.say(
        f"{number}. {one.title}: {one.words}" if one.words else f"{number}. {one.title}"
        for number, one in enumerate(sources, 1)
    )
    while True:
        answer = (await _answer(talk, "Which provider? A number or a name.")).lower()
        if not answer:
            raise Gone
        if answer.isdecimal() and 1 <= int(answer[:6]) <= len(sources):
            return Connecting(sources[int(answer[:6]) - 1])
        found = [one for one in sources if answer == one.title.lower()]
        found = found or [one for one in sources if answer in one.title.lower()]
        if len(found) == 1:
            return Connecting(found[0])
        talk.say(
            ["Which one? Say its number." if found else "There is none of that name or number."]
        )


async def _listed(
    port: ConnectPort, talk: Talk, chosen: Connecting
) -> tuple[Connecting, Listed] | None:
    """Whoever was chosen, with what it needs, and its models; None: back."""
    source = chosen.source
    field = "address" if source.needs_address else "key" if source.needs_key else ""
    if chosen.url:
        field = "" if source.name else "key"
    while True:
        if field == "address":
            url = await _answer(talk, "The server's address, as https://HOST/v1:")
            if not url:
                return None
            chosen = replace(chosen, url=url)
            field = "key" if source.needs_key or not source.name else ""
        if field == "key":
            key = await _key(talk, optional=not source.name)
            if key is None:
                return None
            chosen = replace(chosen, key=key)
        if source.asks or chosen.key or chosen.url:
            talk.say([f"Asking {source.title} for its models…"])
        listed = await port.models(chosen)
        if listed.models or listed.is_typed:
            return chosen, listed
        talk.say([listed.wrong])
        field = listed.field or ("address" if source.needs_address else "")
        if not field:
            return None


async def _key(talk: Talk, *, optional: bool) -> str | None:
    question = (
        "The key; it is not shown:" if not optional else "Its key, if it wants one; not shown:"
    )
    while True:
        key = await talk.ask(question, secret=True)
        if key is None:
            raise Gone
        key = key.strip()
        if not key:
            return "" if optional else None
        if not (wrong := key_wrong(key)):
            return key
        talk.say([wrong])


async def _with_models(
    talk: Talk, now: Mapping[Role, str], chosen: Connecting, listed: Listed
) -> Connecting | None:
    """The fast and the deep model; None: back."""
    roles: tuple[Role, Role] = ("fast", "deep")
    for role in roles:
        kept = now.get(role, "")
        kept = "" if kept.startswith("rehearsal-") else kept
        model = await _model(talk, role, listed, kept)
        if model is None:
            return None
        chosen = chosen.with_model(role, "" if model == "keep" else model)
    if not chosen.models:
        talk.say(["Both roles stay as they are."])
        return None
    return chosen


async def _model(talk: Talk, role: Role, listed: Listed, kept: str) -> str | None:
    offers = listed.models
    if listed.is_typed:
        talk.say([listed.wrong])
    elif len(offers) <= _MOST_LISTED:
        talk.say(_numbered(offers))
    else:
        talk.say([f"{len(offers)} models: a part of its name finds one."])
    keep = f" keep: it stays {kept}." if kept else ""
    question = f"The {role} model? A number, or its name or a part of it.{keep}"
    shown: Sequence[ModelOffer] = offers
    while True:
        answer = await _answer(talk, question)
        if not answer or (answer == "keep" and kept):
            return answer or None
        if listed.is_typed and not answer.isdecimal():
            return answer
        found = _matches(answer, shown, offers)
        if len(found) == 1:
            return found[0].model
        if not found:
            talk.say([unknown_words(answer, [one.model for one in offers])])
            continue
        shown = found[:_MOST_LISTED]
        more = len(found) - len(shown)
        talk.say([*_numbered(shown), *([f"and {more} more"] if more else [])])


def _matches(
    answer: str, shown: Sequence[ModelOffer], offers: Sequence[ModelOffer]
) -> Sequence[ModelOffer]:
    """A number of those that were said last, a name, or what has all words in its name."""
    if answer.isdecimal() and 1 <= int(answer[:6]) <= len(shown):
        return [shown[int(answer[:6]) - 1]]
    exact = [one for one in offers if one.model.lower() == answer.lower()]
    words = answer.lower().split()
    return exact or [one for one in offers if all(word in one.model.lower() for word in words)]


def unknown_words(name: str, names: Sequence[str]) -> str:
    """That there is no such model, with the nearest."""
    near = get_close_matches(name, names, 3, 0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"It has no model {name}.{hint}"


def _numbered(offers: Sequence[ModelOffer]) -> list[str]:
    return [
        f"{number}. {one.model}" + (f", {said}" if (said := offer_words(one)) else "")
        for number, one in enumerate(offers, 1)
    ]


async def _answer(talk: Talk, question: str) -> str:
    answer = await talk.ask(question)
    if answer is None:
        raise Gone
    return answer.strip()


class LineTalk:
    """A talk over lines that somebody else reads: who answers is told which line is for it."""

    def __init__(self, say: Callable[[Iterable[str]], None], changed: Callable[[], None]) -> None:
        """``changed``: it waits for an answer, or not any more."""
        self._say, self._changed = say, changed
        self._answer: asyncio.Future[str | None] | None = None
        self.secret = False
        """The next line is a key: it is shown, kept and repeated nowhere."""

    @property
    def waits(self) -> bool:
        """The next line answers it."""
        return self._answer is not None

    def say(self, lines: Iterable[str]) -> None:
        """See `Talk`."""
        self._say([inert(line) for line in lines])

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        """See `Talk`."""
        self._say([question])
        self._answer, self.secret = asyncio.get_running_loop().create_future(), secret
        self._changed()
        try:
            return await self._answer
        finally:
            self._answer, self.secret = None, False

    def answer(self, line: str | None) -> None:
        """This is it; None: no more lines, or Ctrl+C."""
        answer, self.secret = self._answer, False
        self._answer = None
        if answer is not None and not answer.done():
            answer.set_result(line)


async def list_models(session: Session, say: Callable[[Iterable[str]], None]) -> None:
    """Say all models that can be asked now."""
    known = await session.offers()
    now = (session.status.endpoint, session.status.models.get(session.status.role, ""))
    lines = [
        f"{one.endpoint}/{one.model}"
        + (f", {said}" if (said := offer_words(one)) else "")
        + (", answers now" if (one.endpoint, one.model) == now else "")
        for one in known.offers
    ]
    lines += [f"{name} gave no list: {why}" for name, why in known.unlisted.items()]
    say([*map(inert, lines), "/model NAME uses one in this session; /connect adds others."])
