"""How Sphinx builds the site: `make docs`.

The source folder is the top of the repository, so that every page is where it is read in a checkout and the links
between pages, benchmarks and reproductions are the same in both.
"""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

project = "Widemargin"
author = "The Widemargin developers"
copyright = "The Widemargin developers"
release = version = installed("widemargin")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_links",
]
root_doc = "docs/index"
include_patterns = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "COMPARE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/*/README.md",
    "benchmarks/*/results/*.md",
    "docs/**.md",
    "docs/**.rst",
    "examples/python/README.md",
    "reproduce/**.md",
]
# Folders that Sphinx would otherwise walk through.
exclude_patterns = [
    *(".*", "crates", "data", "fuzz", "python", "scripts", "target", "**/__pycache__", "**/cache", "**/results/quick"),
    "docs/templates",
    # Would load a script from elsewhere.
    "**/sg_execution_times.rst",
]

# Markdown: what the existing documents use.
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

# The reference. Each page is made from the docstrings of the installed package.
autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "py:obj"
templates_path = [str(ROOT / "docs/templates")]
add_module_names = False
toc_object_entries = False

# The gallery: every example is run.
sphinx_gallery_conf = {
    "examples_dirs": ["examples/python"],
    "gallery_dirs": ["docs/gallery"],
    "backreferences_dir": "docs/gallery/uses",
    "doc_module": ("widemargin",),
    "reference_url": {"widemargin": None},
    # Converts two public data sets, which are not here.
    "ignore_pattern": r"bags_of_words\.py",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "site_links.PlaceOfExample",
    "reset_argv": "site_links.arguments_of_examples",
    "image_srcset": ["2x"],
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": True,
    "abort_on_example_error": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "Widemargin"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button-field", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": {"**": ["page-toc"], "docs/index": []},
}
html_sidebars = {"docs/index": [], "docs/install": [], "docs/playground": []}

# Only what is in the site is checked: the machines that build it may reach nothing else.
linkcheck_ignore = [r"https?://", r"mailto:"]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
