"""Measure what duetto promises, on this machine and without a network.

Run ``python -m tests.benchmarks ui|stream|edit|transport|bridge``; each has ``--help``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click

from tui.errors import EXIT_FAILED, DuettoError

if TYPE_CHECKING:
    from tui.core.edit_stream.events import Notation


@click.group(no_args_is_help=True)
def bench() -> None:
    """Measure what duetto promises, on this machine."""


@bench.command("transport")
@click.option("--json", "is_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--quick", is_flag=True, help="Fewer cells and turns: about 12 s, and rough.")
@click.option("--check", is_flag=True, help="Exit with 1 when a target is missed.")
@click.option(
    "--rtt",
    "round_trips_ms",
    type=click.IntRange(0, 1000),
    multiple=True,
    metavar="MS",
    help="Added round trip; may be repeated [default: 0, 20, 80].",
)
@click.option(
    "--history",
    "histories_kb",
    type=click.IntRange(1, 4000),
    multiple=True,
    metavar="KB",
    help="Size of the conversation; may be repeated [default: 10, 100, 400].",
)
def transport_command(
    is_json: bool,
    quick: bool,
    check: bool,
    round_trips_ms: tuple[int, ...],
    histories_kb: tuple[int, ...],
) -> None:
    """Compare one persistent WebSocket with HTTPS and SSE, over TLS on loopback.

    Time to the first token, bytes and processor time of a turn: on a new connection, on a kept
    one, and on the WebSocket with the whole history and with the new items only; then what a
    token costs. Takes under two minutes and ends with 0 whatever it finds, unless --check.
    """
    from tests.benchmarks.transport import plan, report, targets
    from tests.benchmarks.transport.measurement import measure

    chosen = plan.QUICK if quick else plan.FULL
    if round_trips_ms:
        chosen = replace(chosen, round_trips_ms=tuple(sorted(set(round_trips_ms))))
    if histories_kb:
        chosen = replace(chosen, histories_kb=tuple(sorted(set(histories_kb))))
    findings = replace(measure(chosen, _tell), quick=quick)
    found = targets.checks(findings)
    if is_json:
        click.echo(json.dumps(report.as_json(findings, found), indent=2))
    else:
        click.echo(report.as_text(findings, found))
    if check and targets.missed(found):
        sys.exit(EXIT_FAILED)


F = TypeVar("F", bound=Callable[..., None])


def _screen_options(command: F) -> F:
    """The options of what is measured in a pseudo-terminal."""
    for option in reversed(_SCREEN_OPTIONS):
        command = option(command)
    return command


_SCREEN_OPTIONS = (
    click.option("--json", "is_json", is_flag=True, help="One JSON object instead of tables."),
    click.option("--quick", is_flag=True, help="One rate, once: under 20 s, and rough."),
    click.option("--long", "is_long", is_flag=True, help="A session of 2 million tokens too."),
    click.option("--check", is_flag=True, help="Exit with 1 when a target is missed."),
    click.option(
        "--peer",
        "peers",
        type=click.Choice(("codex", "pi")),
        multiple=True,
        help="Measure this one too, in the same run; may be repeated.",
    ),
    click.option(
        "--peer-path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The peer's program [default: the one on PATH].",
    ),
    click.option(
        "--rate",
        "rates",
        type=click.IntRange(1, 1_000_000),
        multiple=True,
        metavar="N",
        help="Tokens a second; may be repeated [default: 1000, 4000, 10000, 40000].",
    ),
)


class ScreenChoices(TypedDict):
    """The options of `_screen_options`."""

    is_json: bool
    quick: bool
    is_long: bool
    check: bool
    peers: tuple[str, ...]
    peer_path: Path | None
    rates: tuple[int, ...]


@bench.command("stream")
@_screen_options
def stream_command(**choices: Unpack[ScreenChoices]) -> None:
    """Measure how an answer is painted while it streams.

    Paint lag, drain and processor time at every rate, in a new conversation, with a long file open
    and in a conversation of 5,000 turns. Runs the real program in a pseudo-terminal against a
    server of its own, with no network.
    """
    _measure_screen(choices, only_stream=True)


@bench.command("ui")
@_screen_options
def ui_command(**choices: Unpack[ScreenChoices]) -> None:
    """Measure all that a person feels: streams, keys, Esc, edits, start, memory.

    What stream measures, and the echo of keys, Esc to the wire and to a text that
    stays, a patch that streams into a coloured file, the first paint, idle time and memory. Takes
    a quarter of an hour.
    """
    _measure_screen(choices, only_stream=False)


@bench.command("edit")
@click.option("--json", "is_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--quick", is_flag=True, help="Smaller and once: about a minute, and rough.")
@click.option("--check", is_flag=True, help="Exit with 1 when a target is missed.")
@click.option("--no-screen", is_flag=True, help="Only what needs no terminal.")
@click.option(
    "--format",
    "formats",
    type=click.Choice(("apply_patch", "search_replace", "unified_diff", "whole_file")),
    multiple=True,
    help="Only this format; may be repeated [default: all].",
)
def edit_command(
    is_json: bool, quick: bool, check: bool, no_screen: bool, formats: tuple[Notation, ...]
) -> None:
    """Measure what it costs that a file changes while a model speaks.

    Work per frame and the echo of keys while 10,000 tokens/s stream into a file of 10,000 lines,
    in the real program; then parsing, locating, landing and memory in every format. Takes a few
    minutes.
    """
    from tests.benchmarks.edit import measurement, plan, report, targets

    chosen = plan.QUICK if quick else plan.FULL
    chosen = replace(chosen, screen=not no_screen, formats=formats or chosen.formats)
    if chosen.screen and os.name != "posix":
        raise DuettoError("this needs a pseudo-terminal, which this system has not: --no-screen")
    findings = measurement.measure(chosen, _tell)
    found = targets.checks(findings)
    if is_json:
        click.echo(json.dumps(report.as_json(findings, found), indent=2))
    else:
        click.echo(report.as_text(findings, found))
    if check and (targets.missed(found) or findings.troubles):
        sys.exit(EXIT_FAILED)


@bench.command("bridge")
@click.option("--json", "is_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--quick", is_flag=True, help="One kind, fewer streams: some ten seconds, and rough.")
@click.option("--check", is_flag=True, help="Exit with 1 when a target is missed.")
def bridge_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure what the bridge adds to a provider, and how much it holds.

    Time to the line that says it is ready, to the first token, processor time a token; then 200
    streams beside 1,000 idle sockets: their pace, memory, and how soon an interrupt reaches the
    provider. Takes under a minute, with no network.
    """
    if os.name != "posix":
        raise DuettoError("this reads pipes and /proc, which this system does not have")
    from tests.benchmarks.bridge import measurement, plan, report, targets
    from tests.benchmarks.edit.targets import missed

    findings = measurement.measure(plan.QUICK if quick else plan.FULL, _tell)
    found = targets.checks(findings)
    if is_json:
        click.echo(json.dumps(report.as_json(findings, found), indent=2))
    else:
        click.echo(report.as_text(findings, found))
    if check and (missed(found) or findings.troubles):
        sys.exit(EXIT_FAILED)


def _measure_screen(choices: ScreenChoices, only_stream: bool) -> None:
    if os.name != "posix":
        raise DuettoError("this needs a pseudo-terminal, which this system does not have")
    from tests.benchmarks.screen import measurement, plan, report, targets

    chosen = plan.QUICK if choices["quick"] else plan.FULL
    peers = measurement.peer_programs(choices["peers"], choices["peer_path"])
    chosen = replace(
        chosen,
        rates=tuple(sorted(set(choices["rates"]))) or chosen.rates,
        long_tokens=plan.LONG_TOKENS if choices["is_long"] else 0,
        peers=peers,
        only_stream=only_stream,
    )
    findings = measurement.measure(chosen, _tell)
    found = targets.checks(findings)
    if choices["is_json"]:
        click.echo(json.dumps(report.as_json(findings, found), indent=2))
    else:
        click.echo(report.as_text(findings, found))
    if choices["check"] and (targets.missed(found) or findings.troubles):
        sys.exit(EXIT_FAILED)


def _tell(what: str) -> None:
    """Say on a terminal what is being measured: it takes a while."""
    if sys.stderr.isatty():
        click.echo(f"measuring {what}", err=True)


def main() -> None:
    """Run the command line: 0 done, 1 failed or with --check missed, 2 wrong usage."""
    try:
        bench(prog_name="python -m tests.benchmarks")
    except DuettoError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
