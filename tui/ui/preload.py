"""What the first answer needs, loaded before its first token; and memory that stays tidy.

The first paint waits for none of it. It is loaded by a thread, so that keys are not held up,
right after the first paint, so that nothing runs later while nobody does anything.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import get_args

from tui.ui import theme

AFTER_S = 0.05
"""From the first paint on: the first key, which may wait already, goes first."""
_MOST_LOOKED_AT = 20_000
"""Objects: a collection of so many takes some ten milliseconds."""
TIDY_S = 0.5
"""From the end of a turn on."""


def warm() -> None:
    """Import, and use once, what an answer and the editor need; called in a thread."""
    from tui.core.edit_stream import Channel, parser_for
    from tui.ui.conversation.fences import code_rows
    from tui.ui.conversation.markdown import markdown_lines
    from tui.ui.editor.cells import line_cells

    for name in theme.theme_names():
        theme.cached_theme(name)
    markdown_lines("**warm**", 40)
    code_rows("def warm(): ...", "python")
    import_module("tui.ui.highlight.colours")
    import_module("tui.ui.screens.help")
    import_module("tui.core.patches.landing")
    for name in ("budget", "compaction", "hooks", "images"):
        import_module(f"tui.engine.{name}")
    for channel in get_args(Channel):
        parser_for("auto", channel).feed("warm.py:\n")
    line_cells("warm")


def settle() -> None:
    """No collection stops the screen for longer than a millisecond or two.

    What lives now lives until the end and need not be looked at again; of what comes, many young
    objects are looked at often, all of them once in ten million (Python: in 70,000).
    """
    gc.freeze()
    gc.set_threshold(1000, 10, 1000)


def tidy() -> None:
    """A turn is over: what it held in cycles goes, so that the next one takes its place.

    Where it has left very much, only what is young is looked at: all of it would hold keys up.
    """
    gc.collect(1)
    if len(gc.get_objects(generation=2)) < _MOST_LOOKED_AT:
        gc.collect()
