"""Server-sent events, read as they arrive."""

from collections.abc import AsyncIterator


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each event, as text; comments, names and ids are passed over."""
    rest, data = b"", list[str]()
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            said = _data(line.rstrip(b"\r"), data)
            if said is not None:
                yield said
    said = _data(rest.rstrip(b"\r"), data)
    if said is not None:
        yield said
    if data:
        yield "\n".join(data)


def _data(line: bytes, data: list[str]) -> str | None:
    """Takes in one line; the event's data where the line ends one."""
    if not line:
        joined = "\n".join(data) if data else None
        data.clear()
        return joined
    if line.startswith(b"data:"):
        data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
    return None
