"""Hunks that are decided on: in the conversation, in the review, in the turn's map."""

from __future__ import annotations

from tests.snapshots.sessions import turn, whole
from tests.support.gallery import LOW, WIDE, Scene
from tests.support.review_session import PATCH, ReviewSession
from tests.support.rewinds import rewindable

TWICE = "*** Begin Patch\n*** Update File: twice.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
_HALF = 700
"""Characters of the patch that have come."""


def coming() -> ReviewSession:
    """A turn whose patch is half here."""
    session = ReviewSession()
    session.open("ledger/cache.py")
    session.begin(PATCH)
    session.feed(_HALF)
    return session


def ambiguous() -> ReviewSession:
    """A hunk that fits twice."""
    session = ReviewSession()
    session.files["twice.py"] = "x = 1\ny = 0\nx = 1\n"
    session.open("twice.py")
    session.turn_of(TWICE)
    return session


def rewound() -> ReviewSession:
    """Two turns that can be rewound."""
    return rewindable(turn())


SCENES = (
    Scene("turn-under-review", whole, ("alt+j",)),
    Scene("turn-map", turn, size=WIDE),
    Scene("turn-map-begun", coming, size=WIDE),
    Scene("review", turn, ("f7", "a", "r")),
    Scene("review-in-one-column", turn, ("f7", "s")),
    Scene("review-why", turn, ("f7", "w", *"keep the old name")),
    Scene("review-of-a-place", ambiguous, ("f7",), LOW),
    Scene("review-while-it-lands", coming, ("f7",)),
    Scene("diff", turn, ("f7", "d"), WIDE),
    Scene("rewind-turns", rewound, (*"/rewind", "enter")),
    Scene("rewind-preview", rewound, (*"/rewind 1", "enter"), LOW),
)
