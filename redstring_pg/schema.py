"""What both stores' schemas are made of: the extension, tables, partitions, policies. No columns."""

from dataclasses import dataclass

from psycopg import sql

from redstring_pg.cursor import TENANT_SETTING, Cursor
from redstring_pg.errors import MissingSchemaError
from redstring_pg.names import Table, quoted
from redstring_ref.domain import DimensionMismatchError
from redstring_ref.domain.arguments import require_at_least

# One lock for all schema changes of this package in a database: they are rare, and extensions are shared.
_SCHEMA_LOCK = 0x7265_6473_7472_696E

# A page holds 8 kB. Up to here a vector fits beside what else cannot move out of the row, and one
# that stays in its row is scanned several times faster.
MAX_PLAIN_DIMENSION = 1_900


@dataclass(frozen=True, slots=True)
class VectorType:
    """pgvector's type and operator, qualified with the schema that the extension is in."""

    schema: str

    @property
    def name(self) -> sql.Composed:
        """The type `vector`, without a width."""
        return sql.SQL("{}.vector").format(quoted(self.schema))

    def similarity(self) -> sql.Composed:
        """Return the one similarity expression: `1 - (embedding <=> %(query)s::vector) / 2`.

        Spec: PG-6.
        """
        return sql.SQL("1 - (embedding OPERATOR({schema}.<=>) %(query)s::{type}) / 2").format(
            schema=quoted(self.schema), type=self.name
        )

    def sent(self, column: sql.SQL) -> sql.Composed:
        """Return the expression of a vector column's exact bytes."""
        return sql.SQL("{}.vector_send({})").format(quoted(self.schema), column)


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a store: where it is, and the columns and constraints that it is made with."""

    table: Table
    columns: sql.Composable


def require_partitions(value: object) -> int | None:
    """Return the number of hash partitions, at least 1, or `None` for a plain table. Spec: PG-9."""
    return None if value is None else require_at_least(1, "partitions", value)


async def lock_schema(cursor: Cursor) -> None:
    """Wait until no other `ensure_schema` runs in this database, and keep others out until the commit."""
    await cursor.run("SELECT pg_advisory_xact_lock(%s)", [_SCHEMA_LOCK])


async def create_schema(cursor: Cursor, name: str | None) -> None:
    """Create the schema unless it exists; only then is the right to create one needed."""
    if name is None:
        return
    await cursor.run("SELECT 1 FROM pg_namespace WHERE nspname = %s", [name])
    if await cursor.fetchone() is None:
        await cursor.run(sql.SQL("CREATE SCHEMA {}").format(quoted(name)))


async def create_extension(cursor: Cursor) -> VectorType:
    """Create pgvector unless some schema has it, and return its type."""
    found = await find_extension(cursor)
    if found is None:
        await cursor.run("CREATE EXTENSION vector")
        found = await find_extension(cursor)
    if found is None:
        raise MissingSchemaError("the extension vector was created and is not there")
    return found


async def exists(cursor: Cursor, table: Table) -> bool:
    """Tell whether a table, an index or a sequence of this name is where one would be created.

    What has the name elsewhere on the search path is another's.
    """
    row = await cursor.row(
        "SELECT EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
        " WHERE relname = %s AND nspname = coalesce(%s::text, current_schema()))",
        [table.name, table.schema],
    )
    return row is not None and bool(row[0])


async def find_extension(cursor: Cursor) -> VectorType | None:
    """Return pgvector's type, wherever the extension was put; `None` without the extension."""
    await cursor.run(
        "SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
        " WHERE extname = 'vector'"
    )
    row = await cursor.fetchone()
    return None if row is None else VectorType(row[0])


async def open_table(cursor: Cursor, table: Table, dimension: int) -> VectorType:
    """Return the vector type for a table that is there and has this width.

    Raises `MissingSchemaError` without the extension or the table, and
    `DimensionMismatchError` for a column of another width.

    Spec: PG-2.
    """
    vector = await find_extension(cursor)
    if vector is None:
        raise MissingSchemaError("the extension vector is missing: call ensure_schema() first")
    await require_column_width(cursor, table, dimension)
    return vector


async def require_column_width(cursor: Cursor, table: Table, dimension: int) -> None:
    """Raise unless the table has an `embedding` column of this width. Spec: PG-2."""
    await cursor.run(
        "SELECT atttypmod FROM pg_attribute"
        " WHERE attrelid = to_regclass(%s) AND attname = 'embedding' AND NOT attisdropped",
        [table.text],
    )
    row = await cursor.fetchone()
    if row is None:
        raise MissingSchemaError(f"table {table.text} has no embeddings: call ensure_schema() first")
    # -1 is a column of vectors of any width, which the stores judge one by one.
    if row[0] not in (dimension, -1):
        raise DimensionMismatchError(expected=row[0], actual=dimension, what=f"table {table.text}")


async def create_part(cursor: Cursor, part: Part, partitions: int | None) -> None:
    """Create a table unless it exists, plain or with this many hash partitions by tenant.

    One that exists plain, or with another number of partitions, is a `ValueError`.

    Spec: PG-9.
    """
    by_tenant = sql.SQL(" PARTITION BY HASH (tenant_id)" if partitions else "")
    await cursor.run(
        sql.SQL("CREATE TABLE IF NOT EXISTS {table} ({columns}){by_tenant}").format(
            table=part.table.identifier, columns=part.columns, by_tenant=by_tenant
        )
    )
    if partitions is None:
        return
    existing = await _partition_count(cursor, part.table)
    if existing not in (0, partitions):
        raise ValueError(f"partitions must be {existing}, as table {part.table.text} has, got {partitions}")
    for remainder in range(partitions if existing == 0 else 0):
        statement = "CREATE TABLE {child} PARTITION OF {table} FOR VALUES WITH (MODULUS {n}, REMAINDER {r})"
        await cursor.run(
            sql.SQL(statement).format(
                child=part.table.derived(f"p{remainder}").identifier,
                table=part.table.identifier,
                n=sql.Literal(partitions),
                r=sql.Literal(remainder),
            )
        )


async def _partition_count(cursor: Cursor, table: Table) -> int:
    await cursor.run(
        "SELECT relkind, (SELECT count(*) FROM pg_inherits WHERE inhparent = c.oid)"
        " FROM pg_class c WHERE c.oid = to_regclass(%s)",
        [table.text],
    )
    row = await cursor.fetchone()
    if row is None or row[0] != "p":
        raise ValueError(f"partitions must be None for table {table.text}, which exists without any")
    return int(row[1])


async def set_storage(cursor: Cursor, table: Table, column: str, storage: str) -> None:
    """Set how a column is stored from now on, unless it is so already; partitions follow."""
    letter = {"PLAIN": "p", "EXTERNAL": "e"}[storage]
    await cursor.run(
        "SELECT attstorage FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s",
        [table.text, column],
    )
    row = await cursor.fetchone()
    if row is not None and row[0] not in (letter, letter.encode()):
        await cursor.run(
            sql.SQL("ALTER TABLE {} ALTER COLUMN {} SET STORAGE {}").format(
                table.identifier, quoted(column), sql.SQL(storage)
            )
        )


def vector_storage(dimension: int) -> str:
    """Return how vectors of this width are stored: in the row where they fit, else beside it, as they are."""
    return "PLAIN" if dimension <= MAX_PLAIN_DIMENSION else "EXTERNAL"


async def enable_row_security(cursor: Cursor, table: Table) -> None:
    """Let statements see and write only rows of the tenant that the transaction has named. Spec: PG-10."""
    policy = quoted("redstring_tenant")
    await cursor.run(
        "SELECT 1 FROM pg_policy WHERE polrelid = to_regclass(%s) AND polname = 'redstring_tenant'",
        [table.text],
    )
    if await cursor.fetchone() is None:
        named = sql.SQL("(tenant_id = (nullif(current_setting({}, true), '')::uuid))").format(
            sql.Literal(TENANT_SETTING)
        )
        await cursor.run(sql.SQL("CREATE POLICY {} ON {} USING {}").format(policy, table.identifier, named))
    # FORCE: the owner of a table is no exception.
    state = await cursor.row(
        "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = to_regclass(%s)",
        [table.text],
    )
    for change in () if state is not None and state[0] else ("ENABLE", "FORCE"):
        await cursor.run(
            sql.SQL("ALTER TABLE {} {} ROW LEVEL SECURITY").format(table.identifier, sql.SQL(change))
        )


async def row_security_applies(cursor: Cursor, table: Table) -> bool:
    """Tell whether policies stand between this role and the table."""
    await cursor.run("SELECT row_security_active(to_regclass(%s))", [table.text])
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
