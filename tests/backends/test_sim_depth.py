"""The depth error model has the statistics that it promises."""

import numpy as np

from skill2real.backends.sim import depth


def measure(true: np.ndarray, focal: float = 300.0, seed: int = 0) -> np.ndarray:
    return depth.measure(true, focal, np.random.default_rng(seed))


def test_noise_grows_with_the_square_of_the_distance():
    for distance in (0.5, 1.0, 2.0):
        seen = measure(np.full((200, 200), distance))
        assert (seen > 0).all()
        assert abs(np.std(seen) / (depth.NOISE * distance**2) - 1) < 0.05
        assert abs(np.mean(seen) - distance) < 3e-4 * distance**2


def test_disparity_comes_in_steps():
    values = np.unique(1.0 / measure(np.full((200, 200), 1.0)))
    assert np.allclose(np.diff(values) / depth.STEP, np.round(np.diff(values) / depth.STEP), atol=1e-2)
    assert len(values) < 30


def test_holes_lie_at_edges_and_behind_the_left_side_of_near_things():
    true = np.full((100, 100), 1.0)
    true[30:70, 40:60] = 0.5
    lost = measure(true) == 0.0
    assert not lost[:28].any()
    assert not lost[72:].any()
    assert lost[30:70, 20:40].mean() > 3 * lost[30:70, 61:81].mean()  # the second imager stands to the right
    assert not lost[35:65, 45:55].any()


def test_too_near_and_too_far_is_no_reading():
    assert (measure(np.full((4, 4), 0.05)) == 0).all()
    assert (measure(np.full((4, 4), 6.0)) == 0).all()


def test_same_seed_same_picture():
    true = np.full((20, 20), 1.0)
    assert (measure(true, seed=3) == measure(true, seed=3)).all()
    assert (measure(true, seed=3) != measure(true, seed=4)).any()
