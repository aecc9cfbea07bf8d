"""Files that are written together: all of them, or none."""

from __future__ import annotations

from collections.abc import Mapping

from tui.core.disk_plan import DiskPlan
from tui.core.file_read import MAX_BYTES
from tui.engine.ports import Files
from tui.errors import FileRefused


def bring(files: Files, plans: Mapping[str, DiskPlan]) -> dict[str, str]:
    """Make the disk what the plans say; returns path -> why it was refused, empty: all is done.

    Every file is looked at before the first one is written. If a write fails all the same,
    those before it are taken back.
    """
    refusals = {path: why for path, plan in plans.items() if (why := _obstacle(files, path, plan))}
    done: list[str] = []
    for path, plan in {} if refusals else plans.items():
        try:
            _bring(files, path, plan)
        except FileRefused as error:
            refusals[path] = str(error)
            break
        done.append(path)
    for path in reversed(done) if refusals else ():
        plan = plans[path]
        try:
            _bring(files, path, DiskPlan(expected=plan.data, data=plan.expected))
        except FileRefused as error:
            refusals[path] = f"could not be put back: {error}"
    return refusals


def _obstacle(files: Files, path: str, plan: DiskPlan) -> str:
    """Why a plan cannot be carried out, as far as can be seen without trying."""
    if plan.data == plan.expected:
        return ""
    read = files.read(path)
    if read.refusal:
        return read.refusal
    if read.data is None and plan.expected is not None:
        return f"'{path}' is gone from the disk"
    if read.data is not None and plan.expected is None:
        return f"'{path}' exists by now"
    if read.data != plan.expected:
        return f"'{path}' was changed on the disk by somebody else"
    if plan.data is not None and len(plan.data) > MAX_BYTES:
        return f"'{path}' would be larger than 8 MB, and could not be opened again"
    if plan.data is not None and b"\0" in plan.data:
        return f"'{path}' would hold a NUL byte, and could not be edited any more"
    return ""


def _bring(files: Files, path: str, plan: DiskPlan) -> None:
    """Make the disk what a plan says. Raises FileRefused."""
    if plan.data == plan.expected:
        return
    if plan.data is not None:
        files.write(path, plan.data, plan.expected)
    elif plan.expected is not None:
        files.delete(path, plan.expected)
