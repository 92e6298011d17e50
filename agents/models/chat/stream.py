"""Server-sent events, read as they arrive."""

from collections.abc import AsyncIterator


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each event, as text; comments, names and ids are passed over."""
    data: list[str] = []
    async for line in _lines(chunks):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
        elif not line and data:
            yield "\n".join(data)
            data.clear()
    if data:
        yield "\n".join(data)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines without their ends. What is no whole line yet is not searched again: a server may send a long one
    byte by byte."""
    rest = bytearray()
    async for chunk in chunks:
        first, *more = chunk.split(b"\n")
        rest += first
        for piece in more:
            yield bytes(rest).rstrip(b"\r")
            rest = bytearray(piece)
    yield bytes(rest).rstrip(b"\r")
