#!/usr/bin/env bash
# labels: quick
# C files are formatted as .clang-format says, by version 14; other versions break some lines elsewhere. Those below
# kernels/ are not, because their readers expect their layout.
set -euo pipefail
export LC_ALL=C
if ! command -v clang-format-14 >/dev/null; then
    echo "skipped: clang-format-14 is not installed"
    exit 77
fi

# check_tree FOLDER: the complaints.
check_tree() (
    cd "$1"
    find . -path ./kernels -prune -o \( -name 'build*' -o -name '.*' \) ! -name . -prune -o -type f -name '*.[ch]' -print0 |
        xargs -0 -n 100 -P 2 clang-format-14 --dry-run -Werror 2>&1
)

# The check itself: of three files with the same mistake, the one below kernels/ and the one of a build do not count.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$WEFT_SOURCE/.clang-format" "$scratch"
mkdir "$scratch"/{kernels,build-x,fem}
for file in kernels/a.c build-x/a.c fem/a.c; do
    echo 'int *f(void)  { return 0; }' >"$scratch/$file"
done
echo 'int g(void);' >"$scratch/fem/b.h"
if found=$(check_tree "$scratch") || [ "$(sed -n 's/: error: .*//p' <<<"$found" | cut -d: -f1 | sort -u)" != ./fem/a.c ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

if ! found=$(check_tree "$WEFT_SOURCE"); then
    grep ': error: ' <<<"$found" || echo "$found"
    echo "Format these files: clang-format-14 -i FILE..."
    exit 1
fi
