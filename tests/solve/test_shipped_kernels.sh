#!/usr/bin/env bash
# labels: full
# Programs with the kernels that `ninja kernels` makes: a first run compiles nothing, gives the answers of compiled kernels, and
# compiles where what was shipped is damaged. The places are those of a build and of an installation.
set -euo pipefail
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON|PORTABLE:BOOL=ON)|^CMAKE_CROSSCOMPILING:' "$WEFT_BUILD/CMakeCache.txt" ||
    [ -n "${WEFT_EMULATOR:-}" ]; then
    echo "skipped: no kernels are shipped with this build"
    exit 77
fi
compiler=$CC
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/prefix/bin
mkdir -p "$bin"
cp "$WEFT_BUILD"/{poisson,solve,advection_diffusion} "$bin"
set=sse2
[ "$(uname -m)" = x86_64 ] || set=neon
bash "$WEFT_SOURCE/cmake/ship_kernels.sh" "$bin" "$compiler" "$set"
made=$(find "$bin/weft-kernels/$set" -name '*.weft' | wc -l)
echo "$made kernels"
[ "$made" -ge 50 ] || exit 1

# first_run COMMAND...: in a new cache, for the set; `compiled` and `energy` are of this run.
first_run() {
    rm -rf "$scratch/cache"
    env -u CC -u WEFT_SHIPPED WEFT_INSTRUCTIONS="$set" XDG_CACHE_HOME="$scratch/cache" WEFT_LOG=debug \
        "$bin/$1" "${@:2}" --json "$scratch/json" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        exit 1
    }
    compiled=$(grep -c 'compiling' "$scratch/log" || true)
    stored=$(find "$scratch/cache" -name '*.weft' -exec od -An -tu4 -j12 -N4 {} \; | grep -cw 1 || true) # docs/cache.md: kernels
    [ "$compiled" -eq "$stored" ] || { echo "$compiled compilations, $stored entries"; exit 1; }
    energy=$(sed -nE 's/.*"energy": *([-+.0-9e]+).*/\1/p' "$scratch/json")
}
# same A B: energies of the same problem, which differ by the stop of its iteration
same() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != 0 && d*d <= 1e-12*a*a) }' || { echo "energies $1 and $2"; exit 1; }
}

commands=("poisson --mesh square:40 --source 1" "poisson --mesh cube:5 --source 1" "solve elasticity --mesh square:20 --dirichlet left=0,0"
    "solve heat --mesh square:12 --time 0.05,0.1 --initial x --dirichlet left=0")
for command in "${commands[@]}"; do
    read -ra words <<<"$command"
    mv "$bin/weft-kernels" "$scratch/kept"
    first_run "${words[@]}"
    compiled_energy=$energy
    [ "$compiled" -ge 5 ] || { echo "$command: $compiled compilations without shipped kernels"; exit 1; }
    mv "$scratch/kept" "$bin/weft-kernels"
    first_run "${words[@]}"
    [ "$compiled" -eq 0 ] || { echo "$command: compiled in spite of shipped kernels:"; grep compiling "$scratch/log"; exit 1; }
    [ "$command" != "${commands[0]}" ] || same "$energy" "$compiled_energy"
done

# Where they are installed.
libraries=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$WEFT_BUILD/CMakeCache.txt")
mkdir -p "$scratch/prefix/$libraries/weft"
mv "$bin/weft-kernels" "$scratch/prefix/$libraries/weft/kernels"
first_run poisson --mesh square:40 --source 1
[ "$compiled" -eq 0 ] || { echo "not found where it is installed"; exit 1; }

# A byte in the middle of each entry.
find "$scratch/prefix/$libraries/weft/kernels" -name '*.weft' | while read -r file; do
    printf '\377\377\377\377' | dd of="$file" bs=1 seek=4000 conv=notrunc status=none
done
before=$energy
first_run poisson --mesh square:40 --source 1
[ "$compiled" -ge 5 ] || { echo "$compiled compilations with damaged kernels"; exit 1; }
same "$energy" "$before"
