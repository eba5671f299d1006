#!/usr/bin/env bash
# labels: quick
# No two libraries define a function or variable of one name: the linker would silently take either. The shared
# library shows its own symbols only, and all of them.
set -euo pipefail
cd "$WEFT_BUILD" # nm repeats the paths, which may have blanks
defined() { # libraries...
    nm -A --defined-only --extern-only "$@" 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort
}
all=$(defined libweft_{core,gemm,fusion,fem,forms,app}.a)
twice=$(uniq -d <<<"$all")
[ -z "$twice" ] || { echo "defined twice: $twice"; exit 1; }
[ "$(wc -l <<<"$all")" -gt 500 ]
shared=$(echo libweft.so.?.?)
[ -e "$shared" ] || exit 0
shown=$(nm -D --defined-only "$shared" | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sed 's/@.*//' | sort)
foreign=$(grep -v '^weft_' <<<"$shown" || true)
[ -z "$foreign" ] || { echo "libweft.so shows: $foreign"; exit 1; }
missing=$(comm -13 <(echo "$shown") <(defined libweft_{core,fusion,fem,forms}.a | grep '^weft_' | sort))
[ -z "$missing" ] || { echo "libweft.so lacks: $missing"; exit 1; }
