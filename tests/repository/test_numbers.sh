#!/usr/bin/env bash
# labels: quick
# Numbers with a decimal point are read and printed in core/base/number.c alone, which does not depend on the locale of the
# process. No program sets a locale, so that they may print as C does.
set -euo pipefail
export LC_ALL=C
cd "$WEFT_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# misuses FILE...: "FILE: call" for each call that depends on the locale. A record is a statement.
misuses() {
    awk 'BEGIN { RS = ";" }
        { gsub(/%%/, ""); gsub(/[ \n]+/, " ") }
        match($0, /(^|[^_a-z])(strtod|strtof|strtold|atof|v[a-z]*printf|localeconv|uselocale|newlocale|setlocale) *\(/) {
            print FILENAME ": " substr($0, RSTART + 1, RLENGTH - 1) ")"
        }
        match($0, /(^|[^_a-z])(sn|f|d|s|as)?printf *\(/) && substr($0, RSTART) ~ /%[-+ #0-9.*]*[lL]?[aefgAEFG]/ {
            print FILENAME ": " substr($0, RSTART + 1, 70)
        }
        match($0, /scanf *\(/) && substr($0, RSTART) ~ /%[0-9*]*[lL]?[aefgAEFG]/ { print FILENAME ": scanf with a number" }' "$@"
}

cat >"$scratch/wrong.c" <<'C'
a = strtod(text, &end);
b = weft_number_read(text, &end); n = snprintf(text, 100, "%d %%f",
             k); n = snprintf(text, 100,
                              "%d %.17g", k, b);
weft_print(text, 100, "%g", b);
n = sscanf(text, "%lf", &b); n = sscanf(text, "%d", &k);
weft_text_add(out, "%g", b); vsnprintf(text, 100, format, list); fprintf(file, "%-*s", 3, "x");
C
[ "$(misuses "$scratch/wrong.c" | wc -l)" = 4 ] || { echo "this check is wrong:"; misuses "$scratch/wrong.c"; exit 1; }

mapfile -t sources < <(find core gemm fusion fem forms -name '*.[ch]' ! -path core/base/number.c | sort)
[ ${#sources[@]} -gt 500 ]
found=$(misuses "${sources[@]}")
if [ -n "$found" ]; then
    echo "These depend on the locale of the process; use core/base/number.h:"
    echo "$found"
    exit 1
fi
if grep -rnE '\b(setlocale|uselocale)\b' --include='*.c' --include='*.cpp' --include='*.h' apps; then
    echo "A program sets a locale, and prints with printf."
    exit 1
fi
