"""Laws of directions, rotations and plane figures."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from skill2real.backends import geometry

angles = st.floats(-10.0, 10.0)
numbers = st.floats(-2.0, 2.0)
vectors = st.tuples(numbers, numbers, numbers)


def directions():
    return vectors.map(geometry.unit).filter(lambda v: v is not None)


@given(directions(), angles, angles)
def test_rotations_about_one_axis_add_up(axis, a, b):
    product = geometry.rotation(axis, a) @ geometry.rotation(axis, b)
    assert np.allclose(product, geometry.rotation(axis, a + b), atol=1e-9)


@given(directions(), angles)
def test_a_rotation_keeps_its_axis_lengths_and_handedness(axis, angle):
    r = geometry.rotation(axis, angle)
    assert np.allclose(r @ axis, axis, atol=1e-9)
    assert np.allclose(r @ r.T, np.eye(3), atol=1e-9)
    assert math.isclose(np.linalg.det(r), 1.0, abs_tol=1e-9)


def test_rotations_are_right_handed():
    quarter = geometry.rotation(geometry.UP, math.pi / 2)
    assert np.allclose(quarter @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])


@given(vectors, directions(), directions())
def test_a_pose_matrix_points_as_asked_and_is_rigid(position, approach, closing):
    m = geometry.pose_matrix(np.array(position), approach, closing)
    assert np.allclose(m[:3, 2], approach)
    assert np.allclose(m[:3, 3], position)
    assert np.allclose(m[:3, :3].T @ m[:3, :3], np.eye(3), atol=1e-6)
    assert np.linalg.det(m[:3, :3]) > 0.99
    if abs(closing @ approach) < 0.99:
        # no perpendicular direction is nearer to the one asked for
        assert m[:3, 0] @ closing >= np.sqrt(1 - (closing @ approach) ** 2) - 1e-6


@given(vectors, directions(), directions(), st.lists(vectors, min_size=1, max_size=5))
def test_inverse_undoes_a_transform(position, approach, closing, points):
    m, p = geometry.pose_matrix(np.array(position), approach, closing), np.array(points)
    assert np.allclose(geometry.transform(geometry.inverse(m), geometry.transform(m, p)), p, atol=1e-6)


@given(angles, angles)
def test_a_turn_between_lines_is_the_smallest(old, new):
    turn = geometry.turn_between(old, new)
    assert -math.pi / 2 < turn <= math.pi / 2
    assert math.isclose(math.sin(old + turn - new), 0.0, abs_tol=1e-9)


def test_no_direction_without_length_or_finiteness():
    for vector in ((0.0, 0.0, 0.0), (math.nan, 0.0, 1.0), (math.inf, 0.0, 0.0)):
        assert geometry.unit(vector) is None


@given(
    st.floats(0.02, 0.3),
    st.floats(0.3, 0.8),
    st.floats(0.0, math.pi),
    st.floats(-0.5, 0.5),
    st.floats(-0.5, 0.5),
)
def test_the_smallest_rectangle_finds_a_rectangle(length, share, yaw, x, y):
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, 40), np.linspace(-0.5, 0.5, 40))
    flat = np.column_stack([u.ravel() * length, v.ravel() * length * share])
    c, s = math.cos(yaw), math.sin(yaw)
    found = geometry.smallest_rectangle(flat @ np.array([[c, s], [-s, c]]) + [x, y], trim=0.0)
    assert math.isclose(found.length, length, rel_tol=0.02)
    assert math.isclose(found.width, length * share, rel_tol=0.02)
    assert math.hypot(found.x - x, found.y - y) < 0.01 * length
    assert abs(geometry.turn_between(found.yaw, yaw)) < math.radians(1.0)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.01, 0.5), st.floats(0.0, 6.0), st.floats(1.5, 6.28))
def test_a_circle_is_found_from_an_arc(x, y, radius, start, length):
    a = np.linspace(start, start + length, 50)
    found = geometry.fit_circle(np.column_stack([x + radius * np.cos(a), y + radius * np.sin(a)]))
    assert math.hypot(found.x - x, found.y - y) < 1e-6
    assert math.isclose(found.radius, radius, abs_tol=1e-6)
    assert found.error < 1e-6


@given(directions(), directions())
def test_across_is_perpendicular(direction, approach):
    assume(abs(direction @ approach) < 0.999)
    result = geometry.across(direction, approach)
    assert abs(result @ approach) < 1e-6
    assert result @ direction >= -1e-9
