"""``edit`` measures all that has a target, in all formats, and judges it.

How fast it is is judged on a quiet machine, not here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tests.benchmarks.edit import core_costs, core_run, figures, samples, screen_run, targets
from tests.benchmarks.edit.core_costs import Edit
from tests.benchmarks.edit.figures import Findings, Spot
from tests.benchmarks.edit.plan import QUICK
from tests.benchmarks.edit.report import as_json, as_text
from tests.benchmarks.screen.replay_text import EDITED, Wanted, long_file
from tests.support.commands import BENCH, Duetto, clean_environment
from tui.core.edit_stream.events import Notation
from tui.errors import DuettoError

FORMATS = get_args(Notation)
each_format = pytest.mark.parametrize("fmt", FORMATS)


@pytest.fixture
def duetto(tmp_path: Path) -> Duetto:
    return Duetto(tmp_path, clean_environment(tmp_path / "home"), command=BENCH)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.case("J01")
def test_a_quick_run_measures_the_screen_with_every_format(duetto: Duetto) -> None:
    ran = duetto.run("edit", "--quick", "--json", "--format", "apply_patch", timeout_s=360)
    assert (ran.returncode, ran.stderr) == (0, b"")
    shown = json.loads(ran.stdout)
    assert shown["troubles"] == []
    found = {(one["figure"], one["where"]): one for one in shown["figures"]}
    same = [one for (figure, _), one in found.items() if figure == figures.SAME]
    assert len(same) == 4
    assert all(one["value"] == 1 and one["verdict"] == "ok" for one in same)
    for figure in (figures.FRAME_P95, figures.KEY_P95, figures.KEY_MAX):
        one = found[figure, "apply_patch"]
        assert one["verdict"] in ("ok", "missed")
        assert one["value"] > 0
    assert found[figures.KEYS, "apply_patch"]["value"] == 100
    (length,) = [one for (figure, _), one in found.items() if figure == figures.LONG_FILE]
    assert length["value"] > 0
    assert shown["reached"] + shown["missed"] == shown["judged"]


@pytest.mark.slow
@pytest.mark.parametrize("fmt", ["apply_patch", "whole_file"])
def test_every_target_of_the_core_is_measured(fmt: Notation) -> None:
    small = replace(
        QUICK, formats=(fmt,), parse_characters=20_000, sections=(20, 60), hunks=60,
        added_lines=80, long_line=40_000, memory_lines=200,
    )  # fmt: skip
    findings = Findings(quick=True)
    for figure, where, step in core_run.steps(small):
        findings.add(figure, where, *step())
    checks = targets.checks(findings)
    wanted = {figures.PARSE, figures.SECTIONS, figures.DELTAS, figures.TWICE, figures.LINE}
    wanted |= {figures.WAITING_MB, figures.WAITING_S}
    if fmt != "whole_file":
        wanted |= {figures.LOCATE, figures.FIRST, figures.WORST, figures.HUNKS}
    assert {check.figure for check in targets.judged(checks)} == wanted
    assert all(check.value for check in targets.judged(checks))


def test_an_edit_is_told_so_that_it_makes_what_is_wanted() -> None:
    lines = samples.source(80)
    for fmt in FORMATS:
        edit = Edit(lines, samples.spread(lines, 4, added=2), fmt)
        workspace = core_costs.workspace_of(lines)
        landing, _ = core_costs.land(workspace, edit, size=17)
        assert landing.placed_all, fmt
        core_costs.check(workspace, edit)
        assert workspace.buffers[EDITED].text().count("changed_3_") == 2, fmt


def test_what_did_not_land_exactly_is_no_figure() -> None:
    lines = samples.source(60)
    edit = Edit(lines, samples.spread(lines, 2))
    with pytest.raises(DuettoError, match="not what the patch says"):
        core_costs.check(core_costs.workspace_of(lines), edit)
    foreign = Edit([f"{line}!" for line in lines], samples.spread(lines, 2))
    with pytest.raises(DuettoError, match="refused"):
        core_costs.located_ms(lines, foreign, refused=False)


@each_format
def test_the_batch_result_is_the_file_with_the_streamed_lines(fmt: Notation) -> None:
    lines = 60
    before = long_file(lines).encode()
    line = lines if fmt == "whole_file" else 12
    asked = Wanted(1000, 400, 1001, screen_run.KINDS[fmt], line)
    after = screen_run.batch_result(asked, before).decode()
    assert after.count(asked.end) == 1
    assert len(asked.mark.findall(after)) > 1
    assert all(row in after for row in before.decode().splitlines())


def test_a_target_is_judged_once_and_only_where_it_is_set() -> None:
    findings = Findings(quick=False)
    findings.add(figures.FRAME_P95, "apply_patch", 9.0, 7.0, 7.5)
    findings.add(figures.FRAME_P95, "1,000 lines", 9.0)
    findings.add(figures.PARSE, "apply_patch, custom, deltas of 1", 3.0)
    findings.add(figures.PARSE, "apply_patch, custom, deltas of 4", 3.0)
    findings.add(figures.TOKEN, "apply_patch", 1.0)
    found = targets.checks(findings)
    assert [check.verdict for check in found] == ["ok", "not judged", "ok", "missed", "not judged"]
    assert found[0].value == 7.5
    assert [check.figure for check in targets.missed(found)] == [figures.PARSE]
    assert findings.value(Spot(figures.KEYS)) is None
    shown = as_json(findings, found)
    assert (shown["judged"], shown["reached"], shown["missed"]) == (3, 2, 1)
    text = as_text(findings, found)
    assert "2 of 3 targets are reached." in text
    assert "MISSED  parsing MB/s, apply_patch, custom, deltas of 4: 3 (at least 5)" in text
