"""A text that was cut and what a model goes on with: joined, nothing twice."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.patches.seam import Seam

WHOLE = """\
I'll take one lock, and hold it in every method that writes.

*** Begin Patch
*** Update File: cache.py
@@
 class Cache:
     def put(self, key):
-        self.items[key] = 1
+        with self.lock:
+            self.items[key] = 1
         return key
*** End Patch

The tests pass with it, as far as I can see.
"""
CUTS = range(8, len(WHOLE), 7)


def joined(stands: str, came: str, step: int) -> str:
    seam, behind = Seam(stands), ""
    for at in range(0, len(came), step):
        behind += seam.feed(came[at : at + step])
    behind += seam.end()
    return stands[: seam.kept] + behind


@each("step", [1, 5, 10_000])
@each("lines", [None, 2, 3, 100])
def test_it_goes_on_exactly_or_repeats_its_last_lines_or_all(step: int, lines: int | None) -> None:
    for cut in CUTS:
        stands = WHOLE[:cut]
        again = "" if lines is None else "".join(stands.splitlines(True)[-lines:])
        assert joined(stands, again + WHOLE[cut:], step) == WHOLE, stands[-40:]


def test_one_that_begins_anew_and_differs_replaces_what_differs() -> None:
    seam = Seam("First.\n+    one = 1\n+    tw")
    other = "First.\n+    one = 2\n"
    assert seam.feed(other) == "2\n"
    assert seam.anew
    assert seam.kept == len("First.\n+    one = ")


def test_a_short_likeness_is_no_repetition() -> None:
    assert joined("+ {\n+    }\n", "+    }\n+}\n", 3) == "+ {\n+    }\n+    }\n+}\n"
    assert joined("a, a", ", a, a", 1) == "a, a, a, a"
