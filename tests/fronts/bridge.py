"""The bridge for tests: `python -m tests.fronts.bridge URL TOKEN`."""

from __future__ import annotations

import asyncio
import sys

from mcp_server import run_bridge

asyncio.run(run_bridge(*sys.argv[1:3]))
