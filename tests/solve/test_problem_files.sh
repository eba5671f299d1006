#!/usr/bin/env bash
# labels: quick
# Problem files: every option of every program reads back from the file that --print-problem writes; options
# replace those of the file; results are the same; files that are wrong, too large, too deep or full of aliases.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "FAILED: $1"; [ ! -f out ] || cat out; exit 1; }
touch mine.weft
mkdir -p mine

# a value that the option takes: the first of these that is accepted
candidates=(1 0.5 square:4 auto host csr fused left=0 left=1,2 "0.5,0.5" a=1 x=1 1,1 1s 1G mine out.vtkhdf out.json lie
    consistent none bisection u@left=1 "0,0:1,1:5" "0,0:1,1:5=line.csv" once csr cg jacobi lumped tolerance "0.5,0.5=1" left,right left=right left u theta 2026.1 rk4 component)
for program in poisson solve advection_diffusion; do
    bin=$WEFT_BUILD/$program
    n=0
    line=()
    while read -r option value; do
        case $option in
        --help | --usage | --version | --problem | --print-problem) continue ;;
        esac
        if [ -z "$value" ]; then
            "$bin" "$option" --print-problem >one 2>out || fail "$program $option"
            line+=("$option")
        else
            found=
            for candidate in "${candidates[@]}"; do
                if "$bin" "$option" "$candidate" --print-problem >one 2>out; then
                    found=$candidate
                    break
                fi
            done
            [ -n "$found" ] || fail "$program: no value was found for $option"
            line+=("$option" "$found")
        fi
        grep -q "^${option#--}:" one || fail "$program: $option is not in its problem file"
        "$bin" --problem one --print-problem >two 2>out || fail "$program: the file of $option is refused"
        cmp -s one two || fail "$program: $option reads back as another"
        n=$((n + 1))
    done < <("$bin" --help | sed -nE 's/^(  -[a-z], |      )(--[a-z][a-z-]*)(=?)([^ ]*).*/\2 \4/p' | sort -u)
    [ "$n" -gt 15 ] || fail "$program: only $n options in --help"
    "$bin" "${line[@]}" --print-problem >one 2>out || fail "$program: all options at once"
    "$bin" --problem one --print-problem >two 2>out || fail "$program: the file of all options"
    cmp -s one two || fail "$program: all options read back as others"
done

# the same results; replaced values
poisson=$WEFT_BUILD/poisson
numbers() { grep -E '^(integral|probe)' out; }
"$poisson" --mesh square:8 --source '@"left"=3' --source 'x*y' --diffusivity 2 --dirichlet right=1 --robin 'top=2,x' \
    --probe 0.5,0.5 >out 2>&1 || fail "options"
numbers >wanted
"$poisson" --mesh square:8 --source '@"left"=3' --source 'x*y' --diffusivity 2 --dirichlet right=1 --robin 'top=2,x' \
    --probe 0.5,0.5 --print-problem >file.yaml
"$poisson" --problem file.yaml >out 2>&1 || fail "the file"
numbers | cmp -s - wanted || fail "the file gives other results"
"$poisson" --problem file.yaml --dirichlet right=1 --probe 0.5,0.5 --diffusivity 2 >out 2>&1 || fail "replaced"
numbers | cmp -s - wanted || fail "equal options change the result"
"$poisson" --problem file.yaml --dirichlet right=7 --dirichlet bottom=0 --probe 0.1,0.1 --print-problem >out
for text in 'right: 7' 'bottom: 0' 'left: 3' 'default: "x\*y"' 'top: "2,x"'; do
    grep -q "  $text" out || fail "replaced: $text"
done
[ "$(grep -c 0.1,0.1 out)" = 1 ] && ! grep -q '0.5,0.5' out || fail "probes are not replaced"

# other ways to write the same
cat >other.yaml <<'END'
mesh: square:8     # a comment
source: {default: x*y, left: 3}
diffusivity: 2
dirichlet: [right=1]
robin: {top: [2, x]}
probe: [[0.5, 0.5]]
quiet: false
END
"$poisson" --problem other.yaml >out 2>&1 || fail "other.yaml"
numbers | cmp -s - wanted || fail "other.yaml gives other results"
printf 'script: diffusion.weft\nmesh: square:4\ndefine: {source: {default: 1}, diffusivity: 2}\n' >solve.yaml
"$WEFT_BUILD/solve" --problem solve.yaml >out 2>&1 || fail "script"
# lists for options of one value with several parts
printf 'script: heat.weft\nmesh: square:4\ntime: [0.125, 1/2]\n' >time.yaml
"$WEFT_BUILD/solve" --problem time.yaml >out 2>&1 && fail "a time that is not a number"
grep -qF 'time.yaml:3:7: error: this is not part of a number' out || fail "the place of a wrong time"
printf 'script: heat.weft\nmesh: square:4\ntime: [0.125, 0.5]\ninitial: [x]\nexact: [x]\n' >time.yaml
"$WEFT_BUILD/solve" --problem time.yaml >out 2>&1 || fail "time as a list"
grep -q '4 steps to t = 0.5' out || fail "the steps of a list"
printf 'script: elasticity.weft\nmesh: square:4\ndirichlet: {boundary: [x, 2*y]}\nexact: [x, 2*y]\n' >exact.yaml
"$WEFT_BUILD/solve" --problem exact.yaml >out 2>&1 || fail "exact as a list"
grep -qE '^error  *L2 [0-9.]+e-1[0-9]' out || fail "errors against a list"
cat >number.weft <<'END'
index cells, nodes;
connectivity dofs : cells -> nodes[3];
input x : real[2] over nodes;
input k : real;
K = k*dshape_dot_dshape(tform_dshape(jacobian(x[dofs])), jacobian(x[dofs]));
END
"$WEFT_BUILD/solve" number.weft --mesh square:2 --input k=1/40 --dirichlet left=1 >out 2>&1 || fail "a constant"
"$WEFT_BUILD/solve" number.weft --mesh square:2 --input k@left=1 >out 2>&1 && fail "a number by group"
grep -qF 'this input is a single number, and this is a formula by group' out || fail "why it is refused"
printf 'script: heat.weft\ntime: [0.125, [1]]\n' >bad.yaml
"$WEFT_BUILD/solve" --problem bad.yaml >out 2>&1 && fail "a list in a list"
grep -qF 'bad.yaml:2:15: error: expected a value' out || fail "the place of a list in a list"

# what is wrong: a file, and the messages
refused() { # name, expected words...
    local code=0 name=$1 word
    shift
    "$poisson" --problem "$name" >out 2>&1 || code=$?
    [ "$code" = 2 ] || fail "$name: exit $code"
    for word; do grep -qF -- "$word" out || fail "$name does not say: $word"; done
}
refused none.yaml "cannot read none.yaml: No such file or directory"
refused . "is not a problem file"
bad() { # text, expected words...
    printf -- "$1" >bad.yaml
    shift
    refused bad.yaml "$@"
}
bad 'mesh: "square:4"\nsorce: 1\n' "bad.yaml:2:1: error: unknown key \`sorce\`" "did you mean \`source\`?"
bad 'problem: other.yaml\n' "unknown key \`problem\`"
bad 'mesh: [\n' "bad.yaml:2:1: error: this is not YAML"
bad 'source: *x\n' "bad.yaml:1:9: error: aliases are not allowed"
bad 'source: &x 1\ndiffusivity: *x\n' "bad.yaml:2:14: error: aliases are not allowed"
bad 'source: 1\nsource: 2\n' "bad.yaml:2:1: error: this key is given twice"
bad 'b: {z: 1, y: 2, y: 3, z: 4}\na: 1\n' "bad.yaml:1:17: error: this key is given twice"
# Many keys, and lists of many values: the time was quadratic in their number.
many() { # lines, expected words
    timeout 20 "$poisson" --problem "$1" >out 2>&1 && fail "$1: exit 0"
    grep -qF -- "$2" out || fail "$1: $(head -c 300 out)"
}
seq -f 'k%.0f: 1' 50000 >keys.yaml
many keys.yaml "unknown key \`k1\`"
(echo 'mesh: square:4' && echo 'source:' && seq -f '  g%.0f: 1' 40000) >groups.yaml
many groups.yaml "the text is longer than 256 KiB"
(echo 'mesh: square:4' && echo 'dirichlet:' && seq -f '  g%.0f: 1' 40000) >dirichlet.yaml
many dirichlet.yaml "the text is longer than 256 KiB"
(printf 'mesh: square:4\nsource: [1' && seq -f ',%.0f' 100000 | tr -d '\n' && echo ']') >list.yaml
many list.yaml "the text is longer than 256 KiB"
bad '- mesh\n' "bad.yaml:1:1: error: expected keys with values"
bad 'just text\n' "bad.yaml:1:1: error: expected keys with values"
bad 'quiet: 1\n' "bad.yaml:1:8: error: expected true or false"
bad 'mesh: {a: 1}\n' "bad.yaml:1:7: error: expected a value, or a list of values"
bad 'size: small\n' "bad.yaml:1:7: error: expected a number"
bad 'refine: 99\n' "bad.yaml:1:9: error: this number is out of range"
bad 'probe: [[1, [2]]]\n' "bad.yaml:1:13: error: expected a value"
bad '? [a]\n: 1\n' "a key must be a name"
bad 'a: {a: {a: {a: {a: {a: {a: 1}}}}}}\n' "nested too deep"
bad 'mesh: 1\n---\nmesh: 2\n' "a second document"
bad 'mesh: "a\\0b"\n' "zero byte"
bad 'mesh: \xff\n' "this is not YAML"
# a billion laughs: refused at the first alias
printf 'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\n' >bad.yaml
refused bad.yaml "aliases are not allowed"
head -c 1100000 /dev/zero | tr '\0' ' ' >bad.yaml
refused bad.yaml "at most 1 MB"

# 200 groups with a number each
{
    echo 'mesh: "square:4"'
    echo 'diffusivity:'
    for i in $(seq 200); do echo "  part $i: $i.5"; done
} >many.yaml
"$poisson" --problem many.yaml --print-problem >two || fail "200 groups"
[ "$(grep -c '"part ' two)" = 200 ] || fail "200 groups: $(grep -c part two)"
"$poisson" --problem many.yaml >out 2>&1 && fail "groups that the mesh does not have"
grep -qF 'square:4 has no group `part 1`' out || fail "the first group is not named"
