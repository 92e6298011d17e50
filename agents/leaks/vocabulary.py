"""English words that count, measure or point, and what they may stand beside."""

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _in_order(text: str) -> list[str]:
    return text.split()


_TO_NINETEEN = _in_order(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = _in_order("twenty thirty forty fifty sixty seventy eighty ninety")
TENS: Final = frozenset(_TENS)
NUMBERS: Final[dict[str, int]] = (
    {word: value for value, word in enumerate(_TO_NINETEEN)}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
    | {"hundred": 100, "thousand": 1000, "million": 10**6, "dozen": 12, "nought": 0, "naught": 0, "nil": 0}
)
_TO_NINETEENTH = _in_order(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
ORDINALS: Final[dict[str, int]] = {word: value for value, word in enumerate(_TO_NINETEENTH, start=1)} | {
    word.removesuffix("y") + "ieth": value for word, value in NUMBERS.items() if word in TENS
}
PLURALS: Final = frozenset(  # "the mid fifties", "a pair of sixes"
    word.removesuffix("y") + "ies" if word in TENS else word + ("es" if word == "six" else "s")
    for word in NUMBERS
    if word not in ("zero", "one")
) | words("teens")
FRACTIONS: Final = words(
    "quarter quarters halves thirds fourths fifths sixths sevenths eighths ninths tenths elevenths "
    "twelfths hundredth hundredths thousandth thousandths"
)

# Lengths, angles and shares that nobody mentions but to measure: the metre and its parts as most languages of
# Europe write them, and the rest.
UNIT: Final = re.compile(
    r"(?:(?:[czs][ea]nt+[iy]|mil+[iy]|de[csz][iy]|mi[ck]ro|nano|kilo)?m(?:et(?:er|re|ro|r)|etr|jetr)\w{0,3}"
    r"|(?:centi|zenti|senti|santi|centy|milli|deci|dezi|desi|micro)m\w*|[cdk]m|mm|nm|um|[mc]ms|microns?"
    r"|inches|feet|yards|degrees|radians?|rads?|gradians?|arcmin\w*|arcsec\w*|pi|percents?|percentages?|percentiles?|o'?clock"
    r"|pulgadas?|pouces?|zoll|pollici|polegadas?|degres|grados|gradi|graus)"
)
# Those that have other meanings: a length only where a quantity stands before them.
SOFT_UNIT: Final = words(
    "m inch foot ft yard yd mile miles mil mils thou degree deg px pixel pixels "
    "newton newtons gram grams kilogram kg"
)
SIGNS: Final = words("° % ‰")
IN_METRES: Final[dict[str, float]] = {
    "m": 1.0, "metre": 1.0, "metres": 1.0, "meter": 1.0, "meters": 1.0, "cm": 0.01, "centimetre": 0.01,
    "centimetres": 0.01, "centimeter": 0.01, "centimeters": 0.01, "mm": 0.001, "millimetre": 0.001,
    "millimetres": 0.001, "millimeter": 0.001, "millimeters": 0.001,
}  # fmt: skip
QUANTIFIERS: Final = words("a an half few several couple some many single each another per")
MEASURES: Final = words(
    "width widths length lengths diameter diameters radius radii height heights breadth breadths depth "
    "depths thickness thicknesses span spans distance distances rotation rotations revolution revolutions "
    "circle circles turn"
)

# What a number may number: things of the Proposer's own lists.
LABELS: Final[dict[str, str]] = {
    form: label
    for label, forms in {
        "region": "region regions",
        "part": "part parts",
        "program": "program programs turn turns try tries attempt attempts round rounds",
        "call": "operation operations call calls",
        "line": "line lines",
        "step": "step steps clause clauses stage stages phase phases rule rules option options item items "
        "task tasks",
        "view": "view views picture pictures image images capture captures",
        "shape": "shape shapes plan plans pose poses support supports robot workspace",
    }.items()
    for form in forms.split()
}
COUNTED: Final = frozenset(LABELS) | words(
    "thing things object objects time times decision decisions hand hands arm arms finger fingers fingered "
    "armed handed side sides mistake mistakes grasp grasps motion motions move moves release releases "
    "candidate candidates place places push pushes pull pulls reason reasons"
)
NO_NOUN: Final = words(  # plural in form, yet no things to be counted
    "is was as its this thus has does goes less us yes plus minus times towards forwards backwards "
    "upwards downwards rightwards leftwards sideways inwards outwards across units ticks increments "
    "notches inches paces cubits palms thumbs always perhaps tens hours minutes seconds hundreds "
    "thousands"
)
FUNCTION: Final = words(
    "to of the a an in on at by from with and or but is was were are be it too left right up down forward "
    "back away than then so for into onto above below behind"
)
DISTANT: Final = words(
    "away apart further farther wide long high deep tall thick off short over beyond ahead behind out "
    "left right up down forward back closer nearer higher lower"
)
SHIFTED: Final = words(  # before a distance
    "by about roughly around approximately nearly almost another further some go shift raise lower reach "
    "advance travel lies lay stands stood sits"
)
DETERMINERS: Final = words("all both these those the other any last first next remaining your only same no")
PLURAL_VERBS: Final = words("are were look have")
VERBS: Final = PLURAL_VERBS | words(
    "is was did do does had looks can could should must may might will would failed came went touched "
    "moved need needed of and or that which who not never only still"
)
STATES: Final = words(  # what must not be numbered: which episode of a benchmark this was
    "state states seed seeds layout layouts arrangement arrangements configuration configurations config "
    "episode episodes scene scenes setup setups variant variants variation variations instance instances "
    "init initial start starts placement placements demo demos rollout rollouts flag reward score trial "
    "trials"
)
COLOURS: Final = words(
    "red green blue yellow white black brown orange purple pink grey gray silver golden dark light bright"
)
