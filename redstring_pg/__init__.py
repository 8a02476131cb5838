"""PostgreSQL + pgvector stores for the ports of `redstring_ref`."""
