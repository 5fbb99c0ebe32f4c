"""How the archives are built: the README's links, relative in a clone, name the repository on the package index."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def with_addresses(text: str, repository: str) -> str:
    """Return the README with absolute links: pictures as raw files, all else as pages of the repository."""
    raw = repository.replace("https://github.com/", "https://raw.githubusercontent.com/")
    relative = r"\]\((?![a-z]+:|#)"
    text = re.sub(rf"(!\[[^\]]*{relative})", rf"\g<1>{raw}/main/", text)
    return re.sub(relative, f"]({repository}/blob/main/", text)


class Readme(MetadataHookInterface):
    """Sets the project's `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        shown = with_addresses(text, metadata["urls"]["Homepage"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
