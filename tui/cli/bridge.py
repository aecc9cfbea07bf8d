"""``duetto bridge``: serve the rehearsal model on this machine, for a client that has the token."""

from __future__ import annotations

import math
import sys
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
def bridge_command(
    port: int,
    fast_rate: float | None,
    deep_rate: float | None,
    seed: int | None,
    mistakes: float | None,
) -> None:
    """Serve the rehearsal model over Responses WebSocket mode, on loopback.

    Prints one JSON line with the url and the bearer token, and serves until its stdin closes or
    SIGTERM comes. Models: rehearsal-fast and rehearsal-deep, each also as NAME@RATE.
    """
    from tui.bridge.__main__ import serve
    from tui.bridge.models import Rehearsal

    base = Rehearsal()
    rehearsal = Rehearsal(
        fast_tokens_s=base.fast_tokens_s if fast_rate is None else fast_rate,
        deep_tokens_s=base.deep_tokens_s if deep_rate is None else deep_rate,
        seed=base.seed if seed is None else seed,
        mistakes=base.mistakes if mistakes is None else mistakes,
    )
    code = serve(rehearsal, port)
    if code:
        sys.exit(code)
