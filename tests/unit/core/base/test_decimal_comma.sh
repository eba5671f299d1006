#!/usr/bin/env bash
# labels: full
# A process that has set a locale with a decimal comma, as Qt, GTK and R do in most of Europe, reads and prints the same
# numbers: a problem with a known solution in Python, and tests of units, forms and the package run in it.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v localedef >/dev/null || { echo "skipped: localedef is missing"; exit 77; }
localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" 2>/dev/null || {
    echo "skipped: the definition of de_DE or of UTF-8 is missing (package locales)"
    exit 77
}
export LOCPATH=$scratch WEFT_TEST_LOCALE=de_DE.UTF-8
[ "$(LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ]

programs=(core_base_text forms_interpret_python forms_file_file fusion_library_body fusion_script_print
    fusion_explain_formats fem_form_scripts fem_data_fields fem_data_groups fem_derive_derive fem_space_space fem_io_series)
for program in "${programs[@]}"; do
    code=0
    "$WEFT_BUILD/tests/unit_$program" >"$scratch/output" 2>&1 || code=$?
    if [ $code != 0 ] && [ $code != 77 ]; then
        cat "$scratch/output"
        echo "unit_$program fails with a decimal comma"
        exit 1
    fi
done

python=/usr/bin/python3
library=$(echo "$WEFT_BUILD"/libweft.so.?.?)
[ -e "$library" ] && "$python" -c 'import numpy' 2>/dev/null || { echo "Python is left out: numpy or libweft.so is missing"; exit 0; }
export WEFT_LIBRARY="$library" PYTHONPATH="$WEFT_SOURCE/python:$WEFT_SOURCE/tests/python" PYTHONDONTWRITEBYTECODE=1
cat >"$scratch/comma.py" <<'PYTHON'
import locale
import unittest

import numpy
import weft

locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
assert locale.str(0.5) == "0,5"
space = weft.Space(weft.Mesh("square:8"), weft.Device("host:2"))
conditions = weft.Conditions(space, [weft.Dirichlet("left", 0), weft.Dirichlet("right", "0.5 + 0.5*x")])
form = weft.Form(space, "poisson.weft")
solution = weft.Operator(form, conditions).solve(conditions.load("0"), tolerance=1e-12)
# u = x: 9 nodes each at 0, 1/8, ..., 1
numpy.testing.assert_allclose(solution.x.numpy().sum(), 40.5, rtol=1e-10)
numpy.testing.assert_allclose(space.interpolate("1.5e-3*x").numpy(), 1.5e-3 * space.mesh.points[:, 0], rtol=1e-14)
unittest.main(module=None, argv=["comma", "test_problems"])
PYTHON
"$python" "$scratch/comma.py"
