"""What the guide says. Keys are asked for when a sentence is made: they can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from tui.ui.guide.lesson import STEPS, Figures, Lesson, Step
from tui.ui.keymap import row_of, shown, ways
from tui.ui.keys.table import Scope

SLOW_TOKENS_S = 50
"""What a model is slowed down to that one delegates to."""
REPEATED = "duetto practice --guide"
ASKED = "It asked before it ran anything."
TO_RUN = "run the tests of money and mend what fails"
"""What is drafted for the step in which the model runs a command."""
TO_MEND = "make duplicates fast for long lists, but wrong at first"
"""And for the last one: the rehearsal makes a mistake on purpose."""

_OR = " or "
Tone = Literal["text", "key"]
Sentence = list[tuple[str, Tone]]
"""Pieces of one sentence; keys stand out."""

TITLES: dict[Step, str] = {
    "prompt": "ask for a change",
    "watch": "watch it land",
    "stop": "stop it",
    "redirect": "redirect it",
    "accept": "accept it",
    "run": "let it run the tests",
    "switch": "change the model",
    "mend": "mend a mistake",
}


class GuidePage(NamedTuple):
    """One page of the panel."""

    title: str
    to_do: Sentence
    """The one thing to do now."""
    happened: str = ""
    """What was done just now, in words."""
    why: str = ""
    is_good: bool = True
    """What happened is a step forward."""


class GuideContext(NamedTuple):
    """What the sentences need to know besides the lesson."""

    drafted: bool = False
    """Something is typed in the prompt."""
    offered: str = ""
    """What the prompt suggests."""
    narrow: bool = False
    """Conversation and editor take turns."""


def said(lesson: Lesson, place: GuideContext) -> GuidePage:
    """What the panel says now."""
    step = lesson.step
    if step is None:
        return GuidePage("done", _done(), summary_title(lesson.figures))
    page = _PAGES[step](lesson, place)
    if lesson.sight.outcome == "failed" and not lesson.sight.busy:
        words = "No answer came; the conversation says why."
        page = page._replace(happened=words, to_do=_send(place), why="", is_good=False)
    number = STEPS.index(step) + 1
    return page._replace(title=f"{number} of {len(STEPS)} · {TITLES[step]}")


def sentence(text: str, *keys: str) -> Sentence:
    """``Press {} now``, with a key for each pair of braces."""
    parts = text.split("{}")
    found: Sentence = [(parts[0], "text")]
    for names, part in zip(keys, parts[1:], strict=True):
        first, *others = names.split(_OR)
        found += [(first, "key")]
        for other in others:
            found += [(_OR, "text"), (other, "key")]
        found += [(part, "text")]
    return [piece for piece in found if piece[0]]


def key_of(action: str, scope: Scope = "global") -> str:
    """The key of an action; where it has none the palette has the action."""
    if key := shown(action, scope):
        return key
    name = action.rpartition(".")[2].replace("_", " ")
    palette = shown("app.command_palette") or "the palette"
    return f"{palette}, “{name}”"


def either(action: str) -> str:
    """Two keys of an action, for keyboards and terminals that do not have the first."""
    row = row_of(action)
    names = ways(row) if row is not None else []
    return _OR.join(dict.fromkeys((names[0], names[-1]))) if names else key_of(action)


def _send(place: GuideContext) -> Sentence:
    """How to get the suggestion, or what is typed, on its way."""
    send = key_of("send", "prompt")
    if place.drafted:
        return sentence("{} sends it.", send)
    if place.offered:
        return sentence("{} takes the suggestion, {} sends it.", key_of("complete", "prompt"), send)
    return sentence("Type what you want; {} sends it.", send)


def _prompt(lesson: Lesson, place: GuideContext) -> GuidePage:
    why = f"It will answer at {SLOW_TOKENS_S} tokens/s, as models that you wait for do."
    return GuidePage("", _send(place), why=why)


def _watch(lesson: Lesson, place: GuideContext) -> GuidePage:
    if not lesson.sight.busy:
        words = "Nothing landed yet."
        why = "The edit comes into the file while it is written."
        return GuidePage("", _send(place), words, why, is_good=False)
    where = "in the file" if place.narrow else "in the file on the right"
    return GuidePage(
        "",
        sentence(f"Just watch: the edit lands {where}, letter by letter."),
        "Sent.",
        "The line at the bottom measures it: tokens/s on a scale from delegate to collaborate.",
    )


def _stop(lesson: Lesson, place: GuideContext) -> GuidePage:
    key = key_of("interrupt")
    if lesson.sight.busy:
        why = "What is on the screen stays, to the character. No need to wait for the end."
        return GuidePage("", sentence("Too slow? {} stops it.", key), "It lands.", why)
    if lesson.missed:
        words = "It finished before it was stopped: no harm done."
        why = f"Once more, and then {key} while it writes."
        return GuidePage("", _send(place), words, why, is_good=False)
    return GuidePage("", _send(place), why=f"Then {key} stops it while it writes.")


def _not_stopped() -> str:
    return f"Not stopped. {key_of('interrupt')} does it whenever you need it."


def _redirect(lesson: Lesson, place: GuideContext) -> GuidePage:
    sight = lesson.sight
    if "stop" in lesson.skipped:
        happened = _not_stopped()
    else:
        words = sight.stopped or lesson.figures.stopped
        happened = f"{words[:1].upper()}{words[1:]}." if words else "Stopped."
    if sight.busy:
        return GuidePage("", sentence("One moment: it is stopping."), happened)
    why = "Nothing is slowed down from here on. Typing while it writes redirects, too."
    return GuidePage("", _send(place), happened, why)


def _accept(lesson: Lesson, place: GuideContext) -> GuidePage:
    figures, happened = lesson.figures, "Redirected."
    if lesson.typed_over:
        happened = "Stopped and redirected in one, by sending."
    if "stop" in lesson.skipped:
        happened = _not_stopped()
    elif figures.own_tokens_s is not None:
        happened = f"{happened[:-1]}: {_rate(figures.own_tokens_s)}"
        if figures.slow_tokens_s:
            times = figures.own_tokens_s / figures.slow_tokens_s
            happened += f", {times:.0f} times as fast" if times >= 2 else ""
        happened += "."
    if lesson.sight.busy:
        return GuidePage("", sentence("Watch: that is its own speed."), happened)
    if not lesson.sight.pending:
        why = "Nothing is waiting for a decision yet."
        return GuidePage("", _send(place), happened, why)
    review, reject = key_of("review"), key_of("reject")
    one = f"{review}, where {key_of('reject_why', 'review')} takes words"
    why = f"Or one by one: {one}. {reject} takes all of it back out."
    words = sentence("{} accepts all hunks and writes the file.", either("accept"))
    return GuidePage("", words, happened, why)


def _decided(lesson: Lesson) -> str:
    if lesson.sight.accepted:
        return "Accepted: the file is written."
    return "Rejected: the file is as it was."


def _run(lesson: Lesson, place: GuideContext) -> GuidePage:
    sight = lesson.sight
    if sight.asks:
        to_it, yes = key_of("question"), "y"
        words = sentence("It asks first: {} goes to the question, {} runs it once.", to_it, yes)
        return GuidePage(
            "", words, why="Or for the session, for the project, or not at all: you decide."
        )
    if sight.ran:
        return GuidePage("", sentence("Watch: it mends what is red."), ASKED)
    if sight.busy:
        return GuidePage("", sentence("One moment: it says what it wants to run."))
    why = "It runs the tests when you allow it, and mends what is red."
    return GuidePage("", _send(place), _decided(lesson), why)


def _switch(lesson: Lesson, place: GuideContext) -> GuidePage:
    sight = lesson.sight
    happened = ASKED if sight.ran else _decided(lesson)
    other = "deep" if sight.role == "fast" else "fast"
    words = sentence(f"{{}} hands over to the {other} model.", either("switch"))
    why = "Mid-answer too: the other model takes over the instruction."
    return GuidePage("", words, happened, why)


def _mend(lesson: Lesson, place: GuideContext) -> GuidePage:
    sight, happened = lesson.sight, ""
    if lesson.red:
        happened = "Red, and nothing of it was accepted yet."
        if sight.blamed:
            happened = f"{happened[:-1]}: the hunk to blame is marked."
        if sight.busy or sight.verifies:
            return GuidePage("", sentence("Watch: it is mended, and tested at once."), happened)
        return GuidePage("", sentence("{} has it mended.", key_of("send_failure")), happened)
    if not lesson.mends and lesson.away:
        words = sentence("{} goes back to the first model.", either("switch"))
        return GuidePage("", words, "The other model has your instructions now.")
    if not lesson.mends and not sight.busy:
        return GuidePage("", _send(place), why="The rehearsal makes a mistake here on purpose.")
    if sight.busy:
        return GuidePage("", sentence("Watch: this answer has a mistake in it."))
    if sight.verifies:
        return GuidePage("", sentence("The tests run on what you see."))
    words = sentence("{} tests what you see.", either("verify"))
    return GuidePage("", words, "It landed.", "Nothing of it is on your disk yet.")


_PAGES = {
    "prompt": _prompt,
    "watch": _watch,
    "stop": _stop,
    "redirect": _redirect,
    "accept": _accept,
    "run": _run,
    "switch": _switch,
    "mend": _mend,
}


def _done() -> Sentence:
    return sentence(
        "{} runs the tests, {} shows all keys. {} closes this.",
        key_of("verify"),
        key_of("app.help"),
        key_of("interrupt"),
    )


def summary_title(figures: Figures) -> str:
    """The first line of the end."""
    if figures.ended_s is None:
        return "That was the guide."
    return f"That was the guide: {figures.ended_s - figures.began_s:.0f} s. Measured here:"


def summary(figures: Figures) -> Sequence[tuple[str, str]]:
    """What was measured: name and figure, the most telling first; what was not is left out."""
    rows: list[tuple[str, str]] = []
    if figures.own_tokens_s is not None:
        rows.append(("own speed", _rate(figures.own_tokens_s)))
    if figures.slow_tokens_s is not None:
        rows.append(("slowed down", f"~{_rate(figures.slow_tokens_s)}"))
    if figures.stopped:
        after, _, took = figures.stopped.rpartition(", ")
        rows.append(("stopped in", f"{took}, {after.removeprefix('stopped ')}"))
    if figures.accepted_s is not None:
        rows.append(("until accepted", f"{figures.accepted_s:.1f} s"))
    if figures.mended_s is not None:
        rows.append(("mended in", f"{figures.mended_s:.1f} s, tests included"))
    if figures.first_output_s is not None:
        rows.append(("first output", f"{figures.first_output_s * 1000:.0f} ms"))
    if figures.first_edit_s is not None:
        rows.append(("first edit", f"{figures.first_edit_s:.1f} s"))
    return rows


def _rate(tokens_s: float) -> str:
    return f"{tokens_s:,.0f} tokens/s"
