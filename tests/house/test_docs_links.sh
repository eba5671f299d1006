#!/usr/bin/env bash
# labels: quick
# Every relative link of README.md and docs/*.md leads to a file that exists and, where it names one, to a
# heading of it. Every docs/NAME.md that the project speaks of exists, and so do tests and meshes that pages name.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$WEFT_SOURCE"
failures=0 links=0

fail() {
    echo "$1"
    failures=$((failures + 1))
}

# Headings as the anchors that are made of them; code blocks have none.
anchors() {
    awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ +/, ""); print tolower($0) }' "$1" |
        sed -e 's/[^[:alnum:] _-]//g' -e 's/ /-/g'
}

# The targets of links and images outside of code.
targets() {
    awk '/^```/ { code = !code } !code' "$1" | sed -e 's/`[^`]*`//g' |
        grep -oE '\]\([^()[:space:]]+\)' | sed -e 's/^](//' -e 's/)$//' || true
}

for page in README.md docs/*.md; do
    while read -r target; do
        case "$target" in
        *://* | mailto:*) continue ;;
        esac
        links=$((links + 1))
        file=${target%%#*}
        path=$(dirname "$page")/$file
        [ -n "$file" ] || path=$page
        if [ ! -e "$path" ]; then
            fail "$page: no file $file"
        elif [[ $target == *#* ]] && ! grep -qxF -- "${target#*#}" <(anchors "$path"); then
            fail "$page: $path has no heading for #${target#*#}"
        fi
    done < <(targets "$page")
done
[ "$links" -ge 20 ] || fail "only $links links found"

# Names of pages in sources, help texts and messages; names of tests and meshes in pages.
while IFS=: read -r file name; do
    [ -e "$name" ] || fail "$file speaks of $name, which does not exist"
done < <({
    grep -roE --include='*.[ch]' --include='*.sh' --include='*.txt' --include='*.cmake' --include='*.md' \
        --include='*.weft' 'docs/[a-z_-]+\.md' CMakeLists.txt README.md apps core fem fusion kernels docs cmake tests
    grep -oE '(tests|meshes)/[a-z_/-]+\.(c|h|sh|py|geo)' README.md docs/*.md
} | sort -u)
echo "$links links"
exit "$((failures > 0))"
