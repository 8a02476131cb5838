"""A TCP proxy between a store and a server that counts how often the store waits for an answer. No tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from psycopg.conninfo import conninfo_to_dict, make_conninfo

# Long enough that whatever a client sends without waiting is sent before the answer comes.
_DELAY_SECONDS = 0.02


@dataclass(slots=True)
class RoundTrips:
    """How to reach the server through the proxy, and what was sent after each answer so far."""

    dsn: str
    count: int = 0


@asynccontextmanager
async def counted_round_trips(dsn: str) -> AsyncIterator[RoundTrips]:
    """Yield a proxy to the server; a burst of requests is counted once, however many answers it has."""
    target = conninfo_to_dict(dsn)
    trips = RoundTrips(dsn)
    serving: set[asyncio.Task[None]] = set()

    async def serve(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        asked = False

        async def requests() -> None:
            nonlocal asked
            while data := await client.read(65_536):
                trips.count += not asked
                asked = True
                to_server.write(data)
                await to_server.drain()
            to_server.close()

        async def answers() -> None:
            nonlocal asked
            while data := await server.read(65_536):
                if asked:
                    await asyncio.sleep(_DELAY_SECONDS)
                asked = False
                to_client.write(data)
                await to_client.drain()
            to_client.close()

        server, to_server = await asyncio.open_connection(str(target["host"]), int(target["port"] or 0))
        try:
            await asyncio.gather(requests(), answers())
        finally:
            for writer in (to_server, to_client):
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    def accepted(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(client, to_client)))

    listener = await asyncio.start_server(accepted, "127.0.0.1", 0)
    trips.dsn = make_conninfo(dsn, port=listener.sockets[0].getsockname()[1])
    try:
        yield trips
    finally:
        listener.close()
        _, late = await asyncio.wait(serving, timeout=5.0)
        for task in late:
            task.cancel()
        await asyncio.gather(*serving)
