"""The HTTP front: REST, health and metrics over the store."""
