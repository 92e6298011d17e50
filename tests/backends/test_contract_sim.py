"""The simulated cell keeps the contract of every backend."""

import pytest
from contract import BackendContract

from skill2real.backends.operations import CellOperations
from skill2real.backends.sim.suites import load_task
from skill2real.backends.sim.world import WorldCache

pytestmark = pytest.mark.sim


@pytest.fixture(scope="module")
def worlds():
    cache = WorldCache(limit=1)
    yield cache
    cache.close()


class TestSimulatedCell(BackendContract):
    @pytest.fixture
    def reopen(self, worlds):
        task = load_task("libero_90", (52,))
        return lambda: CellOperations(worlds.open(task, 0).device)
