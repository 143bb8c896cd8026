"""Draws the results of `tools/examples/studies policy --json FILE` as the README's picture, an SVG on standard output:

    tools/examples/studies policy --json target/policy.json
    python3 tools/examples/policy_picture.py target/policy.json > src/site/resources/policy.svg
"""

import json
import math
import statistics
import sys

WIDTH, LEFT, RIGHT = 560, 172, 470
ARMS = (("a", "FIFO", "#e69f00"), ("b", "shortest first", "#0072b2"))
LATENCIES = (("p50", "median_ttft_ms"), ("p90", "p90_ttft_ms"), ("p99", "p99_ttft_ms"))
RATIOS = (
    ("TTFT p50", "median_ttft_ms"),
    ("TTFT p99", "p99_ttft_ms"),
    ("latency p50", "median_e2el_ms"),
    ("latency p99", "p99_e2el_ms"),
    ("tokens/s", "output_throughput"),
)
HIGHER_IS_BETTER = {"output_throughput"}
BETTER, WORSE, EQUAL, GREY, LINE = "#007a5a", "#d55e00", "#57606a", "#57606a", "#d8dee4"


def text(x, y, words, anchor="start", fill="#1f2328", weight="normal", size=16):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}" font-size="{size}">{words}</text>'


def line(x1, y1, x2, y2, stroke=LINE, width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width}"/>'


def median(results, arm, metric):
    return statistics.median(pair[arm][metric] for pair in results["pairs"])


def latencies(results, top):
    """Bars of the medians over all runs: y from `top`, 26 pixels each, on a linear axis."""
    step = 200
    most = max(median(results, arm, metric) for arm, *_ in ARMS for _, metric in LATENCIES)
    scale = (RIGHT - LEFT) / most
    bottom = top + 74 * len(LATENCIES) - 16
    out = []
    for tick in range(0, int(most) + 1, step):
        x = LEFT + tick * scale
        out += [line(x, top - 8, x, bottom), text(x, bottom + 18, tick, "middle", GREY, size=14)]
    for row, (name, metric) in enumerate(LATENCIES):
        y = top + 74 * row
        out.append(text(20, y + 31, name, weight="bold"))
        for i, (arm, label, color) in enumerate(ARMS):
            value = median(results, arm, metric)
            out.append(text(LEFT - 8, y + 26 * i + 18, label, "end", GREY, size=15))
            out.append(f'<rect x="{LEFT}" y="{y + 26 * i}" width="{value * scale:.1f}" height="23" fill="{color}"/>')
            out.append(text(LEFT + value * scale + 7, y + 26 * i + 18, f"{value:.0f}", weight="bold"))
    return out


def ratios(results, top):
    """Intervals of B / A on a logarithmic axis."""
    found = [(name, metric, results["ratios"][metric]) for name, metric in RATIOS]
    span = max(abs(math.log(ratio[end])) for _, _, ratio in found for end in ("low", "high"))
    middle = (LEFT + RIGHT) / 2
    scale = (RIGHT - LEFT) / 2 / span
    bottom = top + 32 * len(found)
    out = []
    for tick, label in ((0.5, "½×"), (1, "1×"), (2, "2×")):
        x = middle + math.log(tick) * scale
        out += [line(x, top, x, bottom, EQUAL if tick == 1 else LINE), text(x, bottom + 18, label, "middle", GREY, size=14)]
    for row, (name, metric, ratio) in enumerate(found):
        y = top + 32 * row + 16
        differs = ratio["low"] > 1 or ratio["high"] < 1
        good = (ratio["ratio"] > 1) == (metric in HIGHER_IS_BETTER)
        color = (BETTER if good else WORSE) if differs else EQUAL
        low, at, high = (middle + math.log(ratio[end]) * scale for end in ("low", "ratio", "high"))
        percent = 100 * (ratio["ratio"] - 1)
        change = "±0 %" if abs(percent) < 0.5 else f"{percent:+.0f} %".replace("-", "−")
        out += [
            text(LEFT - 8, y + 6, name, "end"),
            line(low, y, high, y, color, 4),
            f'<circle cx="{at:.1f}" cy="{y}" r="6" fill="{color}"/>',
            text(WIDTH - 16, y + 6, change, "end", color, "bold"),
        ]
    return out


def legend(y):
    out, x = [], 172
    for label, color, width in (("better", BETTER, 92), ("worse", WORSE, 88), ("no difference", EQUAL, 0)):
        out += [f'<circle cx="{x}" cy="{y - 5}" r="6" fill="{color}"/>', text(x + 12, y, label, fill=GREY, size=15)]
        x += width
    return out


def picture(results):
    pairs = len(results["pairs"])
    height = 544
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
            ' aria-labelledby="t d" font-family="system-ui, DejaVu Sans, sans-serif">',
            '<title id="t">First in, first out and shortest first</title>',
            '<desc id="d">Time to first token at p50, p90 and p99 under two admission policies, and the ratio of five metrics with its'
            " interval.</desc>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
            text(20, 34, "Time to first token, ms", weight="bold", size=18),
            *latencies(results, 56),
            text(20, 310, f"Shortest first / FIFO, {pairs} pairs, 98 % intervals", weight="bold", size=18),
            *ratios(results, 324),
            *legend(528),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(picture(json.load(file)["roseinfer"]))
