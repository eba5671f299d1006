#!/usr/bin/env bash
# labels: quick
# What poisson prints without options about printing: mesh, device, what was fused and what that saves, a
# history of one line, errors, the file; progress on a terminal only; --verbose adds the details.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache # empty, so that kernels are compiled
failures=0
must() { # what, file, pattern
    if grep -qE -- "$3" "$2"; then
        echo "ok: $1"
    else
        echo "FAILED: $1: no line matches '$3' in"
        cat "$2"
        failures=$((failures + 1))
    fi
}
must_not() { # what, file, pattern
    if grep -qE -- "$3" "$2"; then
        echo "FAILED: $1: a line matches '$3' in"
        cat "$2"
        failures=$((failures + 1))
    else
        echo "ok: $1"
    fi
}
solve=("$WEFT_BUILD/poisson" --mesh square:16 --assembly csr --source '2*pi^2*sin(pi*x)*sin(pi*y)'
    --exact 'sin(pi*x)*sin(pi*y)')

if command -v script >/dev/null; then
    printf -v line '%q ' "${solve[@]}"
    TERM=xterm script -qec "$line" /dev/null </dev/null >"$scratch/terminal"
    must "a terminal shows that kernels are compiled" "$scratch/terminal" 'compiling kernel 1'
    must "and the line is erased" "$scratch/terminal" $'\r\033\\[Kmesh '
fi

"${solve[@]}" --output "$scratch/u.vtkhdf" >"$scratch/out" 2>"$scratch/messages"
must_not "nothing but the result" "$scratch/messages" .
must "mesh" "$scratch/out" '^mesh +square:16: 512 triangles, 289 nodes'
must "device" "$scratch/out" '^device +host'
must "plan" "$scratch/out" '^plan +fused, [0-9]+ kernels, assembly csr$'
must "how many kernels there would be" "$scratch/out" '^ +without fusion, its [0-9]+ calls would take [0-9]+ kernels$'
must "what was fused" "$scratch/out" '^ +poisson.weft \+ matrix.weft: one kernel for jacobian, tform_dshape and dshape_dot_dshape,$'
# By hand: the calls apart move 324 B (tests/unit/fusion/plan/test_traffic.c), the fused kernel 132 B; either way the
# nine values go to places that are read from a list of 4 B each, and are added to what is there: 72 B read.
must "and what that saves" "$scratch/out" '^ +which moves 240 B per cell instead of 432 B$'
must "history" "$scratch/out" '^history +iteration 0: 1.0e\+00, .*, [0-9]+: [0-9.]+e-[0-9]+$'
must "errors" "$scratch/out" '^error +L2 [0-9.]+e-03, H1 seminorm'
must "file" "$scratch/out" '^output .*/u.vtkhdf$'

"${solve[@]}" --verbose >"$scratch/out" 2>"$scratch/messages"
must "--verbose: the history as a table" "$scratch/out" '^history +iteration  relative residual$'
must "--verbose: kernels" "$scratch/messages" 'poisson: info: poisson.weft \+ matrix.weft: 1 kernel'

"${solve[@]}" --plan unfused >"$scratch/out" 2>"$scratch/messages"
must "unfused" "$scratch/out" '^plan +unfused'
must_not "spares nothing" "$scratch/out" 'without fusion|instead of'

# Without a name the device is chosen: little work is done on the host, GPU or not, which the report and JSON explain.
env -u WEFT_DEVICE "${solve[@]}" >"$scratch/out" 2>"$scratch/messages"
must "little work is done on the host" "$scratch/out" '^device +host'
must "and why" "$scratch/out" '^ +automatic: [0-9.]+ (us|ms) predicted for 289 nodes, before a GPU would have started$'
must_not "which is no message" "$scratch/messages" .
env -u WEFT_DEVICE "${solve[@]}" --device auto --verbose --json - >"$scratch/out" 2>"$scratch/messages"
must "JSON has it" "$scratch/out" '"device_reason": "[0-9.]+ (us|ms) predicted for 289 nodes, before'
must "--verbose too" "$scratch/messages" '^poisson: info: device auto: the host: [0-9.]+ (us|ms) predicted for 289 nodes'
WEFT_DEVICE=host:1 "${solve[@]}" --json - >"$scratch/out"
must "who names a device gets it" "$scratch/out" '"device": "host: .*, 1 thread"'
must "as requested" "$scratch/out" '"device_reason": "as requested"'
WEFT_DEVICE=host:1 "${solve[@]}" >"$scratch/out"
must_not "which needs no words" "$scratch/out" 'automatic: .*GPU'
env -u WEFT_DEVICE "$WEFT_BUILD/advection_diffusion" --mesh square:8 --velocity 1,0 --dt 0.01 --steps 2 \
    >"$scratch/out" 2>"$scratch/messages"
must "a few steps are little work" "$scratch/out" '^ +automatic: .* predicted for 81 nodes, before a GPU'
env -u WEFT_DEVICE "$WEFT_BUILD/advection_diffusion" --mesh square:8 --velocity 1,0 --dt 0.01 --steps 2 \
    --checkpoint "$scratch/state.vtkhdf" --json - >"$scratch/out" 2>"$scratch/messages"
must "a run to be continued has the device of every number of steps" "$scratch/out" '"device_reason": "no time on the host is predicted"'
env -u WEFT_DEVICE "$WEFT_BUILD/solve" elasticity.weft --mesh square:8 --dirichlet left=0,0 --dirichlet right=1,0 \
    >"$scratch/out" 2>"$scratch/messages"
must "and a script" "$scratch/out" '^ +automatic: .* predicted for 81 nodes, before a GPU'
exit "$((failures > 0))"
