"""The Model Context Protocol front: tools, resources and prompts over stdio and HTTP."""

from mcp_server.bridge import run_bridge
from mcp_server.callers import Caller, request_caller
from mcp_server.http import McpEndpoint, mcp_asgi
from mcp_server.server import create_server
from mcp_server.stdio import run_stdio

__all__ = [
    "Caller",
    "McpEndpoint",
    "create_server",
    "mcp_asgi",
    "request_caller",
    "run_bridge",
    "run_stdio",
]
