"""The composition root: the `pgrecall` command and what it runs."""

__version__ = "0.1.0"
