"""The sockets to the models: lanes over few persistent WebSockets, dialled, kept and renewed.

::

    Endpoint      one server: its address, what it can do, its links, its way by HTTP
    EndpointLane  one conversation there; a `Wire` of the engine
    Link          one socket and its `core.wire.client.protocol`
    FrameSocket   the frames of one socket, split without a task, a queue or a hop a token
"""
