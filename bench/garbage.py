"""A thousand sockets that send what is no protocol, and then again: `HOST PORT SECONDS`."""

from __future__ import annotations

import asyncio
import sys
import time

AT_ONCE = 1000
GARBAGE = (
    b"\0" * 8,
    b"GET / HTTP/1.1\r\n\r\n",
    b"\xff" * 100,
    b"",
    b"\x16\x03\x01",
    b"\0\0",
    b"\0\0\0\x12\0\x03\0\0user\0nobody\0\0p\x7f\xff\xff\xff",
)


async def bring(host: str, port: int, number: int, until: float) -> None:
    """Send one kind of garbage, wait a little for what is said to it, and begin anew."""
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(GARBAGE[number % len(GARBAGE)])
            async with asyncio.timeout(0.5):
                await reader.read()
            writer.close()
        except (OSError, TimeoutError):
            await asyncio.sleep(0.05)


async def main(host: str, port: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    flood = [asyncio.create_task(bring(host, port, n, until)) for n in range(AT_ONCE)]
    print("flooding", flush=True)
    await asyncio.gather(*flood)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
