"""A file larger than the memory allowed: peak memory, and time against merely reading the file as often.

Run: python benchmarks/any_size_disk.py --folder /big/disk [--features 2000000] [--samples 500] [--max-memory
500MB]

The selector runs in a process of its own, whose peak resident memory is what the kernel says it was. Before
and after it, a plain sequential read of the whole file is timed; the yardstick is the median read times the
number of passes. With --cold every range is dropped from the page cache as soon as it has been read, in the
selector and in the yardstick alike: that is how a file behaves that is larger than the machine's memory.
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


def read_seconds(path: Path, cold: bool) -> float:
    """Time one sequential read of the whole file."""
    buffer = bytearray(_BUFFER)
    file = os.open(path, os.O_RDONLY)
    begin, position = time.perf_counter(), 0
    while count := os.preadv(file, [buffer], position):
        if cold:
            os.posix_fadvise(file, position, count, os.POSIX_FADV_DONTNEED)
        position += count
    took = time.perf_counter() - begin
    os.close(file)
    return took


def fit(path: str, max_memory: str, n_clusters: int, cold: bool, in_memory: bool) -> None:
    """Fit once and print the figures as JSON; this is what the separate process does."""
    from eigensieve import QAlphaSelector
    from eigensieve.data import open_data
    from eigensieve.data._npy import NpySource

    # compile nothing, import everything: the figures are those of the fit alone
    QAlphaSelector(5, n_clusters=2).fit(np.random.default_rng(0).standard_normal((20, 50)).astype(np.float32))
    if cold:
        plain = NpySource.columns

        def dropping(self: NpySource, start: int, stop: int, buffer: object = None) -> object:
            out = plain(self, start, stop, buffer)  # type: ignore[arg-type]
            n_samples, n_features = self.shape
            file = os.open(self.path, os.O_RDONLY)
            if self.fortran:
                first, size = start * n_samples * 4, (stop - start) * n_samples * 4
                os.posix_fadvise(file, self.offset + first, size, os.POSIX_FADV_DONTNEED)
            else:
                for sample in range(n_samples):
                    first = self.offset + (sample * n_features + start) * 4
                    os.posix_fadvise(file, first, (stop - start) * 4, os.POSIX_FADV_DONTNEED)
            os.close(file)
            return out

        NpySource.columns = dropping  # type: ignore[method-assign, assignment]
    X = np.load(path) if in_memory else open_data(path, max_memory=max_memory)
    begin, busy = time.perf_counter(), time.process_time()
    model = QAlphaSelector(200, n_clusters=n_clusters, verbose=1).fit(X)
    took, busy = time.perf_counter() - begin, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figures = {"seconds": took, "busy": busy, "passes": model.n_passes_, "steps": model.n_iter_, "peak": peak}
    print(json.dumps({**figures, "converged": model.converged_, "chosen": model.ranking_[:200].tolist()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--features", type=int, default=2_000_000)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--max-memory", default="500MB")
    parser.add_argument("--clusters", type=int, default=2)
    parser.add_argument("--fortran", action="store_true")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        fit(options.child, options.max_memory, options.clusters, options.cold, options.in_memory)
        return
    order = "fortran" if options.fortran else "c"
    path = options.folder / f"any_size_{options.features}x{options.samples}_{order}.npy"
    write(path, options.samples, options.features, options.fortran)
    read_seconds(path, options.cold)
    reads = [read_seconds(path, options.cold) for _ in range(3)]
    command = [sys.executable, __file__, "--child", str(path), *sys.argv[1:]]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    reads += [read_seconds(path, options.cold) for _ in range(3)]
    figures = json.loads(answer.splitlines()[-1])
    once = statistics.median(reads)
    yardstick = once * figures["passes"]
    size = path.stat().st_size / 1e9
    print(
        f"file              {options.features:,} features x {options.samples} samples float32, {size:.2f} GB, {order}"
    )
    print(f"fit               {figures['seconds']:.1f} s, {figures['steps']} steps, {figures['passes']} passes")
    busy, cores = figures["busy"], os.cpu_count() or 1
    print(f"processor time    {busy:.1f} s, {busy / figures['passes']:.2f} s a pass ({cores} processors)")
    print(
        f"load              {os.getloadavg()[0]:.1f}: above {cores}, other work slows the fit more than the plain read"
    )
    print(f"reading only      {yardstick:.1f} s ({once:.2f} s a pass, {size / once:.2f} GB/s)")
    print(f"ratio             {figures['seconds'] / yardstick:.2f} (wanted: at most 1.5)")
    print(f"peak memory       {figures['peak'] / 1e6:.0f} MB (wanted: under 1000 MB with max_memory=500MB)")
    print(f"converged         {figures['converged']}")


if __name__ == "__main__":
    main()
