"""The fields of the status line: their names, what goes first where there is little room.

`DEFAULT` is the line that duetto comes with, written as anybody writes theirs in config.toml.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from tui.core.meter import MeterView
from tui.ui.widgets import meter, standing
from tui.ui.widgets.line_template import Complaint, Template, parsed
from tui.ui.widgets.meter import Forms
from tui.ui.widgets.standing import Scene

DEFAULT = (
    "{news}  {rate} tok/s  {spark}  {scale}  [ghost {ghost}]  [ttft {ttft}]  [{tokens} tok]"
    "  {seconds}  {reasoning}  [ctx {context}]  {cost}  [Σ {session_cost}]"
    "{fill}{running}  {verdict}  {throttle}  {served}  {tier}  {limits}  {connection}"
)


STATES = 5
"""Below that weight: what happens now, which is said in whole words before others come."""
EXTRA = 16
"""Figures of that weight and more are shown where all others have all the room that they want."""
_STANDS_OUT = 4


class Field(NamedTuple):
    """One figure."""

    weight: int
    """The higher, the sooner it goes where there is no room; 0 is the last to go."""
    forms: Callable[[Scene, str], Forms]
    options: tuple[str, ...] = ()
    """What can be asked for behind a colon; ``cells`` is a number."""
    follows_time: bool = False
    """It changes while nothing else does."""
    stands_out: Callable[[Scene], bool] = lambda scene: False
    """What it says now is no matter of course: it goes late."""

    def weight_in(self, scene: Scene) -> int:
        """Its weight for what it says now."""
        return _STANDS_OUT if self.stands_out(scene) else self.weight


def _metered(forms: Callable[[MeterView], Forms]) -> Callable[[Scene, str], Forms]:
    return lambda scene, _: forms(scene.view)


def _said(forms: Callable[[Scene], Forms]) -> Callable[[Scene, str], Forms]:
    return lambda scene, _: forms(scene)


FIELDS: dict[str, Field] = {
    "news": Field(0, _said(standing.news)),
    "rate": Field(1, _metered(meter.rate)),
    "connection": Field(5, _said(standing.connection), stands_out=standing.away),
    "verdict": Field(3, _said(standing.verdict)),
    "running": Field(3, _said(standing.running)),
    "limits": Field(4, standing.limits, ("all",), follows_time=True),
    "tokens": Field(5, _metered(meter.tokens)),
    "scale": Field(
        6, lambda scene, option: meter.scale(scene.view, option), ("words", "plain", "cells")
    ),
    "ghost": Field(7, _metered(meter.ghost)),
    "ttft": Field(8, _metered(meter.ttft)),
    "throttle": Field(4, _said(standing.throttle)),
    "served": Field(16, _said(standing.served), stands_out=standing.other_model),
    "seconds": Field(10, _metered(meter.seconds)),
    "reasoning": Field(11, _metered(meter.reasoning)),
    "cost": Field(12, _metered(meter.cost)),
    "spark": Field(13, lambda scene, option: meter.spark(scene.view, option), ("cells",)),
    "context": Field(14, _metered(meter.context)),
    "session_cost": Field(15, _metered(meter.session_cost)),
    "tier": Field(17, _said(standing.tier), stands_out=standing.other_tier),
    "role": Field(10, _said(standing.role)),
    "model": Field(11, _said(standing.model)),
    "effort": Field(16, _said(standing.effort)),
    "endpoint": Field(16, _said(standing.endpoint)),
    "transport": Field(16, _said(standing.transport)),
    "trip": Field(16, _said(standing.trip)),
    "queue": Field(10, _said(standing.queue)),
    "path": Field(12, _said(standing.path)),
    "workspace": Field(14, _said(standing.workspace)),
    "branch": Field(14, _said(standing.branch)),
    "clock": Field(15, _said(standing.clock), follows_time=True),
}


def template_of(text: str) -> tuple[Template, list[Complaint]]:
    """The template of a text, and what is wrong with it; empty: the default."""
    default = default_template()
    if not text:
        return default, []
    template, complaints = parsed(text, FIELDS, default)
    return template, [*complaints, *_wrong_options(template)]


@lru_cache(maxsize=1)
def default_template() -> Template:
    """The line as it comes with duetto."""
    return parsed(DEFAULT, FIELDS, Template())[0]


def _wrong_options(template: Template) -> list[Complaint]:
    """What is asked of fields that they do not know: they are shown as ever."""
    found = []
    for chunk in (*template.left, *template.right):
        for figure in chunk.figures():
            options = FIELDS[figure.name].options if figure.name else ()
            number = "cells" in options and figure.option.isdecimal()
            if not figure.name or not figure.option or figure.option in options or number:
                continue
            known = [one for one in options if one != "cells"]
            known += ["a number of cells"] if "cells" in options else []
            step = f"it knows {' or '.join(known)}" if known else "it knows no option"
            words = f"{{{figure.name}}} does not know {figure.option[:40]!r}; {step}"
            found.append(Complaint(figure.line, words))
    return found
