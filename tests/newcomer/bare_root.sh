#!/usr/bin/env bash
# Do what a newcomer does in a bare root of a distribution: clone, ./run, ./test, ./run again.
# Not part of ctest: it downloads a distribution and takes about half an hour.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tests/newcomer/bare_root.sh [OPTION...] DISTRIBUTION

Makes a root of DISTRIBUTION (bookworm, trixie or noble) by debootstrap in a temporary folder, clones the
commit that is checked out here, and does what a newcomer does: ./run, cmake --install, ./test and ./run
once more. Prints times, packages, sizes and compiler warnings. Needs root, debootstrap and git.

  --mirror URL     where the packages come from. Default: what apt of this machine uses, if DISTRIBUTION
                   belongs to the same family; else what debootstrap knows
  --folder FOLDER  where the root is made. Default: a new folder under ${TMPDIR:-/tmp}
  --keep           leave the root there
  --run-only       leave out ./test and the second ./run
  --quick          ./test --quick in place of ./test
  --clang          also build everything with clang, warnings being errors
  --unsigned       accept an archive whose signature cannot be checked here
Exit codes: 0 all passed without a compiler warning, 1 something failed, 2 wrong usage.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$here/tests/newcomer/root.sh"
mirror='' folder='' keep=0 run_only=0 quick=() clang=0 unsigned=0 suite=''
while [ $# -gt 0 ]; do
    case "$1" in
    --mirror | --folder)
        [ $# -ge 2 ] || { usage >&2; exit 2; }
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
    --keep) keep=1 ;;
    --run-only) run_only=1 ;;
    --quick) quick=(--quick) ;;
    --clang) clang=1 ;;
    --unsigned) unsigned=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) suite=$1 ;;
    esac
    shift
done
case "$suite" in
bookworm | trixie) family=debian script=sid components=main ;;
noble) family=ubuntu script=gutsy components='main universe' ;;
*) usage >&2; exit 2 ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "bare_root.sh needs root, for chroot" >&2; exit 2; }
for tool in debootstrap git unshare; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 2; }
done

if [ -z "$mirror" ] && [ "$(. /etc/os-release && echo "$ID")" = "$family" ]; then
    mirror=$(apt_mirror)
fi

made=0
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    made=1
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
root=$folder/$suite
clone="/root/first steps/weft" # a path with a space, as people have
[ ! -e "$root" ] || { echo "$root is there already" >&2; exit 2; }
clean_up() {
    if [ "$made" = 1 ]; then
        remove_root "$folder"
    else
        remove_root
    fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

in_root() { # folder, command...
    in_root_as root:root /root "$@"
}

make_clone() {
    local options=(--include=git,ca-certificates) trust=''
    [ "$unsigned" = 0 ] || options+=(--no-check-gpg)
    [ "$unsigned" = 0 ] || trust='[trusted=yes] '
    [ ! -e "/usr/share/debootstrap/scripts/$suite" ] || script=$suite
    make_root "$suite" "$mirror" "$components" "/usr/share/debootstrap/scripts/$script" "$trust" "${options[@]}"
    mkdir -p "${root}${clone%/*}"
    git clone -q --no-hardlinks "$here" "$root$clone"
}

megabytes() { du -smx --exclude="$root/root" "$root" | cut -f1; }

failures=0
timed() { # name, command...: in the clone; sets $seconds and $code
    local name=$1 started
    shift
    started=$(date +%s)
    code=0
    in_root "$clone" "$@" >"$root/root/$name.log" 2>&1 || code=$?
    seconds=$(($(date +%s) - started))
    if [ "$code" -ne 0 ]; then
        failures=$((failures + 1))
        echo "---- $name: exit $code; the last lines:"
        tail -n 40 "$root/root/$name.log"
        echo "----"
    fi
}
line() { printf '%-20s %s\n' "$1" "$2"; }

make_clone
in_root / apt-get -qq update
line root "$(. "$root/etc/os-release" && echo "$PRETTY_NAME"), $(uname -m), $(nproc) cores"
line commit "$(git -C "$root$clone" log -1 --format='%h %s')"
line "to begin with" "$(count_packages) packages, $(megabytes) MB"

timed run ./run
line ./run "$seconds s, exit $code; now $(count_packages) packages, $(megabytes) MB, build/ $(du -sm "$root$clone/build" | cut -f1) MB"
line compiler "$(in_root / cc --version | head -n 1)"
found() { # words, file
    grep -E "$1" "$2" || { echo "no line with '$1' in ${2##*/}"; failures=$((failures + 1)); }
}
found '^error ' "$root/root/run.log"
found '^CG ' "$root/root/run.log"
[ -s "$root$clone/build/poisson.vtkhdf" ] || { echo "no build/poisson.vtkhdf"; failures=$((failures + 1)); }
timed install cmake --install build --prefix /root/prefix
line install "exit $code, $(du -sm "$root/root/prefix" 2>/dev/null | cut -f1) MB"

if [ "$run_only" = 0 ]; then
    timed test ./test "${quick[@]}"
    line "./test ${quick[*]}" "$seconds s, exit $code; now $(count_packages) packages, $(megabytes) MB, build/ $(du -sm "$root$clone/build" | cut -f1) MB"
    found 'tests passed|tests failed' "$root/root/test.log"
    sed -nE '/Skipped|\*\*\*|not available|could not/p' "$root/root/test.log" | sort -u
    timed again ./run
    line "./run again" "$seconds s, exit $code"
fi
if [ "$clang" = 1 ]; then
    in_root / env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y clang libcmocka-dev \
        >"$root/root/clang_package.log" 2>&1
    timed clang sh -c 'cmake --preset release -B /root/clang -DCMAKE_C_COMPILER=clang -DWEFT_WERROR=ON && ninja -C /root/clang'
    line clang "$seconds s, exit $code; $(in_root / clang --version | head -n 1)"
fi
warnings=$(cat "$root"/root/*.log | awk '/warning:/ { ++n } END { print n + 0 }')
line "compiler warnings" "$warnings"
[ "$warnings" -eq 0 ] || { grep -h -A6 'warning:' "$root"/root/*.log | head -n 60; failures=$((failures + 1)); }
changed=$(git -C "$root$clone" status --porcelain)
[ -z "$changed" ] || { echo "not in .gitignore: $changed"; failures=$((failures + 1)); }
[ "$failures" -eq 0 ]
