"""Where a piece of a text lies. How a text is cut is not here."""

from dataclasses import dataclass

from redstring_ref.domain.errors import shown


@dataclass(frozen=True, slots=True, order=True)
class TextSpan:
    """The half-open range of characters `text[start:end]`, never empty.

    Spec: SPL-1.
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            bounds = f"{shown(self.start)} and {shown(self.end)}"
            raise ValueError(f"a span must have 0 <= start < end, got {bounds}")
