#!/usr/bin/env bash
# labels: quick
# Embedded text comes out byte for byte: quotes, backslashes, UTF-8, CMake's own special characters, no
# newline at the end, nothing at all, and more than the 4095 characters of a string literal.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/root/sub"
printf 'a "q" \\n \xc3\xa9\n//@ x; ${y} @z@ [[w]] | \t$<v>' >"$scratch/root/sub/odd.weft"
: >"$scratch/root/empty.weft"
for i in $(seq 1000); do echo "line $i;"; done >"$scratch/root/long.weft"
names='empty.weft|long.weft|sub/odd.weft'
cmake -DROOT="$scratch/root" -DNAMES="$names" -DTABLE=weft_embedded_scripts \
    -DHEADER=embedded_scripts.h -DOUTPUT="$scratch/table.c" -P "$WEFT_SOURCE/cmake/embed.cmake"
cat >"$scratch/main.c" <<'C'
#include "embedded_scripts.h"
#include <stdio.h>
#include <string.h>
int main(int n, char **arguments)
{
    for (size_t i = 0; n > 1 && i < weft_embedded_scripts_count; ++i)
        if (strcmp(weft_embedded_scripts[i].name, arguments[1]) == 0)
            return fputs(weft_embedded_scripts[i].text, stdout) < 0;
    return n > 1 || weft_embedded_scripts[weft_embedded_scripts_count].name != NULL;
}
C
${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$WEFT_SOURCE" -I"$WEFT_SOURCE/core" -I"$WEFT_SOURCE/fem" \
    "$scratch/main.c" "$scratch/table.c" -o "$scratch/main"
read -ra emulator <<<"${WEFT_EMULATOR:-}" # where the compiler is one for another processor
"${emulator[@]}" "$scratch/main"
for name in ${names//|/ }; do
    "${emulator[@]}" "$scratch/main" "$name" | cmp - "$scratch/root/$name"
    echo "$name: the same"
done
