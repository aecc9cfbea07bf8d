"""What the parts of a session share."""

from __future__ import annotations

from dataclasses import dataclass

from tui.engine.backlog import Backlog
from tui.engine.board import Board
from tui.engine.desk import Desk
from tui.engine.ports import Ports
from tui.engine.requests import Requests
from tui.engine.supervisor import Supervisor
from tui.engine.tools import Tools


@dataclass(frozen=True, slots=True)
class Kit:
    """The shared parts, made once by `Session`."""

    ports: Ports
    board: Board
    desk: Desk
    requests: Requests
    tools: Tools
    supervisor: Supervisor
    backlog: Backlog
