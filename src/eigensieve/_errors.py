"""The one form of errors about parameters."""


def wrong_parameter(name: str, of: str, must: str, got: object, fix: str = "") -> ValueError:
    """The error for a parameter: what it must be (`must` begins with a verb), what was given, and the fix."""
    return ValueError(f"The '{name}' parameter of {of} must {must}. Got {got} instead{'; ' * bool(fix)}{fix}.")
