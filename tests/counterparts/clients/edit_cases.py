"""Random texts, random edits of them, and how they are written down in each format."""

from __future__ import annotations

import difflib
import random
from dataclasses import dataclass

Tree = dict[str, bytes]
WORDS = "alpha beta gamma delta item value total count index name path row self".split()
NAMES = ["a.py", "src/b.py", "with space.txt", "src/deep/c.md", "ünïcode.txt", "d", "e.cfg"]


@dataclass(frozen=True)
class Case:
    """One file's edit."""

    path: str
    before: str
    after: str
    patch: str
    """As a model writes it, with prose around."""
    bare: str
    """Only the edit, as a program takes it."""


def random_line(dice: random.Random) -> str:
    """Some lines come again and again, as ``return`` and blank ones do."""
    common = ["", "    return None", "}", "    pass", "# ---", "\tx"]
    if dice.random() < 0.3:
        return dice.choice(common)
    indent = " " * dice.choice([0, 0, 4, 4, 8])
    words = " ".join(dice.choices(WORDS, k=dice.randint(1, 4)))
    signs = dice.choice(["", " = 1", "()", "  ", " \u2013 x", " \U0001f600", "\x0c", "\u2028"])
    return f"{indent}{words} {dice.randint(0, 400)}{signs}"


def random_text(dice: random.Random, most: int = 60) -> str:
    lines = [random_line(dice) for _ in range(dice.randint(1, most))]
    text = "\n".join(lines) + "\n"
    return text[:-1] if dice.random() < 0.15 and lines[-1] else text


def edited(dice: random.Random, text: str) -> str:
    """A few lines put in, taken out or replaced, in a few places."""
    lines = text.split("\n")
    for _ in range(dice.randint(1, 4)):
        at = dice.randint(0, max(0, len(lines) - 1))
        count = dice.randint(0, 3)
        lines[at : at + count] = [random_line(dice) for _ in range(dice.randint(0, 3))]
    new = "\n".join(lines)
    return new if new.strip() else new + "left\n"


def random_trees(seed: int) -> tuple[Tree, Tree]:
    """Two trees: files made, deleted, moved and edited between them."""
    dice = random.Random(seed)
    before = {name: random_text(dice) for name in dice.sample(NAMES, dice.randint(1, 5))}
    after = dict(before)
    for name in list(before):
        what = dice.random()
        if what < 0.1:
            del after[name]
        elif what < 0.25:
            moved = after.pop(name)
            after[f"moved/{name}"] = edited(dice, moved) if dice.random() < 0.5 else moved
        elif what < 0.85:
            after[name] = edited(dice, before[name])
    if dice.random() < 0.3:
        after[f"new-{seed}.txt"] = random_text(dice, 9)
    return encoded(before), encoded(after)


def encoded(tree: dict[str, str]) -> Tree:
    return {path: text.encode() for path, text in tree.items()}


def random_case(seed: int, fmt: str) -> Case:
    dice = random.Random(seed)
    while True:
        before = random_text(dice)
        # formats but unified diff do not say whether the last line ends
        before = before if before.endswith("\n") or fmt == "unified_diff" else before + "\n"
        after = edited(dice, before)
        after = after if after.endswith("\n") or fmt == "unified_diff" else after + "\n"
        if after != before:
            break
    write = {
        "apply_patch": v4a,
        "search_replace": blocks,
        "unified_diff": udiff,
        "whole_file": whole,
    }[fmt]
    bare = write(dice, before, after)
    fenced = {"unified_diff": f"```diff\n{bare}```\n", "apply_patch": bare}.get(fmt, bare)
    return Case("f.py", before, after, f"I change it:\n\n{fenced}\nThat is all.\n", bare)


def groups(before: str, after: str, context: int) -> list[list[tuple[str, str]]]:
    """Sections of (op, line), without line endings."""
    old, new = before.removesuffix("\n").split("\n"), after.removesuffix("\n").split("\n")
    found = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        ops = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                ops += [("=", line) for line in old[a:b]]
                continue
            ops += [("-", line) for line in old[a:b]]
            ops += [("+", line) for line in new[c:d]]
        found.append(ops)
    return found


def v4a(dice: random.Random, before: str, after: str) -> str:
    signs = {"=": " ", "-": "-", "+": "+"}
    body = "".join(
        "@@\n" + "".join(f"{signs[op]}{line}\n" for op, line in ops)
        for ops in groups(before, after, dice.choice([3, 3, 5]))
    )
    return f"*** Begin Patch\n*** Update File: f.py\n{body}*** End Patch\n"


def udiff(dice: random.Random, before: str, after: str) -> str:
    out: list[str] = []
    old, new = before.split("\n"), after.split("\n")
    old, new = _ended(old), _ended(new)
    for line in difflib.unified_diff(old, new, "a/f.py", "b/f.py", n=dice.choice([1, 3, 3, 8])):
        whole = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        out.append(whole)
    return "".join(out)


def _ended(lines: list[str]) -> list[str]:
    ended = [line + "\n" for line in lines[:-1]]
    return ended + [lines[-1]] if lines[-1] else ended


def blocks(dice: random.Random, before: str, after: str) -> str:
    out = []
    for ops in groups(before, after, dice.choice([2, 3, 4])):
        old = "".join(f"{line}\n" for op, line in ops if op != "+")
        new = "".join(f"{line}\n" for op, line in ops if op != "-")
        out.append(f"f.py\n```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n\n")
    return "".join(out)


def whole(dice: random.Random, before: str, after: str) -> str:
    return f"f.py\n```python\n{after}```\n"
