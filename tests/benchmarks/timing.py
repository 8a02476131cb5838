"""Paired timings: contenders take turns, so that a busy moment strikes all of them."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

Question = TypeVar("Question")


async def medians(
    contenders: Mapping[str, Callable[[Question], Awaitable[object]]], questions: Sequence[Question]
) -> dict[str, float]:
    """Return each contender's median milliseconds over the questions, after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number, question in enumerate([questions[0], *questions]):
        for name, ask in contenders.items():
            start = time.perf_counter()
            await ask(question)
            if number:
                times[name].append((time.perf_counter() - start) * 1000.0)
    return {name: statistics.median(measured) for name, measured in times.items()}


def table(
    title: str, unit: str, values: Mapping[str, float], ours: str, *, more_is_better: bool = False
) -> None:
    """Print each value, and ours as a ratio of it: above 1.0 where ours is slower."""
    print(f"\n{title}\n{'':34}{unit:>12}  ours/peer")
    for name, value in values.items():
        ratio = value / values[ours] if more_is_better else values[ours] / value
        print(f"{name:34}{value:12.2f}  {'' if name == ours else f'{ratio:9.2f}'}", flush=True)
