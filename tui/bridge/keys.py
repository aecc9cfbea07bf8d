"""Keys of endpoints: from the environment, else from the system's keyring.

In the keyring they are entries of the service ``duetto``, named after the endpoint or after its
provider. The keyring's library is loaded when a key is looked for there, never before.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from tui.bridge.endpoints.base import EndpointSpec
from tui.errors import UsageError

SERVICE = "duetto"
PATIENCE_S = 60.0
"""The system may ask the user to unlock the keyring."""
LOOK_S = 4.0
"""Who only looks for a key waits so long: nobody may be there to unlock it."""
T = TypeVar("T")


def key_of(name: str, spec: EndpointSpec, environment: Mapping[str, str]) -> str:
    """The key of an endpoint; empty: it wants none, or there is none."""
    if not spec.key_env:
        return ""
    return environment.get(spec.key_env, "").strip() or stored_key((name, spec.provider))


def stored_key(users: tuple[str, ...], patience_s: float = LOOK_S) -> str:
    """The first key that the keyring has under one of these names; empty: none. Never raises."""

    def look() -> str:
        import keyring

        found = (keyring.get_password(SERVICE, user) for user in users if user)
        return next((key.strip() for key in found if key and key.strip()), "")

    with contextlib.suppress(UsageError):
        return _patiently(look, patience_s)
    return ""


def store(user: str, key: str) -> None:
    """Put a key into the keyring. Raises UsageError: there is none, or it is locked."""

    def put() -> None:
        import keyring

        keyring.set_password(SERVICE, user, key)

    _patiently(put, PATIENCE_S)


def remove(user: str) -> bool:
    """Take a key out of the keyring; False: it was not there. Raises UsageError."""

    def take() -> bool:
        import keyring

        if keyring.get_password(SERVICE, user) is None:
            return False
        keyring.delete_password(SERVICE, user)
        return True

    return _patiently(take, PATIENCE_S)


def _patiently(work: Callable[[], T], patience_s: float) -> T:
    """Do it in a thread and wait so long. Raises UsageError: it cannot be done.

    The backends raise what they like; their words are not repeated, they may quote an entry.
    """
    ended: list[T | BaseException] = []

    async def said() -> tuple[T | BaseException]:
        async def tried() -> T:
            return work()

        # not an except: which errors there are depends on the backend
        return await asyncio.gather(tried(), return_exceptions=True)

    thread = threading.Thread(
        target=lambda: ended.extend(asyncio.run(said())), daemon=True, name="keyring"
    )
    thread.start()
    thread.join(patience_s)
    if not ended:
        raise UsageError("the system's keyring does not answer: unlock it, then try again")
    end = ended[0]
    if not isinstance(end, BaseException):
        return end
    name = type(end).__name__
    if name in ("NoKeyringError", "InitError", "ModuleNotFoundError"):
        raise UsageError(
            "this system has no keyring that could be used: set the provider's environment "
            "variable instead (duetto doctor names it)"
        )
    raise UsageError(f"the system's keyring refused ({name}): is it unlocked?")
