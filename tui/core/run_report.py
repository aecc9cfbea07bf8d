"""Reads what a run of tests left, a JUnit report or its output: which failed, where, and why.

How a runner's output looks is data (`OutputFormat`); which files there are is up to ``locate``.
A run that could not judge at all has a `fault` instead: something is missing in the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

Locate = Callable[[str], str]
"""A path as a runner names it -> relative to the workspace; empty: it is no file in it."""

MOST_FAILED = 500
"""Failed tests that are told apart; further ones are left out."""
_DETAIL_CHARS = 20_000
"""Of one failed test's output; the end is kept."""
_JUNIT_PLACE = (
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?(?:: |$)",
    r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)',
    r"[(\s](?:file://)?(?P<path>[^\s():]+):(?P<line>\d+)(?::\d+)?\)?$",
)
_RAISED = r"^E\s+(\S.*)"


class FailedTest(NamedTuple):
    """One test that failed, or one file that could not be compiled or collected."""

    name: str
    path: str = ""
    """Relative to the workspace; empty: not known."""
    line: int = 0
    """0-based."""
    message: str = ""
    """One line."""
    detail: str = ""
    """All that the runner said of it."""


class RunReport(Struct, frozen=True):
    """What a run of tests says besides its exit status."""

    failed: tuple[FailedTest, ...] = ()
    fault: str = ""
    """Why the tests could not judge, in a sentence without its end; empty: they did."""
    step: str = ""
    """What to do about it, mostly a command line."""
    ground: str = ""
    """What it ran on besides the disk: ``5 pending hunks``."""


class OutputFormat(Struct, frozen=True):
    """How a runner's output tells of a failed test: patterns, compiled with ``re.M``."""

    name: str
    begin: re.Pattern[str]
    """The first line of what belongs to one test; may have the groups name, path, line, message."""
    place: tuple[re.Pattern[str], ...] = ()
    """Where it failed (path, line), searched behind ``begin``; the best pattern first."""
    message: tuple[re.Pattern[str], ...] = ()
    """Why (message), the best pattern first."""
    title: re.Pattern[str] | None = None
    """What it is called (name), where ``begin`` does not say so."""
    end: re.Pattern[str] | None = None
    """What follows the last test."""
    last_place: bool = False
    """The last place in the workspace counts, as in a traceback with the newest call last."""


def read_output(text: str, formats: Iterable[OutputFormat], locate: Locate) -> list[FailedTest]:
    """The failed tests that the first format finds which finds any."""
    text = text.replace("\r\n", "\n")
    for form in formats:
        if found := _read(text, form, locate):
            return found
    return []


def _read(text: str, form: OutputFormat, locate: Locate) -> list[FailedTest]:
    begins = list(form.begin.finditer(text))[:MOST_FAILED]
    failed: dict[tuple[str, str, int], FailedTest] = {}
    for begin, follows in pairwise([*begins, None]):
        assert begin is not None
        stop = len(text) if follows is None else follows.start()
        if form.end is not None and (end := form.end.search(text, begin.end(), stop)):
            stop = end.start()
        detail = text[begin.start() : stop].strip("\n")
        groups = begin.groupdict()
        path, line = _place(begin, locate) if groups.get("path") else ("", 0)
        if groups.get("path") and not path:
            continue
        behind = text[begin.end() : stop]
        if not path:
            path, line = _find_place(behind, form.place, locate, last=form.last_place)
        name = groups.get("name") or _group(form.title, behind, "name") or path
        message = groups.get("message") or next(
            filter(None, (_group(one, behind, "message") for one in form.message)), ""
        )
        one = FailedTest(
            " ".join(name.split()), path, line, _line(message), detail[-_DETAIL_CHARS:]
        )
        if one.name:
            failed.setdefault((one.name, one.path, one.line), one)
    names = [name for name, _, _ in failed]
    return [
        one
        for one in failed.values()
        if one.path
        or (one.name and one.message)
        or not any(name.startswith(f"{one.name}/") for name in names)
    ]


def _find_place(
    text: str, patterns: Sequence[re.Pattern[str]], locate: Locate, *, last: bool = False
) -> tuple[str, int]:
    """The first (or last) place in the workspace that the best pattern finds; 0-based line."""
    for pattern in patterns:
        matches = list(pattern.finditer(text))
        for match in reversed(matches) if last else matches:
            found = _place(match, locate)
            if found[0]:
                return found
    return "", 0


def _place(match: re.Match[str], locate: Locate) -> tuple[str, int]:
    return locate(match["path"]), max(int(match.groupdict().get("line") or 1) - 1, 0)


def _group(pattern: re.Pattern[str] | None, text: str, name: str) -> str:
    match = None if pattern is None else pattern.search(text)
    return (match[name] or "") if match is not None else ""


def _line(text: str) -> str:
    """One line of it, the first that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def read_junit(data: bytes, locate: Locate) -> list[FailedTest]:
    """The failed tests of a JUnit report; none if it is no such report."""
    from xml.etree import ElementTree

    try:
        cases = list(ElementTree.fromstring(data).iter("testcase"))
    except (ElementTree.ParseError, ValueError, LookupError):
        return []
    failed: list[FailedTest] = []
    for case in cases:
        for kind in ("failure", "error"):
            if (fault := case.find(kind)) is not None and len(failed) < MOST_FAILED:
                told = fault.get("message") or ""
                detail = (fault.text or "").strip("\n") or told
                failed.append(_of_junit(dict(case.attrib), told, detail, locate))
                break
    return failed


def _of_junit(case: dict[str, str], told: str, detail: str, locate: Locate) -> FailedTest:
    name, owner = case.get("name") or "", case.get("classname") or ""
    named = case.get("file") or ""
    places = [re.compile(one, re.M) for one in _JUNIT_PLACE]
    path, line = _find_place(detail, places, locate, last=True)
    file = locate(named) if named else ""
    if not path:
        stated = case.get("line") or ""
        path, line = file, int(stated) if stated.isdigit() else 0
    module = file.rpartition(".")[0].replace("/", ".")
    owner = owner.removeprefix(module).lstrip(".") if module else owner
    raised = re.findall(_RAISED, detail, re.M)
    message = raised[0] if raised and told in ("", "collection failure") else _line(told)
    words = ".".join(filter(None, (owner, name)))
    return FailedTest(words, path, line, message or _line(detail), detail[-_DETAIL_CHARS:])


def of_change(failed: Sequence[FailedTest], changed: Iterable[str]) -> list[FailedTest]:
    """Those that name a changed file or test it: ``test_cache.py`` tests ``cache.py``."""
    paths = set(changed)
    stems = {_stem(path) for path in paths}
    return [
        one
        for one in failed
        if one.path in paths
        or (one.path and _stem(one.path) in stems)
        or any(path in one.detail for path in paths)
    ]


def _stem(path: str) -> str:
    """``cache`` of ``tests/test_cache.py``, ``src/cache.test.ts`` and ``cache_test.go``."""
    name = path.rpartition("/")[2].partition(".")[0].lower()
    return name.removeprefix("test_").removesuffix("_test").removesuffix("_spec")


def as_prompt(words: str, how: str, failed: Sequence[FailedTest], most_chars: int) -> str:
    """The failed tests for a model, the first ones in full, trimmed to about ``most_chars``."""
    count = f"{len(failed)} tests" if len(failed) != 1 else "1 test"
    parts = [f"`{words}` {how}: {count}. Find the cause and fix it."]
    left = most_chars - len(parts[0])
    for number, one in enumerate(failed, 1):
        place = f" ({one.path}:{one.line + 1})" if one.path else ""
        head = f"{number}. {one.name}{place}\n   {one.message}".rstrip()
        if len(head) > left:
            parts.append(f"... and {len(failed) - number + 1} more.")
            break
        room = min(left - len(head), max(most_chars // min(len(failed), 4), 400))
        detail = one.detail if len(one.detail) <= room else _tail(one.detail, room)
        if detail.strip() and len(detail) > 40:
            fence = "````" if "```" in detail else "```"
            head = f"{head}\n{fence}\n{detail}\n{fence}"
        parts.append(head)
        left -= len(head)
    return "\n\n".join(parts)


def _tail(text: str, chars: int) -> str:
    """The end of it, whole lines, and a word that the beginning is left out."""
    if chars < 80:
        return ""
    end = text[-chars:]
    return "(the beginning is left out)\n" + end[end.find("\n") + 1 :]
