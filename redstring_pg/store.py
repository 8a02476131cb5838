"""What both stores share: the pool, the transactions, the closing. Not a store by itself."""

from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager
from selectors import EVENT_READ, DefaultSelector
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from psycopg import AsyncConnection, sql
from psycopg.abc import Params
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from redstring_pg.cursor import Cursor, begin, read
from redstring_pg.names import require_table
from redstring_pg.schema import VectorType, open_table
from redstring_ref.domain import StoreClosedError, TenantId
from redstring_ref.domain.arguments import require_dimension
from redstring_ref.domain.errors import got, shown

# What a caller's connections return is the caller's business: every cursor is made here.
Pool: TypeAlias = AsyncConnectionPool[Any]

# pgvector's own limit.
MAX_DIMENSION = 16_000


class Question(Protocol):
    """What is asked in one statement that mostly suffices, or in a second one that always does.

    Spec: PG-6.
    """

    def first(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the statement that brings the answer and a little more, and its parameters."""
        ...

    def is_complete(self, rows: Sequence[TupleRow]) -> bool:
        """Tell whether the rows of `first` leave out nothing that may be in the answer."""
        ...

    def all_near(self) -> tuple[sql.Composed, dict[str, object]]:
        """Return the statement that brings all that may be in the answer, and its parameters."""
        ...


class PostgresStore:
    """A store's table, reached through a pool that is its own or the caller's.

    Spec: PG-1, PG-8.
    """

    def __init__(self, pool: Pool, *, dimension: int, table: str, schema: str | None = None) -> None:
        self._dimension = require_dimension(dimension)
        if self._dimension > MAX_DIMENSION:
            raise ValueError(f"dimension must be at most {MAX_DIMENSION}, got {shown(dimension)}")
        self._table = require_table(table, schema)
        if not isinstance(pool, AsyncConnectionPool):
            raise TypeError(f"pool must be an AsyncConnectionPool, {got(pool)}")
        self._pool = pool
        self._owns_pool = False
        self._closed = False
        self._vector: VectorType | None = None

    @classmethod
    def connect(
        cls, dsn: str, *, dimension: int, **options: Any
    ) -> Self:  # Any: the store's and the pool's own
        """Return a store with a pool of its own, which `close()` closes.

        Nothing is opened yet: `async with`, `await` or the first call opens the pool. Options
        beyond those of the constructor go to `AsyncConnectionPool`.

        Raises as the constructor, before anything is opened.

        Spec: PG-1.
        """
        own = {name: options.pop(name) for name in ("table", "schema") if name in options}
        pool: Pool = AsyncConnectionPool(dsn, open=False, **options)
        store = cls(pool, dimension=dimension, **own)
        store._owns_pool = True
        return store

    def __await__(self) -> Generator[Any, None, Self]:
        """Open the pool of a store that owns one: `store = await PostgresChunkStore.connect(…)`."""
        return self._opened().__await__()

    @property
    def dimension(self) -> int:
        """The number of components of every vector."""
        return self._dimension

    async def close(self) -> None:
        """Close the pool if it is the store's own; a second `close` does nothing. Spec: PRT-1."""
        self._closed = True
        if self._owns_pool:
            await self._pool.close()

    async def __aenter__(self) -> Self:
        """Return the store itself, its own pool open."""
        return await self._opened()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store; an exception raised in the block goes on to the caller."""
        await self.close()

    async def _opened(self) -> Self:
        self._require_open()
        if self._owns_pool and self._pool.closed:
            await self._pool.open()
        return self

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosedError(f"{type(self).__name__} is closed")

    @asynccontextmanager
    async def _transaction(self, tenant_id: TenantId | None = None) -> AsyncIterator[Cursor]:
        """Run the block in one transaction of one tenant; an exception rolls it back. Spec: PG-8."""
        async with self._connection() as connection, connection.transaction():
            cursor = Cursor(connection)
            await begin(cursor, tenant_id)
            yield cursor

    async def _read(self, tenant_id: TenantId, statement: sql.Composed, parameters: Params) -> list[TupleRow]:
        """Return the rows of one statement, in a transaction of one tenant, in one round trip. Spec: PG-8."""
        async with self._connection() as connection:
            return await read(connection, tenant_id, statement, parameters)

    async def _proposed(self, tenant_id: TenantId, question: Question) -> list[TupleRow]:
        """Return rows that hold the answer, in one round trip unless the cut is crowded."""
        rows = await self._read(tenant_id, *question.first())
        return rows if question.is_complete(rows) else await self._read(tenant_id, *question.all_near())

    async def _opened_vector(self) -> VectorType:
        """Return how vectors are spelled; the first call looks, and refuses a table that is not ready."""
        if self._vector is None:
            async with self._transaction() as cursor:
                self._vector = await open_table(cursor, self._table, self._dimension)
        return self._vector

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Lend a connection that answers: after a restart, those that the pool still holds are dead."""
        await self._opened()
        async with self._pool.connection() as connection:
            if not _spoke_unasked(connection):
                _require_utf8(connection)
                yield connection
                return
        await self._pool.check()
        async with self._pool.connection() as connection:
            _require_utf8(connection)
            yield connection


def _require_utf8(connection: AsyncConnection[Any]) -> None:
    """Raise a `ValueError` where text would change on its way, or be ordered by other bytes. Spec: PG-5."""
    for name in ("server_encoding", "client_encoding"):
        encoding = connection.info.parameter_status(name)
        if encoding not in ("UTF8", None):
            raise ValueError(f"{name} must be UTF8, got {encoding}")


def _spoke_unasked(connection: AsyncConnection[Any]) -> bool:
    """Tell whether an idle connection has something to read: mostly, that the server is gone."""
    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        return bool(selector.select(timeout=0))
