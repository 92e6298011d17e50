"""The access table by itself: what covers what, and what it lets whom do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill2real.ledger.acl import PRIVILEGED, RIGHTS, may_publish, may_subscribe, mosquitto_config
from skill2real.ledger.events import ACTORS, KINDS
from skill2real.ledger.topics import covers, is_run, matches, parse_arrival

LEVELS = st.sampled_from(["skill2real", "r", "ledger", "events", "proposer", "public", "privileged", "+"])
FILTERS = st.lists(LEVELS, min_size=1, max_size=5).map("/".join)
NAMES = st.lists(LEVELS.filter(lambda level: level != "+"), min_size=1, max_size=5).map("/".join)


@given(allowed=FILTERS, wanted=FILTERS, topic=NAMES)
def test_what_is_covered_never_reaches_further(allowed: str, wanted: str, topic: str) -> None:
    if covers(allowed, wanted) and matches(wanted, topic):
        assert matches(allowed, topic)


@given(allowed=FILTERS, wanted=FILTERS)
def test_every_filter_covers_itself_and_no_multi_level_one(allowed: str, wanted: str) -> None:
    assert covers(allowed, allowed)
    assert not covers(allowed, f"{wanted}/#")
    assert not covers(allowed, "#")


@pytest.mark.parametrize("actor", sorted(set(ACTORS) - PRIVILEGED - {"ledger"}))
def test_public_actors_subscribe_to_nothing_privileged(actor: str) -> None:
    for pattern in RIGHTS[actor].subscribe:
        assert not any(
            matches(pattern, f"skill2real/r/{rest}")
            for rest in (
                "ledger/privileged", "events/runner/privileged", "sync/verifier/privileged",
                "replies/verifier/privileged/00", f"replies/{actor}/privileged/00", "acks/verifier",
            )
        )  # fmt: skip


def test_proposer_and_deployer_are_public() -> None:
    assert not {"proposer", "deployer", "runner"} & PRIVILEGED


@pytest.mark.parametrize("actor", ACTORS)
def test_an_actor_speaks_under_its_own_name_only_and_only_where_it_has_something_to_say(actor: str) -> None:
    for other in ACTORS:
        for visibility in ("public", "privileged"):
            says = any(actor in kind.actors and kind.heard(actor) == visibility for kind in KINDS.values())
            allowed = may_publish(actor, f"skill2real/r/events/{other}/{visibility}")
            assert allowed == (actor == other != "ledger" and says)


def test_only_the_ledger_speaks_for_the_ledger() -> None:
    topics = ("ledger/public", "ledger/privileged", "acks/proposer", "replies/proposer/public/00")
    for topic in topics:
        assert [actor for actor in ACTORS if may_publish(actor, f"skill2real/r/{topic}")] == ["ledger"]
    assert [actor for actor in ACTORS if may_publish(actor, "skill2real/services")] == ["ledger"]


def test_strangers_may_nothing() -> None:
    assert not may_publish("someone", "skill2real/r/events/proposer/public")
    assert not may_subscribe("", "skill2real/+/ledger/public")


@pytest.mark.parametrize(
    "topic",
    [
        "skill2real/../events/proposer/public",
        "skill2real//events/proposer/public",
        "skill2real/r/events/ledger/public",
        "skill2real/r/events/nobody/public",
        "skill2real/r/events/proposer/secret",
        "skill2real/r/events/proposer/public/more",
        "skill2real/r/ledger/proposer/public",
        "other/r/events/proposer/public",
    ],
)
def test_the_service_listens_to_no_other_topic(topic: str) -> None:
    assert parse_arrival(topic) is None


@given(st.text(max_size=80))
def test_a_run_name_is_one_level_and_one_folder(name: str) -> None:
    if is_run(name):
        assert not set(name) & set("/\\+#\0$ ")
        assert name not in (".", "..")
        assert len(name) <= 64


def test_mosquitto_gets_the_same_table() -> None:
    config = mosquitto_config("a.acl", "p.passwd", port=4242)
    users = config.access.split("\nuser ")[1:]
    assert [user.split("\n")[0] for user in users] == list(ACTORS)
    for user in users:
        name, *lines = user.strip().split("\n")
        assert lines == [f"topic write {pattern}" for pattern in RIGHTS[name].publish] + [
            f"topic read {pattern}" for pattern in RIGHTS[name].subscribe
        ]
    assert {"acl_file a.acl", "password_file p.passwd", "listener 4242 127.0.0.1"} <= set(
        config.settings.split("\n")
    )
