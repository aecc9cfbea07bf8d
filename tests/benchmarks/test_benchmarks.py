"""The benchmarks run, measure every figure and judge it. How fast it is is judged on a quiet
machine, not here; the slow ones run the real thing."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from tests.benchmarks.__main__ import bench
from tests.benchmarks.bridge import measurement as bridge
from tests.benchmarks.edit import core, samples, screen_run
from tests.benchmarks.edit import figures as edit
from tests.benchmarks.findings import DUETTO, Bound, Findings, Spot, as_json, as_text
from tests.benchmarks.screen import figures as seen
from tests.benchmarks.screen import measurement as screen
from tests.benchmarks.screen.replay_text import EDITED, Kind, Wanted, long_file, pieces, wanted
from tests.benchmarks.screen.stand import Played, Sent
from tests.benchmarks.screen.terminal import Emulator, Picture
from tests.benchmarks.transport import measurement as transport
from tests.benchmarks.transport.far_network import INITIAL_BYTES, CongestionWindow, FarNetwork
from tests.benchmarks.worker import Worker
from tests.support.commands import BENCH, Duetto, clean_environment
from tui.core.edit_stream.events import Notation
from tui.errors import DuettoError

FORMATS = get_args(Notation)


def measured(folder: Path, *arguments: str, seconds: float = 500) -> dict[str, Any]:
    """What a run finds: figure -> one of its rows, and the whole under an empty name."""
    program = Duetto(folder, clean_environment(folder / "home"), command=BENCH)
    ran = program.run(*arguments, "--quick", "--json", timeout_s=seconds)
    assert (ran.returncode, ran.stderr) == (0, b"")
    shown = json.loads(ran.stdout)
    assert shown["troubles"] == []
    assert shown["reached"] + shown["missed"] == shown["judged"]
    return {"": shown, **{one["figure"]: one for one in shown["figures"]}}


@pytest.mark.slow
def test_a_quick_run_measures_all_that_a_person_feels(tmp_path: Path) -> None:
    found = measured(tmp_path, "ui")
    assert found[seen.KEYS]["value"] == 100
    assert found[seen.FIRST_PAINT]["value"] < found[seen.FIRST_KEY]["value"]
    assert found[seen.ESC_FROZEN]["value"] <= found[seen.ESC_WIRE]["value"]
    judged = {*screen.AT_EVERY_RATE, *screen.IN_ALL, seen.CPU} - {seen.RSS_LONG}
    assert judged <= found.keys()
    assert all(found[name]["target"] for name in judged)


@pytest.mark.slow
def test_a_client_of_another_make_is_measured_beside_us(tmp_path: Path) -> None:
    program, client = tmp_path / "plain", Path("tests/support/plain_client.py").absolute()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{client}"\n')
    program.chmod(0o755)
    rows = measured(tmp_path, "stream", "--peer", "pi", "--peer-path", str(program))[""]["figures"]
    ours, theirs = ({one["figure"] for one in rows if one["client"] == n} for n in (DUETTO, "pi"))
    assert ours == theirs > {seen.CPU, seen.LAG_P95}


@pytest.mark.slow
@pytest.mark.case("J01")
def test_a_quick_run_measures_edits(tmp_path: Path) -> None:
    found = measured(tmp_path, "edit", "--format", "apply_patch", seconds=500)
    same = [one for one in found[""]["figures"] if one["figure"] == edit.SAME]
    assert len(same) == 4
    assert all(one["value"] == 1 and one["verdict"] == "ok" for one in same)
    assert found[edit.KEYS]["value"] == 100
    targets = {*edit.AT_MOST, *edit.AT_LEAST, *(figure for figure, _ in edit.WHERE_AT_MOST)}
    assert targets - {edit.APPLY} <= found.keys()


@pytest.mark.slow
def test_a_quick_run_measures_the_bridge(tmp_path: Path) -> None:
    found = measured(tmp_path, "bridge")
    assert {*bridge.AT_MOST, *bridge.AT_LEAST} <= found.keys()
    assert found[bridge.CAME]["value"] == 100
    assert found[bridge.MEMORY]["value"] < found[bridge.MEMORY]["target"]


@pytest.mark.slow
def test_a_quick_run_measures_every_transport(tmp_path: Path) -> None:
    shown = measured(tmp_path, "transport", "--rtt", "20", "--history", "100")[""]
    value = {(one["figure"], one["place"]): one["value"] for one in shown["figures"]}
    at = "20 ms, 100 kB, "
    # connect, TLS, request and slow start against one round trip
    assert value[transport.TTFT, f"{at}sse-new"] >= 100
    assert value[transport.TTFT, f"{at}ws-incremental"] >= 20
    assert 100_000 < value[transport.SENT, f"{at}ws-full"] < 110_000
    assert 900 < value[transport.SENT, f"{at}ws-incremental"] < 3_000
    assert value[transport.OVERHEAD, f"{at}400 ms idle, sse-keepalive"] >= 20
    assert shown["judged"] == 6


def test_a_missed_target_fails_only_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Findings(("How.",), lambda spot: Bound(33.0) if spot.rate else None)
    found.add(Spot(seen.LAG_P95, "", 1000), 41.0, 39.0, None)
    found.add(Spot(seen.PAINTED, "somewhere", client="pi"), 2.0)
    small = Spot(seen.DRAIN, "50,000-line file")
    found.bounds[small] = Bound(1.5, note="too small a difference")
    found.add(small, 2.0)
    asked: list[screen.Plan] = []
    monkeypatch.setattr(screen, "measure", lambda plan, tell: asked.append(plan) or found)
    text = as_text(found)
    assert "MISSED  paint lag p95 ms, 1,000 tokens/s: 40.0 (at most 33.0)" in text
    assert "0 of 1 targets are reached." in text
    assert "- too small a difference" in text
    data = as_json(found)
    assert [one["verdict"] for one in data["figures"]] == ["missed", "not judged", "not judged"]
    assert (data["judged"], data["reached"], data["missed"]) == (1, 0, 1)
    rates = ["--rate", "4000", "--rate", "500", "--rate", "500", "--long"]
    for arguments, code in ((["ui", *rates], 0), (["stream", "--check", "--json"], 1)):
        ran = CliRunner().invoke(bench, arguments)
        assert (ran.exit_code, seen.LAG_P95 in ran.output) == (code, True)
    assert [one.rates for one in asked] == [(500, 4000), screen.FULL.rates]
    assert [one.long_tokens for one in asked] == [screen.LONG_TOKENS, 0]
    assert [one.only_stream for one in asked] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("stream --peer codex", "codex is not installed"),
        ("ui --peer pi --peer-path /none", "is no program"),
        ("ui --peer pi --peer codex --peer-path x", "give --peer once"),
    ],
)
def test_what_cannot_be_measured_is_said(
    arguments: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert words in str(CliRunner().invoke(bench, arguments.split()).exception)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in ("pyte", "trustme"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DuettoError, match=r"pip install"):
        Emulator()
    with pytest.raises(DuettoError, match=r"pip install"):
        transport.certificates(tmp_path)
    with pytest.raises(DuettoError, match=r"^The benchmark's server ended \([^\n]+\)\.$"):
        Worker("tests.benchmarks.transport.server", ["/nowhere/at/all.pem"])


@pytest.mark.parametrize(
    ("fresh", "value", "verdict"),
    [(20.0, 30.0, "ok"), (20.0, 31.0, "missed"), (2.0, 5.0, "not judged"), (0.0, 50.0, "missed")],
)
def test_a_long_file_makes_nothing_half_as_bad_again(
    fresh: float, value: float, verdict: str
) -> None:
    found = Findings((), screen.bound)
    found.add(Spot(seen.KEY_P95, "", 1_000), fresh)
    found.add(Spot(seen.KEY_P95, "50,000-line file", 1_000), value)
    for peer, theirs in (("codex", 30.0), ("pi", 8.0)):
        found.add(Spot(seen.KEY_P95, "", 1_000, peer), theirs)
    screen.compare(found, ("codex", "pi"))
    verdicts = {one.figure: one for one in found.checks()}
    assert verdicts[f"{seen.KEY_P95}, times the fresh one"].verdict == verdict
    assert verdicts[f"{seen.KEY_P95}, times the best peer's"].value == fresh / 8


# the screen: text, marks, pictures, figures


@pytest.mark.parametrize("kind", get_args(Kind))
def test_marks_say_at_which_token_they_are(kind: Kind) -> None:
    asked = Wanted(1_000, 2_000, 1234, kind)
    tokens = pieces(asked)
    marks = [int(number) for number in asked.mark.findall("".join(tokens))]
    assert len(marks) > 2_000 / 60
    assert all("".join(tokens[at : at + 2]) == f"{asked.letter}{at:06d}" for at in marks)
    assert "".join(tokens).count(asked.end) == 1
    assert 0.97 < len(tokens) / 2_000 < 1.06
    assert wanted(f"{asked.go_word} {asked.go_word} and more") == asked


def test_an_update_counts_when_it_is_shown_and_pieces_may_be_cut_anywhere() -> None:
    asked = Wanted(1_000, 100, 1234)
    frame = b"\x1b[?2026h\x1b[2;1H\x1b[38;2;1;2;3mhello m000120 w\xc3\xb6rld\x1b[0m\x1b[?2026l"
    frames = b"\x1b[>1u\x1b[?1049h" + frame.replace(b"m000120", f"{asked.letter}000120".encode())
    for cut in range(1, len(frames)):
        cuts = [(1.0, frames[:cut]), (2.0, frames[cut:])]
        picture = Emulator().read(cuts, ["w\u00f6rld"], asked.mark)
        assert picture.marks == [(2.0, 120)]
        assert picture.seen == {"w\u00f6rld": 2.0}


def test_a_stream_s_figures() -> None:
    asked = Wanted(1_000, 400, 1234)
    tokens = pieces(asked)
    last_s = 10 + len(tokens) / 1_000
    marks = [int(number) for number in asked.mark.findall("".join(tokens))]
    painted = [(10 + (at + 1) / 1_000 + 0.020, at) for at in marks]
    picture = Picture(None, painted[::2], {asked.end: last_s + 0.012})
    sent = Sent("websocket", 9.9, 10.0, last_s, len(tokens), None, "", True)
    samples = [(9.8, 5.0), (last_s + 1, 5.08)]
    found = dict(seen.stream(Played(asked, 9.8, sent, picture, samples)))
    assert found[seen.LAG_P95] >= 20  # a mark that was never seen counts when one behind it is
    assert found[seen.DRAIN] == pytest.approx(12, abs=0.01)
    assert found[seen.CPU] == pytest.approx(0.08 / len(tokens) * 1_000)


def test_an_esc_is_split_by_the_trace(tmp_path: Path) -> None:
    stamped = (
        *((9.0, "key", "escape"), (10.001, "key", "a"), (10.020, "key", "escape")),
        *((10.021, "frozen", "main"), (10.022, "wire", "x"), (10.027, "painted", "7")),
    )
    rows = [
        json.dumps({"t_ns": int(at_s * 1e9), "name": name, "detail": detail})
        for at_s, name, detail in stamped
    ]
    (tmp_path / "trace").write_text("\n".join([*rows, '{"t_ns": 1, "na']))
    sent = Sent("websocket", 9.0, 9.1, 10.0, 900, 10.0225, "response.interrupt", True)
    picture = Picture(marks=[(9.5, 400), (9.99, 800), (10.027, 900)])
    found = dict(seen.esc(10.0, sent, picture, seen.read(tmp_path / "trace")))
    wanted_ms = {seen.PRESS_WIRE: 22.5, seen.PRESS_STILL: 27, seen.ESC_KEY: 20, seen.ESC_WIRE: 2}
    assert found == pytest.approx(wanted_ms | {seen.ESC_FROZEN: 1, seen.ESC_STILL: 7})


# edits, and the far network


@pytest.mark.parametrize("fmt", FORMATS)
def test_an_edit_is_told_so_that_it_makes_what_is_wanted(fmt: Notation) -> None:
    lines = samples.source(80)
    one = core.Edit(lines, samples.spread(lines, 4, added=2), fmt)
    workspace = core.workspace_of(lines)
    assert core.land(workspace, one, size=17)[0].placed_all
    core.check(workspace, one)
    with pytest.raises(DuettoError, match="not what the patch says"):
        core.check(core.workspace_of(lines), one)
    before, line = long_file(60), 60 if fmt == "whole_file" else 12
    asked = Wanted(1000, 400, 1001, screen_run.KINDS[fmt], line)
    after = screen_run.batch_result(asked, before.encode()).decode()
    assert after.count(asked.end) == 1
    assert all(row in after for row in before.splitlines())
    assert EDITED in one.text


@pytest.mark.slow
@pytest.mark.parametrize("fmt", ["apply_patch", "whole_file"])
def test_every_target_of_the_core_is_measured(fmt: Notation) -> None:
    small = replace(
        edit.QUICK, formats=(fmt,), parse_characters=20_000, sections=(20, 60), hunks=60,
        added_lines=80, long_line=40_000, memory_lines=200,
    )  # fmt: skip
    found = {figure for figure, _, step in core.steps(small) if step()}
    locating = {edit.LOCATE, edit.FIRST, edit.WORST, edit.HUNKS}
    assert found >= {edit.PARSE, edit.SECTIONS, edit.DELTAS, edit.TWICE, edit.LINE}
    assert (found >= locating) is (fmt == "apply_patch")


def test_no_idle_time_makes_a_window_smaller_than_at_first() -> None:
    window, now, left = CongestionWindow(0.02), 0.0, 500_000
    while left > 0:
        room = min(left, window.room(now))
        if room:
            window.sent(room, now)
            left -= room
        else:
            now = window.next_acknowledgement
    assert window.room(now + 60.0) == INITIAL_BYTES


async def test_bytes_arrive_whole_in_order_and_late() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        network, loop = FarNetwork(server.sockets[0].getsockname()[1]), asyncio.get_running_loop()
        port = await network.listen(0.05)
        began_s = loop.time()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        # a round trip to connect, and one there and back; three flights there of the last
        for data, trips in ((b"x", 2), (b"y", 1), (bytes(range(256)) * 400, 3)):
            writer.write(data)
            assert await reader.readexactly(len(data)) == data
            assert loop.time() - began_s >= trips * 0.05 * 0.95
            began_s = loop.time()
        assert network.sent_bytes(port) == 2 + 256 * 400
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
