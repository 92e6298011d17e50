"""Every fault under way: the arm is still within a second, the cause is right, nothing hangs."""

import pytest

pytest.importorskip("rtde_control")

from emulated_cell import cell, halted, refused, still_ever_since


@pytest.fixture
def both():
    with cell("--unlock-delay", "0.5") as pair:
        yield pair


FAULTS = {
    "protective_stop": ("protective_stop", {}),
    "emergency_stop": ("emergency_stop", {}),
    "drop": ("connection_lost", {}),
    "freeze": ("frozen", {}),
    "silence": ("frozen", {}),
    "slider": ("speed_slider", {"fraction": 0.0}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_arm_still(both, fault):
    emulator, arm = both
    cause, arguments = FAULTS[fault]
    at = []
    error = halted(emulator, arm, lambda: at.append(emulator.do(fault, **arguments)["time"]))
    assert error.cause == cause
    assert ("NOT" in str(error)) == (fault in ("freeze", "silence")), "what was read back is said"
    for name, undo in (("freeze", {"on": False}), ("silence", {"on": False}), ("slider", {"fraction": 1.0})):
        if fault == name:
            emulator.do(name, **undo)
    state = still_ever_since(emulator, at[0])
    assert state["runtime"] != "PLAYING" or state["clients"] == 0
    refused(arm)
