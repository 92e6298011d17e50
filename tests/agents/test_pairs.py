"""Which tasks the Brain's rounds join."""

from skill2real.agents.pairs import joined
from skill2real.agents.session import resolve
from skill2real.ledger import events as ev


def task(number: int, instruction: str, scene: str = "a") -> ev.Task:
    return ev.Task(suite="s", parts=(number,), instruction=instruction, scene=scene)


def test_two_things_for_one_target_of_one_scene_are_joined():
    tasks = [
        task(1, "put the zorp in the quib"),
        task(2, "put the blim in the quib"),
        task(3, "put the zorp on the quib"),
        task(4, "put the zorp in the quib", scene="b"),
        task(5, "open the quib and put the fap in it"),
    ]
    assert joined(tasks) == ["1+2"]


def test_the_same_thing_is_not_put_twice():
    assert joined([task(1, "put the left zorp in the quib"), task(2, "put the right zorp in the quib")]) == []


def test_joined_names_can_be_loaded():
    names = joined(resolve("libero_90", tuple(map(str, range(46, 55)))))
    assert len(names) == 7
    assert all(" and " in one.instruction for one in resolve("libero_90", tuple(names)))
