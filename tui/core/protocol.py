"""The wire protocol of both sides, sans-IO: where the rest of the house imports it from."""

from __future__ import annotations

from tui.core.client_protocol import Capabilities as Capabilities
from tui.core.client_protocol import ClientProtocol as ClientProtocol
from tui.core.run import Run as Run
from tui.core.run import usage_fields as usage_fields
from tui.core.server_protocol import ServerProtocol as ServerProtocol
