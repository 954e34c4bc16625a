"""Everything that Postgres holds, and the one way to it."""
