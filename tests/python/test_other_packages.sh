#!/usr/bin/env bash
# labels: quick
# What a program in the Python package finds in other packages of its environment. Where there is no cc, the compiler of ziglang, by the
# names that it has for instruction sets; nowhere else, and not in place of a compiler that the user names: a stand-in for
# zig tells. And NVRTC, that of CUDA 13 first: stand-ins that have no function, which the message tells.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the names are those of x86-64"; exit 77; }
real=$(command -v "$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$WEFT_BUILD/CMakeCache.txt")")
if grep -qE '^(WEFT_SANITIZE:STRING|CMAKE_TOOLCHAIN_FILE:[A-Z]*)=.' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: kernels need the options of a sanitizer, or a cross-compiler"
    exit 77
fi
scratch=$(realpath "$(mktemp -d)")
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
mkdir -p "$site/other/prefix/bin"
cp "$WEFT_BUILD/poisson" "$site/other/prefix/bin/"
refused "$site/other/prefix/bin" # not in this one
chmod 777 "$site" # anybody may have put zig there
refused "$site/weft/prefix/bin"
chmod 755 "$site"
solves "$site/weft/prefix/bin"
rm "$site/ziglang/zig"
refused "$site/weft/prefix/bin"

# The driver's stand-in, without that of NVRTC in its folder.
mkdir "$scratch/driver"
cp "$WEFT_BUILD/tests/emulated_gpu/libcuda.so.1" "$scratch/driver/"
nvrtc() { # the message of a program in the folder, with the libraries that the loader has opened
    local code=0
    env -i "PATH=/usr/bin:/bin" "HOME=$scratch" WEFT_CACHE=off "LD_LIBRARY_PATH=$scratch/driver" LD_DEBUG=libs \
        "$1/poisson" --device cuda --mesh square:2 >"$scratch/out" 2>&1 || code=$?
}
empty() { # path of a library
    mkdir -p "${1%/*}"
    "$real" -shared -nostdlib -o "$1" -x c /dev/null
}
expect() { # folder of the program, library or nothing
    nvrtc "$1"
    if [ -n "${2:-}" ]; then
        grep -q "calling init: $2\$" "$scratch/out" && grep -q 'this NVRTC is too old' "$scratch/out" && return
        echo "$2 was not opened"
    else
        ! grep -q "calling init: $site/nvidia" "$scratch/out" && return
        echo "a package of NVIDIA's was opened for a program outside"
    fi
    grep -v '^ *[0-9]*:' "$scratch/out"
    return 1
}
empty "$site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
expect "$site/weft/prefix/bin" "$site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
empty "$site/nvidia/cu13/lib/libnvrtc.so.13"
expect "$site/weft/prefix/bin" "$site/nvidia/cu13/lib/libnvrtc.so.13"
expect "$site/other/prefix/bin"
