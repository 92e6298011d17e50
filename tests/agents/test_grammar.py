"""Instructions as clauses, over the sentences that benchmarks use and with nouns that nobody has heard of."""

import pytest

from skill2real.agents.grammar import parse


def clauses(text: str) -> list[tuple[str, str, str, str]]:
    return [(c.verb, c.thing.text(), c.relation, c.target.text() if c.target else "") for c in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pick up the alphabet soup and put it in the basket", [("put", "alphabet soup", "in", "basket")]),
        (
            "close the bottom drawer of the cabinet and open the top drawer",
            [
                ("close", "bottom drawer of the cabinet", "", ""),
                ("open", "top drawer of the cabinet", "", ""),
            ],
        ),
        (
            "put the square nut on the square peg and the round nut on the round peg",
            [("put", "square nut", "on", "square peg"), ("put", "round nut", "on", "round peg")],
        ),
        ("wipe the dirt off the table", [("wipe", "dirt", "off", "table")]),
        ("put the can in its bin", [("put", "can", "in", "bin")]),
        ("put the middle black bowl on the plate", [("put", "middle black bowl", "on", "plate")]),
        ("put the black bowl at the front on the plate", [("put", "front black bowl", "on", "plate")]),
        (
            "stack the black bowl at the front on the black bowl in the middle",
            [("put", "front black bowl", "on", "middle black bowl")],
        ),
        (
            "put both the cream cheese box and the butter in the basket",
            [("put", "cream cheese box", "in", "basket"), ("put", "butter", "in", "basket")],
        ),
        (
            "put the black bowl in the bottom drawer of the cabinet and close it",
            [
                ("put", "black bowl", "in", "bottom drawer of the cabinet"),
                ("close", "bottom drawer of the cabinet", "", ""),
            ],
        ),
        (
            "turn on the stove and put the frying pan on it",
            [("turn on", "stove", "", ""), ("put", "frying pan", "on", "stove")],
        ),
        (
            "put the yellow and white mug to the front of the white mug",
            [("put", "yellow and white mug", "to the front of", "white mug")],
        ),
        (
            "pick up the book and place it in the left compartment of the caddy",
            [("put", "book", "in", "left compartment of the caddy")],
        ),
        ("pick up the zorp on the left and put it in the quib", [("put", "left zorp", "in", "quib")]),
        (
            "put the zorp in the quib, then put the frob next to the quib",
            [("put", "zorp", "in", "quib"), ("put", "frob", "next to", "quib")],
        ),
    ],
)  # fmt: skip
def test_clauses(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert clauses(text) == expected


def test_both_of_one_kind_are_two_clauses_with_numbers() -> None:
    first, second = parse("put both moka pots on the stove")
    assert (first.thing.noun, first.repeat, second.repeat) == ("moka pot", 0, 1)


def test_a_sentence_without_a_verb_says_what_would_be_right() -> None:
    with pytest.raises(ValueError, match="pick up"):
        parse("the red cube")
