"""``bridge`` measures every figure of the issue, and judges it.

How fast it is is judged on a quiet machine, not here.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from tests.benchmarks.bridge import figures, provider, targets, wires
from tests.benchmarks.bridge.plan import KINDS
from tests.benchmarks.bridge.report import as_json, as_text
from tests.benchmarks.edit.figures import Findings
from tests.support.commands import BENCH, Duetto, clean_environment
from tui.errors import DuettoError


@pytest.fixture
def duetto(tmp_path: Path) -> Duetto:
    return Duetto(tmp_path, clean_environment(tmp_path / "home"), command=BENCH)


@pytest.mark.slow
def test_a_quick_run_measures_every_figure(duetto: Duetto) -> None:
    ran = duetto.run("bridge", "--quick", "--json", timeout_s=110)
    assert (ran.returncode, ran.stderr) == (0, b"")
    shown = json.loads(ran.stdout)
    assert shown["troubles"] == []
    found = {one["figure"]: one for one in shown["figures"]}
    assert set(found) >= set(figures.AT_MOST) | set(figures.AT_LEAST)
    assert found[figures.CAME]["value"] == 100
    assert found[figures.MEMORY]["value"] < found[figures.MEMORY]["target"]
    for one in shown["figures"]:
        assert one["verdict"] in ("ok", "missed", "not judged")
        assert one["value"] is not None


def test_what_misses_its_target_is_named() -> None:
    findings = Findings(quick=True)
    findings.add(figures.STOP_MAX, "alone", 11.0)
    findings.add(figures.CAME, "everywhere", 99.9)
    findings.add(figures.DIRECT, "openai-chat", 0.1)
    found = targets.checks(findings)
    assert [check.verdict for check in found] == ["missed", "missed", "not judged"]
    text = as_text(findings, found)
    assert "MISSED  upstream told of an interrupt max ms, alone: 11.0 (at most 10.0)" in text
    assert as_json(findings, found)["missed"] == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_the_provider_s_stand_in_keeps_its_pace_and_says_who_left(kind: str) -> None:
    served = provider.Provider()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: provider.Connection(served), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    wire = await wires.dial_provider(kind, port)
    for rate in (0, 200):
        began_s = time.perf_counter()
        wire.begin(wires.direct_request(kind, f"40-{rate}-t1"))
        await wire.over()
        assert wire.tokens == 40
        assert wire.first_s > began_s
        assert not rate or wire.last_s - began_s > 0.9 * 40 / rate
    wire.begin(wires.direct_request(kind, "100000-100-gone"))
    await wire.first()
    assert wire.transport is not None
    left_s = time.perf_counter()
    wire.transport.abort()
    async with asyncio.timeout(30):
        while "gone" not in served.closed_s:
            await asyncio.sleep(0.001)
    assert served.closed_s["gone"] >= left_s
    assert served.running == 0
    server.close()


async def test_a_failed_answer_is_said() -> None:
    wire = wires.Wire(b"x", (b"end",))
    wire.data_received(b'{"type":"error","error":{"message":"no model"}}')
    with pytest.raises(DuettoError, match="no model"):
        await wire.over()
