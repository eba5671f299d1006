#!/usr/bin/env bash
# labels: quick
# Sizes that should fall and may not grow: lines of sources, places that ask whether functions are linear or name a family of
# elements, and files that a context visits. A context is a struct of
# the programs, of a problem or of the binding of forms to a mesh. It visits each .c file in which a function takes a
# pointer to it, which another function passes on, or from a `void *`. Where the numbers fall, lower the limits below.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
export LC_ALL=C

lines_limit=229200     # of core, fusion, fem, forms, gemm, kernels, apps and python
apps_limit=26200        # of apps
linear_limit=17         # places outside fem/element that ask whether functions are linear, or compare families
named_limit=21          # places outside fem/element that name a family, most of them to make an element of it
files_limit=18          # that one context visits
files_together_limit=69 # that the context of a solve visits, with the contexts that are its members

# count_lines FOLDER...: all lines of sources: C, CUDA, scripts, form files, Python.
count_lines() {
    find "$@" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.weft' -o -name '*.ufl' -o -name '*.py' \) -print0 |
        xargs -0 cat | wc -l
}

# count_linear FOLDER...: places where a property of the element should be asked, or is asked by a fast path.
count_linear() {
    { grep -rnE --include='*.[ch]' --include='*.py' \
        '(is|are)_(linear|p1|lagrange|barycentric)\(|degree (==|!=|>|<=) 1\>|degree (>=|<) 2\>|element->family (==|!=)|(==|!=) WEFT_(LAGRANGE|DISCONTINUOUS|BUBBLE|QUADRATURE|REAL)\>' \
        "$@" || true; } | grep -cv '^[^:]*fem/element/' || true
}

# count_named FOLDER...: places that name a family.
count_named() {
    { grep -rnE --include='*.[ch]' --include='*.py' '\<WEFT_(LAGRANGE|DISCONTINUOUS|BUBBLE|QUADRATURE|REAL|ELEMENT_P1)\>' "$@" || true; } |
        grep -cvE '^[^:]*fem/(element/|weft_family\.h:)' || true
}

# contexts FOLDER: for each context a line "NAME members files FILE...", the files in order. Then, where one is called
# solve, "together files NAME...": of solve, of the contexts with ten members or more that are members of it, of
# theirs, and so on.
contexts() (
    cd "$1"
    definitions=() sources=()
    for place in apps fem/problem fem/weft_problem.h forms/bind; do
        [ ! -e "$place" ] || definitions+=("$place")
    done
    for place in apps fem forms; do
        [ ! -e "$place" ] || sources+=("$place")
    done
    {
        find "${definitions[@]}" -name '*.[ch]' | sort | sed 's/^/definitions=1 /'
        find "${sources[@]}" -name '*.c' | sort | sed 's/^/definitions=0 /'
    } | xargs awk '
    function base(text) { # the type that a declaration starts with
        gsub(/^[ \t]+|const |struct /, "", text)
        return match(text, /^[a-z_0-9]+ /) ? substr(text, 1, RLENGTH - 1) : ""
    }
    FNR == 1 { inside = "" }
    definitions && match($0, /^(typedef )?struct [a-z_0-9]+ \{/) {
        inside = $0; sub(/^(typedef )?struct /, "", inside); sub(/ \{.*/, "", inside)
        n_members[inside] += 0
    }
    definitions && /^\}/ { inside = "" }
    definitions && inside != "" && /;/ {
        text = $0; gsub(/\/\*[^*]*\*\//, "", text)
        n_members[inside] += gsub(/[,;]/, "&", text) # int a, b; are two
        if (base(text) != "") member[inside, base(text)]
    }
    !definitions {
        text = $0
        while (match(text, /[a-z_0-9]+ \*(const )?[a-z_0-9]+([,)]| = (user|data|context);)/)) {
            type = substr(text, RSTART, RLENGTH); sub(/ .*/, "", type)
            text = substr(text, RSTART + RLENGTH)
            if (!((type, FILENAME) in visited)) { visited[type, FILENAME]; list[type] = list[type] " " FILENAME; ++n[type] }
        }
    }
    END {
        for (type in n_members)
            if (n[type] > 0) print type, n_members[type], n[type] list[type] | "sort"
        close("sort")
        if (!("solve" in n_members)) exit
        reached["solve"]
        do {
            grown = 0
            for (type in n_members)
                if (!(type in reached) && n_members[type] >= 10)
                    for (from in reached)
                        if ((from, type) in member) { reached[type]; grown = 1; break }
        } while (grown)
        for (type in reached) names = names " " type
        for (pair in visited) { split(pair, part, SUBSEP); if (part[1] in reached) files[part[2]] }
        for (file in files) ++together
        print "together", together + 0 names # in any order
    }'
)

# The check itself: what counts, and what does not.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{apps/solve,fem/problem,fem/mesh}
printf 'typedef struct solve {\n    weft_problem *problem;\n    options given; /* a; b */\n} solve;\n' >"$scratch/apps/solve/solve.h"
printf 'struct weft_problem {\n    int a, b, c, d, e;\n    int f, g, h, i, j;\n};\n' >"$scratch/fem/problem/problem.h"
printf 'typedef struct options {\n    int a;\n} options;\n' >"$scratch/apps/solve/options.h"
printf 'void f(const solve *run, weft_mesh *mesh) {\n    g(run);\n}\nvoid o(options *o) {\n}\n' >"$scratch/apps/solve/a.c"
printf 'void h(void *user) {\n    solve *run = user;\n    solve *made = find();\n}\n' >"$scratch/apps/solve/b.c"
printf 'void g(int very_long,\n       solve *const run) {\n    run->problem;\n}\nvoid k(solve *run) {}\n' >"$scratch/apps/solve/c.c"
printf 'void m(struct weft_problem *problem) {\n    solve *made = find();\n}\n' >"$scratch/fem/mesh/d.c"
expected='options 1 1 apps/solve/a.c
solve 2 3 apps/solve/a.c apps/solve/b.c apps/solve/c.c
weft_problem 10 1 fem/mesh/d.c
together 4'
found=$(contexts "$scratch")
if [ "${found% * *}" != "$expected" ] || [ "$(count_lines "$scratch/apps")" -ne 21 ]; then
    echo "The count does not find what it should. Found:"
    echo "$found"
    count_lines "$scratch/apps"
    exit 1
fi
mkdir "$scratch"/fem/{bc,element}
printf 'bool f(element *e) {\n    return e->degree == 1 && e->family == WEFT_LAGRANGE;\n}\n' | tee "$scratch/fem/element/f.c" >"$scratch/fem/bc/f.c"
printf 'k = e->degree == 10 ? 2 : 1;\ng(is_linear(s), element->family != f);\nh(WEFT_REAL);\nint is_linear;\n' >"$scratch/fem/bc/g.c"
if [ "$(cd "$scratch" && count_linear fem)" != 2 ] || [ "$(cd "$scratch" && count_named fem)" != 2 ]; then
    echo "The count does not find the tests for linear functions and families that it should."
    exit 1
fi

failures=0
check() { # what, number, limit
    echo "$1: $2 (limit $3)"
    [ "$2" -le "$3" ] || { echo "  this is more than before: simplify, or say in the commit why the limit rises"; failures=1; }
}
cd "$WEFT_SOURCE"
check "lines of sources" "$(count_lines core fusion fem forms gemm kernels apps python)" "$lines_limit"
check "places that ask whether functions are linear" "$(count_linear fem forms apps python)" "$linear_limit"
check "places that name a family" "$(count_named fem forms apps python)" "$named_limit"
check "lines of apps" "$(count_lines apps)" "$apps_limit"
found=$(contexts .)
echo "context, members, .c files that it visits:"
sort -k 3,3nr <<<"$found" | awk '$1 != "together" && $3 > 5 { files = $0; sub(/^[^ ]* [^ ]* [^ ]* /, "", files); print "  " $1, $2, $3 ": " files }'
greatest=$(awk '$1 != "together" && $3 > most { most = $3 } END { print most + 0 }' <<<"$found")
read -r _ together names < <(tail -n 1 <<<"$found")
names=$(tr ' ' '\n' <<<"$names" | sort | paste -s -d ' ')
[ "$greatest" -gt 3 ] && [ "$together" -ge "$greatest" ] || { echo "the contexts are not found"; exit 1; }
check "files that one context visits" "$greatest" "$files_limit"
check "files that $names visit together" "$together" "$files_together_limit"
exit "$failures"
