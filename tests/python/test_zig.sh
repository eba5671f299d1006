#!/usr/bin/env bash
# labels: quick
# Where there is no cc, a program in the Python package takes the compiler of the package ziglang beside it, by the names
# that it has for instruction sets; nowhere else, and not in place of a compiler that the user names. A stand-in for zig tells.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the names are those of x86-64"; exit 77; }
real=$(command -v "$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$WEFT_BUILD/CMakeCache.txt")")
grep -qE '^WEFT_SANITIZE:STRING=.' "$WEFT_BUILD/CMakeCache.txt" && { echo "skipped: kernels need the sanitizer's options"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
site=$scratch/site
mkdir -p "$site/weft/prefix/bin" "$site/ziglang" "$scratch/empty" "$scratch/bin" "$scratch/lib"
cp "$WEFT_BUILD/poisson" "$site/weft/prefix/bin/"
cp "$WEFT_BUILD/poisson" "$scratch/bin/"
cat >"$site/ziglang/zig" <<ZIG
#!/bin/bash
PATH=/usr/bin:/bin
echo "\$*" >>'$scratch/calls'
[ "\$1" = cc ] || exit 1
shift
if [ "\$1" = --version ]; then echo 'clang version 22.1.8'; exit; fi
arguments=()
for argument; do
    case "\$argument" in
    -march=x86-64*) echo "error: unknown CPU: 'x86'" >&2; exit 1 ;;
    -march=x86_64*) argument=\${argument/x86_64/x86-64} ;;
    -mprefer-vector-width=512) continue ;; # clang's
    esac
    arguments+=("\$argument")
done
exec '$real' "\${arguments[@]}"
ZIG
chmod +x "$site/ziglang/zig"

poisson() { # folder of the program, VARIABLE=VALUE...
    local program=$1/poisson
    shift
    env -i "PATH=$scratch/empty" "HOME=$scratch" "XDG_CACHE_HOME=$scratch/cache" WEFT_CACHE=off WEFT_DEVICE=host:1 \
        ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"} "$@" "$program" --mesh square:8 --source 4 --exact '-x^2-y^2' \
        --dirichlet 'boundary=-x^2-y^2' >"$scratch/out" 2>&1
}
solves() {
    rm -f "$scratch/calls"
    poisson "$@" || { cat "$scratch/out"; return 1; }
    grep -q '^error ' "$scratch/out"
}
solves "$site/weft/prefix/bin"
grep -q -- '-march=native.* -lm /.*/libmvec.so.1$' "$scratch/calls"
solves "$site/weft/prefix/bin" WEFT_INSTRUCTIONS=sse2
grep -q -- '-march=x86_64 ' "$scratch/calls"

solves "$site/weft/prefix/bin" "CC=$real" PATH=/usr/bin:/bin
[ ! -e "$scratch/calls" ] || { echo "zig was started in place of CC"; exit 1; }
mkdir "$scratch/tools"
ln -s "$real" "$scratch/tools/cc"
solves "$site/weft/prefix/bin" "PATH=$scratch/tools:/usr/bin:/bin"
[ ! -e "$scratch/calls" ] || { echo "zig was started in place of cc"; exit 1; }

refused() {
    local code=0
    poisson "$@" || code=$?
    [ "$code" -eq 3 ] && grep -q 'no C compiler' "$scratch/out" && return
    cat "$scratch/out"
    echo "exit $code where there is no compiler"
    return 1
}
refused "$site/weft/prefix/bin" CC=another
grep -q 'weft\[compiler\]' "$scratch/out"
refused "$scratch/bin" # not in a package
rm "$site/ziglang/zig"
refused "$site/weft/prefix/bin"
