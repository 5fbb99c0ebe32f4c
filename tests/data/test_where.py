"""Which worker is asked to use which chunks."""

from types import SimpleNamespace

import pytest

distributed = pytest.importorskip("distributed")


def homes_of(monkeypatch: pytest.MonkeyPatch, holders: dict[str, tuple[str, ...]]) -> list[str | None]:
    from eigensieve.data._dask_where import homes

    future = SimpleNamespace(client=SimpleNamespace(who_has=lambda _: holders))
    monkeypatch.setattr(distributed, "futures_of", lambda _: [future])
    return homes(None, [[SimpleNamespace(key=key)] for key in holders])


def test_chunks_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert homes_of(monkeypatch, {"0": ("a",), "1": ("b",), "2": ("a",), "3": ()}) == ["a", "b", "a", None]


def test_chunks_with_several_holders_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """All chunks were brought together on b, as computing the array does: a keeps its own."""
    holders = {"0": ("b", "a"), "1": ("b",), "2": ("b", "a"), "3": ("b",)}
    assert homes_of(monkeypatch, holders) == ["a", "b", "a", "b"]
