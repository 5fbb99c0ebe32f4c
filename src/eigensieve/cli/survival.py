"""Times to an event from two columns of the table."""

from dataclasses import replace

import numpy as np

from eigensieve._types import Array, BoolArray
from eigensieve._words import counted
from eigensieve.cli.errors import InputProblem, UsageProblem
from eigensieve.cli.reading import Samples

_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")


def check_times(event: str | None, time: str | None, label: str | None) -> None:
    """Refuse one of the two columns alone, and labels beside them."""
    if (event is None) != (time is None):
        raise UsageProblem("--event and --time go together: name both columns.")
    if event is not None and label is not None:
        raise UsageProblem("--label does nothing beside --event and --time, which are the target. Drop it, or them.")


def with_times(samples: Samples) -> Samples:
    """Return the samples with (event, time) as their label, without those whose event or time is not known."""
    if "event" not in samples.apart:
        return samples
    from eigensieve.tables import unknown

    columns = samples.table.apart
    missing = unknown(samples.apart["event"]) | unknown(samples.apart["time"])
    if missing.any():
        samples = samples.keep_samples(~missing, f"{counted(int(missing.sum()), 'sample')} without a time left out")
    time = samples.apart["time"]
    bad = time if time.dtype.kind not in "iuf" else time[~np.isfinite(time) | (time < 0)]
    if len(bad):
        raise InputProblem(f"Column '{columns['time'].name}' (--time) must hold numbers from 0 on. Got '{bad[0]}'.")
    event = _events(samples.apart["event"], columns["event"].name)
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    return replace(samples, apart={**samples.apart, "label": y})


def _events(cells: Array, name: str) -> BoolArray:
    words = [str(cell).strip().lower() for cell in cells]
    strange = [word for word in words if word not in (*_YES, *_NO)]
    if strange:
        raise InputProblem(
            f"Column '{name}' (--event) must hold 1 where the event was seen and 0 where it was not (or true and "
            f"false, yes and no). Got '{strange[0]}'."
        )
    return np.array([word in _YES for word in words], dtype=bool)
