"""Run the problems of docs/examples/gallery, check their numbers, draw them, and write docs/gallery.md.

usage: /usr/bin/python3 docs/gallery.py [--check]      (pictures need Debian's python3-vtk9)

With --check nothing is written: a wrong number or a page that does not show the problems is an error. The programs are those
of $WEFT_BUILD, or of build/. A problem is a file that begins with comments:

    # Title
    #
    # Text.
    #
    # run: COMMAND
    # check: QUANTITY = EXPRESSION | EXPECTED VALUE | TOLERANCE        Python, over the result of --json; numbers or lists
    # source: where the expected values are from
    # draw: FIELD [DEFORM [PART]]                                      as for docs/draw_solution.py
    # quantity: TEXT                                                   what is drawn, with its unit
"""
import concurrent.futures
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
DOCS = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(DOCS, "examples", "gallery")
BUILD = os.path.abspath(os.environ.get("WEFT_BUILD", os.path.join(DOCS, "..", "build")))
HEAD = """# Gallery

Problems that are solved by one command, each with numbers that are known from mathematics or from a publication. The files are in
[docs/examples/gallery](examples/gallery); run the commands in that directory, with `build/` in `PATH`. This page and its pictures
are written by `/usr/bin/python3 docs/gallery.py`, and a test checks the numbers.

"""


class Problem:
    """What the comments of a problem file say."""

    def __init__(self, file):
        self.file, self.name = file, os.path.splitext(file)[0]
        self.run = self.source = self.draw = self.quantity = ""
        self.checks, self.text = [], []
        with open(os.path.join(FOLDER, file), encoding="utf-8") as source:
            lines = source.read().split("\n")
        comments = [re.sub(r"^# ?", "", line.rstrip()) for line in itertools.takewhile(lambda line: line[:1] == "#", lines)]
        self.is_series = any(re.match("(time|steps|eigenvalues):", line) for line in lines)
        self.title = comments[0]
        for line in comments[1:]:
            key, _, value = line.partition(": ")
            if key == "check":
                first, expected, tolerance = value.split(" | ")
                quantity, _, expression = first.rpartition(" = ")
                self.checks.append((quantity, expression, expected, tolerance))
            elif key in ("run", "source", "draw", "quantity"):
                setattr(self, key, value)
            else:
                self.text.append(line)

    def solve(self, scratch):
        """Run the command; the result of --json, or None where a library is not installed."""
        series = self.is_series
        report, self.output = (os.path.join(scratch, self.name + end) for end in (".json", ".pvd" if series else ".vtkhdf"))
        words = self.run.split() + ["--quiet", "--json", report]
        if self.draw:
            words += ["--output", self.output]
        words[0] = os.path.join(BUILD, words[0])
        done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True)
        missing = re.search(r"error: (.* is not found): .*\nhint: install it", done.stderr)
        if missing:
            print(f"skipped {self.name}: {missing[1]}")
            return None
        if done.returncode != 0:
            sys.exit(f"{self.file}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        if series and self.draw:
            steps = self.output.replace(".pvd", "_steps")
            self.output = os.path.join(steps, max(os.listdir(steps)))
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def check(self, result):
        """Rows (quantity, computed, expected, tolerance, whether it is met); without a result nothing is computed."""
        scope = {name: getattr(math, name) for name in dir(math) if name[0] != "_"}
        scope.update(names(result), abs=abs, range=range, max=max, min=min, sum=sum, result=result)
        rows = []
        for quantity, *parts in self.checks:
            if not result:
                parts[0] = parts[1]
            found, wanted, tolerance = (eval(part, dict(scope, __builtins__={})) for part in parts)
            pairs = list(zip(found, wanted, strict=True)) if isinstance(found, list) else [(found, wanted)]
            fine = all(abs(a - b) <= tolerance for a, b in pairs)
            rows.append((quantity, found, wanted, tolerance, fine))
        return rows


def names(result):
    """Functions over the result that checks may use."""
    def only(values):
        return values[0] if isinstance(values, list) and len(values) == 1 else values

    def derived(name):
        return next(d for d in result["derived"] if d["name"] == name)

    return {"probe": lambda i: only(result["probes"][i]["u"]),
            "integral": lambda name: only(derived(name)["integral"]),
            "greatest": lambda name: derived(name)["greatest"],
            "least": lambda name: derived(name)["least"],
            "reaction": lambda group: only(next(r for r in result["reactions"] if r["group"] == group)["reaction"])}


def text_of(value, tolerance):
    """A number to a tenth of the tolerance, or a list of them."""
    if isinstance(value, list):
        return ", ".join(text_of(v, tolerance) for v in value)
    if value == 0:
        return "0"
    digits = max(0, math.ceil(-math.log10(tolerance)) + (1 if value != round(value, 1) else 0))
    return f"{value:.{min(digits, 8)}f}" if 1e-3 <= abs(value) < 1e7 else f"{value:.4g}"


def section(problem, rows):
    lines = [f"## {problem.title}"] + problem.text
    lines += [f"    {problem.run}", ""]
    if problem.draw:
        lines += [f"![{problem.title}](pictures/gallery-{problem.name}.svg)", ""]
    lines += ["| quantity | computed | expected | tolerance |", "|---|---|---|---|"]
    for quantity, found, wanted, tolerance, _ in rows:
        lines.append(f"| {quantity} | {text_of(found, tolerance)} | {text_of(wanted, tolerance)} | {tolerance:.3g} |")
    return "\n".join(lines + ["", f"Source: {problem.source}.", f"File: [{problem.file}](examples/gallery/{problem.file}).", ""])


def contents(problems):
    anchors = [re.sub(r"[^a-z0-9 -]", "", p.title.lower()).replace(" ", "-") for p in problems]
    return "".join(f"- [{p.title}](#{anchor})\n" for p, anchor in zip(problems, anchors)) + "\n"


def without_computed(page):
    """A page without its column of computed numbers, whose last digits may depend on the machine."""
    return re.sub(r"^(\| [^|]*\|)[^|]*\|", r"\1", page, flags=re.MULTILINE)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    files = sorted(f for f in os.listdir(FOLDER) if f.endswith((".yaml", ".ufl", ".py", ".weft")))
    problems = [p for p in map(Problem, files) if p.run]
    for problem in problems:
        if problem.draw and not problem.quantity:
            sys.exit(f"{problem.file}: # quantity: says what the picture shows, with its unit")
    sections, wrong = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda problem: problem.solve(scratch), problems))
        if not check and None in results:
            sys.exit("the page needs all libraries")
        for problem, result in zip(problems, results):
            rows = problem.check(result)
            sections.append(section(problem, rows))
            for quantity, found, wanted, tolerance, fine in rows if result else []:
                wrong += not fine
                print(f"{'ok   ' if fine else 'WRONG'} {problem.name}: {quantity}: {text_of(found, tolerance)}, "
                      f"expected {text_of(wanted, tolerance)} within {tolerance:.2g}")
            if problem.draw and not check:
                import draw_solution
                field, *numbers = problem.draw.split()
                draw_solution.draw(problem.output, os.path.join(DOCS, "pictures", f"gallery-{problem.name}.svg"), field,
                                   *map(float, numbers), label=problem.quantity)
    page, path = HEAD + contents(problems) + "\n".join(sections), os.path.join(DOCS, "gallery.md")
    if not check:
        with open(path, "w", encoding="utf-8") as out:
            out.write(page)
    else:
        with open(path, encoding="utf-8") as old:
            if without_computed(old.read()) != without_computed(page):
                sys.exit("docs/gallery.md is not that of the problems: run docs/gallery.py")
    sys.exit(f"{wrong} numbers are wrong" if wrong else 0)


if __name__ == "__main__":
    main()
