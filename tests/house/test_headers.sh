#!/usr/bin/env bash
# labels: quick
# Each public header compiles alone, twice over, as C17 and as C++11, without warnings.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
paths=(-I"$WEFT_SOURCE" -I"$WEFT_SOURCE/core" -I"$WEFT_SOURCE/fusion" -I"$WEFT_SOURCE/fem")
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only)
cxx=
for candidate in "${CXX:-c++}" g++ clang++; do
    if command -v "$candidate" >/dev/null; then
        cxx=$candidate
        break
    fi
done
headers='core/weft_core.h core/weft_escape.h core/weft_tuning.h core/embedded.h fusion/weft_fusion.h fusion/tune/tune.h
    fusion/cost/cost.h fem/weft_fem.h'
for header in $(grep -oE '[a-z]+/[a-z_]+\.h' "$WEFT_SOURCE/cmake/weft_install.cmake"); do
    [[ $headers == *$header* ]] || { echo "$header is installed and not looked at here"; exit 1; }
done
for header in $headers; do
    name=${header##*/}
    printf '#include "%s"\n#include "%s"\nint weft_unused;\n' "$name" "$name" >"$scratch/one.c"
    ${CC:-cc} -std=c17 "${warnings[@]}" "${paths[@]}" "$scratch/one.c"
    echo "$name: C"
    if [ -n "$cxx" ]; then
        cp "$scratch/one.c" "$scratch/one.cpp"
        "$cxx" -std=c++11 "${warnings[@]}" "${paths[@]}" "$scratch/one.cpp"
        echo "$name: C++"
    fi
done
[ -n "$cxx" ] || echo "C++ was left out: there is no C++ compiler"
