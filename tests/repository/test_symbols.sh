#!/usr/bin/env bash
# labels: quick
# No two libraries define a function or variable of one name: the linker would silently take either. The shared library
# exports what the installed headers declare, and nothing else.
set -euo pipefail
export LC_ALL=C
defined() { # libraries...
    nm -A --defined-only --extern-only "$@" 2>/dev/null | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort
}
cd "$WEFT_BUILD" # nm repeats the paths, which may have blanks
all=$(defined libweft_{core,gemm,fusion,fem,forms,app}.a)
twice=$(uniq -d <<<"$all")
[ -z "$twice" ] || { echo "defined twice: $twice"; exit 1; }
[ "$(wc -l <<<"$all")" -gt 500 ]
shared=$(echo libweft.so.?.?)
[ -e "$shared" ] || exit 0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
headers=$(grep -oE '[a-z]+(/[a-z]+)*/[a-z_]+\.h' "$WEFT_SOURCE/cmake/weft_headers.cmake")
private_and_public=$(defined libweft_{core,gemm,fusion,fem,forms}.a)
# The compiler judges what is declared: an exported name is used, and a name that is not exported is given to an integer,
# which fails if the headers declare it as something else.
check() { # exported names, one a line
    {
        for header in $headers; do
            echo "#include \"$header\""
        done
        echo "const void *const weft_uses[] = {"
        sed 's/.*/(const void *)\&&,/' <<<"$1"
        echo "0};"
        comm -13 <(echo "$1") <(echo "$private_and_public") | sed 's/.*/extern int &;/'
    } >"$scratch/symbols.c"
    ${CC:-cc} -std=c17 -fsyntax-only -I"$WEFT_SOURCE" "$scratch/symbols.c" 2>"$scratch/log"
}
shown=$(nm -D --defined-only "$shared" | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sed 's/@.*//' | sort)
check "$shown" || { grep error "$scratch/log"; echo "libweft.so does not export exactly what the headers declare"; exit 1; }
listed=$(grep -oE '^ +weft_[A-Za-z0-9_]+;' libweft.map | tr -d ' ;')
[ "$listed" = "$shown" ] || { echo "declared and not defined, or the reverse:"; diff <(echo "$listed") <(echo "$shown"); exit 1; }

# The check finds both kinds of faults.
private=$(comm -13 <(echo "$shown") <(echo "$private_and_public") | awk '/^weft_/ && !n++')
[ -n "$private" ]
if check "$(sort <<<"$shown"$'\n'"$private")"; then
    echo "the private $private could be exported unnoticed"
    exit 1
fi
if check "$(grep -vx weft_gemm_batched <<<"$shown")"; then
    echo "the declared weft_gemm_batched could be missing unnoticed"
    exit 1
fi
