"""Draw the map of the rooms into CONTRIBUTING.md, from the doors and the imports as they are.

Run ``python docs/make_map.py`` after rooms or imports have changed; a test compares the map with the code.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "eigensieve"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map: drawn by docs/make_map.py -->", "<!-- end of map -->"


def imports_between_rooms() -> dict[str, set[str]]:
    """For each room, the rooms that its files import from; the package itself is the room "eigensieve"."""
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    found: dict[str, set[str]] = {room: set() for room in rooms} | {"eigensieve": set()}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        room = parts[0] if len(parts) > 1 else "eigensieve"
        if room == "eigensieve" and path.name != "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in _imported(node):
                pieces = name.split(".")
                target = pieces[1] if len(pieces) > 1 else "eigensieve"
                if pieces[0] == "eigensieve" and target in found and target != room:
                    found[room].add(target)
    return found


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and {alias.name for alias in node.names} != {"__version__"}:
        return [node.module or ""]
    return []


def from_top_to_bottom(imports: dict[str, set[str]]) -> list[str]:
    """The rooms in an order in which imports point downwards only."""
    order: list[str] = []

    def visit(room: str) -> None:
        if room not in order:
            for below in sorted(imports[room], reverse=True):
                visit(below)
            order.append(room)

    for room in sorted(imports, reverse=True):
        visit(room)
    return order[::-1]


def without_shortcuts(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """The imports without those between rooms that a longer way joins as well."""
    below: dict[str, set[str]] = {}
    for room in reversed(from_top_to_bottom(imports)):
        below[room] = imports[room].union(*(below[other] for other in imports[room]))
    return {
        room: {other for other in others if not any(other in below[between] for between in others - {other})}
        for room, others in imports.items()
    }


def purpose(room: str) -> str:
    """The first sentence of a room's door."""
    door = SOURCE / ("" if room == "eigensieve" else room) / "__init__.py"
    text = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def draw() -> str:
    """The map as Markdown: a Mermaid picture, and a table with every import."""
    imports = imports_between_rooms()
    rooms = from_top_to_bottom(imports)
    arrows = without_shortcuts(imports)
    lines = ["```mermaid", "flowchart TD"]
    lines += [f"    {room} --> {other}" for room in rooms for other in rooms if other in arrows[room]]
    lines += ["```", "", "| room | what it owns | imports from |", "|---|---|---|"]
    for room in rooms:
        below = ", ".join(other for other in rooms if other in imports[room])
        lines.append(f"| `{room}` | {purpose(room)} | {below} |")
    return "\n".join(lines)


def with_map(page: str) -> str:
    """The page with a fresh map between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{draw()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
