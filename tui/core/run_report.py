"""Reads what a run of tests left, a JUnit report or its output: which failed, where, and why.

How a runner's output looks is data (`OutputFormat`); which files there are is up to ``locate``.
A run that could not judge at all has a `fault` instead: something is missing in the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
from msgspec import Struct, structs

from tui.core.typed_data import json_decoder

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
_RAISED = r"^E   (\S.*)", r"^E\s+(\S.*)"
"""Of a file that is no Python lines of it come before the error, further in."""
_AROUND = re.compile(r'failed on (setup|teardown) with "(.*?)"?$', re.M)


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
    id: str = ""
    """What its runner is given to run it alone; empty: not known."""


class RunCounts(NamedTuple):
    """How many tests did what."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


class RunReport(Struct, frozen=True):
    """What a run of tests, or of a linter, says besides its exit status."""

    failed: tuple[FailedTest, ...] = ()
    fault: str = ""
    """Why the tests could not judge, in a sentence without its end; empty: they did."""
    step: str = ""
    """What to do about it, mostly a command line."""
    ground: str = ""
    """What it ran on besides the disk: ``5 pending hunks``."""
    left_out: str = ""
    """What the screen shows and the run had not: ``hunk 7, which changes what judges it``."""
    found: str = ""
    """What a search among hunks came to: ``hunk 14``; empty: it is no such report."""
    counts: RunCounts | None = None
    """As the runner tells them; None: it does not."""
    noun: str = "test"
    """What ``failed`` has; of a linter they are problems."""
    skipped: tuple[str, ...] = ()
    """Names of tests that were skipped, where the runner tells them."""
    known: tuple[FailedTest, ...] = ()
    """What failed before anything was changed, too, and so is not in ``failed``."""
    late: bool = False
    """It ran into its deadline."""

    @property
    def is_empty(self) -> bool:
        """Whether no test said anything: all were left out, or there is none."""
        counts = self.counts
        return counts is not None and not (self.failed or counts.passed or counts.failed)


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
    summary: re.Pattern[str] | None = None
    """Where it says how many tests there were; the last such text counts, or with ``every`` all."""
    every: bool = False
    total: re.Pattern[str] | None = None
    """In the summary: how many ran, where it does not tell how many passed. As with the next ones,
    all that are found are added up, and one without a number counts as 1."""
    passed: re.Pattern[str] | None = None
    failures: re.Pattern[str] | None = None
    skipped: re.Pattern[str] | None = None
    certain: bool = False
    """What ``begin`` finds is a failed test whatever the exit status."""
    progress: tuple[re.Pattern[str], ...] = ()
    """See `tui.core.run_progress.RunProgress`."""


def read_output(text: str, formats: Iterable[OutputFormat], locate: Locate) -> list[FailedTest]:
    """The failed tests that the first format finds which finds any."""
    text = text.replace("\r\n", "\n")
    for form in formats:
        if found := _read(text, form, locate):
            return found
    return []


def read_counts(text: str, formats: Iterable[OutputFormat]) -> RunCounts | None:
    """How many tests did what, as the first format says that finds a summary of its own."""
    text = text.replace("\r\n", "\n")
    for form in formats:
        if form.summary is None:
            continue
        told = [match[0] for match in form.summary.finditer(text)]
        if told:
            whole = "\n".join(told if form.every else told[-1:])
            failed, skipped = _added(form.failures, whole), _added(form.skipped, whole)
            ran = _added(form.total, whole)
            return RunCounts(
                max(ran - failed - skipped, 0) if form.total else _added(form.passed, whole),
                failed,
                skipped,
            )
    return None


def _added(pattern: re.Pattern[str] | None, text: str) -> int:
    found = pattern.findall(text) if pattern is not None else []
    return sum(int(one) if one.isdecimal() else 1 for one in found)


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


def read_junit(data: bytes, locate: Locate) -> RunReport | None:
    """What a JUnit report says; None if it is no such report."""
    from xml.etree import ElementTree

    try:
        cases = list(ElementTree.fromstring(data).iter("testcase"))
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    if not cases:
        return None
    failed: list[FailedTest] = []
    skipped: list[str] = []
    failures = 0
    for case in cases:
        found = (case.find(kind) for kind in ("failure", "error"))
        fault = next((one for one in found if one is not None), None)
        if fault is not None:
            failures += 1
            if len(failed) < MOST_FAILED:
                told = fault.get("message") or ""
                detail = (fault.text or "").strip("\n") or told
                failed.append(_of_junit(dict(case.attrib), told, detail, locate))
        elif case.find("skipped") is not None:
            skipped.append(_of_junit(dict(case.attrib), "", "", locate).name)
    counts = RunCounts(len(cases) - failures - len(skipped), failures, len(skipped))
    return RunReport(tuple(failed), counts=counts, skipped=tuple(skipped))


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
    raised = next(filter(None, (re.findall(one, detail, re.M) for one in _RAISED)), [])
    if around := _AROUND.match(told):
        message = f"in {around[1]}: {raised[0] if raised else around[2]}"
    else:
        message = raised[0] if raised and told in ("", "collection failure") else _line(told)
    words = ".".join(filter(None, (owner, name)))
    # as pytest calls it; a file that could not be collected has no such name
    parts = [file, *owner.split("."), name] if owner else [file, name]
    alone = "::".join(parts) if file and told != "collection failure" else file
    return FailedTest(words, path, line, message or _line(detail), detail[-_DETAIL_CHARS:], alone)


def read_jest(data: bytes, locate: Locate) -> RunReport | None:
    """What a report of jest or vitest as JSON says; None if it is no such report."""
    try:
        found = _JEST.decode(data)
    except msgspec.MsgspecError:
        return None
    failed: list[FailedTest] = []
    skipped: list[str] = []
    passed = failures = 0
    for file in found.test_results:
        path = locate(file.name)
        if file.status == "failed" and "failed" not in (x.status for x in file.assertion_results):
            failures += 1
            failed.append(_of_jest(path, file.message, locate))
        for one in file.assertion_results:
            passed += one.status == "passed"
            name = " > ".join((*one.ancestor_titles, one.title))
            if one.status in ("pending", "skipped", "todo", "disabled"):
                skipped.append(name)
            if one.status == "failed":
                failures += 1
                detail = "\n".join(one.failure_messages)
                place, line = _find_place(detail, [_JEST_PLACE], locate)
                why, detail = _line(detail).removeprefix("Error: "), detail[-_DETAIL_CHARS:]
                failed.append(FailedTest(name, place or path, line, why, detail, path))
    counts = RunCounts(passed, failures, len(skipped))
    return RunReport(tuple(failed[:MOST_FAILED]), counts=counts, skipped=tuple(skipped))


def _of_jest(path: str, told: str, locate: Locate) -> FailedTest:
    """A file that could not be loaded, or a hook in it that failed."""
    why = told.replace("● Test suite failed to run", "", 1)
    line = _find_place(why, [_JEST_PLACE], locate)[1]
    message = _group(_JEST_ERROR, why, "message") or _line(why)
    return FailedTest(path, path, line, message, told[-_DETAIL_CHARS:], path)


class _JestTest(Struct, rename="camel"):
    title: str
    status: str
    ancestor_titles: list[str] = []
    failure_messages: list[str] = []


class _JestFile(Struct, rename="camel"):
    name: str
    status: str = ""
    message: str = ""
    assertion_results: list[_JestTest] = []


class _JestReport(Struct, rename="camel"):
    test_results: list[_JestFile]


_JEST = json_decoder(_JestReport)
_JEST_PLACE = re.compile(r"[(\s](?:file://)?(?P<path>[^\s():]+):(?P<line>\d+):\d+\)?$", re.M)
_JEST_ERROR = re.compile(r"^\s*(?P<message>\w*Error: \S.*)", re.M)


def read_eslint(data: bytes, locate: Locate) -> RunReport | None:
    """The errors in a report of ESLint as JSON, warnings left out; None if it is no such report."""
    try:
        found = _ESLINT.decode(data)
    except msgspec.MsgspecError:
        return None
    failed = [
        FailedTest(
            one.rule_id or "syntax", locate(file.file_path), max(one.line - 1, 0), one.message
        )
        for file in found
        for one in file.messages
        if one.severity > 1
    ]
    return RunReport(tuple(failed[:MOST_FAILED]))


class _LintMessage(Struct, rename="camel"):
    severity: int
    message: str
    rule_id: str | None = None
    line: int = 1


class _LintedFile(Struct, rename="camel"):
    file_path: str
    messages: list[_LintMessage] = []


_ESLINT = json_decoder(list[_LintedFile])
REPORTS = {"junit": read_junit, "jest": read_jest, "eslint": read_eslint}
"""Readers of reports, by the name of their kind."""


def ended_words(report: RunReport, *, red: bool = False) -> str:
    """How a run ended, in brief: ``12 passed · 1 skipped · 2 failed before, too``.

    ``red``: it failed, whatever its report says.
    """
    found = ["timed out"] if report.late else []
    counts = report.counts
    told = 0 if counts is None else counts.failed - len(report.known)
    if (count := max(len(report.failed), told)) > 0 and not report.late:
        problems = f"{count} {report.noun}{'' if count == 1 else 's'}"
        found.append(f"{count} failed" if report.noun == "test" else problems)
    if counts is not None:
        found += ["failed"] if red and not found and not report.known else []
        for count, what in ((counts.passed, "passed"), (counts.skipped, "skipped")):
            found += [f"{count} {what}"] if count else []
    if report.known:
        count = len(report.known)
        problems = f"{count} {report.noun}{'' if count == 1 else 's'}"
        what = f"{count} failed" if report.noun == "test" else problems
        found.append(f"{what} before, too")
    return " · ".join(found)


def of_change(failed: Sequence[FailedTest], changed: Iterable[str]) -> list[FailedTest]:
    """Those that name a changed file or test it: ``test_cache.py`` tests ``cache.py``."""
    paths = set(changed)
    stems = {stem_of(path) for path in paths}
    return [
        one
        for one in failed
        if one.path in paths
        or (one.path and stem_of(one.path) in stems)
        or any(path in one.detail for path in paths)
    ]


_no_module = re.compile(r"No module named '?([\w.]+)").findall


def brought_in(report: RunReport, changed: Iterable[str]) -> RunReport:
    """What is missing where a change belongs to it came with the change: it is a failure.

    So is a module that is missing and one of the changed files was: the change took it away.
    """
    paths = list(changed)
    modules = {path.removesuffix(".py").removesuffix("/__init__") for path in paths}
    told = "\n".join(one.detail or one.message for one in report.failed)
    missing = {name.replace(".", "/") for name in _no_module(told)}
    taken = any(f"/{module}".endswith(f"/{name}") for module in modules for name in missing)
    if report.fault and (taken or of_change(report.failed, paths)):
        return structs.replace(report, fault="", step="")
    return report


def placed(report: RunReport, changed: Iterable[str]) -> RunReport:
    """With the places in changed files, of which a new one may not lie on the disk."""
    if all(one.path for one in report.failed):
        return report
    listed = "|".join(map(re.escape, changed)) or "(?!)"
    place = re.compile(rf"""(?:^|[\s"'(/])(?P<path>{listed})(?:"?, line |:)(?P<line>\d+)""", re.M)
    failed = tuple(
        one._replace(path=path, line=line)
        for one in report.failed
        for path, line in [
            (one.path, one.line) if one.path else _find_place(one.detail, [place], str, last=True)
        ]
    )
    return structs.replace(report, failed=failed)


def stem_of(path: str) -> str:
    """``cache`` of ``tests/test_cache.py``, ``src/cache.test.ts`` and ``cache_test.go``."""
    name = path.rpartition("/")[2].partition(".")[0].lower()
    return name.removeprefix("test_").removesuffix("_test").removesuffix("_spec")


def as_prompt(
    words: str, how: str, failed: Sequence[FailedTest], most_chars: int, noun: str = "test"
) -> str:
    """What failed for a model, the first ones in full, trimmed to about ``most_chars``."""
    count = f"{len(failed)} {noun}s" if len(failed) != 1 else f"1 {noun}"
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
