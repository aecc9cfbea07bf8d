"""The sockets to the models: lanes over few persistent WebSockets, dialled, kept and renewed.

::

    Endpoint      one server: its address, what it can do, its links, its way by HTTP
    EndpointLane  one conversation there; a `Wire` of the engine
    Link          one socket and its `core.wire.client.protocol`
    FrameSocket   the frames of one socket, split without a task, a queue or a hop a token
"""

from __future__ import annotations

from tui.effects.wire.endpoint import Endpoint as Endpoint
from tui.effects.wire.lane import EndpointLane as EndpointLane
from tui.effects.wire.options import ConnectionOptions as ConnectionOptions
from tui.effects.wire.options import Recorder as Recorder
