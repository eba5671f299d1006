#!/usr/bin/env bash
# labels: quick
# No two libraries define a function or variable of one name: the linker would silently take either.
set -euo pipefail
cd "$WEFT_BUILD" # nm repeats the paths, which may have blanks
defined() { # libraries...
    nm -A --defined-only --extern-only "$@" 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort
}
all=$(defined libweft_{core,fusion,fem,forms,app}.a)
twice=$(uniq -d <<<"$all")
[ -z "$twice" ] || { echo "defined twice: $twice"; exit 1; }
[ "$(wc -l <<<"$all")" -gt 500 ]
