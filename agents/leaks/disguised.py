"""Numbers that hide in words: foreign, Roman, reversed, run together, cut up, misspelt, repeated."""

import re
from typing import Final

from .tokens import Reader
from .vocabulary import NUMBERS, ORDINALS, UNIT, words

# Numbers of other languages, without accents. Those that are English words too ("six", "once", "due") are
# left out: beside a unit they are refused for the unit.
_FOREIGN: Final = words(
    # German and Dutch
    "eins zwei drei vier funf fuenf sechs sieben acht neun zehn elf zwolf zwoelf dreizehn vierzehn "
    "funfzehn fuenfzehn sechzehn siebzehn achtzehn neunzehn hundert tausend halb halbe halben anderthalb "
    "drittel viertel komma een twee drie vijf zes zeven negen tien twaalf dertien veertien vijftien zestien "
    "honderd "
    # French
    "deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze mille virgule demi demie "
    "moitie "
    # Spanish and Portuguese
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez doce trece catorce quince dieciseis "
    "diecisiete dieciocho diecinueve veinte cien ciento medio tercio cuarto dois quatro sete oito nove "
    "dez doze vinte cem meio "
    # Italian
    "tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove venti cento mezzo virgola "
    # Swedish, Danish and Norwegian; Polish
    "tva fyra fem sju atta nio tio elva tolv femton tjugo trettio otte ni seks syv dwa trzy cztery "
    "piec szesc siedem osiem dziewiec dziesiec dwanascie"
)
_FOREIGN_TENS = re.compile(
    "zwanzig|dreissig|vierzig|funfzig|fuenfzig|sechzig|siebzig|achtzig|neunzig|zwolf|zwoelf"
    "|twintig|dertig|veertig|vijftig|zestig|zeventig|tachtig|negentig|dziesiat|dziesci"
    "|vingt|trente|quarant|cinquant|soixant|veinti|treint|cuarent|quarent|cincuent|cinquent|sesent|sessent"
    "|setent|ochent|oitent|novent|trenta|settant|ottant|novant"
)
_NOT_ENGLISH = words(  # two of these in a text: it is written in another language
    "und ist nicht der das ein eine zu nach von mit den dem noch sie es auf weit links rechts vor het "
    "niet naar le les des est et vers une du gauche droite trop pas vous il avec el los las una hacia "
    "derecha izquierda esta della verso destra sinistra uma direita esquerda och det som til hojre "
    "venstre vanster jest nie prawo lewo w na ve bir sola saga"
)
_ROMAN = re.compile(r"(?=..)m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_WORDS = words("mix")
_ROMAN_DIGIT = re.compile(r"\b(?:at|by|is|of|to|about|go)\s+[VXLCDM]\b(?!-)")
_REVERSED = frozenset(word[::-1] for word in (*NUMBERS, *ORDINALS) if len(word) > 3)
_ANY = "|".join(sorted(NUMBERS, key=len, reverse=True))
_LONG = "|".join(word for word in NUMBERS if len(word) > 5)
_GLUED = re.compile(  # with another number, a unit or a word
    rf"(?:{_ANY}|point)(?:{_ANY})|(?:{_ANY})point|(?:{_ANY})(?:{UNIT.pattern})$|(?:{_ANY})(?:m|fold|ish|odd)$"
    rf"|(?:minus|plus|about|around|nearly|almost|another)(?:{_ANY})|(?<!w)(?:{_LONG})"
    rf"|(?:half|quarter|third|few|several|some|couple)(?:{UNIT.pattern})$"
)
_MISSPELT = frozenset(word for word in NUMBERS if len(word) > 5 and not word.endswith("ght"))
_AXES = frozenset("xyzuv")  # may stand in a row
_SIGN_WITHIN = re.compile(r"[a-z][!$@][a-z]", re.IGNORECASE)
_TALLY = re.compile(r"([|/\\!'^~+<>])(?: ?\1){3,}|\b(\w+)\b(?:\W+\2\b){3,}", re.IGNORECASE)


def disguised_text(text: str) -> str:
    """How a whole text hides numbers, as the end of a sentence; "" for not."""
    found = _SIGN_WITHIN.search(text) or _TALLY.search(text)
    if found:
        return f"hides a number in signs or repetitions ({found[0]!r})"
    found = _ROMAN_DIGIT.search(text)
    if found:
        return f"has a Roman number ({found[0]!r})"
    foreign = _NOT_ENGLISH.intersection(re.findall(r"[a-z]+", text.casefold()))
    return f"is not in English ({', '.join(sorted(foreign))})" if len(foreign) > 1 else ""


def disguised_word(read: Reader, i: int, identifiers: set[str]) -> str:
    """How a word, with those after it, hides a number, as the end of a sentence; "" for not. identifiers:
    public names, which may look like Roman numbers."""
    word = read.at(i).text
    if word in _FOREIGN or _FOREIGN_TENS.search(word):
        return f"has a number in another language ({word!r})"
    if _ROMAN.fullmatch(word) and word not in identifiers and word not in _ROMAN_WORDS:
        return f"has a Roman number ({word!r})"
    if word in _REVERSED or _GLUED.search(word) or _is_cut(read, i) or _is_misspelt(word):
        return f"hides a number in a word ({read.text(i, 3)!r})"
    if _is_spelled(read, i):
        return f"spells a word letter by letter ({read.text(i, 5)!r})"
    return ""


def _is_cut(read: Reader, i: int) -> bool:
    """ "Fif teen", "twel-ve", "centi metres", "milli-metre"."""
    joined, k = read.at(i).text, i
    for _ in range(3):
        k += 1 if read.at(k + 1).kind == "word" else 2
        if read.at(k).kind != "word":
            return False
        last = read.at(k).text
        joined += last
        if joined in NUMBERS or (len(joined) > 9 and UNIT.fullmatch(joined) and not UNIT.fullmatch(last)):
            return True
    return False


def _is_misspelt(word: str) -> bool:
    """Whether a word is one letter away from a longer number."""
    return any(abs(len(word) - len(number)) < 2 and _differ_by_one(word, number) for number in _MISSPELT)


def _differ_by_one(a: str, b: str) -> bool:
    """One letter more, less or other, or two exchanged."""
    start = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    rest = a[start:], b[start:]
    swapped = len(rest[0]) > 1 and rest[0][1::-1] + rest[0][2:] == rest[1]
    return swapped or rest[0][1:] == rest[1] or rest[0] == rest[1][1:] or rest[0][1:] == rest[1][1:]


def _is_spelled(read: Reader, i: int) -> bool:
    """Single letters in a row, whatever stands between them."""
    places = [i]
    while read.at(i).kind == "word" and len(read.at(i).text) == 1:
        i += 1 if read.at(i + 1).kind == "word" else 2
        places.append(i)
    letters = [read.at(k).text for k in places[:-1]]
    return len(letters) > 2 and not _AXES.issuperset(letters)
