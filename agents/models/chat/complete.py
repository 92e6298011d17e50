"""Where the one JSON object that was asked for ends in a stream, so that what a model adds is neither waited
for nor paid for."""


class Whole:
    """Fed piece by piece. done: the object that the text begins with is closed; a text that begins otherwise
    never is."""

    def __init__(self) -> None:
        self._depth = 0
        self._begun = self._quoted = self._escaped = self._other = False
        self.done = False

    def take(self, piece: str) -> str:
        """The part of the piece that belongs to the object."""
        if self.done or self._other:
            return "" if self.done else piece
        for number, character in enumerate(piece, 1):
            if not self._begun and not character.isspace():
                self._other = character != "{"
                self._begun = True
            if self._other:
                return piece
            self._hear(character)
            if self.done:
                return piece[:number]
        return piece

    def _hear(self, character: str) -> None:
        if self._quoted:
            if self._escaped:
                self._escaped = False
            elif character == "\\":
                self._escaped = True
            elif character == '"':
                self._quoted = False
        elif character == '"':
            self._quoted = True
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            self.done = self._depth <= 0
