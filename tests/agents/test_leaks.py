"""The leak guard lets public words through and stops ground truth in any dress."""

import pytest

from skill2real.agents.leaks import leak

RECORD = {
    "goal": [{"predicate": "in", "thing": "alphabet_soup_1", "target": "basket_1", "held": False}],
    "objects": {
        "alphabet_soup_1": {
            "start": {"centre": [0.512, -0.134, 0.047]},
            "end": {"centre": [0.498, 0.211, 0.062]},
        },
        "basket_1": {"start": {"centre": [0.603, 0.247, 0.051]}, "end": {"centre": [0.603, 0.247, 0.051]}},
    },
    "holds": [{"thing": "alphabet_soup_1", "lifted": 0.183}],
    "joints": {
        "cabinet_1_top_level": {
            "object": "cubeA",
            "start": -0.151,
            "end": -0.062,
            "asked": {"turnon": [0.5, 2.1]},
        }
    },
    "places": {"cabinet_1_top_region": {"object": "bin2", "joint": "cabinet_1_top_level"}},
}

HONEST = [
    "The goal was not reached. Clause 1: your region 4 was the thing you were asked for.",
    "Clause 2: released beside: it ended too far to the picture's left, by about a hand's width.",
    "Region 12 is the target; you took region 5 in 3 of 5 programs.",
    "nothing between the fingers; look from close by first, then try 2 more times.",
    "Regions 3, 5 and 7 look alike; the middle one was meant.",
    "Clause 1: part 3 of your region 4 was the right one. Clause 1: moved nearly far enough.",
    "Clause 2: it was not open when it should be put in. Clause 1: another part had to be done first.",
    "Clause 1: region 2 is right, but it belongs in or on a part of it. Clause 1: moved and sprang back.",
]
LEAKS = [
    "the soup is at x = 0.512",
    "move 51.2 cm forward",
    "it lies 134 mm to the right",
    "the basket is 20.2 inches away from the soup's place: go to 0.603",
    "go twenty-five centimetres to the left",
    "it was lifted 18.3 cm",
    "alphabet_soup_1 was not in place",
    "basket_1 is the target",
    "the soup ended 38 cm from where it began",
    "success = True",
    "this was initial state 17",
    "the qpos of the drawer did not change",
    "pull it out by 8.9 cm more",
    "turn it by 28.6 degrees",
    "turn it by 2.1 rad",
    "turn it 28.6° more",
    "the drawer was 42% open",
    "it came out by 60 percent",
    "cubeA was meant",
    "put it into bin2",
    "cabinet_1_top_region is the place",
]


@pytest.mark.parametrize("text", HONEST)
def test_public_words_pass(text: str) -> None:
    assert leak(text, RECORD) == ""


@pytest.mark.parametrize("text", LEAKS)
def test_ground_truth_is_stopped(text: str) -> None:
    assert leak(text, RECORD) != ""
