#!/usr/bin/env bash
# Install the Debian package in a bare root of a distribution, and run what it has there.
# Not part of ctest: it needs root and downloads a distribution.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tests/newcomer/deb.sh [OPTION...] [DISTRIBUTION]

Makes a package by cpack in build/, which must hold a release build; makes a root of DISTRIBUTION (default: the
one of this machine, whose libraries the package needs) by debootstrap in a temporary folder; installs the
package there by apt-get with what it depends on; runs its programs as a user without privileges; and removes it.
Needs root, debootstrap, dpkg-dev and unshare.

  --mirror URL     where packages come from (default: what apt of this machine uses)
  --deb FILE       this package, instead of a new one
  --keep           leave the root there
Exit codes: 0 all is as it should be, 1 something is not, 2 wrong usage.
TEXT
}

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$source/tests/newcomer/root.sh"
mirror='' deb='' keep=0 suite=''
while [ $# -gt 0 ]; do
    case "$1" in
    --mirror | --deb)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
    --keep) keep=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) suite=$1 ;;
    esac
    shift
done
[ -n "$suite" ] || suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
[ "$(id -u)" -eq 0 ] || { echo "deb.sh needs root, for chroot" >&2; exit 2; }
for tool in debootstrap unshare cpack dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 2; }
done
if [ -z "$mirror" ]; then
    mirror=$(apt_mirror "$suite")
    [ -n "$mirror" ] || { echo "apt of this machine knows no mirror of $suite: give --mirror URL" >&2; exit 2; }
fi

folder=$(mktemp -d)
root=$folder/root
trap 'remove_root "$folder"' EXIT
trap 'exit 130' INT TERM HUP

in_root() { # user, command...
    local user=$1
    shift
    in_root_as "$user" /tmp /tmp env DEBIAN_FRONTEND=noninteractive "$@"
}

failures=0
check() { # what is printed at least, command...: as a user without privileges
    local words=$1 code=0
    shift
    in_root nobody:nogroup "$@" >"$folder/out" 2>&1 || code=$?
    if [ "$code" -ne 0 ] || ! grep -E -m 1 -- "$words" "$folder/out"; then
        echo "---- $*: exit $code, expected $words:"
        tail -n 20 "$folder/out"
        failures=$((failures + 1))
    fi
}

if [ -z "$deb" ]; then
    cmake --build "$source/build" >"$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
    cpack --config "$source/build/CPackConfig.cmake" -G DEB -B "$folder/package" >"$folder/log" 2>&1 ||
        { cat "$folder/log"; exit 1; }
    deb=$(ls "$folder"/package/weft_*.deb)
fi
started=$(date +%s)
make_root "$suite" "$mirror" main '' '' --include=ca-certificates
cp "$deb" "$root/tmp/weft.deb"
chmod 644 "$root/tmp/weft.deb"
# Minimal roots leave documentation out; ours is looked at.
rm -f "$root"/etc/dpkg/dpkg.cfg.d/*docs* "$root"/etc/dpkg/dpkg.cfg.d/*excludes*
in_root root:root apt-get -qq update
packages=$(count_packages)
size=$(du -smx "$root" | cut -f1)
echo "root: $(. "$root/etc/os-release" && echo "$PRETTY_NAME"), $packages packages, $size MB, $(($(date +%s) - started)) s"

started=$(date +%s)
in_root root:root apt-get -qq install --no-install-recommends -y /tmp/weft.deb >"$folder/log" 2>&1 ||
    { tail -n 20 "$folder/log"; exit 1; }
after=$(count_packages)
echo "weft: $(stat -c %s "$deb") bytes, $((after - packages)) packages, $(($(du -smx "$root" | cut -f1) - size)) MB, $(($(date +%s) - started)) s"

check '^weft \(Weft\) [0-9.]+$' weft --version
check '^error +L2 ' poisson --mesh square:32 --source '2*pi^2*sin(pi*x)*sin(pi*y)' --exact 'sin(pi*x)*sin(pi*y)' --output u.vtkhdf
check '^mesh ' poisson --mesh /usr/share/weft/meshes/unit_square.geo --source 1
check '^mesh ' poisson --mesh u.vtkhdf --source 1
check '^CG ' solve helmholtz.weft --mesh square:16
check 'kernels unfused' weft explain poisson.weft
check '^scheme ' advection_diffusion --mesh square:8 --velocity 1,0 --initial x --dirichlet left=0 --dt 0.01 --steps 2
check '0 failed' scaling --sizes 4,8 --assembly csr --repeat 1 --no-plots --out study
check '^weft: /usr/bin/weft' bash -c 'type -p weft >/dev/null && echo "weft: $(type -p weft)"'
check 'weft_complete' bash -c '. /usr/share/bash-completion/completions/poisson && complete -p poisson'
[ ! -x "$(command -v help2man)" ] || check 'SH NAME' cat /usr/share/man/man1/weft-explain.1
in_root root:root apt-get -qq purge -y weft >"$folder/log" 2>&1 || { tail "$folder/log"; failures=$((failures + 1)); }
left=$(find "$root/usr" -path '*weft*' | head -n 3)
[ -z "$left" ] || { echo "left behind: $left"; failures=$((failures + 1)); }
[ "$failures" -eq 0 ] && echo "all is as it should be"
