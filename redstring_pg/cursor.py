"""How statements reach the server: unprepared, in a transaction that names its tenant. Not what they say."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, LiteralString, Self, TypeAlias

from psycopg import AsyncConnection, AsyncCursor, capabilities, sql
from psycopg.abc import Params
from psycopg.rows import TupleRow, tuple_row

from redstring_ref.domain import TenantId

# The setting that row-level security compares `tenant_id` with.
TENANT_SETTING = "redstring.tenant_id"

# A reader must see what was committed before its statement began, whatever the caller's defaults.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
_SETTINGS = sql.SQL("SELECT set_config({setting}, %s, true), set_config('jit', 'off', true)").format(
    setting=sql.Literal(TENANT_SETTING)
)


Statement: TypeAlias = LiteralString | sql.SQL | sql.Composed


class Cursor(AsyncCursor[TupleRow]):
    """A cursor that prepares nothing on the server.

    A transaction pooler lends another connection to the next transaction, and a prepared
    statement does not survive that another process alters its table.
    """

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        super().__init__(connection, row_factory=tuple_row)

    async def run(self, statement: Statement, params: Params | None = None, *, binary: bool = False) -> Self:
        """Execute a statement, in which percent signs are written twice; `binary` asks for binary results."""
        return await self.execute(statement, () if params is None else params, prepare=False, binary=binary)

    async def row(self, statement: Statement, params: Params | None = None) -> TupleRow | None:
        """Execute a statement and return its first row, `None` without any."""
        return await (await self.run(statement, params)).fetchone()


async def begin(cursor: Cursor, tenant_id: TenantId | None) -> None:
    """Make the first statements of a transaction: every statement sees what was committed before it."""
    await cursor.run(_ISOLATION)
    await scope(cursor, tenant_id)


async def scope(cursor: Cursor, tenant_id: TenantId | None) -> None:
    """Name the tenant of the transaction's next statements, for row-level security. Spec: PG-8."""
    await cursor.run(_SETTINGS, ["" if tenant_id is None else str(tenant_id)])


async def read(
    connection: AsyncConnection[Any], tenant_id: TenantId, statement: Statement, params: Params
) -> list[TupleRow]:
    """Return the rows of one statement, in a transaction of its own: one round trip where libpq can.

    Spec: PG-8.
    """
    cursor = Cursor(connection)
    async with _no_implicit_begin(connection):
        async with _pipelined(connection):
            await Cursor(connection).run(_BEGIN)
            await scope(Cursor(connection), tenant_id)
            await cursor.run(statement, params, binary=True)
            await Cursor(connection).run("COMMIT")
        return await cursor.fetchall()


@asynccontextmanager
async def _no_implicit_begin(connection: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Let the block begin and end its transaction, which is rolled back if it does not get there.

    psycopg's own transactions wait for answers, in a pipeline too: to BEGIN, to the block, to COMMIT.
    """
    autocommit = connection.autocommit
    await connection.set_autocommit(True)
    try:
        yield
    finally:
        if not connection.closed:
            await connection.rollback()
            await connection.set_autocommit(autocommit)


def _pipelined(connection: AsyncConnection[Any]) -> AbstractAsyncContextManager[object]:
    """Send statements without waiting for each answer, where libpq can."""
    return connection.pipeline() if capabilities.has_pipeline() else nullcontext()
