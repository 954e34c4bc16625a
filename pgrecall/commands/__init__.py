"""The commands of `pgrecall`, one module a subject."""
