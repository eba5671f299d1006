#!/bin/bash
# labels: quick
# Ctrl-C and SIGTERM in the time loop: the last checkpoint is written, the series is closed, the exit
# code is 128 and the signal; the restart ends as the run that was never stopped, bit by bit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export WEFT_DEVICE=host:1
problem=(--mesh square:6 --velocity '0.5-y,x-0.5' --diffusivity 1e-3 --initial 'x*y' --dt 0.001 --quiet)

# stop SIGNAL CODE: stop a run that would take days once its first step is on the disk
stop() {
    local code=0
    rm -rf ./*
    "$WEFT_BUILD/advection_diffusion" "${problem[@]}" --steps 1000000000 --output-every 1000000000 \
        --checkpoint c.vtkhdf --output s.pvd --json j.json 2>error &
    local run=$!
    for _ in $(seq 600); do
        if [ -e s_steps/000000.vtu ] || ! kill -0 $run; then break; fi
        sleep 0.1
    done
    sleep 0.3
    kill -"$1" $run
    wait $run || code=$?
    if [ $code -ne "$2" ]; then
        echo "SIG$1: exit $code, expected $2: $(cat error)"
        exit 1
    fi
    grep -q "stopped by .* after step" error
    grep -q -- "continue with --restart c.vtkhdf" error
    grep -q '"outcome": "stopped"' j.json
    grep -q 'timestep="0"' s.pvd
}

stop TERM 143
# A background process of a script ignores SIGINT; this one does not.
set -m
stop INT 130
set +m

steps=$(sed -n 's/.*"steps": \([0-9]*\).*/\1/p' j.json | head -1)
[ "$steps" -gt 0 ]
end=$((steps + 5))
"$WEFT_BUILD/advection_diffusion" "${problem[@]}" --steps $end --restart c.vtkhdf --checkpoint c.vtkhdf \
    --output s.pvd
"$WEFT_BUILD/advection_diffusion" "${problem[@]}" --steps $end --checkpoint w.vtkhdf --output w.pvd
cmp s_steps/000000.vtu w_steps/000000.vtu
cmp s_steps/000001.vtu w_steps/000001.vtu
sed 's/w_steps/s_steps/' w.pvd | cmp - s.pvd
echo "stopped after $steps steps, and ended as the whole run did"
