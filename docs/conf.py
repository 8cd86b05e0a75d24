"""Settings of Sphinx. docs/build.py runs it."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "bulkbits"
author = "the authors of bulkbits"
copyright = "the authors of bulkbits; MIT license"
release = version = metadata.version("bulkbits")

root_doc = "docs/index"
exclude_patterns = ["README.md", "docs/gallery/**", "docs/extensions/**"]
# Types of two packages may have one name, as Progress: links from signatures go to either.
suppress_warnings = ["ref.python"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "command_help",
    "places",
]

myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "docs/gallery",
    "gallery_dirs": "docs/programs",
    "filename_pattern": r"\.py$",  # all are run
    "image_scrapers": ("pictures.found",),
    "reset_modules": (),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),
    "download_all_examples": False,
    "copyfile_regex": "",
    "write_computation_times": False,
    "show_signature": False,
    "backreferences_dir": None,
    "notebook_extensions": (),
}

autodoc_default_options = {
    "members": True,
    "inherited-members": "object, BaseException, Exception, Sequence, tuple, Enum, int, str",
    "member-order": "bysource",
}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
python_display_short_literal_types = True
maximum_signature_line_length = 88

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
highlight_language = "text"

html_theme = "furo"
html_title = "bulkbits"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["bulkbits.css"]
templates_path = []
