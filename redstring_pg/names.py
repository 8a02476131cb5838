"""Names of tables and of what is derived from them. No SQL that uses them."""

from dataclasses import dataclass
from hashlib import sha256

from psycopg import sql

from redstring_ref.domain.errors import shown
from redstring_ref.domain.storable import require_text

# NAMEDATALEN - 1: PostgreSQL silently cuts longer names, and two tables would become one.
MAX_NAME_BYTES = 63


def require_name(field: str, value: object) -> str:
    """Return `value` if PostgreSQL can quote it as a name without cutting it: 1 to 63 UTF-8 bytes.

    A non-string is a `TypeError`, anything else that cannot be a name a `ValueError`.

    Spec: PG-1.
    """
    name = require_text(field, value)
    size = len(name.encode())
    if not 1 <= size <= MAX_NAME_BYTES:
        raise ValueError(f"{field} must have 1 to {MAX_NAME_BYTES} UTF-8 bytes, got {size}: {shown(name)}")
    return name


def derived_name(name: str, suffix: str) -> str:
    """Return `name_suffix`, or where that is too long, the head of `name` with a digest for the rest.

    >>> derived_name("kg_chunks", "blocks")
    'kg_chunks_blocks'
    >>> derived_name("t" * 63, "blocks")
    'ttttttttttttttttttttttttttttttttttttttttttttttt_fe60147e_blocks'

    Spec: PG-1.
    """
    plain = f"{name}_{suffix}"
    if len(plain.encode()) <= MAX_NAME_BYTES:
        return plain
    ending = f"_{sha256(name.encode()).hexdigest()[:8]}_{suffix}"
    head = name.encode()[: MAX_NAME_BYTES - len(ending)].decode(errors="ignore")
    return head + ending


def quoted(*parts: str) -> sql.SQL:
    """Return a quoted name, qualified by the parts before the last, for a statement with parameters.

    In such a statement a percent sign is written twice.
    """
    return sql.SQL(sql.Identifier(*parts).as_string().replace("%", "%%"))


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its name and, where it has one, its schema; without one the search path decides."""

    name: str
    schema: str | None = None

    @property
    def identifier(self) -> sql.SQL:
        """The quoted name, qualified where the schema is known."""
        return quoted(self.name) if self.schema is None else quoted(self.schema, self.name)

    @property
    def text(self) -> str:
        """The quoted name as text, for `to_regclass`."""
        parts = (self.name,) if self.schema is None else (self.schema, self.name)
        return sql.Identifier(*parts).as_string()

    def derived(self, suffix: str) -> "Table":
        """Return the table beside this one that is named after it."""
        return Table(derived_name(self.name, suffix), self.schema)


def require_table(table: object, schema: object) -> Table:
    """Return the table that a store is told to use, both names checked. Spec: PG-1."""
    return Table(require_name("table", table), None if schema is None else require_name("schema", schema))
