"""The control in which each episode is told what is true of another one."""

from collections.abc import Iterable

from skill2real.agents.exchange import Exchange, Words
from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.ledger import events as ev

REGIONS = {"regions": [{}] * 6}


def started(batch: int, round: str = "C1", purpose: ev.Purpose = "train") -> ev.EpisodeStarted:
    task = ev.Task(suite="s", parts=(0,), instruction="put the a on the b")
    return ev.EpisodeStarted(
        task=task, state=0, purpose=purpose, memory=ev.MemoryRef(), round=round, batch=batch
    )


def words(number: int, batch: int, good: bool) -> Words:
    """An episode in which all went well, or the thing and the grasp did not."""
    findings = (
        ev.Finding(
            clause=0, decision="which", good=good, kind="" if good else "wrong thing", region=number % 6
        ),
        ev.Finding(clause=0, decision="grasp", good=good, kind="" if good else "slipped while lifting"),
    )
    return Words(f"C1/train/{batch}/{number}", started(batch), findings, good)


def view(id: str, begun: ev.EpisodeStarted) -> EpisodeView:
    choices = tuple({"clause": 0, "decision": d, "region": 2} for d in ("which", "grasp", "release"))
    look = Turn(ev.ProgramProposed(turn=0, source="", last=False))
    look.executed = ev.ProgramExecuted(
        turn=0, calls=(), printed="", value=REGIONS, error="", unread_failures=(), seconds=0.0
    )
    act = Turn(ev.ProgramProposed(turn=1, source="", last=True, choices=choices))
    return EpisodeView(id, begun, [look, act])


def filled(all_words: Iterable[Words], seed: int = 0) -> Exchange:
    exchange = Exchange(seed)
    for one in all_words:
        exchange.keep(one)
    return exchange


FIRST = [words(n, 0, good=n % 4 == 0) for n in range(40)]


def test_nothing_is_said_in_the_first_batch() -> None:
    assert filled(FIRST).draw(view("C1/train/0/7", started(0))) == ((), False)


def test_the_same_is_drawn_whoever_was_faster_and_whatever_came_later() -> None:
    episode = view("C1/train/1/3", started(1))
    later = [words(n, 1, good=True) for n in range(40)]
    assert filled(FIRST).draw(episode) == filled([*reversed(FIRST), *later]).draw(episode)
    drawn = {filled(FIRST, seed).draw(episode) for seed in range(8)}
    assert len(drawn) > 1


def test_what_is_drawn_is_of_one_other_episode_in_the_numbers_of_this_one() -> None:
    exchange = filled(FIRST)
    outcomes = []
    for n in range(200):
        findings, success = exchange.draw(view(f"C1/train/1/{n}", started(1)))
        assert [f.decision for f in findings] == ["which", "grasp"]  # nobody could be told of a release
        assert {f.good for f in findings} == {success}
        (region,) = [f.region for f in findings if f.decision == "which"]
        assert (region == 2) is success
        assert 0 <= region < 6
        outcomes.append(success)
    assert 0.15 < sum(outcomes) / 200 < 0.35  # a quarter, as in what it is drawn from


def test_both_arms_of_a_trial_draw_from_the_same_training_episodes() -> None:
    exchange = filled([*FIRST, Words("C1/trial", started(0, purpose="trial"), (), True)])
    trial = started(0, purpose="trial")
    arms = [
        [exchange.draw(view(f"C1/x/1/trial/{n}/{arm}", trial))[1] for n in range(300)]
        for arm in ("with", "without")
    ]
    rates = [sum(arm) / 300 for arm in arms]
    assert all(0.17 < rate < 0.33 for rate in rates)
    assert arms[0] != arms[1]
