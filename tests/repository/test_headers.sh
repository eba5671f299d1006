#!/usr/bin/env bash
# labels: quick
# Each installed header compiles alone, twice over, as C17 and as C++11 and C++17, without warnings and without a header
# that is not installed, and has at most 200 lines. Options begin with their size, which an inline function of the header
# sets, because only the caller's header knows how many bytes he has. An error starts with {0} in C and in C++.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
installed=$scratch/include
paths=(-I"$installed" -I"$installed/core" -I"$installed/gemm" -I"$installed/fusion" -I"$installed/fem" -I"$installed/forms")
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only)
cxx=
for candidate in "${CXX:-c++}" g++ clang++; do
    if command -v "$candidate" >/dev/null; then
        cxx=$candidate
        break
    fi
done
headers=$(grep -oE '[a-z]+(/[a-z]+)*/[a-z_]+\.h' "$WEFT_SOURCE/cmake/weft_headers.cmake")
[ "$(wc -w <<<"$headers")" -ge 12 ] || { echo "the list of installed headers was not found"; exit 1; }
for header in $headers; do
    mkdir -p "$installed/${header%/*}"
    cp "$WEFT_SOURCE/$header" "$installed/$header"
done
optional=$(cd "$installed" && cat $headers | grep -cE '^typedef struct weft_[a-z_]+_options \{')
sized=$(cd "$installed" && cat $headers | grep -A 1 -E '^typedef struct weft_[a-z_]+_options \{' | grep -cE '^    size_t size;')
inlined=$(cd "$installed" && cat $headers | grep -cE '^static inline (weft_[a-z_]+_options) \1_default\(')
[ "$optional" -ge 9 ] && [ "$optional" = "$sized" ] && [ "$optional" = "$inlined" ] || {
    echo "of $optional options structs $sized begin with their size, and $inlined have a default function in the header"
    exit 1
}
for header in $headers; do
    lines=$(wc -l <"$WEFT_SOURCE/$header")
    [ "$lines" -le 200 ] || { echo "$header has $lines lines, more than 200: split it by concept"; exit 1; }
    printf '#include "%s"\n#include "%s"\nint weft_unused;\n' "$header" "$header" >"$scratch/one.c"
    ${CC:-cc} -std=c17 "${warnings[@]}" "${paths[@]}" "$scratch/one.c"
    echo "$header: C"
    if [ -n "$cxx" ]; then
        cp "$scratch/one.c" "$scratch/one.cpp"
        for standard in c++11 c++17; do
            "$cxx" "-std=$standard" "${warnings[@]}" "${paths[@]}" "$scratch/one.cpp"
        done
        echo "$header: C++"
    fi
done
printf '#include "core/weft_base.h"\nint main(void) { weft_error error = {0}; return error.line; }\n' >"$scratch/error.c"
cp "$scratch/error.c" "$scratch/error.cpp"
sed -i 's/(void)/()/' "$scratch/error.cpp"
${CC:-cc} -std=c17 -Wall -Wextra -Werror -fsyntax-only "${paths[@]}" "$scratch/error.c"
if [ -n "$cxx" ]; then
    for standard in c++11 c++17 c++20; do
        "$cxx" "-std=$standard" -Wall -Wextra -Wno-missing-field-initializers -Werror -fsyntax-only "${paths[@]}" \
            "$scratch/error.cpp"
    done
fi
[ -n "$cxx" ] || echo "C++ was left out: there is no C++ compiler"
