"""Which worker is asked to use which chunks."""

from types import SimpleNamespace

from eigensieve.data.dask.graph import homes, segments_of


def homes_of(holders: dict[str, tuple[str, ...]]) -> list[str | None]:
    future = SimpleNamespace(client=SimpleNamespace(who_has=lambda _: holders))
    return homes({"0": future}, [[key] for key in holders])


def test_chunks_stay_where_they_are() -> None:
    assert homes_of({"0": ("a",), "1": ("b",), "2": ("a",), "3": ()}) == ["a", "b", "a", None]


def test_chunks_with_several_holders_are_shared_out() -> None:
    """All chunks were brought together on b, as computing the array does: a keeps its own."""
    holders = {"0": ("b", "a"), "1": ("b",), "2": ("b", "a"), "3": ("b",)}
    assert homes_of(holders) == ["a", "b", "a", "b"]


def test_pieces_of_a_worker_are_put_together() -> None:
    """Into as many tasks as it has threads; those without a home stay alone."""
    homes = ["a", "b", "a", None, "b", "a"]
    assert segments_of(homes, [1.0] * 6, {"a": 1, "b": 2}) == [[0, 2, 5], [1], [3], [4]]
    assert segments_of(homes, [1.0] * 6, {}) == [[0, 2, 5], [1, 4], [3]]  # a worker that has just gone


def test_no_segment_is_large() -> None:
    assert segments_of(["a"] * 4, [2.0**29] * 4, {"a": 1}) == [[0], [1], [2], [3]]
    assert segments_of(["a"] * 4, [2.0**28] * 4, {"a": 1}) == [[0, 1], [2, 3]]
