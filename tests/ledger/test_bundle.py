"""Bundles: what was frozen and signed is accepted, and everything else is refused with the reason."""

import asyncio
import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import API_HASH, ENTRIES, RUN, entry, fill, make_ledger

from skill2real.ledger.bundle import make_bundle, read_bundle, save_bundle, verify_bundle
from skill2real.ledger.errors import BundleRefused, LedgerError
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.note import SigningKey
from skill2real.ledger.reader import Reader

KEY = SigningKey.new("lab.example")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "ledger.db"
    asyncio.run(fill(path, KEY))
    return path


@pytest.fixture(scope="module")
def text(ledger, tmp_path_factory):
    """The exported file of B1, as JSON."""
    path = tmp_path_factory.mktemp("export") / "b1.json"
    with Reader(ledger) as reader:
        save_bundle(make_bundle(reader, "B1", ENTRIES), path)
    return json.loads(path.read_text())


def load(tmp_path, content, key=KEY.verifier, api_hash=API_HASH):
    path = tmp_path / "bundle.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return verify_bundle(read_bundle(path), key, api_hash)


def test_an_exported_bundle_verifies(text, tmp_path):
    verified = load(tmp_path, text)
    assert (verified.name, verified.run, verified.entries) == ("B1", RUN, ENTRIES)
    assert verified.checkpoint.size == 17
    assert verified.layer.parent == "C1"
    assert text["key"] == "lab.example"
    assert text["parent"]["note"].startswith(f"lab.example/{RUN}\n9\n")


def test_the_first_checkpoint_has_no_parent(ledger, tmp_path):
    with Reader(ledger) as reader:
        bundle = make_bundle(reader, "C1", ENTRIES[:1])
    assert bundle.parent is None
    assert verify_bundle(bundle, KEY.verifier, API_HASH).name == "C1"


def test_a_wrong_key(text, tmp_path):
    for other in (SigningKey.new("lab.example"), SigningKey.new("other.example")):
        with pytest.raises(BundleRefused, match="not by the pinned key"):
            load(tmp_path, text, key=other.verifier)


def test_another_interface(text, tmp_path):
    with pytest.raises(BundleRefused, match="interface"):
        load(tmp_path, text, api_hash="b" * 64)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m[0]["state"].update(depth=0.026),
        lambda m: m[0].update(template="pass  # and more"),
        lambda m: m[0].update(when="always"),
        lambda m: m.pop(),
        lambda m: m.clear(),
        lambda m: m.append({**m[0], "id": "new"}),
        lambda m: m.append(m[0]),
    ],
)
def test_a_changed_memory(text, tmp_path, change):
    content = json.loads(json.dumps(text))
    change(content["memory"])
    with pytest.raises(BundleRefused, match="memory"):
        load(tmp_path, content)


@pytest.mark.parametrize("where", ["missing", "empty", "short", "long", "other"])
def test_a_missing_or_wrong_proof(text, tmp_path, where):
    content = json.loads(json.dumps(text))
    frozen = content["frozen"]
    if where == "missing":
        del frozen["proof"]
    elif where == "empty":
        frozen["proof"] = []
    elif where == "short":
        frozen["proof"].pop()
    elif where == "long":
        frozen["proof"].append(frozen["proof"][0])
    else:
        frozen["proof"][0] = base64.b64encode(bytes(32)).decode()
    with pytest.raises(BundleRefused, match=r"proof|proven"):
        load(tmp_path, content)


def test_another_event_in_its_place(ledger, text, tmp_path):
    content = json.loads(json.dumps(text))
    content["frozen"]["raw"] = content["frozen"]["raw"].replace(memory_hash(ENTRIES), memory_hash(()))
    content["memory"] = []
    with pytest.raises(BundleRefused, match="not proven"):
        load(tmp_path, content)
    # An event that is in the tree, but freezes nothing.
    with Reader(ledger) as reader:
        other = reader.at(4)
        content["frozen"] = {
            "seq": 4,
            "raw": other.raw.decode(),
            "proof": [base64.b64encode(h).decode() for h in reader.tree().inclusion(3, 17)],
        }
    with pytest.raises(BundleRefused, match=r"needs layer\.frozen"):
        load(tmp_path, content)


def test_a_parent_that_it_does_not_extend(text, tmp_path):
    content = json.loads(json.dumps(text))
    content["parent"]["proof"] = content["parent"]["proof"][1:]
    with pytest.raises(BundleRefused, match="extends"):
        load(tmp_path, content)
    other = make_ledger(tmp_path / "other", KEY)
    with Reader(other) as reader:
        content["parent"]["note"] = make_bundle(reader, "C1", ENTRIES[:1]).note
    content["parent"]["proof"] = text["parent"]["proof"]
    with pytest.raises(BundleRefused, match="extends"):
        load(tmp_path, content)


def test_the_note_of_another_run(text, tmp_path):
    other = make_ledger(tmp_path / "other", KEY)
    with Reader(other) as reader:
        note = make_bundle(reader, "B1", ENTRIES).note
    with pytest.raises(BundleRefused, match="not proven"):
        load(tmp_path, {**text, "note": note})


def test_files_that_are_no_bundle(text, tmp_path):
    whole = json.dumps(text)
    for content, reason in (
        ("", "not a whole bundle"),
        (whole[: len(whole) // 2], "not a whole bundle"),
        ("[]", "not a bundle"),
        ('{"format": "other"}', "not a bundle"),
        ("[" * 100_000, "not a whole bundle"),
        (json.dumps({**text, "version": 2}), "version 2"),
        (json.dumps({**text, "version": "1"}), "version '1'"),
        (json.dumps({**text, "more": 1}), "unknown field"),
        (json.dumps({k: v for k, v in text.items() if k != "note"}), "note"),
        (json.dumps({**text, "note": "trust me\n"}), "signature"),
        (json.dumps({**text, "memory": [{"id": 3}]}), "memory"),
    ):
        with pytest.raises(BundleRefused, match=reason):
            load(tmp_path, content)
    with pytest.raises(BundleRefused, match="cannot be read"):
        read_bundle(tmp_path / "absent.json")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    with pytest.raises(BundleRefused):
        read_bundle(tmp_path / "binary")


def _paths(content, path=()):
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _paths(value, (*path, key))
    elif isinstance(content, list):
        for i, value in enumerate(content):
            yield from _paths(value, (*path, i))
    else:
        yield path


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_no_changed_value_gets_through(text, tmp_path_factory, data):
    """Any one value of the file replaced: refused, unless what is deployed is the same to the byte."""
    content = json.loads(json.dumps(text))
    path = data.draw(st.sampled_from(sorted(_paths(content), key=str)))
    at = content
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = data.draw(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=20)
        | st.just([])
    )
    try:
        verified = load(tmp_path_factory.getbasetemp(), content)
    except BundleRefused:
        return
    # The name of the key is there for people: the pinned key decides. 0.025 and its like may be written anew.
    assert path == ("key",) or content == text
    assert memory_hash(verified.entries) == memory_hash(ENTRIES)


def test_what_cannot_be_exported(ledger, tmp_path):
    with Reader(ledger) as reader:
        with pytest.raises(LedgerError, match="it has C1, B1"):
            make_bundle(reader, "C9", ())
        with pytest.raises(LedgerError, match="the checkpoint froze"):
            make_bundle(reader, "B1", ENTRIES[:1])
    with Reader(make_ledger(tmp_path, None)) as reader, pytest.raises(LedgerError, match="not signed"):
        make_bundle(reader, "B1", ENTRIES)


def test_where_a_bundle_cannot_be_written(ledger, tmp_path):
    (tmp_path / "folder").mkdir()
    with Reader(ledger) as reader:
        bundle = make_bundle(reader, "C1", ENTRIES[:1])
    for place in (tmp_path / "absent" / "c1.json", tmp_path / "folder"):
        with pytest.raises(LedgerError, match="name another file"):
            save_bundle(bundle, place)
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]
    save_bundle(bundle, tmp_path / "c1.json")
    save_bundle(bundle, tmp_path / "c1.json")  # an export may replace an earlier one
    assert read_bundle(tmp_path / "c1.json") == bundle


def test_the_memory_hash_names_content_not_order():
    first, second = entry("a", x=1, y=[1.5, "z"]), entry("b", y=2)
    assert memory_hash((first, second)) == memory_hash((second, first))
    turned = entry("a", y=[1.5, "z"], x=1)
    assert memory_hash((turned, second)) == memory_hash((first, second))
    different = [(), (first,), (second,), (first, entry("b", y=3)), (first, entry("c", y=2))]
    assert len({memory_hash(m) for m in [*different, (first, second)]}) == 6
    with pytest.raises(ValueError, match="have the id a"):
        memory_hash((first, first))
