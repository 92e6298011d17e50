"""Fields that not every server of a protocol knows: left out once a server has refused them."""

from collections.abc import Iterable


class Optional:
    """names: from the first to be doubted to the last, each with the words by which a refusal may mean it."""

    def __init__(self, names: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        self._left = dict(names)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def refuse(self, said: str) -> bool:
        """Leaves out the first field that the words name; False where they name none that is left."""
        words = said.lower()
        for name, signs in self._left.items():
            if any(sign in words for sign in (name, *signs)):
                del self._left[name]
                return True
        return False
