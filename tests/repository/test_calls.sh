#!/usr/bin/env bash
# labels: quick
# No call, and no use of a variable, runs up the list of folders in cmake/layers.txt: what an object uses is defined
# in its own folder or in one above it in the list. Includes alone (test_layers.sh) do not show where a function that
# a lower header declares is defined.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
export LC_ALL=C

# check_objects SOURCE OBJECTS: a line for each use that runs upwards; then how many objects there are. An object is
# ANY.dir/FOLDER/NAME.c.o; those whose sources are gone do not count.
check_objects() (
    cd "$2"
    find . -path './*.dir/*.c.o' | while read -r object; do
        file=${object#./*.dir/}
        [ ! -e "$1/${file%.o}" ] || echo "$object"
    done | xargs nm -A --extern-only | awk -v layers="$1/cmake/layers.txt" '
    BEGIN { while ((getline line < layers) > 0) if (line !~ /^(#|$)/) rank[line] = ++n_layers }
    {
        file = $1; sub(/^\.\/[^\/]*\.dir\//, "", file); sub(/\.o:.*/, "", file)
        folder = file; sub(/\/[^\/]*$/, "", folder)
        if (!(folder in rank)) next # text of other files that the build embeds
        n += !(file in files); files[file]
        if ($(NF - 1) == "U") used[file, $NF] = folder
        # programs may define the same name: the lowest counts
        else if (!($NF in at) || rank[folder] < rank[at[$NF]]) at[$NF] = folder
    }
    END {
        for (use in used) {
            split(use, part, SUBSEP)
            if (part[2] in at && rank[at[part[2]]] > rank[used[use]])
                print part[1] ": uses " part[2] ", which is defined above it in " at[part[2]] | "sort"
        }
        close("sort")
        print n + 0 " objects"
    }'
)

# The check itself: a call and a variable upwards, both downwards, and a source that is gone.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
source=$scratch/source
mkdir -p "$source"/{cmake,low,high}
printf '# lowest first\nlow\nhigh\n' >"$source/cmake/layers.txt"
echo 'int high(void); extern int above; int low(void) { return high() + above; } int below;' >"$source/low/a.c"
echo 'int low(void), high(void); int gone(void) { return low() + high(); }' >"$source/low/gone.c"
echo 'int low(void); extern int below; int high(void) { return low() + below; } int above = 1;' >"$source/high/b.c"
for file in low/a low/gone high/b; do
    mkdir -p "$scratch/objects/x.dir/${file%/*}"
    ${CC:-cc} -c "$source/$file.c" -o "$scratch/objects/x.dir/$file.c.o"
done
rm "$source/low/gone.c"
found=$(check_objects "$source" "$scratch/objects")
expected='low/a.c: uses above, which is defined above it in high
low/a.c: uses high, which is defined above it in high
2 objects'
if [ "$found" != "$expected" ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

found=$(check_objects "$WEFT_SOURCE" "$WEFT_BUILD/CMakeFiles")
echo "$found"
n=$(tail -n 1 <<<"$found")
[ "$(wc -l <<<"$found")" -eq 1 ]
[ "${n%% *}" -gt 500 ]
