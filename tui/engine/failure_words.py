"""What a model is told of runs that failed: the tests in full, or the end of the output."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tui.core.run_report import as_prompt, of_change
from tui.engine.verifier_plan import EndedRun

TAIL_CHARS = 6_000
"""Of a failed run's output, for the model."""


def failure_words(runs: Sequence[EndedRun], changed: Collection[str]) -> tuple[str, str]:
    """What the model is told of them, and that in brief; what names a changed file goes first."""
    told = [run for run in runs if not run.report.fault] or runs
    parts = [_one_failure(run, TAIL_CHARS // len(told), changed) for run in told]
    names = ", ".join(run.words for run in told)
    brief = parts[0][1] if len(parts) == 1 else f"Fix what these found: {names}"
    return "\n\n".join(text for text, _ in parts), brief


def _one_failure(run: EndedRun, most_chars: int, changed: Collection[str]) -> tuple[str, str]:
    words, result, failed = run.words, run.result, run.report.failed or run.report.known
    how = "ran into its deadline" if result.timed_out else f"failed (exit {result.status})"
    if any(one.path or one.message or one.detail for one in failed):  # else the output says more
        first = of_change(failed, changed)
        noun = "test" if run.kind == "tests" else "problem"
        ordered = [*first, *(one for one in failed if one not in first)]
        text = as_prompt(words, how, ordered, most_chars, noun)
        if run.kind == "tests":
            count = f"{len(failed)} failed tests" if len(failed) > 1 else "the failed test"
        else:
            count = f"{len(failed)} problems" if len(failed) > 1 else "the problem"
        return text, f"Fix {count} of {words}"
    tail = run.output[-most_chars:]
    if len(run.output) > most_chars:
        tail = "(the beginning is left out)\n" + tail[tail.find("\n") + 1 :]
    text = f"`{words}` {how}. Find the cause and fix it. Its output:\n\n{tail.strip()}"
    return text, f"Fix what {words} says"
