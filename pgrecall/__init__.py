"""The composition root: the `pgrecall` command and what it runs."""
