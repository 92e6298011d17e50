"""A plain text as words, numbers and signs. Number words are numbers: "twenty-one" is one, of value 21."""

import re
from dataclasses import dataclass
from typing import Literal

from .vocabulary import NUMBERS, ORDINALS, TENS

Kind = Literal["word", "number", "ordinal", "sign", "line"]
_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[.,]?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*)|(?P<word>[a-z]+(?:'[a-z]+)*)|(?P<line>\n)|(?P<sign>\S)"
)


@dataclass(frozen=True)
class Token:
    """text: in small letters. value: of a whole number or an ordinal; None for one with decimals. spelled:
    in words. glued: nothing stands between it and the token before."""

    kind: Kind
    text: str
    value: int | None = None
    spelled: bool = False
    glued: bool = False

    @property
    def stem(self) -> str:
        """Without the genitive."""
        return self.text.removesuffix("'s")


END = Token("line", "\n")


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    end = -1
    for match in _TOKEN.finditer(text.casefold()):
        kind, word = match.lastgroup, match[0]
        glued = match.start() == end
        end = match.end()
        if kind == "number":
            digits = word.isdigit()
            found.append(Token("number", word, int(word) if digits and len(word) < 9 else None, glued=glued))
        elif kind == "word" and word in ("st", "nd", "rd", "th") and glued and found[-1].value is not None:
            found[-1] = Token("ordinal", found[-1].text + word, found[-1].value, glued=found[-1].glued)
        elif kind == "word" and word.removesuffix("'s") in NUMBERS.keys() | ORDINALS.keys():
            _add_spelled(found, word.removesuffix("'s"), glued)
        else:
            found.append(
                Token("word" if kind == "word" else "line" if kind == "line" else "sign", word, glued=glued)
            )
    return found


def _add_spelled(found: list[Token], word: str, glued: bool) -> None:
    ordinal = word in ORDINALS
    value = ORDINALS[word] if ordinal else NUMBERS[word]
    if value < 10 and word not in ("zero", "nought", "naught", "nil"):
        hyphen = len(found) > 1 and found[-1].text == "-"
        tens = found[-2] if hyphen else found[-1] if found else END
        if tens.text in TENS:
            del found[-2 if hyphen else -1 :]
            word, value = f"{tens.text}-{word}", (tens.value or 0) + value
    found.append(Token("ordinal" if ordinal else "number", word, value, spelled=True, glued=glued))


class Reader:
    """Tokens that can be looked at beyond both ends."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found

    def __len__(self) -> int:
        return len(self.tokens)

    def at(self, index: int) -> Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else END

    def text(self, first: int, count: int) -> str:
        return " ".join(self.at(i).text for i in range(max(first, 0), first + count)).strip()
