"""Settings of the documentation site: ``python -m sphinx -W -b html docs build/site``."""

import importlib.util
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate_pages

import limo
from limo._system import SITE

project = "limo"
author = "the limo developers"
project_copyright = author
version = release = limo.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_static", "_templates", "generated/*.md", "generated/backreferences"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of a class lists its methods
numpydoc_class_members_toctree = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Examples that need a missing library are left out, as its part of the reference is.
missing = [name for name in ("torch", "dask") if importlib.util.find_spec(name) is None]
examples = HERE.parent / "examples"
left_out = [file.name for name in missing for file in (examples / name).glob("*.py")]

sphinx_gallery_conf = {
    "examples_dirs": str(examples),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": "|".join(map(re.escape, left_out)) or "__init__",  # names without folders
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("limo",),
    "inspect_global_variables": False,
    "matplotlib_animations": False,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "generate_pages.forbid_warnings"),
    "reset_modules_order": "both",
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 1e9,  # times differ from machine to machine
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"limo {release}"
html_baseurl = f"{SITE}/"
html_static_path = ["_static", "pictures"]
html_css_files = ["site.css"]
html_extra_path = ["generated/extra"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"limo {release}"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def skip_foreign_members(app, what, name, thing, skip, options):
    """Leave out methods that scikit-learn adds and documents itself, such as metadata routing."""
    return True if str(getattr(thing, "__module__", "")).startswith("sklearn") else None


def keep_formulas(app, what, name, thing, options, lines):
    """Show indented formulas as they are, and let |Y| be what it looks like."""
    for k in range(len(lines) - 2, 0, -1):
        starts_block = not lines[k] and lines[k + 1].startswith("    ")
        if starts_block and lines[k - 1] and not lines[k - 1].startswith(" "):
            lines[k:k] = ["", "::"]
    for k, line in enumerate(lines):
        if "`" not in line and not line.lstrip().startswith((">>>", "...")):
            lines[k] = line.replace("|", r"\|")


def add_example_and_picture(app, what, name, thing, options, lines):
    """Add what the page of a public name shows beside its docstring."""
    lines.extend(generate_pages.additions(name, HERE))


def drop_last_blank_lines(app, docname, source):
    """Leave out the blank line that doctest needs before the end of a block of code."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app):
    """Write the pages that are made from the code before Sphinx reads the sources."""
    generate_pages.write_all(HERE)
    app.connect("autodoc-process-docstring", keep_formulas, priority=400)
    app.connect("autodoc-process-docstring", add_example_and_picture, priority=900)
    app.connect("autodoc-skip-member", skip_foreign_members)
    app.connect("source-read", drop_last_blank_lines)
