"""One MQTT connection that comes back by itself: reconnects, subscribes again, and tells its owner."""

import asyncio
import secrets
import socket
import ssl
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

import aiomqtt
import structlog

from .bus_errors import BrokerRefused, BrokerUnreachable
from .credentials import Address

_FIRST_DELAY: Final = 0.05  # seconds before the first try to reconnect; doubles up to the last
_LAST_DELAY: Final = 2.0
_REFUSED: Final = 0x80  # SUBACK codes from here on
# CONNACK: client id, user or password, rights; codes of MQTT 3.1.1 and those that paho translates them to.
_NOT_LET_IN: Final = frozenset({2, 4, 5, 133, 134, 135})
_NODELAY: Final = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
_log = structlog.get_logger(__name__)

Receive = Callable[[str, bytes], None]  # topic, payload


class _Tap(asyncio.Queue[aiomqtt.Message]):
    """Stands where aiomqtt queues messages and hands them on at once: a task for each would cost more."""

    def __init__(self, receive: Receive) -> None:
        super().__init__()
        self._receive = receive

    def put_nowait(self, message: aiomqtt.Message) -> None:
        try:
            payload = message.payload
            self._receive(str(message.topic), payload if isinstance(payload, bytes) else b"")
        except Exception:  # a message must not end the connection
            _log.exception("message_not_handled", topic=str(message.topic))


class Link:
    """A user's connection. `receive` is called for each message, `up` after each (re)connection.

    `run` keeps it up until cancelled; `send` and `subscribe` may be used by one task or several.
    """

    def __init__(
        self, address: Address, user: str, password: str, receive: Receive, up: Callable[[], None]
    ) -> None:
        self.address = address
        self.user = user
        self._password = password
        self._receive = receive
        self._up = up
        self._filters: dict[str, None] = {}
        self._client: aiomqtt.Client | None = None
        self.connected = asyncio.Event()
        self.error: Exception | None = None  # why it is down

    async def run(self) -> None:
        """Connect, and connect again, until cancelled."""
        delay = _FIRST_DELAY
        while True:
            try:
                async with self._new_client() as client:
                    for pattern in list(self._filters):
                        await _subscribe(client, pattern, self.user)
                    self._client, self.error, delay = client, None, _FIRST_DELAY
                    self.connected.set()
                    self._up()
                    async for _ in client.messages:  # the tap takes them all: this ends with the connection
                        pass
            except aiomqtt.MqttError as error:
                self.error = self._explain(error)
            except BrokerRefused as error:
                self.error = error
            except Exception as error:  # whatever the client library meets: the next connection is a new one
                _log.exception("connection_failed", user=self.user)
                self.error = error
            finally:
                self._client = None
                self.connected.clear()
            # The client library may answer a cancellation with an error of its own as it disconnects.
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError
            _log.debug("disconnected", user=self.user, error=str(self.error))
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LAST_DELAY)

    async def send(self, topic: str, payload: bytes) -> bool:
        """Publish at QoS 0. False if the connection is down or fails: whoever needs certainty sends again."""
        client = self._client
        if client is None:
            return False
        try:
            await client.publish(topic, payload, qos=0)
        except aiomqtt.MqttError:
            return False
        return True

    async def subscribe(self, pattern: str) -> None:
        """Subscribe now (if connected) and after every reconnection. Raises BrokerRefused."""
        self._filters[pattern] = None
        if self._client is not None:
            try:
                await _subscribe(self._client, pattern, self.user)
            except aiomqtt.MqttError as error:
                _log.debug("subscription_waits_for_reconnection", pattern=pattern, error=str(error))

    def _new_client(self) -> aiomqtt.Client:
        tap = cast("type[asyncio.Queue[aiomqtt.Message]]", lambda maxsize: _Tap(self._receive))
        context = ssl.create_default_context() if self.address.tls else None
        return aiomqtt.Client(
            self.address.host,
            self.address.port,
            username=self.user,
            password=self._password,
            identifier=f"{self.user}-{secrets.token_hex(8)}",  # unguessable, so that nobody takes it over
            protocol=aiomqtt.ProtocolVersion.V311,
            clean_session=True,
            tls_context=context,
            socket_options=_NODELAY,
            queue_type=tap,
        )

    def _explain(self, error: aiomqtt.MqttError) -> Exception:
        code: Any = getattr(error, "rc", None)
        value = getattr(code, "value", code)
        where = self.address.url
        if value in _NOT_LET_IN:
            return BrokerRefused(
                f"The broker at {where} does not let {self.user} in ({error}); check the password, and that "
                "the broker's access list is the one that `skill2real broker-acl` prints."
            )
        return BrokerUnreachable(
            f"No broker answers at {where} ({error}); start one with `skill2real serve`, or check --broker."
        )


async def end_tasks(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel tasks and wait for them, again and again: a library in between can swallow a cancellation."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        done, pending = await asyncio.wait(pending, timeout=1.0)
        for task in done:
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.debug("task_ended", error=repr(error))


async def _subscribe(client: aiomqtt.Client, pattern: str, user: str) -> None:
    codes = await client.subscribe(pattern, qos=0)
    for code in codes:
        granted = code if isinstance(code, int) else int(code.value)
        if granted >= _REFUSED:
            raise BrokerRefused(
                f"The broker does not let {user} subscribe to {pattern}; its access list must be the one "
                "that `skill2real broker-acl` prints."
            )
