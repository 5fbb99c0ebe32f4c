"""Time and memory of a call, measured the same way for every contender."""

import gc
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    gc.collect()
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def interleaved(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median time of each call, the contenders taking turns so that noise hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            times[name].append(seconds(call))
    return {name: statistics.median(values) for name, values in times.items()}


def extra_bytes(call: Callable[[], object]) -> int:
    """Return how far the resident memory rose above its level before the call."""
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    watermark = Path("/proc/self/clear_refs")
    try:
        watermark.write_text("5")
    except OSError:
        return _sampled(call, process, before)
    call()
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024
    return max(0, peak - before)


def _sampled(call: Callable[[], object], process: psutil.Process, before: int) -> int:
    """Peak by looking every few milliseconds, where the kernel keeps no watermark for us."""
    peak = before
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        call()
    finally:
        done.set()
        thread.join()
    return max(0, peak - before)


def verdict(name: str, figure: float, limit: float, *, at_most: bool = True, unit: str = "x") -> None:
    """Print one figure beside what it must reach."""
    fine = figure <= limit if at_most else figure >= limit
    sign = "<=" if at_most else ">="
    print(f"{'ok  ' if fine else 'MISS'} {name}: {figure:.3g}{unit} (wanted {sign} {limit:g}{unit})", flush=True)
