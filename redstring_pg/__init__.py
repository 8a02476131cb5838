"""PostgreSQL + pgvector stores for the ports of `redstring_ref`, which rank exactly like its own.

They need psycopg 3 and its pool: `pip install 'redstring-ref[pg]'`.
"""

try:
    import psycopg as _psycopg
    import psycopg_pool as _psycopg_pool
except ImportError as error:
    raise ImportError(
        f"redstring_pg needs psycopg and psycopg_pool: pip install 'redstring-ref[pg]' ({error})"
    ) from error

from redstring_pg.chunk_store import PostgresChunkStore
from redstring_pg.errors import MissingSchemaError
from redstring_pg.vector_store import PgVectorStore

del _psycopg, _psycopg_pool

__all__ = ["MissingSchemaError", "PgVectorStore", "PostgresChunkStore"]
