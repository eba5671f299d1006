#!/usr/bin/env bash
# Install the Debian/Ubuntu packages that are missing: install_packages.sh build|test|full
# Quiet where none is. Exit 3, with the line to type, where they cannot be installed from here.
set -euo pipefail

needed=(gcc libc6-dev cmake ninja-build pkg-config libgmsh-dev libmetis-dev libglpk-dev libhdf5-dev
    libjansson-dev libxxhash-dev libsqlite3-dev)
optional=() # a test that needs one of these says that it is skipped
case "${1:-build}" in
build) ;;
test)
    needed+=(libcmocka-dev g++)
    optional+=(python3 python3-ffcx python3-vtk9 gnuplot-nox)
    ;;
full)
    needed+=(libcmocka-dev g++ clang)
    optional+=(python3 python3-ffcx python3-vtk9 gnuplot-nox libclang-rt-dev)
    ;;
*)
    echo "usage: $0 build|test|full" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu. The build needs: gcc or clang, cmake 3.25, ninja, pkg-config," >&2
    echo "Gmsh (C API), METIS, GLPK, HDF5 (serial), jansson, xxHash, SQLite; the tests need cmocka." >&2
    exit 0 # the configuration will name what is missing
fi

is_installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

missing=()
wanted=()
for package in "${needed[@]}"; do
    is_installed "$package" || missing+=("$package")
done
for package in "${optional[@]}"; do
    is_installed "$package" || wanted+=("$package")
done
# What was looked for in vain once is not looked for again on every run.
note="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/weft/packages-not-available"
for index in "${!wanted[@]}"; do
    if [ -f "$note" ] && grep -qxF -- "${wanted[$index]}" "$note"; then
        unset "wanted[$index]"
    fi
done
[ ${#missing[@]} -eq 0 ] && [ ${#wanted[@]} -eq 0 ] && exit 0

as_root=()
line="apt-get install --no-install-recommends -y ${missing[*]}"
if [ "$(id -u)" -ne 0 ]; then
    # Ask for a password only where somebody is there to type it.
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 2 ]; }; }; then
        as_root=(sudo)
    elif [ ${#missing[@]} -eq 0 ]; then
        exit 0
    else
        echo "Some packages are missing and this is neither root nor able to sudo. Please have this run:" >&2
        echo "    $line" >&2
        exit 3
    fi
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 "$@" </dev/null
}
can_be_had() {
    apt-get install --simulate --no-install-recommends "$1" >/dev/null 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
names=("${missing[@]}" "${wanted[@]}")
echo "Installing ${names[*]}" >&2
updated=0
for package in "${missing[@]}" "${wanted[@]}"; do
    if [ "$updated" = 0 ] && ! can_be_had "$package"; then
        apt update >"$log" 2>&1 || { cat "$log" >&2; echo "apt-get update failed" >&2; }
        updated=1
    fi
done
chosen=("${missing[@]}")
for package in "${wanted[@]}"; do
    if can_be_had "$package"; then
        chosen+=("$package")
    else
        echo "$package is not available here: the tests that need it will be skipped." >&2
        mkdir -p "${note%/*}" 2>/dev/null && echo "$package" >>"$note" || true
    fi
done
[ ${#chosen[@]} -eq 0 ] && exit 0
if ! apt install --no-install-recommends -y "${chosen[@]}" >"$log" 2>&1; then
    # Once more after an update: package lists may be older than the mirror.
    [ "$updated" = 1 ] || apt update >>"$log" 2>&1 || true
    if ! apt install --no-install-recommends -y "${chosen[@]}" >>"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "apt-get could not install the packages. To see why:" >&2
        echo "    ${as_root[*]} $line" >&2
        exit 3
    fi
fi
