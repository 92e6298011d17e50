"""Port 30003: programs in URScript come in; nothing is answered."""

from .controller import Controller
from .links import Connection, Links

PORT = 30003
_LARGEST = 1 << 20  # bytes of one program


class ScriptConnection(Connection):
    """Collects what is sent up to a program's last `end`, which stands at the beginning of its line."""

    def __init__(self, controller: Controller, links: Links) -> None:
        super().__init__(links)
        self._controller = controller
        self._text = ""

    def data_received(self, data: bytes) -> None:
        if self.links.silent:
            return
        self._text += data.decode("utf-8", "replace")
        while (end := self._text.find("\nend\n")) >= 0:
            program, self._text = self._text[: end + 5], self._text[end + 5 :]
            self._controller.load(program)
        if len(self._text) > _LARGEST:
            self.close()
