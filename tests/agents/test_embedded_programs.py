"""The program texts of the embedded model fit together: what one defines, no other one defines again, and all
of them pass the check that stands before any motion."""

import re

import pytest

from skill2real.agents.models.embedded import look, over, programs, study, twoarm, wipe, work_program
from skill2real.backends.sandbox import Sandbox

TEXTS = {
    f"{module.__name__.rsplit('.', 1)[-1]}.{name}": text
    for module in (look, programs, study, work_program, wipe, twoarm, over)
    for name, text in vars(module).items()
    if isinstance(text, str) and name.isupper() and "def " in text
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as one:
        yield one


def test_no_name_means_two_things():
    owners: dict[str, set[str]] = {}
    for text_name, text in TEXTS.items():
        for defined in re.findall(r"^(?:def )?(\w+)(?=\(|: .*= | = )", text, re.MULTILINE):
            owners.setdefault(defined, set()).add(text_name.split(".")[1])
    assert {name: owner for name, owner in owners.items() if len(owner) > 1} == {}


def test_all_texts_together_pass_the_check(sandbox):
    acting = "\n".join([programs.PICK, programs.ROOM, programs.BESIDE, programs.PUT, work_program.WORK])
    settings = f"HEIGHT = {0.5}\nCOLUMNS = 2\nBACK = 0.07\n"
    assert sandbox.check(f"{settings}{look.LOOK}\n{study.study(0)}\n{acting}") is None
