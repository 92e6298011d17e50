"""One ledger service a broker: a second one would acknowledge events into ledgers of its own."""

import secrets
from typing import Final

import msgspec

SECONDS: Final = 0.5  # that a service listens for another before it begins


class Word(msgspec.Struct, frozen=True):
    """What services say to each other. `here`: I serve already, or come first; else: who is there?"""

    token: str
    here: bool


_decoder = msgspec.json.Decoder(Word)


class Claim:
    """Asks whether another service is there, answers when another asks, and knows when to give way."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(16)
        self.serving = False
        self.lost = False

    def ask(self) -> bytes:
        """To be published at each connection: after a gap another may have begun."""
        return msgspec.json.encode(Word(self._token, here=False))

    def hear(self, payload: bytes) -> bytes | None:
        """Take in what came on the services' topic; the answer to publish, if there is one."""
        try:
            word = _decoder.decode(payload)
        except msgspec.DecodeError:
            return None
        if word.token == self._token:
            return None
        first = self._token < word.token  # settles it where both begin, or both serve
        if not word.here and (self.serving or first):
            return msgspec.json.encode(Word(self._token, here=True))
        if not (self.serving and first):
            self.lost = True
        return None
