"""Tiny functions of four grades, with what judges a try."""

from __future__ import annotations

import textwrap
from pathlib import Path

import msgspec
from msgspec import Struct

FILE = Path(__file__).with_name("tasks.toml")
HARDEST = 4


class Task(Struct, frozen=True):
    """A function that is to be written."""

    grade: int
    head: str
    words: str
    shown: tuple[str, ...]
    """Expressions that must be true; the model is told of them, and the verifier knows no more."""
    hidden: tuple[str, ...]
    """More of them, which say with those that are shown whether a try is right."""
    answer: str
    """A body that is right."""

    @property
    def name(self) -> str:
        """The function's."""
        return self.head.removeprefix("def ").partition("(")[0]

    @property
    def prompt(self) -> str:
        """What a model completes: no line end, which models take together with what follows."""
        examples = "".join(f"    {one}\n" for one in self.shown)
        return f'{self.head}\n    """{self.words}\n\n    For example:\n{examples}    """'

    def source(self, completion: str) -> str:
        """The function with a completion as its body, up to the first line beside it."""
        first, *lines = completion.split("\n")
        body = [first]
        for line in lines:
            if line.strip() and not line[0].isspace():
                break
            body.append(line.rstrip())
        return self.prompt + "\n".join(body).rstrip() + "\n"

    @property
    def solved(self) -> str:
        """The function with the body that is right."""
        return self.source("\n" + textwrap.indent(self.answer, "    "))


def load() -> tuple[Task, ...]:
    """All of them, the easy ones first."""
    found = msgspec.toml.decode(FILE.read_bytes(), type=dict[str, tuple[Task, ...]])
    return found["task"]
