"""A file larger than the memory allowed: peak memory, and time against merely reading the file as often.

Run: python benchmarks/any_size_disk.py --folder /big/disk [--features 2000000] [--samples 500] [--max-memory 500MB]

The selector runs in a process of its own, whose peak resident memory is what the kernel says it was. Before and after
it, a plain sequential read of the whole file into one buffer is timed; the yardstick is the median read times the
number of passes. Two cases are measured:

from storage
    The file is not in the system's cache, as when it is larger than the machine's memory: the selector is told that
    there is no room for it there, and the plain read drops every range from the cache as soon as it has it. This is the
    case the selector is made for.
from the cache
    The file fits in the machine's memory and was read before, so that reading it is copying it. For comparison, the
    same with numpy.fromfile, which makes new arrays.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

_BUFFER = 16 << 20


def write(path: Path, n_samples: int, n_features: int, fortran: bool) -> None:
    """Write noise with 200 features that tell three groups of samples apart, a slab at a time."""
    if path.exists():
        return
    shape = (n_samples, n_features)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, n_samples)
    shift = np.zeros((3, n_features), dtype=np.float32)
    shift[:, rng.choice(n_features, 200, replace=False)] = 2.0 * rng.standard_normal((3, 200))
    header = {"descr": "<f4", "fortran_order": fortran, "shape": shape}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        if fortran:
            for start in range(0, n_features, 10_000):
                stop = min(start + 10_000, n_features)
                slab = rng.standard_normal((stop - start, n_samples), dtype=np.float32)
                slab += shift[:, start:stop].T[:, groups]
                file.write(slab.tobytes())
        else:
            for sample in range(n_samples):
                row = rng.standard_normal(n_features, dtype=np.float32) + shift[groups[sample]]
                file.write(row.tobytes())


def read_seconds(path: Path, cached: bool) -> float:
    """Time one sequential read of the whole file."""
    buffer = bytearray(_BUFFER)
    file = os.open(path, os.O_RDONLY)
    begin, position = time.perf_counter(), 0
    while count := os.preadv(file, [buffer], position):
        if not cached:
            os.posix_fadvise(file, position, count, os.POSIX_FADV_DONTNEED)
        position += count
    took = time.perf_counter() - begin
    os.close(file)
    return took


def fromfile_seconds(path: Path) -> float:
    """Time numpy's own reading, in arrays of 128 MB."""
    begin = time.perf_counter()
    with open(path, "rb") as file:
        while len(np.fromfile(file, np.float32, 1 << 25)):
            pass
    return time.perf_counter() - begin


def fit(path: str, max_memory: str, n_clusters: int, cached: bool, in_memory: bool) -> None:
    """Fit once and print the figures as JSON; the separate process calls this."""
    from eigensieve import QAlphaSelector
    from eigensieve.data import open_data
    from eigensieve.data.disk import npy

    # compile everything beforehand: the figures are those of the fit alone
    QAlphaSelector(5, n_clusters=2).fit(np.random.default_rng(0).standard_normal((300, 3000)).astype(np.float32))
    if not cached:
        npy.memory_size = lambda: 0  # as on a machine with less memory than the file has bytes
    X = np.load(path) if in_memory else open_data(path, max_memory=max_memory)
    begin, busy = time.perf_counter(), time.process_time()
    model = QAlphaSelector(200, n_clusters=n_clusters, verbose=1).fit(X)
    took, busy = time.perf_counter() - begin, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figures = {"seconds": took, "busy": busy, "passes": model.n_passes_, "steps": model.n_iter_, "peak": peak}
    print(json.dumps({**figures, "converged": model.converged_, "chosen": np.argsort(model.ranking_)[:200].tolist()}))


def compare(path: Path, cached: bool, arguments: list[str]) -> None:
    """Print the figures of one case."""
    read_seconds(path, cached)
    reads = [read_seconds(path, cached) for _ in range(3)]
    command = [sys.executable, __file__, "--child", str(path), *arguments, *(["--cached"] if cached else [])]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    reads += [read_seconds(path, cached) for _ in range(3)]
    figures = json.loads(answer.splitlines()[-1])
    once, passes = statistics.median(reads), figures["passes"]
    size, cores = path.stat().st_size / 1e9, os.cpu_count() or 1
    in_memory = "--in-memory" in arguments
    print(f"-- {'in memory' if in_memory else 'from the cache' if cached else 'from storage'}")
    print(f"fit               {figures['seconds']:.1f} s, {figures['steps']} steps, {passes} passes")
    busy = figures["busy"]
    print(f"processor time    {busy:.1f} s, {busy / passes:.2f} s per pass ({cores} processors)")
    print(
        f"load              {os.getloadavg()[0]:.1f}: above {cores}, other work slows the fit more than the plain read"
    )
    if not in_memory:
        print(f"reading only      {once * passes:.1f} s ({once:.2f} s per pass, {size / once:.2f} GB/s)")
        print(f"ratio             {figures['seconds'] / once / passes:.2f} (wanted: at most 1.5)")
    if cached and not in_memory:
        print(f"ratio to fromfile {figures['seconds'] / passes / fromfile_seconds(path):.2f}")
    print(f"peak memory       {figures['peak'] / 1e6:.0f} MB (wanted: under 1000 MB for 2,000,000 x 500 with 500MB)")
    print(f"converged         {figures['converged']}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--features", type=int, default=2_000_000)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--max-memory", default="500MB")
    parser.add_argument("--clusters", type=int, default=2)
    parser.add_argument("--fortran", action="store_true")
    parser.add_argument("--in-memory", action="store_true", help="load the whole file first")
    parser.add_argument("--keep", action="store_true", help="leave the file there")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--cached", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        fit(options.child, options.max_memory, options.clusters, options.cached, options.in_memory)
        return
    order = "fortran" if options.fortran else "c"
    path = options.folder / f"any_size_{options.features}x{options.samples}_{order}.npy"
    write(path, options.samples, options.features, options.fortran)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    layout = "whole features together" if options.fortran else "whole samples together"
    size = path.stat().st_size / 1e9
    print(f"{options.features:,} features x {options.samples} samples float32, {size:.2f} GB, {layout}")
    for cached in (True,) if options.in_memory else (False, True):
        compare(path, cached, sys.argv[1:])
    if not options.keep:
        path.unlink()


if __name__ == "__main__":
    main()
