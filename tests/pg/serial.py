"""Which outcomes of calls made at once are serialisable: those of the reference, in every order. No tests."""

from collections.abc import Sequence
from itertools import permutations

from redstring_ref.memory import InMemoryChunkStore
from tests.pg.answers import Call, answers


async def serial_outcomes(
    before: Sequence[Call], at_once: Sequence[Call], after: Sequence[Call], *, dimension: int = 2
) -> list[tuple[list[object], list[object]]]:
    """Return what each of `at_once` answers, and then `after`, for every order in which they may have run."""
    outcomes = []
    for order in permutations(range(len(at_once))):
        async with InMemoryChunkStore(dimension=dimension) as reference:
            await answers(reference, before)
            results: dict[int, object] = {}
            for position in order:
                results[position] = await at_once[position].on(reference)
            outcomes.append(([results[n] for n in range(len(at_once))], await answers(reference, after)))
    return outcomes
