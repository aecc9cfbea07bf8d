"""Which verifiers run on what, how and in which order, and what they come to together."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple

from tui.core.conversation import Block, BlockKind
from tui.core.programs import CommandLine, RunOptions, RunResult, Shadow
from tui.core.run_report import RunReport
from tui.engine.ports import Part, VerifyCommand

Verdict = Literal["", "passed", "same", "failed", "timeout", "error"]
"""``same``: what fails failed before anything was changed, too, and nothing else does."""
_WORST: tuple[Verdict, ...] = ("failed", "timeout", "error", "same")


class EndedRun(NamedTuple):
    """A run that ended."""

    command: VerifyCommand
    words: str
    """That as the user sees it."""
    block: Block
    result: RunResult
    report: RunReport
    output: str

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""
        return verdict_of(self.result, self.report)

    @property
    def kind(self) -> str:
        """What it judges."""
        return self.command.kind

    @property
    def was_empty(self) -> bool:
        """There was nothing to run: all was left out, or there is no test."""
        return self.verdict == "error" and self.report.is_empty


class VerifierLanes(NamedTuple):
    """What runs one behind the other; both run side by side."""

    checks: Sequence[VerifyCommand]
    tests: Sequence[VerifyCommand]
    """Those that belong to what changed, then all; what fails ends it."""


def planned(
    verifiers: Iterable[VerifyCommand],
    part: Part,
    apart: bool,
    *,
    rest: bool = True,
    quick: Collection[str] = (),
) -> VerifierLanes:
    """What is to run, for a thread. ``apart``: in a shadow, where what they write harms nothing.

    Not ``rest``: only what belongs to the part. ``quick`` ones need no part before the whole, and
    are it where there is none that is smaller.
    """
    checks: list[VerifyCommand] = []
    tests: list[VerifyCommand] = []
    concerned = bool(part.changed or part.named)
    for one in verifiers:
        whole = one.kind == "tests" and rest and one.name in quick and not part.named
        small = one.part(part) if one.part is not None and concerned and not whole else None
        if one.kind == "tests":
            tests += [small] if small is not None else []
            wanted = rest or (small is None and one.name in quick)
            tests += [one] if wanted and not (part.named and small is not None) else []
        elif part.named or (one.writes and not apart):
            continue
        elif small is not None and one.kind != "types":
            checks.append(small)
        elif rest and (one.kind == "types" or one.part is None or not concerned):
            checks += [one] if one.kind != "syntax" else []
    return VerifierLanes(checks, tests)


def run_options(command: VerifyCommand, shadow: Shadow | None, *, nice: bool = False) -> RunOptions:
    """How a verifier runs; its report comes back from wherever that is."""
    brings = (command.report_file,) if command.report_file else ()
    return RunOptions(shadow=shadow, memory=command.memory, nice=nice, brings=brings)


def whole_argv(command: VerifyCommand) -> tuple[str, ...] | str:
    """What is run, with what makes it write its report."""
    argv = command.argv
    return argv if isinstance(argv, str) else (*argv, *command.options)


def verdict_of(result: RunResult, report: RunReport) -> Verdict:
    """The verdict of a run: its exit status and its report, unless it could not judge.

    What failed before anything was changed is no fault of the change, and nothing is proved by it.
    """
    if result.stopped:
        return ""
    if result.timed_out:
        return "timeout"
    if result.status is None or result.error or result.strayed or report.fault:
        return "error"
    failures = max(len(report.failed), report.counts.failed if report.counts else 0)
    if failures > len(report.known) or report.failed:
        return "failed"
    if report.known:
        return "same"
    return "passed" if result.status == 0 else "failed"


def common_verdict(verdicts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Of several runs, each with its kind. A check that could not run says nothing."""
    if not verdicts or any(not verdict for _, verdict in verdicts):
        return ""
    told = [one for kind, one in verdicts if kind == "tests" or one in ("failed", "same", "passed")]
    return next((worst for worst in _WORST if worst in told), "passed" if told else "error")


def what_judged(
    verdicts: Sequence[tuple[str, Verdict]], common: Verdict
) -> Literal["tests", "checks"]:
    """What came to the common verdict: the tests, or only linters and types."""
    kinds = {kind for kind, one in verdicts if one == common}
    return "checks" if kinds and "tests" not in kinds else "tests"


def shown_words(command: VerifyCommand) -> str:
    """A command as the user sees it."""
    return command.title or short_title(command.argv)


def card_of(command: VerifyCommand) -> Block:
    """Where its output is to be."""
    source = command.source
    where = "" if source.endswith(" found") else source.rpartition(" of ")[2]
    words = shown_words(command)
    return Block(BlockKind.RUN, 0, f"{words} · {where}" if where else words)


def command_line(argv: CommandLine) -> str:
    """A command as a person would type it."""
    return argv if isinstance(argv, str) else shlex.join(argv)


def short_title(argv: CommandLine, *, whole: bool = False) -> str:
    """What is run, without the places where it lies: ``pytest -q``.

    ``whole``: with the interpreter that runs it.
    """
    if isinstance(argv, str):
        return argv
    program, *rest = argv
    name = PurePath(program).name
    if not whole and name.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        name, *rest = rest[1:]
    return command_line([name, *rest])
