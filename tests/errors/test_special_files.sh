#!/bin/bash
# labels: quick
# Pipes, devices and files far too large in the place of a file that is read: each is refused at once, with
# exit code 2, before anything is read. Generated sources that are kept replace a link instead of following it.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export WEFT_DEVICE=host:1
failed=0

mkfifo fifo
truncate -s 3G large
cp "$WEFT_SOURCE/apps/check/listing_1.weft" s.weft

# refused WORDS COMMAND...: exit code 2 with these words, within 10 s and 4 GB of address space
refused() {
    local words=$1 code=0
    shift
    (ulimit -v 4000000 && exec timeout 10 "$@") >out 2>err || code=$?
    if [ $code -ne 2 ] || ! grep -q "$words" err; then
        echo "exit $code: $*: $(head -c 400 err)"
        failed=1
    fi
}

weft=$WEFT_BUILD/weft
for file in fifo /dev/zero large; do
    for ending in weft ufl geo msh vtk mesh unv bdf vtkhdf yaml csv json pvd; do
        ln -sfn "$(realpath "$file")" "m.$ending"
    done
    rm -rf kernels study
    mkdir kernels study
    ln -s "$(realpath "$file")" kernels/b.kernel.c
    ln -s "$(realpath "$file")" study/study.jsonl
    least="it is not a file of at most"
    refused "$least" "$weft" compile m.weft
    refused "$least" "$weft" explain m.weft
    refused "$least" "$weft" run m.weft --mesh square:4
    refused "$least" "$weft" ufl m.ufl
    refused "$least" "$weft" compile s.weft --plan-file m.json
    refused "$least" "$weft" compare m.json m.json
    refused "$least" "$weft" calibrate --plot m.json --out plots
    refused "$least" "$WEFT_BUILD/solve" m.weft --mesh square:4
    refused "$least" "$WEFT_BUILD/solve" m.ufl --mesh square:4
    refused "$least" "$WEFT_BUILD/poisson" --problem m.yaml
    refused "$least" "$WEFT_BUILD/poisson" --mesh square:4 --source 'table(m.csv, x)'
    refused "$least" "$WEFT_BUILD/scaling" --mesh square --sizes 4 --out study
    if [ "$file" != large ]; then
        for ending in geo msh vtk mesh unv bdf; do
            refused "regular file" "$WEFT_BUILD/poisson" --mesh "m.$ending"
        done
        refused "regular file" "$WEFT_BUILD/poisson" --mesh m.vtkhdf
        refused "regular file" "$WEFT_BUILD/poisson" --mesh square:4 --source 'field(m.vtkhdf)'
        refused "regular file" "$WEFT_BUILD/solve" heat.weft --mesh square:4 --time 0.1,0.2 --initial x \
            --resume m.vtkhdf
        refused "regular file" "$WEFT_BUILD/advection_diffusion" --mesh square:4 --diffusivity 0.1 \
            --initial x --dt 0.1 --steps 2 --restart m.vtkhdf
    else
        refused "$least" "$weft" compile s.weft --kernels kernels
        [ ! -x "$WEFT_BUILD/weft-gmsh" ] || refused "$least" "$WEFT_BUILD/poisson" --mesh m.geo
    fi
    if [ -x "$WEFT_BUILD/weft-gmsh" ] && [ "$file" != large ]; then
        refused "regular file" "$WEFT_BUILD/weft-gmsh" --save new.msh m.msh
        refused "$least" "$WEFT_BUILD/weft-gmsh" --save new.msh m.geo
    fi
done

# What a link in WEFT_KEEP's folder names is left alone; the source takes the place of the link.
mkdir keep
WEFT_CACHE=off WEFT_KEEP=keep "$WEFT_BUILD/poisson" --mesh square:4 -q
(cd keep && ls) >names
[ -s names ] || { echo "WEFT_KEEP: nothing is kept"; failed=1; }
while read -r name; do
    echo precious >"$name.precious"
    mv "keep/$name" "$name.wanted"
    ln -s "../$name.precious" "keep/$name"
done <names
WEFT_CACHE=off WEFT_KEEP=keep "$WEFT_BUILD/poisson" --mesh square:4 -q
while read -r name; do
    if [ "$(cat "$name.precious")" != precious ] || [ -L "keep/$name" ] ||
        ! cmp -s "keep/$name" "$name.wanted"; then
        echo "WEFT_KEEP: $name follows a link, or is not written"
        failed=1
    fi
done <names
exit $failed
