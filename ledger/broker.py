"""The embedded MQTT broker: amqtt, its access control closed and its path to the subscriber cut short.

What stock amqtt 0.12 lets through, and this subclass does not: sessions touched before authentication,
client ids of other users, wills and retained messages past the access list, persistent sessions, filters
wider than an allowed one, refused QoS 1 messages acknowledged all the same. Messages are delivered at QoS 0:
what counts as delivered is a ledger matter (commits and sequence numbers), never the broker's word.
"""

import asyncio
import errno
import hmac
import logging
import socket
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from amqtt.adapters import ReaderAdapter, StreamReaderAdapter, StreamWriterAdapter, WriterAdapter
from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig, ListenerType
from amqtt.errors import AMQTTError, MQTTError
from amqtt.mqtt.connack import BAD_USERNAME_PASSWORD, IDENTIFIER_REJECTED, NOT_AUTHORIZED, ConnackPacket
from amqtt.mqtt.protocol.broker_handler import BrokerProtocolHandler
from amqtt.mqtt.puback import PubackPacket
from amqtt.mqtt.publish import PublishPacket
from amqtt.session import Session

from .acl import MAX_PACKET, may_publish, may_subscribe
from .bus_errors import BusError, NotAllowed, PortInUse
from .credentials import Address, Passwords
from .topics import matches

CONNECT_SECONDS: Final = 10.0  # for a new connection to say who it is
MAX_BACKLOG: Final = 128 << 20  # bytes waiting for one subscriber before it is cut off (and catches up)
_MAX_ROUTES: Final = 10_000
_READ_AHEAD: Final = 1 << 20  # bytes; by default reading stops and starts again for each message of 64 events

Receive = Callable[[str, bytes], None]

# Internals of amqtt that are replaced here: if a version lacks one, the replacement would never be called.
_REPLACED: Final = {
    Broker: (
        "_create_server_instance", "_initialize_client_session", "_authenticate", "_topic_filtering",
        "_handle_disconnect", "_del_subscription", "add_subscription", "stream_connected", "_cleanup_session",
    ),
    BrokerProtocolHandler: ("handle_publish", "init_from_connect", "handle_connection_closed"),
}  # fmt: skip

logging.getLogger("amqtt").setLevel(logging.ERROR)  # it warns of every refused client


class _Reader(StreamReaderAdapter):  # type: ignore[misc]
    """Refuses packets over the limit: amqtt would read up to 256 MiB."""

    async def read(self, n: int = -1) -> bytes:
        if n > MAX_PACKET:
            raise ValueError(f"a packet of {n} bytes; {MAX_PACKET} are allowed")
        data: bytes = await super().read(n)
        return data


class _Writer(StreamWriterAdapter):  # type: ignore[misc]
    """Can be written to without waiting, and closed without waiting for a peer that does not read."""

    def send(self, packet: bytes) -> None:
        transport = self._writer.transport
        if self.is_closed or transport.is_closing():
            return
        self._writer.write(packet)
        if transport.get_write_buffer_size() > MAX_BACKLOG:
            transport.abort()

    async def close(self) -> None:
        if not self.is_closed:
            self.is_closed: bool = True
            self._writer.close()


class _Handler(BrokerProtocolHandler):  # type: ignore[misc]
    """Hands a publication straight to its subscribers; closes the connection over one that is not allowed."""

    broker: "EmbeddedBroker"

    async def handle_publish(self, publish_packet: PublishPacket) -> None:
        topic, data = publish_packet.topic_name, publish_packet.data
        user = self.session.username if self.session else None
        if (
            not user
            or not topic
            or data is None
            or publish_packet.retain_flag
            or publish_packet.qos not in (0, 1)
            or not may_publish(user, topic)
        ):
            await self.handle_connection_closed()
            return
        self.broker.route(topic, data)
        if publish_packet.qos == 1 and publish_packet.packet_id is not None:
            await self._send_packet(PubackPacket.build(publish_packet.packet_id))


class EmbeddedBroker(Broker):  # type: ignore[misc]
    """MQTT 3.1.1 on one TCP port. `passwords` has one entry a user; users are actors.

    Use it as an asynchronous context manager. Raises PortInUse.
    """

    def __init__(self, passwords: Passwords, host: str = "127.0.0.1", port: int = 0) -> None:
        for base, names in _REPLACED.items():
            if missing := [name for name in names if not hasattr(base, name)]:
                raise BusError(f"This version of amqtt lacks {', '.join(missing)}; install amqtt 0.12.1.")
        self._passwords = dict(passwords)
        self._routes: dict[str, tuple[tuple[str, ...], tuple[Receive, ...]]] = {}
        self._inner: dict[Receive, tuple[str, ...]] = {}
        self._socket = _listen(host, port)
        bound = self._socket.getsockname()
        self.address = Address(host, int(bound[1]), tls=False)
        listener = ListenerConfig(type=ListenerType.TCP, bind=f"{host}:{bound[1]}")
        super().__init__(BrokerConfig(listeners={"default": listener}, plugins={}))

    async def __aenter__(self) -> "EmbeddedBroker":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    def attach(self, receive: Receive, user: str, filters: Iterable[str]) -> None:
        """Subscribe something in this process. Raises NotAllowed where the access list does not let it."""
        for pattern in filters:
            if not may_subscribe(user, pattern):
                raise NotAllowed(f"{user} may not subscribe to {pattern}.")
        self._inner[receive] = tuple(filters)
        self._routes.clear()

    def detach(self, receive: Receive) -> None:
        """End what `attach` began."""
        self._inner.pop(receive, None)
        self._routes.clear()

    def publish(self, user: str, topic: str, data: bytes) -> None:
        """Publish from this process. Raises NotAllowed where the access list does not let it."""
        if not may_publish(user, topic):
            raise NotAllowed(f"{user} may not publish to {topic}.")
        self.route(topic, data)

    def route(self, topic: str, data: bytes) -> None:
        """Hand a publication to every connection that subscribes to its topic, once each."""
        route = self._routes.get(topic)
        if route is None:
            if len(self._routes) >= _MAX_ROUTES:
                self._routes.clear()
            route = self._routes[topic] = self._find_route(topic)
        clients, inner = route
        for receive in inner:
            try:
                receive(topic, data)
            except Exception:  # a message must not end its publisher's connection
                self.logger.exception("message not handled: %s", topic)
        if not clients:
            return
        packet = PublishPacket.build(topic, data, None, False, 0, False).to_bytes()
        for client in clients:
            _, handler = self._sessions.get(client, (None, None))
            if handler is not None and isinstance(handler.writer, _Writer):
                handler.writer.send(packet)

    def _find_route(self, topic: str) -> tuple[tuple[str, ...], tuple[Receive, ...]]:
        clients = {
            str(session.client_id): None
            for pattern, subscribers in self._subscriptions.items()
            if matches(pattern, topic)
            for session, _ in subscribers
        }
        inner = [
            receive
            for receive, filters in self._inner.items()
            if any(matches(pattern, topic) for pattern in filters)
        ]
        return tuple(clients), tuple(inner)

    # Connecting

    async def _create_server_instance(self, listener_name: str, *_: Any) -> asyncio.Server:
        return await asyncio.start_server(
            partial(self.stream_connected, listener_name=listener_name), sock=self._socket, limit=_READ_AHEAD
        )

    async def stream_connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        connection: socket.socket = writer.get_extra_info("socket")
        # Half-open connections end by the system's probes: amqtt never ends one for want of MQTT pings.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await self._client_connected(listener_name, _Reader(reader), _Writer(writer))
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            self.logger.debug("connection ended: %r", error)  # a client's doing: the broker goes on
        finally:
            writer.close()

    async def _initialize_client_session(
        self, reader: ReaderAdapter, writer: WriterAdapter, remote_address: str, remote_port: int
    ) -> tuple[BrokerProtocolHandler, Session]:
        """Read CONNECT and decide: nothing of any session is touched before the client is known."""
        try:
            handler, session = await asyncio.wait_for(
                _Handler.init_from_connect(reader, writer, self.plugins_manager), CONNECT_SECONDS
            )
        except TimeoutError:
            raise AMQTTError("no CONNECT in time") from None
        assert isinstance(handler, _Handler)
        refusal = self._refusal(session)
        if refusal:
            await ConnackPacket.build(0, refusal).to_stream(writer)
            raise MQTTError(f"connection refused with code {refusal}")
        handler.broker = self
        client = str(session.client_id)
        if client in self._sessions:
            await self._cleanup_session(client)  # the same user's older connection
        session.clean_session = True
        session.parent = 0
        session.keep_alive = 0
        return handler, session

    def _refusal(self, session: Session) -> int:
        """A CONNACK code, 0 if the client may come in."""
        if not self._knows(session):
            return int(BAD_USERNAME_PASSWORD)
        user, client = str(session.username), str(session.client_id)
        if client != user and not client.startswith(f"{user}-"):
            return int(IDENTIFIER_REJECTED)
        if session.will_flag:
            return int(NOT_AUTHORIZED)
        return 0

    def _knows(self, session: Session) -> bool:
        expected = self._passwords.get(session.username or "", "")
        given = (session.password or "").encode("utf-8", "surrogateescape")
        return bool(expected) and hmac.compare_digest(expected.encode(), given)

    async def _authenticate(self, session: Session, _: ListenerConfig) -> bool:
        return self._knows(session)

    async def _handle_disconnect(
        self,
        client_session: Session,
        handler: BrokerProtocolHandler,
        disconnect_waiter: "asyncio.Future[Any]",
    ) -> None:
        await super()._handle_disconnect(client_session, handler, disconnect_waiter)
        client = str(client_session.client_id)
        if self._sessions.get(client, (None, None))[1] is handler:
            await self._cleanup_session(client)

    # Subscribing

    async def _topic_filtering(self, session: Session, topic: str, action: Action) -> bool:
        if action is Action.SUBSCRIBE:
            return may_subscribe(session.username or "", topic)
        return action is Action.PUBLISH and may_publish(session.username or "", topic)

    async def add_subscription(self, subscription: tuple[str, int], session: Session) -> int:
        granted = await super().add_subscription((subscription[0], 0), session)
        self._routes.clear()
        return int(granted)

    def _del_subscription(self, a_filter: str, session: Session) -> int:
        self._routes.clear()
        return int(super()._del_subscription(a_filter, session))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"Port {port} on {host} is in use; choose another with --port, or stop its program."
            ) from None
        raise BusError(
            f"The broker cannot listen on {host}:{port} ({error}); choose another address."
        ) from None
    return listener
