"""The guide over a workbench: looks when something changed, and says one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tui.engine.intents import Throttle
from tui.engine.notices import Notices
from tui.engine.session import Session
from tui.ui.guide.facts import Facts
from tui.ui.guide.lesson import Lesson
from tui.ui.guide.panel import GuidePanel
from tui.ui.guide.words import REPEATED, SLOW_TOKENS_S, Place, key_of, said, sentence, summary
from tui.ui.prompt.box import PromptBox
from tui.ui.rows import inert
from tui.ui.screens.workbench_panes import WorkbenchPanes
from tui.ui.widgets.panes import Panes

Ending = Literal["done", "left"]
_TOO_LATE_S = 1.5
"""An Esc that comes so soon after an answer's end was meant for the answer."""


class Guide:
    """One lesson on the screen, from `begin` to `leave`."""

    def __init__(self, bench: WorkbenchPanes, on_end: Callable[[Ending], None]) -> None:
        """``on_end`` is told once how it ended; nothing, if duetto is left before."""
        self.lesson = Lesson()
        self._bench = bench
        self._session: Session = bench.session
        self._box: PromptBox = bench.prompt_box
        self._panes: Panes = bench.panes
        self._facts = Facts(bench.session)
        self._panel = GuidePanel()
        self._on_end = on_end
        self._slowed = False
        self._ended_s = -_TOO_LATE_S
        """When the last answer came to its end."""
        self._asked = False
        """The next Esc leaves the guide."""
        self._told = False
        self._seen: object = None

    @property
    def text(self) -> str:
        """What the panel shows, as plain text."""
        return self._panel.text

    def begin(self) -> None:
        """Put the panel over the prompt; the model is slowed down until it was stopped."""
        self._panes.mount(self._panel, before=self._box)
        self._bench.guide = self
        self.lesson.begin(self._facts.look())
        if len(self._session.status.models) < 2:
            self.lesson.skipped.add("switch")  # there is no other one
        self._pace()
        self._box.focus_prompt()
        self._bench.call_after_refresh(self.look)

    def sync(self, notices: Notices) -> None:
        """Take up what changed; called once a frame."""
        if notices.status or notices.hunks or notices.transcript_from is not None:
            self.look()

    def look(self) -> None:
        """See how far it has come, and say what to do next if that is something else."""
        if self._bench.guide is not self:
            return
        before, sight = self.lesson.sight, self._facts.look()
        self.lesson.look(sight)
        if before.busy and not sight.busy:
            self._ended_s = sight.now_s
        self._pace()
        place = self._place()
        lesson = self.lesson
        seen = (
            *(lesson.step, lesson.missed, frozenset(lesson.skipped), lesson.figures.own_tokens_s),
            *(sight.busy, sight.outcome, sight.pending, sight.stopped, sight.accepted),
            *(place, self._asked),
        )
        if seen == self._seen:
            return
        if self._seen is not None and sight.busy:
            self._asked = False
        self._seen = seen
        self._say(place)
        if lesson.step is None and not self._told:
            self._told = True
            self._on_end("done")

    def leave(self) -> bool:
        """Put the guide away, at the second time of asking; the key is taken either way."""
        over, now_s = self.lesson.step is None, self._session.now()
        if not over and self.lesson.step == "stop" and now_s - self._ended_s < _TOO_LATE_S:
            return True
        if not over and not self._asked:
            self._asked = True
            self._say(self._place())
            return True
        self._bench.guide = None
        self._pace()
        self._panel.remove()
        if not self._told:
            self._told = True
            self._on_end("left")
            words = f"The guide is put away. {REPEATED} brings it back."
            self._bench.notify(words, timeout=6, markup=False)
        return True

    def _place(self) -> Place:
        prompt = self._box.prompt
        offered = inert(prompt.suggestion_shown)
        return Place(bool(prompt.text.strip()), offered, self._panes.narrow)

    def _say(self, place: Place) -> None:
        lesson = self.lesson
        stop, page = key_of("interrupt"), said(lesson, place)
        way_out = f"{stop} {'closes' if lesson.step is None else 'leaves'}"
        if self._asked:
            page = page._replace(to_do=sentence("{} again leaves the guide.", stop), happened="")
        figures = summary(lesson.figures) if lesson.step is None else ()
        self._panel.say(page, lesson.step, "" if lesson.sight.busy else way_out, figures)

    def _pace(self) -> None:
        """Slow while there is something to stop; a pace that the user asked for is left alone."""
        wanted = self.lesson.slow and self._bench.guide is self
        if wanted != self._slowed:
            self._slowed = wanted
            if wanted or self._session.status.throttle == SLOW_TOKENS_S:
                self._session.submit(Throttle(SLOW_TOKENS_S if wanted else None))
