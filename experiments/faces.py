"""Faces with side data: features that tell persons apart, whatever the light and the expression (2004, Fig. 3)."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from experiments.common import markdown, mean, panels, share_that_holds
from experiments.face_features import (
    ALL,
    DIMENSIONS,
    PERSONS,
    POWERS,
    STRENGTHS,
    SUFFICIENT,
    SUFFICIENT_DIMENSIONS,
    SUFFICIENT_STRENGTHS,
    WITH,
    WITHOUT,
    combining,
    haar,
    indices,
    informing,
    load_faces,
    selecting,
    setting,
    tuned,
    wavelet_weights,
)
from experiments.frame import (
    Array,
    Check,
    Claim,
    Experiment,
    Reading,
    Results,
    above,
    figure,
    mean_and_error,
    reading,
    statement,
)

AR = "warpAR10P"
SETS = {AR: 3, "warpPIE10P": 0, "Yale_32x32": 1, "ORL_32x32": 2}
"""Set of faces -> second part of its seeds. The first is the paper's own data base."""

OTHERS = tuple(SETS)[1:]
OPEN, OWN = f"{AR}, readings", f"{AR}, own readings"
READINGS: dict[str, dict[str, Any]] = {
    "k = 2": {"n_clusters": 2},
    "k = 10": {"n_clusters": 10},
    "random start": {"solver_options": {"init": "random"}, "random_state": 0},
    "norm 1, not centred": {"normalize": "unit"},
}
"""Of Q-alpha; judged are k = 5, the number of persons, leading eigenvectors and centred wavelets."""
PCAS = ("PCA", "CPCA", "OPCA")
RIVALS = (*PCAS, SUFFICIENT)
METHODS = (WITH, WITHOUT, ALL, *RIVALS)
PRINTED, PRINTED_NEXT = 0.64, 0.39
_SHARE, _STRENGTH = "share that holds 90 %", "lambda"
_MOVES, _REMOVED, _LARGE_RIDGES = (3, 6), (1, 2, 4), (10.0, 100.0)


def _persons(name: str, number: int) -> tuple[Array, Array]:
    """Return the persons of the training and of the test draw, five and one each. Of ten persons they share two."""
    rng = np.random.default_rng([number, SETS[name]])
    persons = rng.permutation(len(np.unique(load_faces(name).y)))
    return persons[: PERSONS + 1], persons[::-1][: PERSONS + 1]


def run(case: str, number: int) -> dict[str, Any]:
    """Return the precision index of every method on test persons; its setting was the best on training persons."""
    if case == OPEN:
        return _readings(number)
    if case == OWN:
        return _own_readings(number)
    faces, (training, test) = load_faces(case), _persons(case, number)
    best = tuned(faces, training, test, (selecting, combining, informing))
    strength = float(best[WITH][1].split(",")[0].removeprefix("lambda "))
    share = share_that_holds(wavelet_weights(faces, test, strength))
    return {**{method: index for method, (index, _) in best.items()}, _SHARE: share, _STRENGTH: strength}


def _readings(number: int) -> dict[str, float]:
    """Return the indices on AR for settings that are not tuned, wavelets for all methods, and images that are moved."""
    faces, (training, test) = load_faces(AR), _persons(AR, number)
    fixed = indices(faces, test, (selecting, combining))
    found = {f"{method}, {name}": index for (method, name), index in fixed.items()}
    by_wavelets = tuned(faces.by_wavelets(), training, test, (combining,))
    found |= {f"{method}, wavelets": index for method, (index, _) in by_wavelets.items()}
    for count in _REMOVED:
        few = tuned(faces, training, test, (partial(combining, removed=count),))
        found[f"CPCA, {count} taken out"] = few["CPCA"][0]
    for ridge in _LARGE_RIDGES:
        found[f"OPCA, ridge {ridge}"] = tuned(faces, training, test, (partial(combining, ridges=(ridge,)),))["OPCA"][0]
    for most in _MOVES:
        moved = faces.moved(most, np.random.default_rng([number, most]))
        indices_moved = tuned(moved, training, test, (selecting, combining))
        found |= {f"{method}, moved by {most}": index for method, (index, _) in indices_moved.items()}
    return found


def _own_readings(number: int) -> dict[str, float]:
    """Return the indices on AR of Q-alpha with another k, start and scaling, and of SDR-SI per setting."""
    faces, (training, test) = load_faces(AR), _persons(AR, number)
    found = {f"{method}, {name}": index for (method, name), index in indices(faces, test, (informing,)).items()}
    for label, settings in READINGS.items():
        best = tuned(faces, training, test, (partial(selecting, **settings),))
        found |= {f"{method}, {label}": best[method][0] for method in (WITH, WITHOUT)}
    return found


def table(results: Results) -> str:
    """Return the precision index per set and method."""
    rows = [
        [case, *(mean_and_error(results.values(case, method)) for method in METHODS)] for case in results.having(SETS)
    ]
    rows.insert(1, ["printed (AR)", f"{PRINTED:.2f}", "-", "-", *["below 0.39"] * 3, f"{PRINTED_NEXT:.2f}"])
    return markdown(["faces", *METHODS], rows)


def _lead(results: Results, cases: tuple[str, ...]) -> list[Check]:
    return [
        check
        for case in cases
        for check in above(case, results.values(case, WITH), {name: results.values(case, name) for name in RIVALS})
    ]


def _index(results: Results, cases: tuple[str, ...]) -> list[Check]:
    return [check for case in cases for check in figure(case, PRINTED, results.values(case, WITH), 2, "at least")]


def _side_helps(results: Results) -> list[Check]:
    return above(AR, results.values(AR, WITH), {"without": results.values(AR, WITHOUT)})


def _sparse(results: Results) -> list[Check]:
    share = results.values(AR, _SHARE)
    rule = "few weights are large (below 10 % hold 90 % of alpha^2)"
    return [statement(AR, rule, f"{share.mean():.1%}", share.mean() < 0.1)] if len(share) else []


def conclude(results: Results) -> str:
    """Return the conclusion."""
    ours, without, best = (mean(results.values(AR, name), 3) for name in (WITH, WITHOUT, "CPCA"))
    few, ridged, many, waves = (
        mean(results.values(OPEN, key))
        for key in ("CPCA, 1 taken out", "OPCA, ridge 100.0", "CPCA, 40 dimensions", "CPCA, wavelets")
    )
    moved = [mean(results.values(OPEN, f"{name}, moved by 3")) for name in (WITH, "CPCA")]
    return (
        f"On the paper's own data base Q-alpha with side data reaches {ours} (printed 0.64) and {without} without, but "
        f"constrained PCA reaches {best} where less than 0.39 is printed: the figure holds, the lead does not. The "
        f"rivals come near the printed level only if they hardly use the side data: {few} for constrained PCA with "
        f"one direction taken out, {ridged} for oriented PCA with a ridge of 100. More dimensions ({many} at 40) and "
        f"wavelets in place of pixels ({waves}) change little. Misalignment is no explanation: with images moved by up "
        f"to 3 pixels Q-alpha is at {moved[0]}, constrained PCA at {moved[1]}. What remains open: 13 of 26 images, "
        "aligned; ten of fifty men; two men shared by both draws."
    )


def open_choices(results: Results) -> list[Reading]:
    """Return Q-alpha per setting, and the rivals per dimension, input and alignment; all on AR."""

    def ours(choice: str, label: str, values: Array) -> list[Reading]:
        return reading(f"Q-alpha: {choice}", label, values, PRINTED, 2, "at least")

    found = ours("lambda, power", "best on training persons (judged)", results.values(AR, WITH))
    for power in POWERS:
        for strength in STRENGTHS:
            name = setting(strength, power)
            found += ours("lambda, power", name, results.values(OPEN, f"{WITH}, {name}"))
    for method in PCAS:
        values = {"tuned, pixels, aligned (judged)": results.values(AR, method)}
        for d in DIMENSIONS:
            end = ", ridge 0.001" if method == "OPCA" else ""
            values[f"{d} dimensions"] = results.values(OPEN, f"{method}, {d} dimensions{end}")
        if method == "CPCA":
            values |= {f"tuned, {n} taken out": results.values(OPEN, f"CPCA, {n} taken out") for n in _REMOVED}
        if method == "OPCA":
            values |= {f"tuned, ridge {r:g}": results.values(OPEN, f"OPCA, ridge {r}") for r in _LARGE_RIDGES}
        values["tuned, wavelets"] = results.values(OPEN, f"{method}, wavelets")
        values |= {f"tuned, moved by up to {n}": results.values(OPEN, f"{method}, moved by {n}") for n in _MOVES}
        for label, own in values.items():
            choice = f"{method}: dimensions, input, alignment"
            if len(own):
                low = bool(own.mean() <= PRINTED_NEXT)
                found.append(Reading(choice, label, mean_and_error(own, 2), f"below {PRINTED_NEXT}", low))
    found += ours(
        "alignment, k, start, scaling",
        "aligned, k = 5, leading eigenvectors, centred (judged)",
        results.values(AR, WITH),
    )
    for n in _MOVES:
        found += ours(
            "alignment, k, start, scaling", f"moved by up to {n}", results.values(OPEN, f"{WITH}, moved by {n}")
        )
    for label in READINGS:
        found += ours("alignment, k, start, scaling", label, results.values(OWN, f"{WITH}, {label}"))
    found += reading("SDR-SI: lambda, dimensions", "tuned (judged)", results.values(AR, SUFFICIENT), PRINTED_NEXT, 2)
    for strength, d in product(SUFFICIENT_STRENGTHS, SUFFICIENT_DIMENSIONS):
        name = f"lambda {strength}, {d} dimensions"
        fixed = results.values(OWN, f"{SUFFICIENT}, {name}")
        found += reading("SDR-SI: lambda, dimensions", name, fixed, PRINTED_NEXT, 2)
    return found


def draw(results: Results) -> Any:
    """Draw the precision index per set (Fig. 3a) and, for AR, weights and faces seen through them (Fig. 3b to d)."""
    cases = results.having(SETS)
    parts = (
        ["AR: sorted weights, 20 draws", "AR: mean face, 20 draws", "AR: five persons, one draw"] if AR in cases else []
    )
    picture, axes = panels([*cases, *parts])
    for ax, case in zip(axes, cases, strict=False):
        values = [results.values(case, method) for method in METHODS]
        ax.bar(range(len(METHODS)), [v.mean() for v in values], yerr=[v.std() for v in values])
        ax.axhline(PRINTED, color="k", linestyle=":", label="printed for AR")
        ax.set_xticks(range(len(METHODS)), METHODS, rotation=40, fontsize=7)
        ax.legend(fontsize=6)
    if parts:
        _draw_weighted_faces(results, axes[len(cases) :])
    return picture


def _draw_weighted_faces(results: Results, axes: list[Any]) -> None:
    """Faces are put together from wavelets times alpha; the transposed transform takes the place of an inverse."""
    faces = load_faces(AR)
    height, width = faces.images.shape[1:]
    transform = haar(np.eye(height * width).reshape(-1, height, width))

    def seen(images: Array, alpha: Array) -> Array:
        return ((images.reshape(len(images), -1) @ transform * alpha) @ transform.T).reshape(-1, height, width)

    average, shown = faces.images.mean(axis=0, keepdims=True), []
    for number, strength in enumerate(results.values(AR, _STRENGTH)):
        persons = _persons(AR, number)[1]
        alpha = wavelet_weights(faces, persons, strength)
        axes[0].plot(np.sort(alpha)[::-1][::10], linewidth=0.6)
        shown.append(seen(average, alpha)[0])
        if number == 0:
            chosen = [faces.images[faces.y == person][::2] for person in persons[:-1]]
            rows = [np.hstack(list(seen(own, alpha))) for own in chosen]
            _show(axes[2], np.vstack(rows))
    axes[0].set(xlabel="wavelet / 10")
    shown += [np.zeros_like(shown[0])] * (-len(shown) % 5)
    _show(axes[1], np.vstack([np.hstack(shown[i : i + 5]) for i in range(0, len(shown), 5)]))


def _show(ax: Any, image: Array) -> None:
    """Show an image around grey; few large values do not decide on the contrast."""
    bound = float(np.percentile(np.abs(image), 97))
    ax.imshow(image, cmap="gray", vmin=-bound, vmax=bound)
    ax.set_axis_off()


EXPERIMENT = Experiment.of(
    __name__,
    name="faces",
    title="Faces with side data",
    paper="shashua-wolf 2004",
    section="section 6, face images, Fig. 3",
    protocol="The images of 5 persons are the main data and those of a sixth the side data; Q-alpha weights Haar "
    "wavelets, the other methods see pixels. The normalised precision index of the nearest neighbours is averaged over "
    "20 draws; lambda, power, ridge and dimensions are those that are best on 6 other persons.",
    stand_in="warpAR10P holds ten men of the AR data base with 13 of 26 images each, aligned and 60 x 40 pixels. "
    "warpPIE10P, Yale and ORL are shown beside it. SDR-SI was written for this experiment from its paper.",
    runs=dict.fromkeys((*SETS, OPEN, OWN), 20),
    quick={"ORL_32x32": 1, AR: 1},
    data={**{name: name for name in SETS}, OPEN: AR, OWN: AR},
    claims=(
        Claim("Q-alpha with side data has a precision index of 0.64.", lambda results: _index(results, (AR,))),
        Claim("It is significantly above all other methods.", lambda results: _lead(results, (AR,))),
        Claim(
            "The next best method, SDR-SI, has 0.39.",
            lambda results: figure(f"{AR}, next best: {SUFFICIENT}", PRINTED_NEXT, results.values(AR, SUFFICIENT), 2),
        ),
        Claim("Side data are crucial.", _side_helps),
        Claim("The weights are extremely sparse.", _sparse),
        Claim(
            "0.64, and above all others, on other faces.",
            lambda results: _index(results, OTHERS) + _lead(results, OTHERS),
            "not the paper's images",
        ),
    ),
)
