#!/usr/bin/env bash
# labels: quick
# Names of groups and files that are long or odd, through .geo, .msh of each form and .vtkhdf: u = x + y
# on a square whose sides are named so, to 1e-6 (the residual is 1e-8 of the first).
set -euo pipefail
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not built (libgmsh-dev is missing)"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
poisson=$WEFT_BUILD/poisson
long=$(printf 'n%.0s' $(seq 255))

# write_geo NAME of the bottom in the quotes of a .geo file
write_geo() {
    cat > names.geo <<EOF
Point(1) = {0, 0, 0, 0.25}; Point(2) = {1, 0, 0, 0.25}; Point(3) = {1, 1, 0, 0.25};
Point(4) = {0, 1, 0, 0.25}; Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4};
Line(4) = {4, 1}; Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Physical Curve($1) = {1}; Physical Curve('the "hot" wall, 1/2 of it') = {2};
Physical Curve("a=b") = {3}; Physical Curve("Wände 壁 %s%n") = {4}; Physical Surface("domain") = {1};
EOF
}

# solve MESH: u = x + y, with a condition on each side
solve() {
    local output
    output=$("$poisson" --mesh "$1" --source 0 --exact x+y --dirichlet "$long=x" \
        --dirichlet '"the ""hot"" wall, 1/2 of it"=1+y' --dirichlet '"a=b"=x+1' \
        --dirichlet 'Wände 壁 %s%n=y' --output out.vtkhdf --json result.json 2>&1) || {
        echo "FAILED: $1: $output"
        exit 1
    }
    /usr/bin/python3 - "$1" <<'EOF' || exit 1
import json, sys
error = json.load(open("result.json"))["l2_error"]
if not error < 1e-6:
    sys.exit(f"FAILED: {sys.argv[1]}: the error is {error}")
EOF
    echo "ok: ${1:0:40}"
}

write_geo "\"$long\""
solve names.geo
solve out.vtkhdf
for form in "2.2" "2.2 --binary" "4.1" "4.1 --binary"; do
    # shellcheck disable=SC2086
    "$WEFT_BUILD/weft-gmsh" --save names.msh --msh $form names.geo
    solve names.msh
done

# the error names the group
expect() {
    local words=$1 output got=0
    shift
    output=$("$@" 2>&1) || got=$?
    if [ $got -ne 2 ] || ! grep -qF -- "$words" <<< "$output"; then
        printf 'FAILED: %s: exit %s where 2 and "%s" were wanted:\n%s\n' "$*" "$got" "$words" "$output"
        exit 1
    fi
    echo "ok: $words"
}
expect "a name with = must be in quotes: '\"a=b\"=EXPR'" "$poisson" --mesh names.geo --dirichlet a=1
expect "this quote is not closed" "$poisson" --mesh square:2 --dirichlet '"a=1'
expect "expected '=' after the name" "$poisson" --mesh square:2 --dirichlet '"a"1'
expect "the text between the quotes is empty" "$poisson" --mesh square:2 --dirichlet '""=1'
expect "$long" "$poisson" --mesh square:2 --dirichlet "$long=1"
write_geo "\"n$long\""
expect "the name of a group has more than 255 bytes" "$poisson" --mesh names.geo --dirichlet a=1

# files of 255 bytes, from a folder with a long path
write_geo "\"$long\""
mkdir -p "$long/$long"
for ending in geo msh vtkhdf; do
    name=$long/$long/${long:0:$((254 - ${#ending}))}.$ending
    case $ending in
    geo) cp names.geo "$name" ;;
    msh) "$WEFT_BUILD/weft-gmsh" --save "$name" names.geo ;;
    vtkhdf) "$poisson" --mesh square:2 --output "$name" -q && cp out.vtkhdf "$name" ;;
    esac
    solve "$name"
done
"$poisson" --mesh square:2 --source 1 --json "${long:0:250}.json" -q
[ -s "${long:0:250}.json" ]

# a warning, once, where sides are meshed alike
echo 'Periodic Curve {1} = {-3} Translate {0, -1, 0};' >> names.geo
"$poisson" --mesh names.geo > output.txt 2>&1
[ "$(grep -c "the solution is not periodic without --periodic" output.txt)" = 1 ] || {
    echo "FAILED: no warning, or more than one:"
    cat output.txt
    exit 1
}
echo "ok: Periodic"
