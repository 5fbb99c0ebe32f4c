"""How Sphinx builds the site. ``make docs`` runs it; it needs no network.

The pages are plain Markdown that can be read without Sphinx. Three things are added while they are read:

- the navigation: a page of `LISTS` lists other pages, one per row of a table or per line of a list
- links to examples lead to the gallery
- pages of the repository's root (`CHANGELOG.md` and others) are included
"""

import os
import re
import warnings
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LISTS = ["index.md", "guides/index.md", "how-it-works.md", "measured/index.md", "project.md"]
INCLUDED = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "conduct.md": "CODE_OF_CONDUCT.md",
}

project = "eigensieve"
copyright = "the eigensieve developers"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
default_role = "literal"  # `name` in a docstring is code

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings name the types
autosummary_generate = True
autosummary_imported_members = False
numpydoc_show_class_members = False
templates_path = ["_templates"]

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # data frames are shown, the names of matplotlib objects are not
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "plot_gallery": True,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "eigensieve"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "eigensieve"},
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "start": [], "faq": []}

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def listed(page: str) -> list[str]:
    """The pages that a page of `LISTS` lists, relative to the folder of the docs."""
    text = (DOCS / page).read_text(encoding="utf-8")
    links = re.findall(r"^(?:\||-) \[[^\]]*\]\(([^)#]+\.(?:md|rst))\)", text, flags=re.MULTILINE)
    return [os.path.relpath((DOCS / page).parent / link, DOCS) for link in links]


def _to_the_site(app: Any, document: str, source: list[str]) -> None:
    """Add to a page, before it is parsed, what only the site needs."""
    page = f"{document}.md"
    if page in INCLUDED:
        source[0] = _included(INCLUDED[page])
    for included, root_page in INCLUDED.items():
        source[0] = re.sub(rf"\((?:\.\./)+{root_page}", f"(/{included}", source[0])
    source[0] = re.sub(r"\((?:\.\./)+examples/README\.rst\)", "(/gallery/index.rst)", source[0])
    source[0] = re.sub(r"\((?:\.\./)+examples/([\w/]+)\.py\)", r"(/gallery/\1.rst)", source[0])
    if page in LISTS:
        entries = [re.sub(r"\.\./examples/README\.rst$", "gallery/index", name) for name in listed(page)]
        lines = "\n".join("/" + re.sub(r"\.(md|rst)$", "", name) for name in entries)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{lines}\n```\n"


def _included(name: str) -> str:
    """A page of the repository's root, with links that hold in the folder of the docs."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for page, root_page in INCLUDED.items():
        text = text.replace(f"({root_page}", f"({page}")
    note = "*The picture is drawn where Mermaid is known; the table says the same.*\n"
    text = re.sub(r"```mermaid\n.*?```\n", note, text, flags=re.DOTALL)
    return text.replace("(docs/", "(")


def _math(visitor: Any, node: Any, display: bool) -> None:
    """Write a formula as MathML, which browsers show without any script."""
    from docutils import nodes
    from docutils.utils.math import latex2mathml

    visitor.body.append(latex2mathml.tex2mathml(node.astext(), as_block=display))
    raise nodes.SkipNode


def _only_ours(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn provides: its own site documents it."""
    function = getattr(member, "fget", member)
    module = getattr(function, "__module__", None) or ""
    return True if callable(function) and not module.startswith("eigensieve") else None


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", _only_ours)
    app.connect("source-read", _to_the_site)
    app.add_html_math_renderer(
        "mathml",
        (lambda visitor, node: _math(visitor, node, False), None),
        (lambda visitor, node: _math(visitor, node, True), None),
    )
