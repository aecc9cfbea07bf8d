"""What one connection teaches about its endpoint: facts go into `Capabilities`."""

from __future__ import annotations

from tui.core.wire.capabilities import Capabilities


class Lessons:
    """Writes down what the endpoint did; ``news`` is set whenever a fact changed."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.news = False

    def lanes(self, works: bool) -> None:
        """It echoes names, or not."""
        self.news |= self.capabilities.lanes is not works
        self.capabilities.lanes = works

    def prewarm(self, works: bool) -> None:
        """It prepares without generating, or not."""
        self.news |= self.capabilities.prewarm is not works
        self.capabilities.prewarm = works

    def unwarmed(self) -> None:
        """It did not answer a prewarm; where it has before, that is proof the next time only."""
        self.news = True
        self.capabilities.prewarm = None if self.capabilities.prewarm else False

    def interrupt(self, model: str, works: bool) -> None:
        """It stops a response of this model, or not."""
        self._fact(self.capabilities.interrupt, model, works)

    def steer(self, model: str, works: bool) -> None:
        """It redirects a response of this model, or not."""
        self._fact(self.capabilities.steer, model, works)

    def silence(self, facts: dict[str, bool], model: str) -> None:
        """It did not answer: proof only where it has never answered (else the network is slow)."""
        if not facts.get(model):
            self._fact(facts, model, False)

    def _fact(self, facts: dict[str, bool], model: str, works: bool) -> None:
        self.news |= facts.get(model) is not works
        facts[model] = works
