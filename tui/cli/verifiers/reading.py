"""Reads what one run of a verifier left: its report, or its output.

What ``go test -v`` says is told as without ``-v``: there what a test says comes behind that it
failed, and no test is told of that was skipped.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tui.cli.verifiers.project import Project, Row, formats, table
from tui.core.run_report import (
    REPORTS,
    FailedTest,
    OutputFormat,
    RunCounts,
    RunReport,
    read_counts,
    read_output,
)
from tui.core.text.patterns import pattern

_GOES_ON = pattern(r"=== (RUN|CONT|NAME|PAUSE) +(\S+)$")
_ENDED = pattern(r" *--- (PASS|FAIL|SKIP): (\S+)")
_CUT = pattern(r"^\[[\d,]+ bytes left out\]$", re.M)
_NOT_SAID = pattern(
    r"(?:\A|^(?!PASS$|coverage: |\[[\d,]+ bytes left out\]$)[^\n]*\n)ok *\t(\S+)(?!.*no tests)",
    re.M,
)
"""A package that passed without PASS before: it was ended before its tests were."""
_PLAN, _SAID = pattern(r"^1\.\.(\d{1,9})$", re.M), pattern(r"^(?:not )?ok\b(?! +\t)", re.M)
_PACKAGE_ENDED = pattern(r"(?:FAIL|ok) *\t")
_PANIC = pattern(r"(?:panic|fatal error): ")
_OF_PACKAGE = pattern(r"^(?:\?|FAIL|ok) *\t(?!.*\[no test(?: file)?s(?: to run)?\])", re.M)
_NOTHING = pattern(r"\[no test(?: files|s to run)\]$", re.M)


def without_v(text: str) -> tuple[str, RunReport]:
    """Also the counts, and the skipped, of tests that have none below them, if it tells of all."""
    told, said = list[str](), dict[str, list[str]]()
    ends = dict[tuple[int, str], str]()
    current, package = "", 0
    for line in text.replace("\r\n", "\n").splitlines(keepends=True):
        if found := _GOES_ON.match(line.rstrip("\n")):
            current = "" if found[1] == "PAUSE" else found[2]
        elif found := _ENDED.match(line):
            current = ""
            ends[package, found[2]] = found[1]
            lines = said.pop(found[2], [])
            told += [line, *lines] if found[1] == "FAIL" else []
        elif _PACKAGE_ENDED.match(line):
            for test, lines in said.items():  # of those that did not end
                told += [f"--- FAIL: {test}\n"] if any(map(_PANIC.match, lines)) else []
                told += lines
            told.append(line)
            current, package, said = "", package + 1, {}
        elif current:
            said.setdefault(current, []).append(line)
        else:
            told.append(line)
    told += [one for lines in said.values() for one in lines]
    above = {(number, name.rpartition("/")[0]) for number, name in ends}
    leaves = {test: how for test, how in ends.items() if test not in above}
    if found := _NOT_SAID.search("".join(told)):
        fault = f"the tests of the package {found[1]} were ended before they said how they went"
        return "".join(told), RunReport(fault=fault, step="look for an exit in TestMain")
    if not leaves and _NOTHING.search(text) and not _OF_PACKAGE.search(text):
        return "".join(told), RunReport(counts=RunCounts())
    if not leaves or _CUT.search(text):
        return "".join(told), RunReport()
    hows = list(leaves.values())
    counts = RunCounts(*(hows.count(how) for how in ("PASS", "FAIL", "SKIP")))
    skipped = tuple(name for (_, name), how in leaves.items() if how == "SKIP")
    return "".join(told), RunReport(counts=counts, skipped=skipped)


OWN_COMMAND = 'set command = "..." under [verify] in config.toml'
_STEP = "its output may say what ended it, such as an exit in the code that is tested"
_NONE = "put tests where their runner looks for them"
_SKIPPED = "look for what skips them: a mark, or something that is missing here"
_EXPECTED = re.compile(r"[1-9]\d* xfailed\b|expected failures=[1-9]")
_DEFINES_TESTS = re.compile(r"^(?:test|it|describe|suite)(?:\.\w+)?\(", re.M)
_REPORT_BYTES = 32 << 20
_OUTPUT_CHARS = 2_000_000


class RunReader:
    """Reads what one run of a command left."""

    def __init__(
        self,
        project: Project,
        row: Row | None = None,
        words: Mapping[str, str] | None = None,
        file: str = "",
    ) -> None:
        """Without a ``row`` the command is the user's: all formats are tried.

        ``file`` is where the report will be; empty: there is none.
        """
        self._project, self._row = project, row or {}
        self._words = {"where": "the environment", "shown": "python3", **(words or {})}
        self._file = file

    @property
    def formats(self) -> list[OutputFormat]:
        """How its output looks."""
        known = formats()
        return [known[name] for name in self._row.get("formats") or known]

    def report(self, output: str, passed: bool) -> RunReport:
        """What failed, or why nothing could be judged; takes the report away."""
        output = output[-_OUTPUT_CHARS:]
        locate, report = self._project.locate, None
        if self._row.get("reads") == "go":
            output, report = without_v(output)
        elif self._file:
            report = REPORTS[self._row.get("reads", "junit")](_taken(Path(self._file)), locate)
        if report is None or report.counts is None:
            counts = read_counts(output, self.formats)
            report = replace(report or RunReport(), counts=counts)
        told = list(report.failed)
        if not passed and self._row.get("lacks"):
            told = _filled_up(told, read_output(output, self.formats, locate))
        if passed and report.counts is None:
            certain = [one for one in self.formats if one.certain]
            told = told or read_output(output, certain, locate)
        if passed and not told and not (report.counts and report.counts.failed):
            if report.fault:
                return report
            found = self._fault(output, [row for row in table()["fault"] if row.get("passed")])
            if not found.fault and (plan := _PLAN.findall(output)):
                found = _unsaid(plan, output)
            if report.counts is None and not found.fault and self._tells(output):
                name = self._row["name"]
                found = RunReport((), f"{name} was ended before it said which tests ran", _STEP)
            return self._whole(found, report, output)
        failed = told or read_output(output, self.formats, locate)
        found = self._judged(output, failed)
        return self._whole(replace(found, failed=tuple(failed)), report, output)

    def _tells(self, output: str) -> bool:
        """Whether it would have said how many tests ran, had it not been ended."""
        tells = self._row.get("tells", False)
        return bool(re.search(tells, output, re.M)) if isinstance(tells, str) else tells

    def _whole(self, found: RunReport, report: RunReport, output: str) -> RunReport:
        """What was found, with what the runner itself says of all tests."""
        noun = "test" if self._row.get("kind", "tests") == "tests" else "problem"
        counts = report.counts or found.counts
        whole = replace(found, counts=counts, skipped=report.skipped, noun=noun)
        if counts is None or whole.fault or not whole.is_empty or noun != "test":
            return whole
        if not counts.skipped:
            return replace(whole, fault="no tests were found", step=_NONE)
        fault = f"nothing ran: {counts.skipped} skipped"
        if _EXPECTED.search(output):
            fault = f"no test passed: {counts.skipped} skipped or expected to fail"
        return replace(whole, fault=fault, step=_SKIPPED)

    def _judged(self, output: str, failed: list[FailedTest]) -> RunReport:
        """A fault if every failed test is for the lack of something, else none."""
        rows = table()["fault"]
        if not failed:
            return self._fault(output, rows)
        faults = [self._fault(one.detail or one.message, rows) for one in failed]
        return faults[0] if all(one.fault for one in faults) else RunReport()

    def _fault(self, text: str, rows: Iterable[Row]) -> RunReport:
        for row in rows:
            for match in re.finditer(row["pattern"], text, re.M):
                if (found := self._missing(row, match)) is not None:
                    return found
        return RunReport()

    def _missing(self, row: Row, match: re.Match[str]) -> RunReport | None:
        """The fault in words; None if it is one of the project's code, which its tests judged."""
        words = {name: value or "" for name, value in match.groupdict().items()}
        step, what = row.get("step", self._row.get("install", "")), words.get("tool", "")
        said = row["words"]
        if file := words.get("unrun", ""):
            words["unrun"] = path = self._project.locate(file)
            if not path or not _DEFINES_TESTS.search(self._project.text(path)):
                return None
        if module := words.get("module", ""):
            own = self._own_module(module)
            if own is None:
                return None
            if own:
                said = f"the project itself is not installed in {{where}} (no module {module})"
            what = self._to_install(module, own=own)
        words = {**self._words, **words, "what": what}
        step = filled(step, {**words, "python": words["shown"]}).strip()
        counts = RunCounts() if row.get("none") else None
        step = step or f"install it, or {OWN_COMMAND}"
        return RunReport((), filled(said, words), step, counts=counts)

    def _own_module(self, module: str) -> bool | None:
        """Whether a missing module lies in the project; None: its package does, and lacks it."""
        top, *rest = module.split(".")
        for above in (self._project.root, self._project.root / "src"):
            package = above / top
            if package.is_dir() or package.with_suffix(".py").is_file():
                whole = above.joinpath(top, *rest)
                if whole.is_dir() or whole.with_suffix(".py").is_file():
                    return True
                return None
        return False

    def _to_install(self, module: str, *, own: bool) -> str:
        """What pip is to install."""
        root = self._project.root
        listed = (root / "requirements.txt").is_file()
        packaged = any((root / name).is_file() for name in ("pyproject.toml", "setup.py"))
        top = module.split(".")[0]
        if packaged and (own or not listed):
            return "-e ." if own or not self._is_extra(top) else top
        return "-r requirements.txt" if listed else top

    def _is_extra(self, name: str) -> bool:
        """Whether only a group of ``pyproject.toml`` has it: the project comes without."""
        text = self._project.text("pyproject.toml")
        named = re.compile(rf"""["']?{re.escape(name)}\b""", re.I)
        try:
            needed = tomllib.loads(text).get("project", {}).get("dependencies", [])
        except tomllib.TOMLDecodeError:
            return False
        return bool(named.search(text)) and not any(named.match(str(one)) for one in needed)


def _unsaid(plan: Sequence[str], output: str) -> RunReport:
    """A fault if TAP's plan has more tests than were told of; else ``1..10`` is a test's output."""
    said = len(_SAID.findall(output))
    is_tap = said > 0 or "TAP version" in output
    if not is_tap or len(plan) > 1 or said >= int(plan[0]) or _CUT.search(output):
        return RunReport()
    return RunReport((), f"{int(plan[0]) - said} of {plan[0]} tests said nothing", _STEP)


def _filled_up(told: Sequence[FailedTest], said: Sequence[FailedTest]) -> list[FailedTest]:
    """The tests of a report, with what only the output says: hooks of suites, stray errors.

    There a test's name has that of its file before it. A file that failed for one of these is
    replaced by it.
    """
    known = {one.name if one.name == one.path else f"{one.path} > {one.name}" for one in told}
    more = [one for one in said if one.name not in known]
    paths = {one.path for one in more}
    kept = [one for one in told if one.message or one.name != one.path or one.path not in paths]
    return kept + [one._replace(id=one.path) for one in more]


def filled(text: str, words: Mapping[str, str]) -> str:
    """The text with ``{name}`` replaced by what it stands for."""
    return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), text)


def _taken(file: Path) -> bytes:
    """What stands in a report, which is removed."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_REPORT_BYTES + 1)
        return data if len(data) <= _REPORT_BYTES else b""
    except OSError:
        return b""
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
