"""duetto: a terminal pair-programmer that you can interrupt."""

__version__ = "0.1.0"
