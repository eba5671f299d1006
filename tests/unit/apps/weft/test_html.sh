#!/usr/bin/env bash
# labels: quick
# weft explain --html gives Graphviz the graph through standard input, takes its layout, and says why it does not.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export XDG_CACHE_HOME=$scratch/cache
weft=$WEFT_BUILD/weft
real=$(command -v dot || true)
mkdir bin none
fail() {
    echo "$1"
    exit 1
}

# Without Graphviz the layout is our own, without a word.
PATH=$scratch/none "$weft" explain poisson --device null --html own.html >text 2>errors || fail "exit code $?"
[ ! -s errors ] || fail "$(cat errors)"

# A program in its place gets the graph, and what it complains about is passed on.
cat >bin/dot <<'SCRIPT'
#!/bin/sh
cat >graph
echo "$*" >arguments
echo "it is too large" >&2
exit 3
SCRIPT
chmod +x bin/dot
PATH=$scratch/bin:$PATH "$weft" explain poisson --device null --html failed.html >text 2>errors || fail "exit code $?"
[ "$(cat arguments)" = "-Tjson0" ] || fail "arguments: $(cat arguments)"
[ "$(head -n 1 graph)" = "digraph weft {" ] && [ "$(tail -n 1 graph)" = "}" ] || fail "graph: $(cat graph)"
grep -q "does not lay the graph out: it is too large" errors || fail "errors: $(cat errors)"
cmp own.html failed.html

if [ -n "$real" ]; then
    "$weft" explain poisson --device null --html graphviz.html >text 2>errors || fail "exit code $?"
    [ ! -s errors ] || fail "$(cat errors)"
    ! cmp -s own.html graphviz.html || fail "Graphviz is installed and does nothing"
fi
