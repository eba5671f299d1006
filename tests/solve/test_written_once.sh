#!/usr/bin/env bash
# labels: quick
# Nothing is written twice at a time: programs refuse to be one of several processes of mpirun, unless they divide their problem
# among them, and to write a file that belongs to a run that has not ended, by any path to it and however that run ends.
set -euo pipefail
folder=$(mktemp -d)
run=
trap '[ -z "$run" ] || kill -9 $run 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
export WEFT_DEVICE=host:1
bin=$WEFT_BUILD
fail() {
    echo "$1"
    exit 1
}
# refused WORDS COMMAND...: exit code 2, the words, and nothing is written
refused() {
    local words=$1 code=0
    shift
    "$@" >out 2>errors || code=$?
    [ $code = 2 ] || fail "$*: exit $code, expected 2: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: expected '$words': $(cat errors)"
}

poisson=("$bin/poisson" --mesh square:4 --quiet)
for variable in OMPI_COMM_WORLD_SIZE PMI_SIZE MV2_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS; do
    refused "one of 2 processes ($variable)" env $variable=2 "$bin/scaling" --out ranks
    # those that divide a problem among processes need MPI for that
    refused "($variable)" env $variable=2 "${poisson[@]}" --ranks 2 --output ranks.vtkhdf
    refused "no-mpicc is not found" env $variable=2 WEFT_MPICC=no-mpicc "${poisson[@]}" --output ranks.vtkhdf
    refused "no-mpicc is not found" env $variable=2 WEFT_MPICC=no-mpicc "$bin/advection_diffusion" --mesh square:4 --diffusivity 1 --dt 1 \
        --steps 1 --output ranks.pvd
    refused "/no/mpicc is not found" env $variable=2 WEFT_MPICC=/no/mpicc "$bin/solve" poisson.weft --mesh square:4 --output ranks.vtkhdf
done
refused "libopenmpi-dev" env PMI_SIZE=3 WEFT_MPICC=no-mpicc "${poisson[@]}" --output ranks.vtkhdf
refused "one of 3 processes" env PMI_SIZE=3 "$bin/scaling" --out ranks
refused "env -u PMI_SIZE weft" env PMI_SIZE=3 "$bin/weft" compile poisson.weft
[ -z "$(find . -name 'ranks*')" ] || fail "a refused run has written $(ls)"
env PMI_SIZE=3 "$bin/poisson" --help >out
# one process of mpirun, and a batch script of Slurm, which is one process for all tasks
env OMPI_COMM_WORLD_SIZE=1 SLURM_NTASKS=8 "${poisson[@]}" --output one.vtkhdf >out
[ -s one.vtkhdf ]

mkdir sub
ln -s sub link
begin() { # a run that would take days
    rm -f sub/history.csv
    "$bin/advection_diffusion" --mesh square:6 --diffusivity 1e-3 --initial x --dt 0.001 --steps 1000000000 --quiet \
        --overwrite --output sub/a.pvd --checkpoint sub/c.vtkhdf --history sub/history.csv --json sub/j.json 2>errors_of_run &
    run=$!
    for _ in $(seq 600); do
        if [ -s sub/history.csv ] || ! kill -0 $run; then break; fi
        sleep 0.1
    done
    kill -0 $run || fail "the run has ended: $(cat errors_of_run)"
}
begin
steps=("$bin/advection_diffusion" --mesh square:4 --diffusivity 1 --dt 1 --steps 1 --quiet)
refused "sub/a.pvd belongs to a run that has not ended" "${steps[@]}" --overwrite --output sub/a.pvd
grep -q "process $run" errors || fail "$(cat errors)"
refused "belongs to a run" "${steps[@]}" --overwrite --output "$folder/link/../sub/./a.pvd"
refused "belongs to a run" "${poisson[@]}" --output link/c.vtkhdf
refused "belongs to a run" "${poisson[@]}" --json sub/j.json
refused "belongs to a run" "$bin/solve" poisson.weft --mesh square:4 --output sub/c.vtkhdf
"${poisson[@]}" --output sub/another.vtkhdf --json sub/another.json >out
"${poisson[@]}" --output c.vtkhdf --json /dev/null >out # the same name in another folder
kill -0 $run || fail "the run has ended: $(cat errors_of_run)"
kill -9 $run
wait $run 2>/dev/null || true
run=
"${steps[@]}" --overwrite --output sub/a.pvd --checkpoint sub/c.vtkhdf --json sub/j.json >out # what it claimed is free again
left=$(find . -name '*lock*' -o -name '*claim*')
[ -z "$left" ] || fail "left behind: $left"
