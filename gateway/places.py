"""Who has a place: every connection of all workers on a port, counted by address and by role.

Each worker writes a small file of its own and reads those of the others, all through shared memory,
so that a count costs microseconds. A worker that dies leaves its file behind; whoever replaces it
wipes that.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from gateway.config import Limits, SharedPlaces
from gateway.refusals import TooManyClients

_WORD: Final = 8
_FREE: Final = 0
# The words in front of the columns: how many log in, and how many have said who they are.
_LOGINS: Final = 0
_SEATED: Final = 1
_HEADER_WORDS: Final = 2


def wipe(shared: SharedPlaces, index: int) -> None:
    """Give back the places of the worker of that index, which has died."""
    file = shared.file(index)
    if file.exists():
        with file.open("r+b") as places:
            places.write(bytes(file.stat().st_size))


class _Columns:
    """One worker's places: a column of addresses and one of roles, as hashes, behind two sums."""

    def __init__(self, file: Path | None, size: int) -> None:
        length = (_HEADER_WORDS + 2 * size) * _WORD
        if file is None:
            self._memory = mmap.mmap(-1, length)
        else:
            with file.open("a+b") as opened:
                opened.truncate(length)
                self._memory = mmap.mmap(opened.fileno(), length)
        words = memoryview(self._memory).cast("Q")
        self.sums = words[:_HEADER_WORDS]
        self.addresses = words[_HEADER_WORDS : _HEADER_WORDS + size]
        self.roles = words[_HEADER_WORDS + size :]

    def wipe(self) -> None:
        """Begin with nobody there."""
        self._memory[:] = bytes(len(self._memory))


@dataclass(slots=True)
class Place:
    """One connection's place; `role` once it has said who it is."""

    number: int
    address: str
    role: str | None = None
    is_session: bool = False


class Places:
    """The places of this worker, and through `shared` what all workers on the port have."""

    def __init__(self, limits: Limits, shared: SharedPlaces | None = None) -> None:
        self._limits = limits
        self._lock: int | None = None
        size = limits.max_connections + limits.max_logins_at_once
        if shared is None:
            self._all = [_Columns(None, size)]
            self._own = self._all[0]
        else:
            self._all = [_Columns(shared.file(index), size) for index in range(shared.workers)]
            self._own = self._all[shared.index]
            self._own.wipe()
            self._lock = os.open(shared.path / "places-lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._free = list(range(size - 1, -1, -1))

    def enter(self, address: str) -> Place | None:
        """Take a place for a connection that logs in; None when too many do so at once."""
        with self._locked():
            if self._sum(_LOGINS) >= self._limits.max_logins_at_once or not self._free:
                return None
            self._own.sums[_LOGINS] += 1
            place = Place(self._free.pop(), address)
            self._own.addresses[place.number] = _key(address)
            return place

    def seat(self, place: Place, role: str) -> None:
        """Note who the connection says it is; raises TooManyClients."""
        limits, role_key = self._limits, _key(role)
        with self._locked():
            if self._sum(_SEATED) >= limits.max_connections:
                raise TooManyClients("sorry, too many clients already")
            most = limits.max_connections_per_address
            # Its own place is among those of its address already.
            if most is not None and self._from(_key(place.address)) > most:
                raise TooManyClients("too many connections from this address")
            most = limits.max_connections_per_role
            if most is not None and self._of(role_key) >= most:
                raise TooManyClients(f'too many connections for role "{role}"')
            self._own.sums[_SEATED] += 1
            self._own.roles[place.number] = role_key
            place.role = role

    def logged_in(self, place: Place) -> None:
        """Let a login's place be a session's, which keeps it."""
        place.is_session = True
        self._own.sums[_LOGINS] -= 1

    def leave(self, place: Place) -> None:
        """Give a place back."""
        own = self._own
        own.addresses[place.number] = own.roles[place.number] = _FREE
        if not place.is_session:
            own.sums[_LOGINS] -= 1
        if place.role is not None:
            own.sums[_SEATED] -= 1
        self._free.append(place.number)

    def close(self) -> None:
        """Take no more connections; places may still be left."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _sum(self, which: int) -> int:
        return sum(one.sums[which] for one in self._all)

    def _from(self, address_key: int) -> int:
        return sum(one.addresses.tolist().count(address_key) for one in self._all)

    def _of(self, role_key: int) -> int:
        return sum(one.roles.tolist().count(role_key) for one in self._all)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let no other worker count meanwhile; should ours die, the kernel unlocks."""
        if self._lock is None:
            yield
            return
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)


def _key(name: str) -> int:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_WORD).digest()
    return int.from_bytes(digest) or 1
