"""The commands, one file each: a function whose docstring is the help, and its examples.

Read ``select`` first; the others follow its shape: check the request, read, work, write, show.
A new command is a new file here and a line in the table below. A file is imported when its command is called.
"""

COMMANDS = {
    "select": "select_features",
    "inspect": "inspect_table",
    "apply": "apply_model",
    "compare": "compare_selectors",
    "score": "score_panels",
    "map": "map_features",
    "compress": "compress_svm",
    "app": "open_app",
    "demo": "run_demo",
}
"""Name of a command, which is that of its file -> name of the function, in the order of ``eigensieve --help``."""
