"""The errors that only a database can cause. What every store raises is in `redstring_ref.domain`."""

from redstring_ref.domain import RedstringError


class MissingSchemaError(RedstringError):
    """A store was used before its tables, or pgvector, were there: `ensure_schema` makes them.

    Spec: PG-2.
    """
