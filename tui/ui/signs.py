"""What the signs on the screen mean, in words: the help has them, as everything has a word."""

from __future__ import annotations

SIGNS: tuple[tuple[str, str], ...] = (
    ("▌ left of a line", "a model is writing it: landing"),
    ("▍ in a line", "the model's pen: what comes next lands here"),
    ("┃ left of a line", "it landed and waits for your decision: pending"),
    ("╏ left of a line", "it was cut short by a stop, and waits for your decision: partial"),
    ("│ left of a line", "you accepted it"),
    ("╌ left of a line", "it is to be removed: struck"),
    ("! left of a line", "two changes of the same lines: conflict"),
    ("┆ left of a line", "a place where a hunk fits: candidate"),
    ("┊ left of a line", "it is coming, and its place is not known yet"),
    ("▹ left of a line", "a model at 50 tokens/s would be writing here now"),
    ("● behind a name", "what you typed in this file is not saved"),
    ("! behind a name", "you and somebody else changed this file: saving asks"),
    ("✎ before a name", "a model is writing in this file"),
    ("▸ before a name", "the editor follows the model into this file"),
    ("▸ before fast or deep", "at the top: the role that answers what you send"),
    ("M A D U ?", "in the file tree, of git: modified, added, deleted, in conflict, new to git"),
    ("•", "in the file tree: something in this folder is not as committed"),
    ("● ◌ ○", "at the right of the status line: connected, connecting, not connected"),
    ("~", "before a figure: an estimate, until the server has counted"),
)
"""Where a sign stands, and what it says; the same signs where a terminal has no Unicode."""
