"""The responses of one connection: those that run, by lane, and the newest that are over."""

from __future__ import annotations

from tui.core.wire.server.run import Run

MAX_ENDED = 1024
"""Responses that are over and still known as such: what comes late comes about the newest."""


class Register:
    """See the module."""

    def __init__(self) -> None:
        self.running: dict[str | None, Run] = {}
        """By lane; None: the default one."""
        self._ended: dict[str, str | None] = {}

    def named(self, response_id: str) -> Run | None:
        """The run that is this response; None: none that runs."""
        runs = self.running.values()
        return next((run for run in runs if run.response_id == response_id), None)

    def is_over(self, response_id: str) -> bool:
        """It ran here, and has ended."""
        return response_id in self._ended

    def lane_of(self, response_id: str) -> str | None:
        """The lane of a response that is over; None also of one that nobody knows."""
        return self._ended.get(response_id)

    def ended(self, run: Run) -> None:
        """A run is over: its lane is free."""
        if self.running.get(run.lane) is run:
            del self.running[run.lane]
        self._ended[run.response_id] = run.lane
        if len(self._ended) > MAX_ENDED:
            del self._ended[next(iter(self._ended))]
