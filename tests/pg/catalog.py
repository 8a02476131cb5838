"""What a schema is made of, as the server's catalogues tell it. No tests."""

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

# A row that was written again has another xmin, even where it says the same.
_QUERIES = {
    "relations": """SELECT oid, relname, relkind, relfilenode, relpersistence, relnatts, relrowsecurity,
        relforcerowsecurity, relispartition, reloptions FROM pg_class WHERE relnamespace = {schema}""",
    "columns": """SELECT c.relname, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attstorage,
        a.attnotnull, a.attcollation, a.xmin::text FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
        WHERE relnamespace = {schema}""",
    "indexes": "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname::regnamespace = {schema}",
    "constraints": """SELECT oid, conname, pg_get_constraintdef(oid), xmin::text FROM pg_constraint
        WHERE connamespace = {schema}""",
    "policies": """SELECT p.polname, p.polrelid, p.xmin::text, pg_get_expr(p.polqual, p.polrelid)
        FROM pg_policy p JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = {schema}""",
}

Catalog = dict[str, list[TupleRow]]


async def catalog(connection: AsyncConnection[TupleRow], schema: str) -> Catalog:
    """Return every relation, column, index, constraint and policy of a schema."""
    found = {}
    for name, query in _QUERIES.items():
        cursor = await connection.execute(
            query.replace("{schema}", "quote_ident(%s)::regnamespace").encode(), [schema]
        )
        found[name] = sorted(await cursor.fetchall(), key=repr)
    return found


async def relation_names(connection: AsyncConnection[TupleRow], schema: str) -> set[str]:
    """Return the names of a schema's tables, indexes and sequences."""
    return {str(row[1]) for row in (await catalog(connection, schema))["relations"]}
