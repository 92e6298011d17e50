"""Renamed instructions have the same parts; categories and the subset follow from form and words alone."""

from collections import Counter

import pytest

from skill2real.agents.benchmarks import PRO_LONG, groups, key_of, resolve, subset
from skill2real.agents.categories import CATEGORIES, WORDS, Categories
from skill2real.agents.errors import ConfigError
from skill2real.agents.grammar import Clause, Phrase, parse
from skill2real.agents.renaming import made_up, phrases, rename
from skill2real.agents.subset import covered, vocabulary

SUITES = ("libero_90", *PRO_LONG, "robosuite")
OWN = {"arms", "other arm"}  # the robot's


def said(suite: str) -> list[str]:
    return [task.instruction for task in resolve(suite)]


def form(clause: Clause) -> tuple[object, ...]:
    """A clause without its nouns."""

    def shape(phrase: Phrase | None) -> object:
        return phrase and (phrase.selector, len(phrase.noun.split()), shape(phrase.whole))

    return clause.verb, shape(clause.thing), clause.relation, shape(clause.target), clause.repeat


@pytest.mark.parametrize("suite", SUITES)
def test_a_renamed_instruction_has_the_same_parts(suite: str) -> None:
    for instruction in said(suite):
        before, after = parse(instruction), parse(rename(instruction))
        assert [form(clause) for clause in after] == [form(clause) for clause in before], instruction
        nouns = {phrase.noun for clause in before for phrase in phrases(clause)} - OWN
        assert nouns.isdisjoint(phrase.noun for clause in after for phrase in phrases(clause))


def test_one_noun_has_one_name_and_two_have_two() -> None:
    names: dict[str, str] = {}
    for suite in SUITES:
        for instruction in said(suite):
            for before, after in zip(parse(instruction), parse(rename(instruction)), strict=True):
                for old, new in zip(phrases(before), phrases(after), strict=True):
                    assert names.setdefault(old.noun, new.noun) == new.noun
    assert len(set(names.values())) == len(names) > 40


def test_what_is_no_noun_stays() -> None:
    text = rename("Close the top drawer of the cabinet and put both moka pots on top of it")
    drawer, cabinet, moka, pot = (made_up(noun) for noun in ("drawer", "cabinet", "moka", "pot"))
    assert text == f"Close the top {drawer} of the {cabinet} and put both {moka} {pot}s on top of it"
    assert rename("open the door", seed=1) != rename("open the door", seed=2)


def test_every_task_is_in_exactly_one_of_six_categories() -> None:
    own = said("libero_90")
    reading = Categories(own)
    found = Counter(reading.of(instruction) for instruction in own)
    assert sum(found.values()) == 90
    assert set(found) == set(CATEGORIES) - {"other"}
    grouped = groups("libero_90", resolve("libero_90"))
    assert {name: len(tasks) for name, tasks in grouped.items()} == {WORDS[c]: n for c, n in found.items()}


@pytest.mark.parametrize(
    ("number", "category"),
    [
        (1, "articulated"), (2, "articulated"), (12, "surface"), (16, "stack"), (18, "furniture"),
        (21, "articulated"), (27, "furniture"), (34, "surface"), (42, "furniture"), (46, "container"),
        (63, "stack"), (70, "surface"), (76, "surface"), (77, "compartment"), (84, "compartment"),
    ],
)  # fmt: skip
def test_categories_are_what_people_would_say(number: int, category: str) -> None:
    own = said("libero_90")
    assert Categories(own).of(own[number]) == category


def test_categories_do_not_hang_on_names() -> None:
    own = said("libero_90")
    renamed = [rename(instruction) for instruction in own]
    plain, blind = Categories(own), Categories(renamed)
    assert [plain.of(one) for one in own] == [blind.of(one) for one in renamed]


def test_the_subset_is_what_its_rule_says() -> None:
    known = vocabulary(said("pro_long"))
    own = said("libero_90")
    chosen = {int(name) for name in subset()}
    assert 0 < len(chosen) < 90
    for number, instruction in enumerate(own):
        assert (vocabulary([instruction]) <= known) == (number in chosen)
    assert covered(
        ["open the box", "close the box", "open the lid"], ["open the box", "put the lid in the box"]
    ) == [0, 2]


def test_a_benchmark_of_several_suites_names_its_tasks_with_their_suite() -> None:
    tasks = resolve("pro_long")
    assert [key_of(task) for task in tasks] == [f"{suite}/{i}" for suite in PRO_LONG for i in range(10)]
    assert [key_of(task) for task in resolve("pro_long", ("libero_10_swap/3",))] == ["libero_10_swap/3"]
    assert {name: len(own) for name, own in groups("pro_long", tasks).items()} == {
        "instruction perturbation": 10,
        "position perturbation": 10,
    }
    with pytest.raises(ConfigError, match="libero_10_task/3"):
        resolve("pro_long", ("3",))
    with pytest.raises(ConfigError, match="another suite"):
        resolve("pro_long", ("libero_90/3",))


def test_renamed_tasks_are_the_same_tasks() -> None:
    plain, blind = resolve("libero_90", ("50", "50+51")), resolve("libero_90", ("50", "50+51"), rename=True)
    assert [(t.parts, t.scene) for t in plain] == [(t.parts, t.scene) for t in blind]
    assert all(a.instruction != b.instruction for a, b in zip(plain, blind, strict=True))
