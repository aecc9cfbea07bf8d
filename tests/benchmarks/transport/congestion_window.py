"""How much one TCP sender may have in flight, as Linux decides it; pure arithmetic.

The rules are those of Linux' net/ipv4/tcp_output.c and tcp_input.c with the defaults of the
system on a way without loss: ten segments at first; slow start, which adds what is acknowledged
while the sender fills at least half of the window; and after an idle time longer than the
retransmission time-out half the window for each such time-out, down to ten segments
(``tcp_cwnd_restart``, RFC 2861, on by ``tcp_slow_start_after_idle``).
"""

from __future__ import annotations

import math
from collections import deque

MSS_BYTES = 1460
INITIAL_BYTES = 10 * MSS_BYTES
LEAST_VARIANCE_S = 0.2
"""The retransmission time-out is the round trip and at least this (``TCP_RTO_MIN``)."""
UNLIMITED_BYTES = 1 << 40


class CongestionWindow:
    """One direction of one connection; times are in seconds, on any clock."""

    def __init__(self, round_trip_s: float) -> None:
        """``round_trip_s`` is how long an acknowledgement takes; 0: there is no limit."""
        self.size_bytes = INITIAL_BYTES
        self._round_trip_s = round_trip_s
        self._flight: deque[tuple[float, int]] = deque()
        self._in_flight = self._most_in_flight = 0
        self._sent_at = -math.inf

    def room(self, now: float) -> int:
        """How many bytes may leave now."""
        if not self._round_trip_s:
            return UNLIMITED_BYTES
        self._acknowledge(now)
        if not self._flight and self._sent_at > -math.inf:
            self._restart(now - self._sent_at)
        return max(0, self.size_bytes - self._in_flight)

    def sent(self, size_bytes: int, now: float) -> None:
        """So many bytes left now."""
        if not self._round_trip_s:
            return
        self._flight.append((now + self._round_trip_s, size_bytes))
        self._in_flight += size_bytes
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        self._sent_at = now

    @property
    def next_acknowledgement(self) -> float:
        """When there will be more room, if there is none."""
        return self._flight[0][0] if self._flight else -math.inf

    def _acknowledge(self, now: float) -> None:
        while self._flight and self._flight[0][0] <= now:
            _, size = self._flight.popleft()
            self._in_flight -= size
            if self.size_bytes < 2 * self._most_in_flight:
                self.size_bytes += size

    def _restart(self, idle_s: float) -> None:
        timeout_s = self._round_trip_s + LEAST_VARIANCE_S
        left_s = idle_s - timeout_s
        if left_s > 0:
            self._most_in_flight = 0
        while left_s > 0 and self.size_bytes > INITIAL_BYTES:
            self.size_bytes = max(self.size_bytes // 2, INITIAL_BYTES)
            left_s -= timeout_s
