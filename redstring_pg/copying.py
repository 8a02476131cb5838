"""How many rows reach a table at once. What they hold is elsewhere."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from psycopg import sql

from redstring_pg.cursor import Cursor
from redstring_pg.names import Table, quoted
from redstring_pg.schema import row_security_applies

# The server works on a piece while the next one is made.
_PIECE = 64 * 1024


async def copy_rows(
    cursor: Cursor, table: Table, columns: str, form: Literal["binary", "text"], rows: Iterable[bytes]
) -> None:
    """Append rows, each encoded in the COPY format named, its header and trailer among them if it has any."""
    if not await row_security_applies(cursor, table):
        await _copy(cursor, table.identifier, columns, form, rows)
        return
    # COPY cannot be checked by policies; INSERT can.
    incoming = quoted("pg_temp", "redstring_incoming")
    names: Mapping[str, sql.Composable] = {
        "incoming": incoming,
        "table": table.identifier,
        "columns": sql.SQL(columns),
    }
    await cursor.run(sql.SQL("CREATE TEMP TABLE {incoming} (LIKE {table})").format(**names))
    await _copy(cursor, incoming, columns, form, rows)
    await cursor.run(
        sql.SQL("INSERT INTO {table} ({columns}) SELECT {columns} FROM {incoming}").format(**names)
    )
    await cursor.run(sql.SQL("DROP TABLE {incoming}").format(**names))


async def _copy(
    cursor: Cursor,
    target: sql.SQL,
    columns: str,
    form: Literal["binary", "text"],
    rows: Iterable[bytes],
) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT {})")
    filled = statement.format(target, sql.SQL(columns), sql.SQL(form))
    # It has no parameters, so psycopg takes a percent sign as it is.
    async with cursor.copy(filled.as_bytes().replace(b"%%", b"%")) as copy:
        for piece in _pieces(rows):
            await copy.write(piece)


def _pieces(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the rows joined to pieces that are worth sending."""
    waiting: list[bytes] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
