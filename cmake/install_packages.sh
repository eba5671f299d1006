#!/usr/bin/env bash
# Install the Debian or Ubuntu packages that are missing: install_packages.sh build|test|full
# Prints nothing where none is missing. Exits with 3, and the line to type, where a package that is
# needed cannot be installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

needed=(gcc libc6-dev cmake ninja-build pkg-config libgmsh-dev libmetis-dev libglpk-dev libhdf5-dev
    libjansson-dev libxxhash-dev libsqlite3-dev libyaml-dev)
optional=() # a test that needs one of these is skipped without it, and says so
# Solvers of other libraries: hypre, PETSc, CHOLMOD, UMFPACK, MUMPS. Some packages are named after versions.
case "$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}")" in
'debian 12') solvers=(libhypre-dev libpetsc-real-dev libcholmod3 libumfpack5 libmumps-seq-5.5) ;;
'ubuntu 24.04') solvers=(libhypre-dev libpetsc-real-dev libcholmod5 libumfpack6) ;;
*) solvers=(libhypre-dev libpetsc-real-dev libcholmod5 libumfpack6) ;;
esac
case "${1:-build}" in
build) ;;
test)
    needed+=(libcmocka-dev g++)
    optional+=(python3 python3-numpy python3-scipy python3-pip python3-ffcx python3-vtk9 gnuplot-nox graphviz help2man dpkg-dev file openmpi-bin libopenmpi-dev
        "${solvers[@]}")
    ;;
full)
    needed+=(libcmocka-dev g++ clang)
    optional+=(python3 python3-numpy python3-scipy python3-pip python3-ffcx python3-vtk9 gnuplot-nox graphviz help2man dpkg-dev file openmpi-bin libopenmpi-dev chromium libclang-rt-dev
        gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user "${solvers[@]}")
    ;;
*)
    echo "usage: $0 build|test|full" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu. The build needs: gcc or clang, cmake 3.25, ninja, pkg-config," >&2
    echo "Gmsh (C API), METIS, GLPK, HDF5 (serial), jansson, xxHash, SQLite, libyaml; the tests need cmocka." >&2
    exit 0 # the configuration will name what is missing
fi

# Those of the packages that are not installed, in $absent. dpkg-query exits with 1 if it does not
# know one of them.
find_absent() {
    local package installed
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    absent=()
    for package; do
        grep -qxF -- "installed $package" <<<"$installed" || absent+=("$package")
    done
}

# Optional packages that could not be installed. They are tried again when apt has newer lists.
note="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/weft/packages-not-available"
lists=/var/lib/apt/lists
is_given_up() {
    [ -f "$note" ] && [ ! "$lists" -nt "$note" ] && grep -qxF -- "$1" "$note"
}
give_up() {
    [ -f "$note" ] && [ "$lists" -nt "$note" ] && rm -f "$note"
    mkdir -p "${note%/*}" 2>/dev/null && echo "$1" >>"$note" || true
}

find_absent "${needed[@]}" "${optional[@]}"
missing=()
wanted=()
for package in "${absent[@]}"; do
    if [[ " ${needed[*]} " == *" $package "* ]]; then
        missing+=("$package")
    elif ! is_given_up "$package"; then
        wanted+=("$package")
    fi
done
[ ${#missing[@]} -gt 0 ] || [ ${#wanted[@]} -gt 0 ] || exit 0

line="apt-get install --no-install-recommends -y"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    # Ask for a password only where somebody is there to type it.
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 2 ]; }; }; then
        as_root=(sudo)
    elif [ ${#missing[@]} -eq 0 ]; then
        exit 0
    else
        echo "These packages are missing: ${missing[*]}" >&2
        echo "You are neither root nor able to use sudo. Please have somebody run this:" >&2
        echo "    $line ${missing[*]}" >&2
        exit 3
    fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# apt-get's state comes on its standard output, as sudo closes other files:
#   dlstatus:NUMBER:PER CENT:TEXT, pmstatus:PACKAGE:PER CENT:TEXT
watch_apt() { # what is being done
    local state package percent text
    while IFS=: read -r state package percent text; do
        case "$state" in
        dlstatus) progress "$1: fetching, ${percent%.*} %" ;;
        pmstatus) progress "$1: installing, ${percent%.*} % ($package)" ;;
        *) printf '%s\n' "$state${package:+:$package}${percent:+:$percent}${text:+:$text}" ;;
        esac
    done
    progress_end
}
apt() { # what is being done, arguments...
    local what=$1
    shift
    progress "$what"
    # Apt closes the descriptor of its status in the scripts of packages, so it must not be their standard
    # output: fontconfig's prints, and fails. A shell opens it, because sudo closes what is above 2.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C bash -c 'exec "$@" 3>&1' bash apt-get -qq \
        -o APT::Status-Fd=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null 2>&1 |
        watch_apt "$what" >>"$log"
}
updated=0
update() {
    [ "$updated" = 0 ] || return 0
    updated=1
    apt "Package lists" update || true # the installation will tell
}
can_be_had() {
    apt-get install --simulate --no-install-recommends "$@" >/dev/null 2>&1
}
# What apt complained of, once each.
complaints() {
    grep -E '^(E|Err|W):' "$log" | sort -u | head -n 12 >&2 || true
}

install_needed() {
    echo "Installing ${missing[*]}" >&2
    can_be_had "${missing[@]}" || update
    if ! apt Packages install --no-install-recommends -y "${missing[@]}"; then
        # Once more after an update: package lists may be older than the mirror.
        update
        apt Packages install --no-install-recommends -y "${missing[@]}" || true
    fi
    # An exit code would also tell of other packages that are broken on this machine.
    find_absent "${missing[@]}"
    [ ${#absent[@]} -gt 0 ] || return 0
    complaints
    echo "apt-get could not install what is needed: ${absent[*]}" >&2
    echo "Is there a network, and is the package known to apt-get update? To see more:" >&2
    echo "    ${as_root[*]:+${as_root[*]} }$line ${absent[*]}" >&2
    exit 3
}
# Each by itself, so that one that is not there or is broken stops neither the others nor the tests.
install_optional() {
    local package
    for package in "${wanted[@]}"; do
        echo "Installing $package" >&2
        can_be_had "$package" || update
        apt "$package" install --no-install-recommends -y "$package" || true
        find_absent "$package"
        [ ${#absent[@]} -gt 0 ] || continue
        echo "$package is not available here: the tests that need it will be skipped." >&2
        give_up "$package"
    done
}

[ ${#missing[@]} -eq 0 ] || install_needed
[ ${#wanted[@]} -eq 0 ] || install_optional
