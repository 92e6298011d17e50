"""C2SP signed notes with Ed25519: a text, and below it the signatures of those who stand for it."""

import base64
import binascii
import re
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .errors import BadName, KeyRefused, NoteRefused

_ED25519 = b"\x01"  # signature type in key ids and encoded keys
_DASH = "— "
_MAX_NOTE = 1_000_000
_MAX_SIGNATURES = 100
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\ud800-\udfff]")  # and what UTF-8 cannot say


def check_name(name: str) -> str:
    """A key name has no white space and no plus sign."""
    if not name or "+" in name or any(c.isspace() for c in name) or _CONTROL.search(name):
        raise BadName(f"{name!r} cannot name a key; use letters, digits, dots, slashes and dashes.")
    return name


def unbase64(text: str) -> bytes | None:
    """The bytes of strict base64, or None. A text has one reading only: no stray or left-over bits."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


@dataclass(frozen=True)
class VerifierKey:
    """Name and public key of a signer. As text: `name+keyid+base64(type ‖ public key)`."""

    name: str
    public: bytes  # 32 bytes

    @property
    def key_id(self) -> bytes:
        """First four bytes of a hash over name and key: which signature lines to try."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(_ED25519 + self.public).decode()}"

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """Raises KeyRefused for text that is not a verifier key."""
        wanted = "a verifier key is one line `name+keyid+base64`, as `skill2real key show` prints it"
        parts = text.strip().split("+", 2)
        if text.strip().startswith("PRIVATE+KEY+"):
            raise KeyRefused(f"This is a signing key, which must stay private; {wanted}.")
        encoded = unbase64(parts[2]) if len(parts) == 3 else None
        if encoded is None or len(encoded) != 33 or encoded[:1] != _ED25519:
            raise KeyRefused(f"{text.strip()[:80]!r} is not a verifier key: {wanted}.")
        key = cls(check_name(parts[0]), encoded[1:])
        if key.key_id.hex() != parts[1]:
            raise KeyRefused(f"The key id in {text.strip()[:80]!r} does not match its key: {wanted}.")
        return key


@dataclass(frozen=True)
class SigningKey:
    """A signer's name and private key. As text: `PRIVATE+KEY+name+keyid+base64(type ‖ seed)`."""

    name: str
    private: Ed25519PrivateKey

    @classmethod
    def new(cls, name: str) -> "SigningKey":
        return cls(check_name(name), Ed25519PrivateKey.generate())

    @property
    def verifier(self) -> VerifierKey:
        """What others need to verify this key's signatures."""
        return VerifierKey(self.name, self.private.public_key().public_bytes_raw())

    def encode(self) -> str:
        seed = base64.b64encode(_ED25519 + self.private.private_bytes_raw()).decode()
        return f"PRIVATE+KEY+{self.name}+{self.verifier.key_id.hex()}+{seed}"

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        """Raises KeyRefused, without repeating the text."""
        parts = text.strip().split("+", 4)
        encoded = unbase64(parts[4]) if len(parts) == 5 and parts[:2] == ["PRIVATE", "KEY"] else None
        if encoded is None or len(encoded) != 33 or encoded[:1] != _ED25519:
            raise KeyRefused("This is not a signing key; make one with `skill2real key new`.")
        key = cls(check_name(parts[2]), Ed25519PrivateKey.from_private_bytes(encoded[1:]))
        if key.verifier.key_id.hex() != parts[3]:
            raise KeyRefused(
                "The signing key's id does not match it; make a new one with `skill2real key new`."
            )
        return key


def sign(text: str, key: SigningKey) -> str:
    """The signed note. The text must end in a newline and hold no other control characters."""
    if not text.endswith("\n") or _CONTROL.search(text):
        raise ValueError("a note's text ends in a newline and has no other control characters")
    signature = base64.b64encode(key.verifier.key_id + key.private.sign(text.encode())).decode()
    return f"{text}\n{_DASH}{key.name} {signature}\n"


def split(note: str) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """A note's text and its signatures as (name, key id, signature), unverified. Raises NoteRefused."""
    if len(note) > _MAX_NOTE:
        raise NoteRefused(f"The note has over {_MAX_NOTE} characters.")
    if _CONTROL.search(note):
        raise NoteRefused("The note has control characters.")
    body, separator, below = note.rpartition("\n\n")
    lines = below.split("\n")
    if not separator or not below.endswith("\n") or len(lines) < 2:
        raise NoteRefused("The note has no signatures; a signed note ends with lines `— name signature`.")
    if len(lines) - 1 > _MAX_SIGNATURES:
        raise NoteRefused(f"The note has over {_MAX_SIGNATURES} signatures.")
    signatures: list[tuple[str, bytes, bytes]] = []
    for line in lines[:-1]:
        name, _, encoded = line.removeprefix(_DASH).partition(" ")
        blob = unbase64(encoded)
        if not line.startswith(_DASH) or not name or blob is None or len(blob) < 5:
            raise NoteRefused(f"The note has a malformed signature line: {line[:80]!r}.")
        signatures.append((name, blob[:4], blob[4:]))
    return body + "\n", signatures


def verify(note: str, key: VerifierKey) -> str:
    """The note's text, once a signature of `key` is found good. Raises NoteRefused.

    Signatures by others are not looked at.
    """
    text, signatures = split(note)
    mine = [signature for name, key_id, signature in signatures if (name, key_id) == (key.name, key.key_id)]
    if not mine:
        who = ", ".join(f"{name}+{key_id.hex()}" for name, key_id, _ in signatures)
        raise NoteRefused(
            f"The note is signed by {who}, not by the pinned key {key.name}+{key.key_id.hex()}; "
            "pin the key of who signed it only if you trust them."
        )
    public = Ed25519PublicKey.from_public_bytes(key.public)
    for signature in mine:
        try:
            public.verify(signature, text.encode())
        except InvalidSignature:
            raise NoteRefused(
                f"The signature by {key.name} does not match the note: the note was changed."
            ) from None
    return text
