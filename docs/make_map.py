"""Draw the map of the packages into CONTRIBUTING.md, from their docstrings and imports.

Run ``python docs/make_map.py`` after packages or imports have changed; a test compares the map with the code.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "eigensieve"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map: drawn by docs/make_map.py -->", "<!-- end of map -->"


def imports_between_packages() -> dict[str, set[str]]:
    """Return, for each package, the packages that its files import from; the public API is "eigensieve"."""
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    found: dict[str, set[str]] = {package: set() for package in packages} | {"eigensieve": set()}
    for path in [*sorted(SOURCE.glob("*/**/*.py")), SOURCE / "__init__.pyi"]:
        parts = path.relative_to(SOURCE).parts
        package = parts[0] if len(parts) > 1 else "eigensieve"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found[package] |= {target for target in _imported(node) if target in found and target != package}
    return found


def _imported(node: ast.AST) -> list[str]:
    """Return the packages that an import names."""
    if isinstance(node, ast.ImportFrom) and node.level:
        return [(node.module or "").partition(".")[0]]
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    pieces = [name.split(".") for name in names]
    return [piece[1] if len(piece) > 1 else "eigensieve" for piece in pieces if piece[0] == "eigensieve"]


def from_top_to_bottom(imports: dict[str, set[str]]) -> list[str]:
    """Return the packages in an order in which imports point downwards only."""
    order: list[str] = []

    def visit(package: str) -> None:
        if package not in order:
            for below in sorted(imports[package], reverse=True):
                visit(below)
            order.append(package)

    for package in sorted(imports, reverse=True):
        visit(package)
    return order[::-1]


def without_shortcuts(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the imports without those between packages that a longer way joins as well."""
    below: dict[str, set[str]] = {}
    for package in reversed(from_top_to_bottom(imports)):
        below[package] = imports[package].union(*(below[other] for other in imports[package]))
    return {
        package: {other for other in others if not any(other in below[between] for between in others - {other})}
        for package, others in imports.items()
    }


def purpose(package: str) -> str:
    """Return the first sentence of a package's docstring."""
    source = SOURCE / ("" if package == "eigensieve" else package) / "__init__.py"
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def draw() -> str:
    """Return the map as Markdown: a Mermaid picture, and a table with every import."""
    imports = imports_between_packages()
    packages = from_top_to_bottom(imports)
    arrows = without_shortcuts(imports)
    lines = ["```mermaid", "flowchart TD"]
    lines += [f"    {package} --> {other}" for package in packages for other in packages if other in arrows[package]]
    lines += ["```", "", "| package | what it owns | imports from |", "|---|---|---|"]
    for package in packages:
        below = ", ".join(other for other in packages if other in imports[package])
        lines.append(f"| `{package}` | {purpose(package)} | {below} |")
    return "\n".join(lines)


def with_map(page: str) -> str:
    """Return the page with a fresh map between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{draw()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
