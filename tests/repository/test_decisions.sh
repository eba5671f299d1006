#!/usr/bin/env bash
# labels: quick
# Each decision (docs/decisions/NNNN-title.md) has the title and the status that the table of
# docs/decisions/README.md has, and the sources name it, unless another one has superseded it. No text names a
# decision that does not exist.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
export LC_ALL=C

# check_tree FOLDER: a line for each mistake; then how many decisions there are.
check_tree() (
    cd "$1/docs/decisions"
    sources=()
    for folder in core gemm fusion fem forms apps kernels python cmake CMakeLists.txt; do
        [ ! -e "../../$folder" ] || sources+=("../../$folder")
    done
    linked=$(grep -rhoE --include='*.c' --include='*.h' --include='*.cu' --include='*.py' --include='*.txt' \
        'docs/decisions/[0-9]{4}-[a-z0-9-]+\.md' "${sources[@]}" | sort -u)
    n=0 before=
    for file in [0-9]*.md; do
        n=$((n + 1)) number=${file%%-*}
        [[ $file =~ ^[0-9]{4}-[a-z0-9-]+\.md$ ]] || echo "$file: not called NNNN-title.md"
        [ "$number" != "$before" ] || echo "$file: a second decision has this number"
        before=$number
        title=$(sed -n "1s/^# $number\. //p" "$file")
        status=$(sed -nE '3s/^Status: (accepted|superseded by [0-9]{4})( \(.*\))?$/\1/p' "$file")
        [ -n "$title" ] || echo "$file: the first line is not '# $number. title'"
        [ -n "$status" ] || echo "$file: the third line is not 'Status: accepted' or 'superseded by NNNN'"
        for part in Context Decision Consequences; do
            grep -qx "## $part" "$file" || echo "$file: no part '$part'"
        done
        [[ $status != superseded* ]] || compgen -G "${status##* }-*.md" >/dev/null || echo "$file: no decision ${status##* }"
        grep -qxF "| [$number]($file) | $title | $status |" README.md || echo "$file: not in the table with title and status"
        [[ $status == superseded* ]] || grep -qxF "docs/decisions/$file" <<<"$linked" || echo "$file: no source names it"
    done
    grep -oE '\]\([0-9]{4}-[^)]*\)' README.md | tr -d ']()' | while read -r file; do
        [ -e "$file" ] || echo "README.md: no decision $file"
    done
    cd ../..
    # README.md of the project and the tests name decisions too
    for folder in README.md docs tests; do
        [ ! -e "$folder" ] || sources+=("../../$folder")
    done
    grep -roE 'decisions(\.md|/[0-9]{4}[a-z0-9.-]*[a-z0-9])' "${sources[@]#../../}" | sort -u |
        while IFS=: read -r place name; do
            [ -e "docs/$name" ] || echo "$place: no decision $name"
        done
    echo "$n decisions"
)

# The check itself: a tree with one mistake of each kind. Names are not written here in one word, for this file is
# looked at too.
name=decisions d=docs/$name
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{$d,core,tests}
parts=$'\n## Context\n## Decision\n## Consequences'
printf '# 0001. One\n\nStatus: accepted (2026-11-22)\n%s\n' "$parts" >"$scratch/$d/0001-one.md"
printf '# 0002. Two\n\nStatus: superseded by 0001\n%s\n' "$parts" >"$scratch/$d/0002-two.md"
printf '# 0003. Three\n\nStatus: superseded by 0009\n%s\n' "$parts" >"$scratch/$d/0003-three.md"
printf '# 3. Other\n\nStatus: new\n\n## Context\n## Decision\n' >"$scratch/$d/0003-Other.md"
printf '# 0004. Four\n\nStatus: accepted\n%s\n' "$parts" >"$scratch/$d/0004-four.md"
printf '| [0001](0001-one.md) | One | accepted |\n| [0002](0002-two.md) | Two | accepted |
| [0003](0003-three.md) | Three | superseded by 0009 |\n| [0004](0004-four.md) | Four | accepted |\n| [0005](0005-five.md) | Five | accepted |\n' \
    >"$scratch/$d/README.md"
printf '/* %s/0001-one.md, %s/0006-six.md */\n' "$d" "$d" >"$scratch/core/a.c"
printf '/* %s.md */\n' "$d" >"$scratch/tests/b.c"
expected="0002-two.md: not in the table with title and status
0003-Other.md: no part 'Consequences'
0003-Other.md: no source names it
0003-Other.md: not called NNNN-title.md
0003-Other.md: not in the table with title and status
0003-Other.md: the first line is not '# 0003. title'
0003-Other.md: the third line is not 'Status: accepted' or 'superseded by NNNN'
0003-three.md: a second decision has this number
0003-three.md: no decision 0009
0004-four.md: no source names it
5 decisions
README.md: no decision 0005-five.md
core/a.c: no decision $name/0006-six.md
tests/b.c: no decision $name.md"
found=$(check_tree "$scratch" | sort)
if [ "$found" != "$expected" ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

found=$(check_tree "$WEFT_SOURCE")
echo "$found"
[ "$(wc -l <<<"$found")" -eq 1 ]
[ "${found%% *}" -ge 40 ]
