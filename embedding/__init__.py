"""Vectors from texts: makers, cache and back-fill."""
