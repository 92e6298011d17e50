"""`mqtts://`: TLS with the system's authorities, on a real Mosquitto."""

import asyncio
import datetime
import ipaddress
from pathlib import Path

import pytest
from brokers import free_port, mosquitto, opening
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from skill2real.ledger.bus import Bus
from skill2real.ledger.bus_errors import BrokerUnreachable
from skill2real.ledger.credentials import Address, parse_url, random_passwords
from skill2real.ledger.serve import hosted


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    chain, secret = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return chain, secret


def test_actors_and_service_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, secret = certificate(tmp_path)
    passwords, port = random_passwords(), free_port()
    more = f"listener {port} 127.0.0.1\ncertfile {chain}\nkeyfile {secret}\n"
    with mosquitto(tmp_path / "broker", passwords, more=more):
        url = f"mqtts://127.0.0.1:{port}"

        async def main() -> None:
            with pytest.raises(BrokerUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
                async with Bus.connect(url, "lab", "trainer", passwords["trainer"], patience=1):
                    pass
            monkeypatch.setenv("SSL_CERT_FILE", str(chain))
            async with (
                hosted(tmp_path / "runs", passwords, broker=url),
                Bus.connect(url, "lab", "trainer", passwords["trainer"]) as trainer,
            ):
                assert await trainer.publish(opening()) == [1]

        asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("mqtt://localhost", Address("localhost", 1883, False)),
        ("mqtts://broker.example", Address("broker.example", 8883, True)),
        ("mqtt://[::1]:99/", Address("::1", 99, False)),
    ],
)
def test_urls(url: str, address: Address) -> None:
    assert parse_url(url) == address
    assert parse_url(address.url) == address
