"""Free-form output on request, for demonstrations and tests of interrupts and long streams.

It understands ``rehearse 5000 tokens of prose`` (or code, reasoning, markdown), ``write 300
lines in notes.txt`` and ``rehearse call NAME ARGUMENTS`` (a line for each call of a tool that the
request declares). The text means nothing, and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Literal

CHARS_PER_TOKEN = 4
MOST_TOKENS = 200_000
MOST_LINES = 20_000
MOST_CALLS = 16
_SENTENCES = 97

FreeKind = Literal["prose", "code", "reasoning", "markdown", "lines", "calls"]
_KINDS: dict[str, FreeKind] = {
    "prose": "prose",
    "code": "code",
    "reasoning": "reasoning",
    "markdown": "markdown",
}

_TOKENS = re.compile(
    r"\brehearse\s+([\d][\d,_]*)\s+tokens?(?:\s+of\s+(prose|code|reasoning|markdown))?", re.I
)
_LINES = re.compile(r"\bwrite\s+([\d][\d,_]*)\s+lines?\s+(?:in|into|to)\s+([\w./-]+)", re.I)
_CALL = re.compile(r"\brehearse\s+call\s+([\w.-]+)\s+(\S.*)", re.I)
_SAMPLE = """
the buffer keeps every line while a patch lands and the meter counts what arrives so that a reader
sees at once how fast a model writes and where it stopped when a key was pressed
"""
_WORDS = _SAMPLE.split()


@dataclass(frozen=True, slots=True)
class FreeForm:
    """What was asked for."""

    kind: FreeKind
    count: int
    """Tokens, or lines if the kind is ``lines``, or calls."""
    path: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Tool and arguments (or input) as they are to be said."""


def free_form(prompt: str) -> FreeForm | None:
    """Read a prompt that asks for free-form output; None: it does not."""
    if match := _TOKENS.search(prompt):
        kind = (match[2] or "prose").lower()
        count = min(_number(match[1]), MOST_TOKENS)
        known: dict[str, FreeKind] = {
            "code": "code",
            "reasoning": "reasoning",
            "markdown": "markdown",
        }
        return FreeForm(known.get(kind, "prose"), count)
    if match := _LINES.search(prompt):
        return FreeForm("lines", min(_number(match[1]), MOST_LINES), match[2].rstrip("."))
    if found := _CALL.findall(prompt):
        calls = tuple((name, text.rstrip()) for name, text in found[:MOST_CALLS])
        return FreeForm("calls", len(calls), calls=calls)
    return None


def free_text(kind: FreeKind, tokens: int, seed: int) -> str:
    """Text of exactly ``tokens`` times four characters."""
    wanted, random = tokens * CHARS_PER_TOKEN, Random(seed)
    sentences = [_sentence(random) for _ in range(_SENTENCES)]
    parts, size, number = ["Rehearsed text without meaning.\n\n"], 33, 0
    while size < wanted:
        number += 1
        part = _piece(kind, number, random.choice(sentences))
        parts.append(part)
        size += len(part)
    return "".join(parts)[:wanted]


def free_lines(path: str, first: int, count: int, seed: int) -> list[str]:
    """Numbered lines that fit the file's kind; ``first`` is the number of the first one."""
    random = Random(seed)
    return [_line(path, number, random) for number in range(first, first + count)]


def _line(path: str, number: int, random: Random) -> str:
    words = " ".join(random.choices(_WORDS, k=6))
    if path.endswith(".py"):
        return f"value_{number} = {random.randrange(1000)}  # {words}"
    return f"line {number}: {words}"


def _sentence(random: Random) -> str:
    return " ".join(random.choices(_WORDS, k=random.randrange(7, 16))).capitalize() + "."


def _piece(kind: FreeKind, number: int, sentence: str) -> str:
    end = "\n\n" if number % 5 == 0 else " "
    if kind == "code":
        fence = "```python\n" if number == 1 else ""
        return f"{fence}step_{number} = {number * 7 % 1000}  # {sentence}\n"
    if kind == "markdown" and number % 5 == 1:
        return f"## Part {number // 5 + 1}\n\n- **{sentence}**\n- `step_{number}` {sentence}\n\n"
    return sentence + end


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))
