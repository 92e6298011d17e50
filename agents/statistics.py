"""Statistics of paired trials: exact McNemar and Wilson intervals."""

from math import comb, sqrt

Z95 = 1.959963984540054


def mcnemar(wins: int, losses: int) -> float:
    """Exact one-sided p: chance of at least `wins` among the discordant pairs if both sides were alike."""
    n = wins + losses
    return float(sum(comb(n, k) for k in range(wins, n + 1)) / 2**n)


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """Wilson score interval of a proportion; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    p = successes / trials
    centre = p + z * z / (2 * trials)
    half = z * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
