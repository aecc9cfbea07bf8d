"""What colours cost, in ms of CPU: opening, jumping, editing, streaming, by language and length.

Run with ``python -m tests.budgets.colour_cost``. A slice is one call of `idle`, or of `advance` as
a repaint makes it; the worst one is how long a key may have to wait because of colours.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import process_time

from tui.core.text.buffer import Buffer
from tui.ui.highlight.colours import BufferColours

SIZES = (10_000, 50_000)
ROWS = 50
PAINT_S, IDLE_S = 0.005, 0.004
FRAMES = 120
TOKENS_PER_FRAME = 67
"""4,000 a second, 60 frames a second."""
PYTHON = (
    "def value_{0}(self, key: str, default: int = {0}) -> int:\n"
    '    """What is kept under a key; {0} if there is nothing."""\n'
    "    # look it up once\n"
    "    found = self._items.get(key)\n"
    "    return default if found is None else int(found) + {0}\n"
    "\n"
)
SCRIPT = (
    "/** What is kept under {0}. */\n"
    "function value{0}(key, fallback = {0}) {{\n"
    "  const found = items.get(`${{key}}/{0}`);\n"
    "  return found === undefined ? fallback : Number(found) + {0};\n"
    "}}\n"
    "\n"
)
YAML = (
    "service_{0}:\n  image: 'registry/{0}'\n  ports: [80, {0}]\n  note: |\n    free text\n    {0}\n"
)
JSON = '  "key_{0}": {{\n    "a": [1, 2, {0}],\n    "b": true,\n    "c": "text {0}"\n  }},\n\n'
RUBY = "def value_{0}(key)\n  # look it up\n  @items[key] || <<~EOS\n    none {0}\n  EOS\nend\n"
TEMPLATE = "{{% for x in list_{0} %}}\n<p class='a'>\n  {{{{ x.name }}}}\n</p>\n{{% endfor %}}\n\n"
FILES: dict[str, tuple[str, str, str]] = {
    "a.py": ("", PYTHON, ""),
    "a.js": ("", SCRIPT, ""),
    "a.yaml": ("", YAML, ""),
    "a.rb": ("", RUBY, ""),
    "a.json": ("{\n", JSON, "}\n"),
    "a.html.j2": ("", TEMPLATE, ""),
    "fence.md": ("# Title\n\n```python\n", PYTHON, "```\n"),
    "script.html": ("<p>\n<script>\n", SCRIPT, "</script>\n"),
    "docstring.py": (
        '"""Long.\n',
        "Free text of a long docstring, line {0}.\n" * 6,
        '"""\nx = 1\n',
    ),
}


def source(name: str, lines: int) -> str:
    """A file of about so many lines."""
    before, unit, after = FILES[name]
    return before + "".join(unit.format(number) for number in range(lines // 6)) + after


class Watch:
    """What calls took."""

    def __init__(self) -> None:
        self.taken_ms: list[float] = []

    def __call__(self, call: Callable[[], object]) -> None:
        """Call it and note what it took."""
        began = process_time()
        call()
        self.taken_ms.append((process_time() - began) * 1000)

    def __str__(self) -> str:
        taken = sorted(self.taken_ms)
        p95 = taken[int(len(taken) * 0.95)] if taken else 0.0
        return f"{median(taken):6.2f} {p95:6.2f} {max(taken):6.2f}"


def settle(colours: BufferColours, watch: Watch) -> None:
    """Let it work in slices until nothing is left."""
    while colours.pending:
        if not colours.wait_s:
            watch(lambda: colours.idle(IDLE_S))


def paint(colours: BufferColours, buffer: Buffer, first: int) -> None:
    """What a repaint asks for."""
    last = min(first + ROWS, buffer.line_count - 1)
    colours.advance(last, PAINT_S, first)
    for line in range(first, last):
        colours.spans(line)


def stream(colours: BufferColours, buffer: Buffer, line: int, watch: Watch) -> None:
    """A model writes lines of this file at 4,000 tokens/s, and every frame is painted."""
    unit = [text + "\n" for text in buffer.lines[line - 12 : line]]
    place = (line, 0)
    written = 0
    for _ in range(FRAMES):

        def frame() -> None:
            nonlocal place, written
            for _ in range(TOKENS_PER_FRAME):
                text = unit[written // 8 % len(unit)]
                part = text[len(text) * (written % 8) // 8 : len(text) * (written % 8 + 1) // 8]
                written += 1
                place = buffer.replace(place, place, part).new_end
            paint(colours, buffer, max(place[0] - ROWS + 5, 0))

        watch(frame)


def report(name: str, lines: int) -> None:
    """One row of the table for each thing that is done."""
    buffer = Buffer(name, source(name, lines))
    colours = BufferColours(buffer)
    shown = {step: Watch() for step in ("build", "open", "rest", "jump", "key", "stream", "repair")}
    while not colours.loaded:
        shown["build"](lambda: colours.idle(0.0))
    shown["open"](lambda: paint(colours, buffer, 0))
    shown["jump"](lambda: paint(colours, buffer, lines * 4 // 5))
    settle(colours, shown["rest"])
    for number in range(60):
        place = (lines // 2 + number * 7, 0)

        def key(place: tuple[int, int] = place) -> None:
            buffer.replace(place, place, "x")
            paint(colours, buffer, place[0] - 20)

        shown["key"](key)
    stream(colours, buffer, lines // 2 // 6 * 6 + 6, shown["stream"])
    settle(colours, shown["repair"])
    for step, watch in shown.items():
        if watch.taken_ms:
            total = sum(watch.taken_ms)
            print(f"{name:<14} {lines:>7,} {step:<8} {watch} {total:9.1f}")


def main() -> None:
    """Print the table."""
    gc.set_threshold(1000, 10, 1000)  # as the app does
    print(f"{'':<14} {'lines':>7} {'':<8} {'median':>6} {'p95':>6} {'worst':>6} {'sum':>9}  (ms)")
    for name in FILES:
        for lines in SIZES:
            report(name, lines)


if __name__ == "__main__":
    main()
