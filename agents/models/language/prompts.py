"""The prompts: readable files beside this module, with the places that are filled in."""

from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).with_name("prompts")


def prompt(name: str, **values: object) -> str:
    """The text of `prompts/NAME.md` with its places filled. Raises KeyError for a place without a value."""
    return _template(name).substitute({key: str(value) for key, value in values.items()}).strip()


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
