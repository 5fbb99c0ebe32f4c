"""The one form of errors about parameters."""

from math import inf


def wrong_parameter(name: str, of: str, must: str, got: object, fix: str = "") -> ValueError:
    """The error for a parameter: what it must be (`must` begins with a verb), what was given, and the fix."""
    return ValueError(f"The '{name}' parameter of {of} must {must}. Got {got} instead{'; ' * bool(fix)}{fix}.")


def check_range(of: str, **values: tuple[float, float] | tuple[float, float, float]) -> None:
    """Raise unless every ``name=(value, smallest)`` and every ``name=(value, smallest, largest)`` is in its range."""
    for name, (value, low, *high) in values.items():
        if not low <= value <= max(high, default=inf):
            allowed = f"between {low} and {high[0]}" if high else f"at least {low}"
            raise wrong_parameter(name, of, f"be {allowed}", repr(value))
