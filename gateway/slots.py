"""How many sessions there may be: in all, per address and per role."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gateway.config import Limits
from gateway.refusals import TooManyClients
from gateway.workers import SharedCount


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that one session takes."""

    address: str
    role: str


class Slots:
    """Counts sessions from their startup packet to their end."""

    def __init__(self, limits: Limits, shared: SharedCount | None = None) -> None:
        self._limits = limits
        self._shared = shared
        self._taken = 0
        self._by_address: Counter[str] = Counter()
        self._by_role: Counter[str] = Counter()

    def take(self, address: str, role: str) -> Slot:
        """Take a place; raises TooManyClients."""
        limits = self._limits
        taken = self._taken if self._shared is None else self._shared.total()
        if taken >= limits.max_connections:
            raise TooManyClients("sorry, too many clients already")
        if _reached(self._by_address[address], limits.max_connections_per_address):
            raise TooManyClients("too many connections from this address")
        if _reached(self._by_role[role], limits.max_connections_per_role):
            raise TooManyClients(f'too many connections for role "{role}"')
        self._count(+1)
        self._by_address[address] += 1
        self._by_role[role] += 1
        return Slot(address, role)

    def free(self, slot: Slot) -> None:
        """Give a place back."""
        self._count(-1)
        for counter, key in ((self._by_address, slot.address), (self._by_role, slot.role)):
            counter[key] -= 1
            if not counter[key]:
                del counter[key]

    def _count(self, change: int) -> None:
        self._taken += change
        if self._shared is not None:
            self._shared.set(self._taken)


def _reached(count: int, limit: int | None) -> bool:
    return limit is not None and count >= limit
