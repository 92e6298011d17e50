"""The README's table of results, made from the committed JSON beside the published figures.

python benchmarks/table.py            prints it
python benchmarks/table.py --write    puts it into the README, between its markers
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- results: benchmarks/table.py --write -->", "<!-- end of results -->"
ARMS = {
    "empty": "empty memory",
    "cerebellum": "Cerebellum only",
    "brain": "Brain only",
    "both": "both layers",
}

# Published figures with frontier models, in percent: empty memory, Cerebellum, both layers.
BENCHMARKS = {
    "pro_long": ("LIBERO-Pro Long", "2.0 · 35.3 · 56.3"),
    "libero_90": ("LIBERO-90", "62.0 and 73.3, two models, both layers"),
    "robosuite_seven": ("Robosuite, five single-armed tasks", "16.6 · 45.6 · 85.1"),
}
CONTROL_BENCHMARKS = ("libero_90", "pro_long")
GROUPS = {"instruction perturbation": "76 with both", "position perturbation": "36.5 with both"}

Record = dict[str, Any]


def load(folder: Path = RESULTS) -> dict[str, Record]:
    """Committed results of benchmarks and controls, by the name of their file."""
    wanted = [*(folder / f"{name}.json" for name in BENCHMARKS), *sorted(folder.glob("control-*.json"))]
    return {path.stem: json.loads(path.read_text()) for path in wanted if path.is_file()}


def tables(records: dict[str, Record]) -> str:
    """Everything, as markdown."""
    parts = [_benchmarks(records), _controls(records), _failures(records)]
    return "\n\n".join(part for part in parts if part)


def _benchmarks(records: dict[str, Record]) -> str:
    arms = [arm for arm in ARMS if any(arm in _arms(records[n]) for n in BENCHMARKS if n in records)] or [
        "both"
    ]
    rows = []
    for name, (title, published) in BENCHMARKS.items():
        if name not in records:
            rows.append([title, *["not run yet"] * len(arms), published, ""])
            continue
        own = _arms(records[name])
        rows.append([f"**{title}**", *_cells(own, arms), published, f"`{name}.json`"])
        for group in dict.fromkeys(group for result in own.values() for group in result["groups"]):
            scores = {arm: r["groups"][group] for arm, r in own.items() if group in r["groups"]}
            if len(own["both" if "both" in own else next(iter(own))]["groups"]) > 1:
                rows.append([f"– {group}", *_cells(scores, arms), GROUPS.get(group, ""), ""])
    return _markdown(["success at any step", *(ARMS[arm] for arm in arms), "published, %", "file"], rows)


def _controls(records: dict[str, Record]) -> str:
    rows = []
    for name, record in records.items():
        if "control" not in record:
            continue
        by_benchmark = {one["benchmark"]: one["results"][0] for one in record["evaluations"]}
        cells = [_share(by_benchmark[b]) if b in by_benchmark else "" for b in CONTROL_BENCHMARKS]
        rows.append([record["control"], record["what"], *cells, f"`{name}.json`"])
    seeds = [record for name, record in records.items() if name.startswith("control-seed-")]
    if len(seeds) > 1:
        spread = [_spread(seeds, benchmark) for benchmark in CONTROL_BENCHMARKS]
        rows.append([f"**{len(seeds)} independent runs**", "mean, lowest to highest", *spread, ""])
    return (
        _markdown(["control", "", "the subset it learned", "LIBERO-Pro Long", "file"], rows) if rows else ""
    )


def _spread(records: list[Record], benchmark: str) -> str:
    """Mean and range of several runs' success."""
    scores = [one["results"][0] for r in records for one in r["evaluations"] if one["benchmark"] == benchmark]
    shares = [100 * score["successes"] / max(1, score["episodes"]) for score in scores]
    return f"{sum(shares) / len(shares):.1f}% ({min(shares):.1f} to {max(shares):.1f})" if shares else ""


def _failures(records: dict[str, Record]) -> str:
    """What went wrong first in the failed episodes of both layers."""
    rows = []
    for name, (title, _) in BENCHMARKS.items():
        kinds = records.get(name, {}).get("failures", {}).get("both", {})
        if kinds:
            rows.append([title, "; ".join(f"{count} × {kind}" for kind, count in kinds.items())])
    return _markdown(["both layers", "what went wrong first, episodes"], rows) if rows else ""


def _arms(record: Record) -> dict[str, Record]:
    return {result["arm"]: result for result in record["results"]}


def _cells(scores: dict[str, Record], arms: list[str]) -> Iterator[str]:
    for arm in arms:
        yield _share(scores[arm]) if arm in scores else ""


def _share(score: Record) -> str:
    """Such as 56.5% (52–61), 226 of 400, at rest 211."""
    low, high = (round(100 * bound) for bound in score["interval"])
    share = 100 * score["successes"] / max(1, score["episodes"])
    counted = f"{score['successes']} of {score['episodes']}"
    return f"{share:.1f}% ({low}–{high}), {counted}; at rest {score['settled']}"


def _markdown(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def written(readme: str, table: str) -> str:
    """The README with this table between its markers. Raises ValueError where it has none."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the README has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put it into the README")
    table = tables(load())
    if parser.parse_args().write:
        readme = ROOT / "README.md"
        readme.write_text(written(readme.read_text(), table))
    else:
        print(table)


if __name__ == "__main__":
    main()
