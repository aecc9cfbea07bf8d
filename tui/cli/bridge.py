"""``duetto bridge``: serve the rehearsal model on this machine, for a client that has the token."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import click


class Number(click.FloatRange):
    """A range that "not a number" is outside of."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """See click: fails with a sentence."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


@click.command("bridge")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes a free port.")
@click.option(
    "--fast-rate",
    type=Number(1, 20_000),
    metavar="N",
    help="Tokens a second of rehearsal-fast [default: 1000].",
)
@click.option(
    "--deep-rate",
    type=Number(1, 20_000),
    metavar="N",
    help="Tokens a second of rehearsal-deep [default: 65].",
)
@click.option("--seed", type=int, metavar="N", help="Which exercises the fast one gets wrong.")
@click.option(
    "--mistakes",
    type=Number(0, 1),
    metavar="SHARE",
    help="Share of the exercises that the fast one gets wrong at first, 0 to 1.",
)
@click.option(
    "--any-model",
    is_flag=True,
    help="Requests for any other model are played by the deep one.",
)
@click.option(
    "--max-age",
    type=Number(0, 1_000_000, min_open=True),
    metavar="SECONDS",
    help="End each connection when it is so old, as services do: tests a client's recovery.",
)
def bridge_command(port: int, max_age: float | None, **given: Any) -> None:
    """Serve the rehearsal model over Responses WebSocket mode, on loopback.

    Prints one JSON line with the url and the bearer token, and serves until its stdin closes or
    SIGTERM comes. Models: rehearsal-fast and rehearsal-deep, each also as NAME@RATE.
    """
    from tui.bridge.__main__ import serve
    from tui.bridge.models import Rehearsal

    names = {"fast_rate": "fast_tokens_s", "deep_rate": "deep_tokens_s"}
    chosen = {names.get(key, key): value for key, value in given.items() if value is not None}
    rehearsal = replace(Rehearsal(), **chosen)
    code = serve(rehearsal, port, max_age_s=max_age)
    if code:
        sys.exit(code)
