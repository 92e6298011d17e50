"""Language models over HTTP: OpenAI's chat completions at any base URL, and Anthropic's Messages."""

from .address import Address
from .anthropic import VERSION, Anthropic
from .base import Chat
from .http import NORMAL, Connection, Limits
from .keys import find_key
from .openai import OpenAI


def connect(address: Address, key: str | None = None, limits: Limits = NORMAL) -> Chat:
    """A chat with the model at this address; nothing is sent yet. key None: from the environment.

    Raises what `find_key` raises.
    """
    key = find_key(address) if key is None else key
    if address.vendor == "anthropic":
        headers = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        return Anthropic(Connection(address, headers, key, limits))
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return OpenAI(Connection(address, headers, key, limits))
