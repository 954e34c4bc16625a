"""Measurements that a user can run: `make bench`, or `python -m bench NAME`."""
