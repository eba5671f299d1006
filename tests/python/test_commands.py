"""Commands of `solve` and `poisson` in the documentation, in Python: the same numbers as the programs write, and the same
errors. The table in docs/tutorial-python.md has every option of both."""

import inspect
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest

import numpy

import weft

BUILD, SOURCE = os.environ["WEFT_BUILD"], os.environ["WEFT_SOURCE"]
DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
PAGES = ("forms", "transients", "constraints", "derived-results", "tutorial-poisson")
# Both solve to a residual of 1e-8, perhaps with another preconditioner.
CLOSE = 2e-6
# Options that do not change what is computed, or of what is compared.
IGNORED = {"--output", "--output-every", "--output-interval", "--overwrite", "--history", "--history-every", "--json", "--line",
           "--verbose", "--quiet", "--keep-unconverged", "--projection"}


def page(name):
    with open(os.path.join(SOURCE, "docs", name + ".md"), encoding="utf-8") as file:
        return file.read()


def split(text):
    """At commas outside of parentheses; one piece alone, or a tuple in which `free` is None."""
    pieces, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += c
    made = tuple(None if piece.strip() == "free" else piece for piece in pieces)
    return made[0] if len(made) == 1 else made


def place(text):
    """A point, or the name of a group of points."""
    try:
        return tuple(float(x) for x in text.split(","))
    except ValueError:
        return text.strip('"')


class Command:
    """A command line, as arguments of weft.Mesh, weft.Device, weft.Problem, solve() or steps()."""

    def __init__(self, words, nonlinear=False):
        self.program, self.mesh, self.size, self.refine, self.device, self.plan = words[0], None, None, 0, DEVICE, "fused"
        self.conditions, self.measures, self.problem, self.solve, self.steps = [], {}, {}, {}, {}
        self.forms = "diffusion" if self.program == "poisson" else None
        self.texts = {}  # by name: those for everywhere, and by group
        self.exact, self.probes, self.integrals, self.extrema, self.defined, self.absent = None, [], [], [], {}, None
        self.has_reactions, self.sum = False, None
        words = list(words[1:])
        while words:
            word = words.pop(0)
            if not word.startswith("-"):
                self.forms = word
                continue
            option, _, value = word.partition("=")
            option = {"-m": "--mesh", "-o": "--output"}.get(option, option)
            if option in ("--nonlinear", "--reactions", "--overwrite", "--verbose", "--quiet"):
                self.has_reactions |= option == "--reactions"
                continue
            self.take(option, value if "=" in word else words.pop(0))

    def take(self, option, value):
        name, _, rest = value.partition("=")
        numbers = {"--tolerance": "tolerance", "--max-iterations": "max_iterations", "--restart": "restart",
                   "--smoother-degree": "smoother_degree"}
        names = {"--method": "method", "--preconditioner": "preconditioner", "--assembly": "assembly", "--until": "until",
                 "--mass": "mass", "--previous": "previous", "--matrix": "matrix", "--vector": "vector"}
        of_time = {"--scheme": ("scheme", str), "--theta": ("theta", float), "--time-tolerance": ("tolerance", float)}
        of_newton = {"--load-steps": ("load_steps", int), "--newton-tolerance": ("newton_tolerance", float),
                     "--newton-iterations": ("newton_iterations", int)}
        if option in IGNORED:
            return
        if option in ("--mesh", "--device", "--plan"):
            setattr(self, option[2:], value)
        elif option == "--size":
            self.size = float(value)
        elif option == "--refine":
            self.refine = int(value)
        elif option in ("--define", "--input"):
            name, _, group = name.partition("@")
            self.texts.setdefault(name, []).append("@%s=%s" % (group, rest) if group else rest)
        elif option in ("--source", "--diffusivity"):
            self.texts.setdefault(option[2:], []).append(value)
        elif option == "--measure":
            self.measures[name] = rest
        elif option in ("--dirichlet", "--neumann"):
            self.conditions.append(getattr(weft, option[2:].capitalize())(name, split(rest)))
        elif option == "--robin":
            alpha, *values = split(rest)
            self.conditions.append(weft.Robin(name, alpha, values[0] if len(values) == 1 else tuple(values)))
        elif option == "--periodic":
            self.conditions.append(weft.Periodic() if value == "mesh" else weft.Periodic(name, rest))
        elif option in ("--tie", "--symmetry"):
            self.conditions.append(getattr(weft, option[2:].capitalize())(value))
        elif option in ("--point-value", "--point-load"):
            kind = weft.PointValue if option == "--point-value" else weft.PointLoad
            self.conditions.append(kind(place(name), split(rest)))
        elif option == "--param":
            self.problem.setdefault("parameters", {})[name] = int(rest)
        elif option in numbers:
            self.problem[numbers[option]] = int(value) if value.isdigit() else float(value)
        elif option in names:
            self.problem[names[option]] = value
        elif option == "--time":
            self.steps["dt"], self.steps["end"] = (float(x) for x in value.split(","))
        elif option in ("--checkpoint", "--checkpoint-every", "--resume"):
            self.steps[option[2:].replace("-", "_")] = int(value) if value.isdigit() else value
        elif option == "--sum":
            self.sum = value
        elif option == "--initial":
            self.initial = value
            self.steps["initial"] = self.solve["initial"] = value
        elif option in of_time:
            self.steps[of_time[option][0]] = of_time[option][1](value)
        elif option in of_newton:
            self.solve[of_newton[option][0]] = of_newton[option][1](value)
        elif option == "--exact":
            self.exact = split(value)
        elif option == "--probe":
            self.probes.append(place(value))
        elif option in ("--integral", "--extrema"):
            name, _, group = (part.strip() for part in name.partition("@"))
            getattr(self, {"--integral": "integrals", "--extrema": "extrema"}[option]).append((name, group or None, self.formula(rest)))
        elif option == "--derive":
            self.defined[name.strip()] = self.formula(rest)
        else:
            self.absent = option

    def formula(self, text):
        """poisson calls kappa what is k in the script of the same problem: the mean in a cell."""
        return re.sub(r"\bkappa\b", "k", text) if self.program == "poisson" else text

    def run(self):
        """The problem, solved."""
        device = weft.Device(self.device, plan=self.plan)
        mesh = weft.Mesh(self.mesh, size=self.size, refine=self.refine)
        values = {name: "; ".join(texts) for name, texts in self.texts.items()}
        if self.program == "poisson":
            values.setdefault("source", 1)
        problem = weft.Problem(mesh, self.forms, values, self.measures, self.conditions, device, **self.problem)
        problem.define(**self.defined)
        if "dt" in self.steps:
            for _ in problem.steps(**self.steps):
                pass
        else:
            problem.solve(**self.solve)
        for name in self.defined:
            problem.derived(name)
        for name, group, text in self.integrals:
            problem.integral(text, group)
        return problem


def commands(name):
    """The commands of a page in order, with the exit code that is expected; files that it makes lie in the present folder."""
    text, variables, found = page(name), {}, []
    blocks = re.findall(r"^```(\w*)([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if name == "forms":
        with open("Poisson.ufl", "w", encoding="utf-8") as file:
            file.write(blocks[0][2])
        blocks += [("sh", "", line[len("build/"):]) for line in re.findall(r"^    (build/solve .*)$", text, re.MULTILINE)]
    for language, info, block in blocks:
        if language != "sh":
            if re.fullmatch(r" [\w.-]+", info):
                with open(info.strip(), "w", encoding="utf-8") as file:
                    file.write(block)
            continue
        for path, _, body in re.findall(r"^cat > (\S+) <<'?(\w+)'?\n(.*?)^\2$", block, re.MULTILINE | re.DOTALL):
            with open(path, "w", encoding="utf-8") as file:
                file.write(body)
        block = re.sub(r"<<'?(\w+)'?\n.*?^\1$", "", block, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
        for line in block.split("\n"):
            for variable, first in re.findall(r"\bfor (\w+) in (\S+?);?(?:\s|$)", line):
                variables[variable] = first
            for variable, value in re.findall(r"^(\w+)='([^']*)'$", line.strip()):
                variables[variable] = value
            for variable, value in re.findall(r"^(\w+)=\((.*)\)$", line.strip()):
                variables[variable] = value
                variables[variable + "[@]"] = value
            line = re.sub(r'"\$\{(\w+\[@\])\}"', lambda match: variables[match[1]], line)
            line = re.sub(r"\$(\w+)", lambda match: variables.get(match[1], match[0]), line)
            if re.match(r"printf '[^']*' > \w+\.csv$", line):
                subprocess.run(["bash", "-c", line], check=True)
            match = re.match(r"\s*((?:solve|poisson) .*--mesh.*)$", line)
            if match:
                code = re.search(r"exit-(\d)", info)
                words = shlex.split(re.split(r" (?:\||>) ", match[1])[0].replace("$flow", variables.get("flow", "")))
                found.append((words, int(code[1]) if code else 0))
    return found


@unittest.skipUnless(os.access(os.path.join(BUILD, "solve"), os.X_OK), "this build has no programs")
class Table(unittest.TestCase):
    def test_every_option(self):
        """The page has each option of `solve` and `poisson` once, with what the package has, or the reason for which it is absent."""
        options = set()
        for program in ("solve", "poisson"):
            help_ = subprocess.run([os.path.join(BUILD, program), "--help"], capture_output=True, text=True, check=True).stdout
            found = set(re.findall(r"^ +(?:-\w, |-\?, )?(--[a-z][a-z-]*)", help_, re.MULTILINE))
            self.assertGreater(len(found), 40)
            options |= found
        rows = re.findall(r"^\| (`--[^|]*) \| (.*) \|$", page("tutorial-python"), re.MULTILINE)
        listed = [option for first, _ in rows for option in re.findall(r"`(--[a-z-]+)`", first)]
        self.assertEqual(sorted(listed), sorted(options))
        for _, what in rows:
            names = re.findall(r"`([A-Z_]\w*)(?:\.(\w+))?(?:\(([^`]*)\))?`", what)
            self.assertTrue(names or what.startswith(("absent: ", "`__version__`", "as the forms")), what)
            for name, method, arguments in names:
                found = getattr(weft, name)
                found = getattr(found, method) if method else found
                if isinstance(found, property) or name in ("Report",):
                    continue
                for argument in re.findall(r"(\w+)=", arguments):
                    self.assertTrue(argument in inspect.signature(found).parameters or method == "define", (what, argument))


@unittest.skipUnless(os.access(os.path.join(BUILD, "solve"), os.X_OK), "this build has no programs")
class Commands(unittest.TestCase):
    maxDiff = None

    def compare(self, what, found, expected, scale):
        found, expected = (numpy.atleast_1d(numpy.array(one, dtype=float)).ravel() for one in (found, expected))
        self.assertEqual(found.shape, expected.shape, what)
        numpy.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE * scale, err_msg=what)

    def check(self, command, problem, result):
        scale = max(1e-30, numpy.abs(problem.values).max())
        self.assertEqual(problem.n_dofs, result.get("dofs", problem.n_dofs))
        if "integral_u" in result:
            self.compare("integral u", problem.integrals(), result["integral_u"], scale)
        if command.exact is not None and result.get("l2_error") is not None:
            self.compare("errors", problem.errors(command.exact), [result["l2_error"], result["h1_error"]], 10 * scale)
        if result.get("energy") is not None and command.program == "solve":
            self.compare("energy", problem.energy, result["energy"], abs(result["energy"]))
        if command.sum:
            self.compare("sum", problem.sum(command.sum), result["sum"], abs(result["sum"]))
        points = [one for one in result.get("probes", []) if one.get("u") is not None]
        if points:
            found = problem.probe([one["point"] for one in points])
            self.compare("probes", found, [one["u"] for one in points], scale)
        derived = {one["name"]: one for one in result.get("derived", [])}
        for name, group, text in command.integrals:
            expected = derived[name]["integral"]
            self.compare(name, problem.integral(text, group), expected, numpy.abs(expected).max() + scale)
        for name, group, text in command.extrema:
            found, expected = problem.extrema(text, group), derived[name]
            self.compare(name, found[:2], [expected["least"], expected["greatest"]], abs(expected["greatest"]) + scale)
        if command.has_reactions:
            balance = problem.reactions()
            size = 1 + max(numpy.nanmax(numpy.abs(one)) for one in balance.reactions.values())
            for one in result["reactions"]:
                if one["group"] in balance.reactions:
                    values = numpy.atleast_1d(one["reaction"]).astype(float)
                    self.compare(one["group"], balance.reactions[one["group"]], values, size)

    def run_page(self, name):
        """Returns how many commands were run, and the options for which others were not."""
        n, absent, before = 0, set(), os.getcwd()
        has_gmsh = os.access(os.path.join(BUILD, "weft-gmsh"), os.X_OK)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for words, code in commands(name):
                    command = Command(words)
                    if command.absent or command.device == "null" or (command.mesh.endswith(".geo") and not has_gmsh):
                        absent.add(command.absent or "null" if not command.mesh.endswith(".geo") else command.absent or ".geo")
                        continue
                    with self.subTest(" ".join(words)):
                        self.run_command(command, words, code)
                    n += 1
            finally:
                os.chdir(before)
        return n, absent

    def run_command(self, command, words, code):
        words = [word for i, word in enumerate(words) if word != "--json" and words[i - 1] != "--json"]
        run = subprocess.run([os.path.join(BUILD, words[0]), *words[1:], "--json", "result.json", "--device", command.device],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, code, run.stderr)
        if code == 0:
            problem = command.run()
            with open("result.json", encoding="utf-8") as file:
                self.check(command, problem, json.load(file))
            return
        with self.assertRaises((weft.Error, weft.NotConverged)) as caught:
            command.run()
        if code == 2:
            message = re.search(r"error: ([^\n:]*)", run.stderr)[1]
            self.assertIn(message, str(caught.exception))

    def test_forms(self):
        n, _ = self.run_page("forms")
        self.assertGreaterEqual(n, 1)

    def test_transients(self):
        n, absent = self.run_page("transients")
        self.assertGreaterEqual(n, 11)
        self.assertEqual(absent, set())

    def test_constraints(self):
        n, absent = self.run_page("constraints")
        self.assertGreaterEqual(n, 10)
        self.assertLessEqual(absent, {".geo"})

    def test_derived_results(self):
        n, absent = self.run_page("derived-results")
        self.assertGreaterEqual(n, 1)
        self.assertLessEqual(absent, {".geo"})

    def test_poisson(self):
        n, absent = self.run_page("tutorial-poisson")
        self.assertGreaterEqual(n, 9)
        self.assertLessEqual(absent, {".geo", "null"})


if __name__ == "__main__":
    unittest.main()
