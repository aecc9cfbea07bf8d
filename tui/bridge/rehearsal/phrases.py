"""What the rehearsal model says besides the scripts: plain words, honest about what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tui.bridge.rehearsal.script import ORIGINAL, Region, Script, load_scripts

REVIEW = "Accept or reject the hunks, then run the tests."
REHEARSED = "That was rehearsed text without meaning."
CONNECT = """\
To talk to a real model, start duetto so:

    duetto --endpoint NAME --fast MODEL --deep MODEL

NAME is a provider (openai, anthropic, groq, ollama...) or a server's address (https://HOST/v1).
The key is taken from the provider's own variable (GROQ_API_KEY...); --key-env names another one.
"""
_REFUSED = re.compile(
    r"\bnot (?:be )?(?:placed|applied|found|valid)\b|\brefused\b|\brejected\b|\bconflict"
    r"|\bambiguous\b|\binterrupted\b|\bfailed\b",
    re.IGNORECASE,
)
_CUT = re.compile(r"\bpatch was (?:interrupted|cut)\b")
_PLACED = re.compile(r"\bpending review\b|\baccepted\b")
_QUOTED = "Current text of "
"""What follows in a report is a file's text, not what became of the patch."""


def about(prompt: str, failed: bool, exercise: Script | None) -> str:
    """The honest answer to everything that no script knows."""
    if failed:
        opening = (
            "I cannot tell what is wrong there: I am duetto's rehearsal model, no real one, and "
            "know only the exercises of the practice workspace."
        )
    elif prompt:
        opening = (
            "I am duetto's rehearsal model, no real one: I play the exercises of the practice "
            "workspace and cannot answer anything else."
        )
    else:
        opening = "I am duetto's rehearsal model, and the request asks for nothing."
    if exercise is not None and exercise.asks:
        wishes = ", ".join(f"*{ask.example}*" for ask in exercise.asks.values())
        opening += f" For the exercise at hand I understand these redirects: {wishes}."
    prompts = "\n".join(f"- {script.prompt}" for script in load_scripts())
    return f"{opening}\n\n{CONNECT}\nWhat I can do, in `duetto practice`:\n\n{prompts}\n"


def not_declared(name: str) -> str:
    """A call was asked for that the request does not allow."""
    return f"I cannot call `{name}`: the request declares no such tool."


def called(outputs: Sequence[tuple[str, str]]) -> str:
    """What the calls that were asked for gave: tool and output."""
    return "\n".join(f"`{name}` answered: {output.strip()[:400]}" for name, output in outputs)


def reading(paths: Sequence[str]) -> str:
    """Why files are read first."""
    return f"I need to see {' and '.join(paths)} as it stands now before I change it."


def no_file(path: str, output: str) -> str:
    """A file that the exercise needs is not to be had."""
    why = f" ({output.strip().splitlines()[0]})" if output.strip() else ""
    return (
        f"This exercise needs `{path}`, and I cannot see it{why}. I am a rehearsal model and know "
        "only the practice workspace: open it with `duetto practice`, or start it over with "
        "`duetto practice --new`."
    )


def lost(region: Region) -> str:
    """The text is none of those that the script knows."""
    block = next((text for text in (region.states[ORIGINAL],) if text), "")
    first = next((line.strip() for line in block.splitlines() if line.strip()), "")
    expected = f" I looked for the lines that begin with `{first}`." if first else ""
    return (
        f"You have changed {region.name} in `{region.path}`, and my edit no longer fits it, so I "
        f"leave your text alone.{expected} I am a rehearsal model: I know this file only as the "
        "exercise left it. Undo your change, or start over with `duetto practice --new`."
    )


def solved(script: Script, *, failed: bool) -> str:
    """Nothing is left to change."""
    if failed:
        return (
            f"`{'`, `'.join(script.paths)}` already stands as I would write it. If the tests still "
            "fail, the change may be pending: accept it, then run them again."
        )
    return (
        f"That is already done: `{'`, `'.join(script.paths)}` stands as I would write it. Run "
        "the tests."
    )


def was_cut(outputs: Sequence[str]) -> bool:
    """Whether a patch did not come through whole: the connection broke while it was sent."""
    return any(_CUT.search(output.split("\n", 1)[0]) for output in outputs)


def after_patch(outputs: Sequence[str]) -> str:
    """The closing sentence, from what became of the patch."""
    for output in outputs:
        for line in output.split(f"\n{_QUOTED}")[0].splitlines():
            if _REFUSED.search(line) and not _PLACED.search(line):
                return f"Not everything found its place: {line.strip()[:300]}"
    return f"Done. {REVIEW}"


def lines_follow(count: int, path: str) -> str:
    """Before free-form lines."""
    return f"Rehearsed lines without meaning: {count} of them for `{path}`."
