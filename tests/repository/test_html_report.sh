#!/usr/bin/env bash
# labels: full
# Pages of weft explain --html in a browser, in a wide and in a narrow window, laid out by Graphviz and by
# ourselves: no element overlaps another, nothing is cut (page_measure.js says how that is measured).
set -u
export LC_ALL=C
browser=
for name in chromium chromium-browser google-chrome; do
    browser=${browser:-$(command -v $name)}
done
if [ -z "$browser" ]; then
    echo "skipped: chromium is not installed, which shows the pages"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
weft=$WEFT_BUILD/weft
failures=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}

# One kernel, several, loops with several segments, the largest scripts that are shipped, and one that is larger.
cat >wide.weft <<'SCRIPT'
index cells, nodes;
connectivity dofs : cells -> nodes[3];
input x : real[2] over nodes;
input a_list_with_a_long_name : real over nodes;
J = jacobian(x[dofs]);
K = dshape_dot_dshape(tform_dshape(J), J);
v0 = mvmul(K, a_list_with_a_long_name[dofs]);
SCRIPT
for i in {1..40}; do
    echo "v$i = mvmul(K, v$((i - 1)) + $i*v$((i / 2)));" >>wide.weft
done
cat >>wide.weft <<'SCRIPT'
y[dofs] += v40;
z[dofs] += v20;
s = 2*y - z + a_list_with_a_long_name;
E = dot(s[dofs], v3);
return s, E;
SCRIPT

pages=()
make_pages() { # what is added to the names; PATH is set
    local script
    for script in poisson kirchhoff measure_3 elasticity cg wide.weft; do
        page=${script%.weft}-$1.html
        "$weft" explain $script --html "$page" 2>err || fail "weft explain $script --html: exit $?: $(cat err)"
        [ ! -s err ] || fail "$script: $(cat err)"
        pages+=("$page")
    done
}
mkdir no-graphviz
for program in cc gcc as ld; do # what the host device may need
    path=$(command -v $program) && ln -s "$path" no-graphviz/
done
with=$PATH
PATH=$scratch/no-graphviz "$weft" explain poisson --html own.html || exit 1
PATH=$scratch/no-graphviz make_pages own 2>err || fail "$(cat err)"
PATH=$with
if command -v dot >/dev/null; then
    make_pages graphviz
    cmp -s poisson-own.html poisson-graphviz.html && fail "Graphviz is installed and does nothing"
fi

# Amounts have units.
grep -q '<td>[0-9.]* B</td>' poisson-own.html || fail "no bytes in the page"
grep -q '<td>[0-9.]* [mun]s</td>' poisson-own.html || fail "no times in the page"
! grep -q '<td>[0-9.]*e[+-]' ./*.html || fail "a number with an exponent"

# All pages in frames of one page, which collects what they say.
for page in "${pages[@]}"; do
    sed -i "/<\/body>/{
        s/<\/body>.*/<script>/
        r $WEFT_SOURCE/tests/repository/html_report_measure.js
        a </script></body></html>
    }" "$page"
done
{
    echo '<!DOCTYPE html><title>all</title><pre id="answers"></pre><script>'
    echo 'const names = {}; let n = 0;'
    echo 'addEventListener("message", (e) => { for (const f of document.querySelectorAll("iframe"))'
    echo '  if (f.contentWindow === e.source) document.getElementById("answers").append('
    echo '    `ANSWER ${f.name}: ${e.data.n} elements, ${e.data.wrong.length} wrong\n` +'
    echo '    e.data.wrong.slice(0, 5).map((w) => `  WRONG ${w}\n`).join("")); });</script>'
    for page in "${pages[@]}"; do
        for width in 1280 640; do
            echo "<iframe name=\"$page at $width\" width=\"$width\" height=\"900\" src=\"$page\"></iframe>"
        done
    done
} >all.html
HOME=$scratch timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --window-size=1400,1000 --virtual-time-budget=60000 --user-data-dir="$scratch/profile" \
    --dump-dom "file://$scratch/all.html" >dom.html 2>browser.log ||
    { tail -n 5 browser.log; fail "the browser failed"; }
grep -a '^\(<.*>\)\?ANSWER\|^  WRONG' dom.html | sed 's/<[^>]*>//g'
answers=$(grep -ac 'ANSWER' <(grep -a 'elements, ' dom.html | grep -v 'e.data'))
[ "$answers" -eq $((2 * ${#pages[@]})) ] || fail "$answers answers of $((2 * ${#pages[@]})) pages"
! grep -aq '^  WRONG' dom.html || fail "elements overlap or are cut"
exit "$((failures > 0))"
