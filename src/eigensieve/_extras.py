"""Optional dependencies: imported when first needed, with the command that adds them."""

from importlib import import_module
from typing import Any


def require(module: str, *, extra: str) -> Any:
    """Import an optional module; the error names the extra of eigensieve that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"This needs the optional package '{package}', which is not installed. "
            f'Add it with: pip install "eigensieve[{extra}]"'
        ) from error
