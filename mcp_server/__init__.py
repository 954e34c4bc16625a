"""The MCP front: tools, resources and prompts over the store."""
