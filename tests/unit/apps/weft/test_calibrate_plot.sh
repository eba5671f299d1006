#!/usr/bin/env bash
# labels: quick
# weft calibrate --plot on files made here: ranks worked out by hand, a polynomial that is known, and files that are none.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
weft=$WEFT_BUILD/weft
cd "$scratch"

fail() {
    echo "$*"
    exit 1
}

# expect CODE WORDS COMMAND...: its exit code, and words in what it prints on either stream
expect() {
    local code=$1 words=$2 got=0 output
    shift 2
    output=$("$@" 2>&1) || got=$?
    if [ "$got" != "$code" ] || ! grep -qF -- "$words" <<<"$output"; then
        fail "$(printf '%s\nexit %s where %s was wanted, with "%s":\n%s\n' "$*" "$got" "$code" "$words" "$output")"
    fi
    echo "ok: $*"
}

# covers "PREDICTED MEASURED" ...: the list of covers
covers() {
    local pair separator=
    printf '['
    for pair in "$@"; do
        # shellcheck disable=SC2086 # two words
        printf '%s{"cover": "c", "predicted_seconds": %s, "measured_seconds": %s, "kernels": []}' "$separator" $pair
        separator=', '
    done
    printf ']'
}

# file COVERS [INSTANCES [UNFUSED]]: a file of one script
file() {
    printf '{"device": "d", "scripts": [{"script": "s.weft", "type": "float", "instances": %s,
"unfused_seconds": %s, "covers": %s}]}' "${2-1000000}" "${3-0.008}" "$1"
}

# Three scripts. The first has two pairs that are equal: of predictions, where the file's order counts, and of
# measured times, where that of the predictions does. Its name holds a quote and the end of a line.
#
# The second has a million elements and eight covers, x = 1 to 8, that compute p(x) + 10 e(x) million of them a second,
# p(x) = 2000 + (x - 4)^5, and e the signed binomial coefficients (-1)^(x - 1) (7 over x - 1), of which the sum with any
# polynomial of degree 6 or less is 0: the seventh difference. So the polynomial of degree 5 by least squares is p.
mapfile -t pairs < <(awk 'BEGIN { split("1 -7 21 -35 35 -21 7 -1", e, " ")
    for (x = 1; x <= 8; ++x) printf "%d %.17g\n", x, 1 / (2000 + (x - 4)^5 + 10 * e[x]) }')
{
    printf '{"device": "a %%s device", "scripts": [{"script": "forms/it'"'"'s\\nmine.weft", "type": "float",
"instances": 31744, "unfused_seconds": 0.008, "covers": %s},\n' \
        "$(covers "2e-3 5e-3" "1e-3 4e-3" "1e-3 2e-3" "4e-3 2e-3")"
    printf '{"script": "fitted.weft", "type": "double", "instances": 1000000, "unfused_seconds": null, "covers": %s},\n' \
        "$(covers "${pairs[@]}")"
    printf '{"script": "elsewhere/fitted.weft", "type": "double", "instances": 7, "covers": %s}]}\n' "$(covers "1 2")"
} >good.json
expect 0 "it_s_mine-float: 4 covers" "$weft" calibrate --plot good.json --out drawn

cat >wanted <<'END'
1 3 0.001 0.004
2 1 0.001 0.002
3 4 0.002 0.005
4 2 0.004 0.002
END
grep -v '^#' drawn/it_s_mine-float.dat | diff wanted - || fail "the ranks"
# p + 10 e is 1767, 1898, 2209, 1650, 2351, 1822, 2313, 3014: the fastest is the last
[ "$(grep -v '^#' drawn/fitted-double.dat | cut -d' ' -f1,2 | tr '\n' ';')" = "1 7;2 5;3 4;4 8;5 2;6 6;7 3;8 1;" ] ||
    fail "the ranks of fitted: $(cat drawn/fitted-double.dat)"
[ "$(grep -v '^#' drawn/fitted-double-2.dat)" = "1 1 1 2" ] || fail "two scripts of one name"
for figure in figure4 figure5; do
    for name in it_s_mine-float fitted-double fitted-double-2; do
        [ -s "drawn/$name-$figure.gp" ] || fail "no $name-$figure.gp"
    done
done
grep -q "without fusions" drawn/it_s_mine-float-figure5.gp || fail "no line of the unfused time"
! grep -q "without fusions" drawn/fitted-double-figure5.gp || fail "a line where the unfused time is null"
! grep -q "^fit" drawn/it_s_mine-float-figure5.gp || fail "a polynomial of degree 5 through 4 points"

if command -v gnuplot >/dev/null; then
    for name in it_s_mine-float fitted-double fitted-double-2; do
        for figure in figure4 figure5; do
            grep -q '</svg>' "drawn/$name-$figure.svg" || fail "$name-$figure.svg"
            [ "$(head -c 8 "drawn/$name-$figure.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] ||
                fail "$name-$figure.png"
        done
    done
    grep -q ">polynomial of degree 5<" drawn/fitted-double-figure5.svg || fail "no polynomial is drawn"
    # 31744 elements in 0.002 s are 15.872 million a second, in 0.008 s 3.968
    [ "$(cd drawn && gnuplot -e "load 'it_s_mine-float-figure5.gp'" -e "set print '-'" \
        -e "print sprintf('%.3f %.3f', million(0.002), million(0.008))")" = "15.872 3.968" ] || fail "the performance"
    # To 1e-3 of about 2000: times have nine digits in the file, and the fit ends where its error changes by 1e-12 of it.
    for x in 1 4 4.5 8; do
        got=$(cd drawn && gnuplot -e "load 'fitted-double-figure5.gp'" -e "set print '-'" -e "print sprintf('%.9g', polynomial($x))")
        awk -v x="$x" -v got="$got" 'BEGIN { p = 2000 + (x - 4)^5; exit !(got > p - 1e-3 && got < p + 1e-3) }' ||
            fail "the polynomial at $x is $got"
    done

    # A gnuplot whose files cannot grow, as on a full disk, and which does not say so: exit code 2, and what was
    # drawn before stays.
    mkdir cut
    printf '#!/bin/bash\ntrap "" XFSZ\nulimit -f 4\nexec %q "$@"\n' "$(command -v gnuplot)" >cut/gnuplot
    chmod +x cut/gnuplot
    expect 2 "gnuplot has not written all of it" env PATH="$PWD/cut:$PATH" "$weft" calibrate --plot good.json --out drawn
    for name in drawn/*.svg; do
        [ "$(grep -c '</svg>' "$name")" = 1 ] || fail "$name is cut short"
    done
    [ "$(find drawn -name '*.svg' | wc -l)" -eq 6 ] || fail "figures are gone"
    [ -z "$(find drawn -name '.*')" ] || fail "left behind: $(find drawn -name '.*')"
    expect 2 "gnuplot has not written all of it" env PATH="$PWD/cut:$PATH" "$weft" calibrate --plot good.json --out fresh
    [ -z "$(find fresh -name '*.svg' -size -1)" ] || fail "a figure is empty"
    for name in fresh/*.svg; do
        [ ! -e "$name" ] || grep -q '</svg>' "$name" || fail "$name is cut short"
    done
else
    echo "note: there is no gnuplot, so the pictures are not looked at"
fi

# Without gnuplot the scripts and their data.
mkdir empty
expect 0 "scripts for gnuplot alone" env PATH="$scratch/empty" "$weft" calibrate --plot good.json --out undrawn
for file in drawn/*.gp drawn/*.dat; do
    diff "$file" "un$file" || fail "un$file"
done
[ "$(find undrawn -type f | wc -l)" = 9 ] || fail "nine files were wanted in undrawn"

# Other files: said with the file and the place in it, and nothing is written.
# refused WORDS TEXT
refused() {
    printf '%s' "$2" >bad.json
    expect 2 "bad.json" "$weft" calibrate --plot bad.json --out never
    expect 2 "$1" "$weft" calibrate --plot bad.json --out never
    [ ! -e never ] || fail "files of a bad one"
}
refused "this is not JSON" ""
refused "bad.json:2:" $'{\n x}'
refused "this is not JSON" "$(file "$(covers "1 NaN")")"
refused "this is not JSON" "$(file "$(covers "1 1e999")")"
refused 'no "device" and list of "scripts"' '[1]'
refused 'no "device" and list of "scripts"' '{"device": "d", "scripts": 3}'
refused "scripts is empty" '{"device": "d", "scripts": []}'
refused "scripts[0].script is not a name" '{"device": "d", "scripts": [7]}'
refused "scripts[0].type is not a name" '{"device": "d", "scripts": [{"script": "s"}]}'
refused "scripts[0].instances is not a positive whole number" "$(file "$(covers "1 1")" 0)"
refused "scripts[0].instances is not a positive whole number" "$(file "$(covers "1 1")" '"many"')"
refused "scripts[0].unfused_seconds is not a positive number of seconds" "$(file "$(covers "1 1")" 10 -1)"
refused "scripts[0].covers contains no covers" "$(file '[]')"
refused "scripts[0].covers contains no covers" "$(file '{}')"
refused "scripts[0].covers[1].measured_seconds is not a positive number of seconds" "$(file "$(covers "1 1" "1 0")")"
refused "scripts[0].covers[1].predicted_seconds is not a positive number of seconds" "$(file "$(covers "1 1" "null 1")")"
refused "scripts[0].covers[0].measured_seconds is not a positive number of seconds" "$(file "$(covers "1 1e-320")")"
refused "scripts[0].covers[0].predicted_seconds is not a positive number" "$(file '[[]]')"
expect 2 "nowhere.json" "$weft" calibrate --plot nowhere.json --out never
expect 2 "cannot make this folder" "$weft" calibrate --plot good.json --out nowhere/never
expect 2 "bad.json" "$weft" calibrate --plot good.json --out bad.json
expect 2 "go together" "$weft" calibrate --plot good.json
expect 2 "go together" "$weft" calibrate --draw good.json # the name of the previous release
expect 2 "go together" "$weft" calibrate --out never
expect 2 "measures nothing" "$weft" calibrate --plot good.json --out never --validate
expect 2 "measures nothing" "$weft" calibrate --plot good.json --out never mmul
expect 0 "--plot=FILE" "$weft" calibrate --help
