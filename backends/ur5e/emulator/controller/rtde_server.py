"""Port 30004: recipes are agreed on, then data goes both ways."""

import struct

from .controller import Controller
from .frames import BadPackage, Kind, Reader, package
from .links import Connection, Links
from .plant import TICK
from .recipes import Receiver, Sender, inputs, outputs

PORT = 30004
PROTOCOL = 2
_FREQUENCY = struct.Struct(">d")
_FIRST = 1  # id of the first recipe of a client


class Rtde:
    """The service: its clients, and which of them sets which variable."""

    def __init__(self, controller: Controller, links: Links) -> None:
        self.controller, self.links = controller, links
        self.clients: set[Client] = set()
        self.foreign: set[str] = set()  # variables that something else sets, as a fieldbus

    def taken(self, name: str, client: "Client") -> bool:
        return name in self.foreign or any(
            name in other.claimed for other in self.clients if other is not client
        )

    def publish(self) -> None:
        """Sends this tick's data to those who are due."""
        if not self.links.frozen:
            for client in self.clients:
                client.publish(self.controller.ticks)

    def connect(self) -> "Client":
        return Client(self)


class Client(Connection):
    """One RTDE client."""

    def __init__(self, service: Rtde) -> None:
        super().__init__(service.links)
        self._service = service
        self._reader = Reader()
        self._receivers: list[Receiver | None] = []
        self._sender: Sender | None = None
        self._every = 1
        self._started = False
        self.claimed: set[str] = set()

    def connection_made(self, transport: object) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._service.clients.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._service.clients.discard(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self.links.silent:
            return
        try:
            for kind, content in self._reader.feed(data):
                self._handle(kind, content)
        except (BadPackage, struct.error, IndexError, UnicodeDecodeError):
            self.close()  # a client that does not speak the protocol

    def publish(self, tick: int) -> None:
        if self._started and self._sender is not None and tick % self._every == 0:
            self._answer(Kind.DATA, bytes([_FIRST]) + self._sender.pack())

    def _handle(self, kind: int, content: bytes) -> None:
        controller = self._service.controller
        if kind == Kind.DATA:
            receiver = self._receivers[content[0] - _FIRST]
            if receiver is not None:
                for name, numbers in receiver.unpack(content[1:]).items():
                    controller.set(name, numbers)
        elif kind == Kind.PROTOCOL_VERSION:
            self._answer(Kind.PROTOCOL_VERSION, bytes([struct.unpack(">H", content)[0] == PROTOCOL]))
        elif kind == Kind.CONTROLLER_VERSION:
            self._answer(Kind.CONTROLLER_VERSION, struct.pack(">4I", *controller.version, 0))
        elif kind == Kind.OUTPUTS:
            (frequency,) = _FREQUENCY.unpack_from(content)
            self._set_outputs(frequency, _names(content[_FREQUENCY.size :]))
        elif kind == Kind.INPUTS:
            self._add_inputs(_names(content))
        elif kind in (Kind.START, Kind.PAUSE):
            self._started = kind == Kind.START
            self._answer(Kind(kind), b"\x01")

    def _set_outputs(self, frequency: float, names: list[str]) -> None:
        recipe = outputs(names)
        self._sender = Sender(recipe, self._service.controller.readers) if recipe.usable else None
        self._every = max(1, round(1 / (TICK * max(frequency, 1.0))))
        self._answer(Kind.OUTPUTS, bytes([_FIRST]) + ",".join(recipe.types).encode())

    def _add_inputs(self, names: list[str]) -> None:
        recipe = inputs(names, lambda name: self._service.taken(name, self))
        self._receivers.append(Receiver(recipe) if recipe.usable else None)
        if recipe.usable:
            self.claimed.update(names)
        number = len(self._receivers) if recipe.usable else 0  # 0: cannot be used
        self._answer(Kind.INPUTS, bytes([number]) + ",".join(recipe.types).encode())

    def _answer(self, kind: Kind, content: bytes) -> None:
        self.send(package(kind, content))


def _names(content: bytes) -> list[str]:
    return content.decode("ascii").rstrip(",").split(",")
