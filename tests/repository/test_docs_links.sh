#!/usr/bin/env bash
# labels: quick
# Every relative link of README.md and the pages of docs leads to a file that exists and, where it names one, to a
# heading of it. Every docs/NAME.md that the project speaks of exists, and so do tests and meshes that pages name.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
export LC_ALL=C.UTF-8

# Headings as the anchors that are made of them; code blocks have none.
anchors() {
    awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ +/, ""); print tolower($0) }' "$1" |
        sed -e 's/[^[:alnum:] _-]//g' -e 's/ /-/g'
}

# The targets of links and images outside of code. A paragraph is a line here: code, and links too, may
# begin on one line and end on the next.
targets() {
    awk '/^```/ { code = !code; print ""; next }
        code || !NF { print ""; next }
        { printf "%s ", $0 }
        END { print "" }' "$1" | sed -e 's/`[^`]*`//g' |
        awk '{ while (match($0, /\]\([^()]+\)/)) {
                   print substr($0, RSTART + 2, RLENGTH - 3)
                   $0 = substr($0, RSTART + RLENGTH) } }'
}

# check_tree FOLDER: a line for each mistake; then how many links and names there are, as "counted: M N".
check_tree() (
    cd "$1"
    links=0 names=0
    declare -A headings=() # by page
    for page in README.md docs/*.md docs/*/*.md; do
        [ -e "$page" ] || continue # no page in a folder
        found=$(targets "$page")
        while read -r target; do
            case "$target" in
            "" | *://* | mailto:*) continue ;;
            esac
            links=$((links + 1))
            target=${target%% \"*} # a title
            file=${target%%#*}
            path=$file
            [[ $page != */* ]] || path=${page%/*}/$file
            [ -n "$file" ] || path=$page
            if [ ! -e "$path" ]; then
                echo "$page: no file $file"
            elif [[ $target == *#* ]]; then
                [ -n "${headings[$path]+known}" ] || headings[$path]=$'\n'$(anchors "$path")$'\n'
                [[ ${headings[$path]} == *$'\n'"${target#*#}"$'\n'* ]] || echo "$page: $path has no heading for #${target#*#}"
            fi
        done <<<"$found"
        if grep -nE '^\[[^]]*\]: |<a href|<img ' <<<"$(awk '/^```/ { code = !code } !code' "$page" | sed -e 's/`[^`]*`//g')"; then
            echo "$page: a link in a form that is not looked at"
        fi
    done
    # Names of pages in sources, help texts and messages; names of tests and meshes in pages.
    found=$(
        grep -roE --include='*.[ch]' --include='*.sh' --include='*.txt' --include='*.cmake' --include='*.md' \
            --include='*.weft' --include='*.cu' --include='*.py' 'docs/([a-z0-9_-]+/)*([a-z0-9_-]+|README)\.md' CMakeLists.txt README.md \
            apps core fem forms fusion gemm kernels python docs cmake tests
        grep -roHE --include='*.md' '(tests|meshes)/[a-z_/-]+\.(c|h|sh|py|geo)' README.md docs
    )
    while IFS=: read -r file name; do
        names=$((names + 1))
        [ -e "$name" ] || echo "$file speaks of $name, which does not exist"
    done <<<"$(sort -u <<<"$found")"
    echo "counted: $links $names"
)

# The check itself: a tree with one mistake of each kind. Its names are not written here in one word, for this
# file is looked at too.
d=docs t=tests
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{apps,core,fem,forms,fusion,gemm,kernels,python,docs/more,cmake,tests}
echo "Nothing of $d/page.md" >"$scratch/CMakeLists.txt"
cat >"$scratch/README.md" <<END
See [a page]($d/page.md), [its heading]($d/page.md#two-words), [none]($d/none.md), \`code that
ends here\`, [no heading]($d/page.md#three) and \`[no link](x)\`, https://x [elsewhere](https://x/y).
[A title]($d/lost.md "a title") and a file: $t/test_lost.c
END
printf '## Two `words`\n[broken\nlink](page2.md)\n```\n## Three\n[code](x)\n```\n\n[reference]: x.md\n' \
    >"$scratch/$d/page.md"
echo "/* see $d/gone.md */" >"$scratch/core/a.c"
echo "[a page](../page.md) and [none](gone.md)" >"$scratch/$d/more/0001-a.md"
expected="README.md speaks of $d/lost.md, which does not exist
README.md speaks of $d/none.md, which does not exist
README.md speaks of $t/test_lost.c, which does not exist
README.md: $d/page.md has no heading for #three
README.md: no file $d/lost.md
README.md: no file $d/none.md
core/a.c speaks of $d/gone.md, which does not exist
counted: 8 6
$d/more/0001-a.md: no file gone.md
$d/page.md: a link in a form that is not looked at
$d/page.md: no file page2.md"
# the line that is not looked at comes with its number
found=$(check_tree "$scratch" | grep -v '^[0-9]*:' | LC_ALL=C sort)
if [ "$found" != "$expected" ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

found=$(check_tree "$WEFT_SOURCE")
echo "$found"
read -r _ links names <<<"$(tail -n 1 <<<"$found")"
[ "$(wc -l <<<"$found")" -eq 1 ]
[ "$links" -ge 60 ]
[ "$names" -ge 60 ]
