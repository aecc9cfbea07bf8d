"""Memory that was freed, back to the system."""

from __future__ import annotations

import sys


def give_back() -> None:
    """Have the C library return what it keeps of freed memory; does nothing where it cannot.

    Takes some milliseconds, without the interpreter's lock: call it in a thread. Only glibc on
    Linux keeps much and can be asked (``malloc_trim``).
    """
    if sys.platform != "linux":
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))
