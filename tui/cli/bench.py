"""``duetto bench``: measures what duetto promises, on this machine and without a network."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import click

from tui.errors import EXIT_FAILED


@click.group("bench", no_args_is_help=False)
def bench_command() -> None:
    """Measure what duetto promises, on this machine."""


@bench_command.command("transport")
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
    from tui.cli.bench_transport import plan, report, targets
    from tui.cli.bench_transport.measurement import measure

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


def _tell(what: str) -> None:
    """Say on a terminal what is being measured: it takes a while."""
    if sys.stderr.isatty():
        click.echo(f"measuring {what}", err=True)
