"""Large files and patches, made in code: what must take time in proportion to its size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Big:
    """A file, a patch of it, and the file that must come out."""

    before: bytes
    patch: str
    after: bytes


def _update(body: str) -> str:
    return f"*** Begin Patch\n*** Update File: f.txt\n{body}*** End Patch\n"


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def many_lines(size: int) -> Big:
    """One hunk near the end of a long file of lines that repeat."""
    lines = [f"    value_{number % 97} = {number % 89}" for number in range(size)]
    lines[-5:] = ["def last():", "    return 1", "", "", "end"]
    after = [*lines[:-4], "    return 2", *lines[-3:]]
    body = "@@\n def last():\n-    return 1\n+    return 2\n"
    return Big(_text(lines), _update(body), _text(after))


def many_hunks(size: int) -> Big:
    """A hunk on every fifth line, each with a line of context on both sides."""
    lines = [f"line {number}" for number in range(size * 5)]
    after, body = list(lines), []
    for at in range(2, size * 5, 5):
        after[at] = f"changed {at}"
        body.append(f"@@\n {lines[at - 1]}\n-{lines[at]}\n+{after[at]}\n {lines[at + 1]}\n")
    return Big(_text(lines), _update("".join(body)), _text(after))


def many_groups(size: int) -> Big:
    """One section that changes every second line."""
    lines = [f"line {number}" for number in range(size * 2)]
    after, body = list(lines), ["@@\n"]
    for at in range(0, size * 2, 2):
        after[at] = f"changed {at}"
        body.append(f"-{lines[at]}\n+{after[at]}\n {lines[at + 1]}\n")
    return Big(_text(lines), _update("".join(body)), _text(after))


def many_alike(size: int) -> Big:
    """A file of equal lines, and a section with forty of them before its end."""
    lines = ["same"] * size + ["end"]
    body = "@@\n" + " same\n" * 40 + "-end\n+END\n"
    return Big(_text(lines), _update(body), _text([*lines[:-1], "END"]))


def one_long_line(size: int) -> Big:
    """A line of that many characters is replaced by another one."""
    old, new = "x" * size, "y" * size
    body = f"@@\n a\n-{old}\n+{new}\n b\n"
    return Big(_text(["a", old, "b"]), _update(body), _text(["a", new, "b"]))


def many_added(size: int) -> Big:
    """So many lines are put in behind the first line."""
    added = [f"added {number}" for number in range(size)]
    body = "@@\n a\n" + "".join(f"+{line}\n" for line in added) + " b\n"
    return Big(_text(["a", "b"]), _update(body), _text(["a", *added, "b"]))


def many_removed(size: int) -> Big:
    """All lines of the file but the first go."""
    lines = [f"line {number}" for number in range(size)]
    body = "@@\n a\n" + "".join(f"-{line}\n" for line in lines)
    return Big(_text(["a", *lines]), _update(body), b"a\n")


KINDS: dict[Callable[[int], Big], int] = {
    many_lines: 25_000,
    many_hunks: 500,
    many_groups: 1000,
    many_alike: 5_000,
    one_long_line: 200_000,
    many_added: 5_000,
    many_removed: 5_000,
}
"""Each with a size of which twice is still quick."""
