"""Fields that not every server of a protocol knows, found in the words by which a server refuses them."""

from collections.abc import Container

Fields = tuple[tuple[str, tuple[str, ...]], ...]


def refused(said: str, fields: Fields, left_out: Container[str]) -> str | None:
    """The first field, of those that were sent, that a refusal names.

    fields: each with the words that mean it, those first that name one field only; a field may stand there
    twice.
    """
    words = said.lower()
    for name, signs in fields:
        if name not in left_out and any(sign in words for sign in signs):
            return name
    return None
