"""Makes docs/tutorial-python.ipynb of docs/tutorial-python.md: `WEFT_SOURCE=. python3 tests/python/make_notebook.py`."""

import json
import os
import re

FOLDER = os.path.join(os.environ["WEFT_SOURCE"], "docs")
PAGE, NOTEBOOK = (os.path.join(FOLDER, "tutorial-python" + end) for end in (".md", ".ipynb"))


def notebook():
    """The text of the notebook: Python blocks are cells, and the text blocks behind them are what these print and return."""
    with open(PAGE, encoding="utf-8") as file:
        parts = re.split(r"^```(python|text)\n(.*?)^```$\n?", file.read(), flags=re.MULTILINE | re.DOTALL)
    cells = []

    def add(kind, text, **more):
        cells.append({"cell_type": kind, "id": "cell-%d" % len(cells), "metadata": {}, "source": text.strip("\n").splitlines(True), **more})

    for i, text in enumerate(parts):
        kind = parts[i - 1] if i % 3 == 2 else "markdown" if i % 3 == 0 and text.strip() else None
        if kind == "python":
            add("code", text, execution_count=None, outputs=[])
        elif kind == "text":
            cells[-1]["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(True)}]
        elif kind:
            add("markdown", text)
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    with open(NOTEBOOK, "w", encoding="utf-8") as file:
        file.write(notebook())
