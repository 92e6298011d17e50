"""The project's files: what the README says exists, versions are pinned, set-up says what is missing."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import click
import pytest
from signed_run import write_run

from skill2real.agents.benchmarks import groups, resolve, subset
from skill2real.agents.config import load
from skill2real.agents.verification import export
from skill2real.cli import cli
from skill2real.ledger.note import SigningKey

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("table", ROOT / "benchmarks" / "table.py")
assert spec is not None
assert spec.loader is not None
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def blocks(language: str) -> list[str]:
    """The README's code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


COMMANDS = [
    line for block in blocks("sh") for line in block.splitlines() if line.startswith("skill2real ")
]  # fmt: skip


def leaves(group: click.Group, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """All commands by their words, such as ("key", "new")."""
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        inner = (*words, name)
        found.update(leaves(command, inner) if isinstance(command, click.Group) else {inner: command})
    return found


KNOWN = leaves(cli)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_readme_can_be_given(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line, comments=True)[1:]
    name = next(known for known in KNOWN if tuple(words[: len(known)]) == known)
    command = KNOWN[name]
    arguments = words[len(name) :]
    for option in command.params:  # files that the reader has and this test has not
        if isinstance(option.type, click.Path):
            monkeypatch.setattr(option.type, "exists", False)
    if "--key" in arguments:
        at = arguments.index("--key") + 1
        arguments[at] = str(SigningKey.new("lab").verifier)
    command.make_context(" ".join(name), arguments)  # raises UsageError for an unknown option or a bad value


def test_every_command_is_in_the_readme() -> None:
    shown = {tuple(shlex.split(line, comments=True)[1:]) for line in COMMANDS}
    for name in KNOWN:
        assert any(words[: len(name)] == name for words in shown), f"README does not show {' '.join(name)}"


def test_every_command_says_what_it_does() -> None:
    for name, command in KNOWN.items():
        assert command.help, name


def test_the_configuration_in_the_readme_is_one(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    file = tmp_path / "run.toml"
    file.write_text(text)
    assert load(file, {}).tasks == ("50", "51", "52", "9")


@pytest.mark.skipif(
    shutil.which("go") is None or not Path("/usr/share/gocode/src/golang.org/x/mod/sumdb").is_dir(),
    reason="Go and its sumdb packages are not installed (Debian: golang-go golang-golang-x-mod-dev)",
)
def test_the_go_program_of_the_readme_verifies_a_bundle(tmp_path: Path) -> None:
    (program,) = blocks("go")
    (tmp_path / "check.go").write_text(program)
    key = SigningKey.new("lab.example/arm")
    write_run(tmp_path, key=key)
    bundle = tmp_path / "both.s2r"
    export("lab", tmp_path, "C1/B1", bundle)
    place = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": "/usr/share/gocode",
        "GOCACHE": str(tmp_path / "cache"),
    }
    subprocess.run(["go", "build", "-o", "check", "check.go"], cwd=tmp_path, env=place, check=True)
    command = [str(tmp_path / "check"), str(key.verifier), str(bundle)]
    assert (
        "lab.example/arm/lab signed"
        in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    bundle.write_text(bundle.read_text().replace(r"\"closed\":true", r"\"closed\":false"))
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_every_dependency_is_pinned() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = dict(line.split("==") for line in lines)
    assert len(pinned) == len(lines)
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in pinned}
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    for requirement in wanted:
        name, _, version = requirement.partition("==")
        assert re.sub(r"[-_.]+", "-", name).lower() in names, requirement
        assert version in ("", pinned.get(name)), requirement
    assert pinned["mujoco"] == "3.3.2"


def test_every_package_is_installed() -> None:
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    there = {
        ".".join(("skill2real", *path.parent.relative_to(ROOT).parts))
        for top in ("ledger", "backends", "replay", "agents", "commands")
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert listed == there | {"skill2real"}


def test_the_results_in_the_readme_are_those_of_the_committed_files() -> None:
    assert table.written(README, table.tables(table.load())) == README


def test_the_categories_in_the_readme_have_as_many_tasks_as_it_says() -> None:
    found = {name: len(tasks) for name, tasks in groups("libero_90", resolve("libero_90")).items()}
    said = dict(re.findall(rf"^\| ({'|'.join(found)}) \| .* \| (\d+) \|$", README, re.MULTILINE))
    assert {name: int(count) for name, count in said.items()} == found
    assert f"\n{len(subset())} tasks, chosen by their words alone" in README


def test_the_table_tells_results_from_what_was_not_run(tmp_path: Path) -> None:
    score = {"episodes": 400, "successes": 226, "settled": 211, "interval": [0.516, 0.613]}
    groups = {"instruction perturbation": score, "position perturbation": {**score, "successes": 100}}
    record = {
        "results": [{"arm": "both", **score, "groups": groups}],
        "failures": {"both": {"grasp: slipped": 3}},
    }
    (tmp_path / "pro_long.json").write_text(json.dumps(record))
    evaluations = [{"benchmark": "pro_long", "results": [score]}]
    for seed in (1, 2):
        control = {"control": f"seed-{seed}", "what": "spread", "evaluations": evaluations}
        (tmp_path / f"control-seed-{seed}.json").write_text(json.dumps(control))
    text = table.tables(table.load(tmp_path))
    assert "56.5% (52–61), 226 of 400; at rest 211" in text
    assert "position perturbation | 25.0%" in text
    assert "LIBERO-90 | not run yet" in text
    assert "3 × grasp: slipped" in text
    assert "**2 independent runs** | mean, lowest to highest |  | 56.5% (56.5 to 56.5)" in text


def stub(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_setup_without_rights_names_the_packages(tmp_path: Path) -> None:
    stub(tmp_path, "id", "echo 1000")
    stub(tmp_path, "sudo", "exit 1")
    stub(tmp_path, "ldconfig", "")
    place = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = [str(ROOT / ".ci" / "system-packages"), "rendering"]
    result = subprocess.run(command, env=place, capture_output=True, text=True, check=False)
    assert result.returncode == 4
    assert len(result.stderr.splitlines()) == 1
    assert "apt-get install libegl1 libgl1 libglib2.0-0" in result.stderr


def test_setup_with_rights_installs_what_is_missing_and_only_that(tmp_path: Path) -> None:
    stub(tmp_path, "id", "echo 0")
    stub(
        tmp_path,
        "ldconfig",
        'echo "	libEGL.so.1 (libc6) => /lib/libEGL.so.1"; echo "	libOSMesa.so.8 (libc6) => /x"',
    )
    stub(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/asked')
    place = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = [str(ROOT / ".ci" / "system-packages"), "rendering"]
    assert subprocess.run(command, env=place, check=False).returncode == 0
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.split()[-2:] == ["libgl1", "libglib2.0-0"]
