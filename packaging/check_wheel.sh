#!/usr/bin/env bash
# Try a wheel in bare roots of distributions, as somebody without root, compiler and Debian packages does. Run before a release.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: packaging/check_wheel.sh [OPTION...] WHEEL [DISTRIBUTION...]

For each DISTRIBUTION (default: bookworm trixie noble), makes a root with Python and nothing else by debootstrap in a
temporary folder, installs WHEEL there as a user without privileges, solves a first problem, and runs
packaging/check_installed.py: answers against exact solutions, every program, licenses. Then once more with the extras
gmsh and compiler. Needs root, debootstrap, unshare, and mirrors of Debian, Ubuntu and PyPI.

  --cuda      also the extras cuda12 and cuda13 (150 MB): NVRTC is found and compiles; no GPU is needed
  --unsigned  accept an archive whose signature cannot be checked here, as Ubuntu's on Debian
  --keep      leave the roots there
Exit codes: 0 all is as it should be, 1 something is not, 2 wrong usage.
TEXT
}

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$source/tests/newcomer/root.sh"
keep=0 unsigned=() trust='' cuda=() arguments=()
for argument; do
    case "$argument" in
    --cuda) cuda=(cuda12 cuda13) ;;
    --unsigned) unsigned=(--no-check-gpg) trust='[trusted=yes] ' ;;
    --keep) keep=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) arguments+=("$argument") ;;
    esac
done
[ "${#arguments[@]}" -gt 0 ] && [ -f "${arguments[0]}" ] || { usage >&2; exit 2; }
wheel=$(realpath "${arguments[0]}")
suites=("${arguments[@]:1}")
[ "${#suites[@]}" -gt 0 ] || suites=(bookworm trixie noble)
[ "$(id -u)" -eq 0 ] || { echo "check_wheel.sh needs root, for chroot" >&2; exit 2; }
for tool in debootstrap unshare; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 2; }
done

folder=$(mktemp -d)
root=$folder
clean_up() { [ "$keep" = 1 ] || rm -rf --one-file-system "$folder"; }
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

user() { in_root_as nobody:nogroup /tmp/home /tmp/home "$@"; }
failures=0
step() { # what, command...: as a user without privileges
    local what=$1 started seconds code=0
    shift
    started=${EPOCHREALTIME/./}
    user "$@" >"$folder/log" 2>&1 || code=$?
    seconds=$(((${EPOCHREALTIME/./} - started) / 100000))
    printf '%s: %s: exit %d, %d.%d s\n' "$suite" "$what" "$code" $((seconds / 10)) $((seconds % 10))
    if [ "$code" -ne 0 ]; then
        tail -n 30 "$folder/log"
        failures=$((failures + 1))
        return
    fi
    grep -E '^(a process|Python:|zig cc|NVRTC|error )' "$folder/log" | sed 's/^/    /' || true
}

for suite in "${suites[@]}"; do
    root=$folder/$suite components=main script='' mirror=''
    case "$suite" in
    noble | jammy) components='main universe' script=/usr/share/debootstrap/scripts/gutsy ;;
    *) mirror=$(apt_mirror) script=/usr/share/debootstrap/scripts/sid ;;
    esac
    [ ! -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/$suite
    make_root "$suite" "$mirror" "$components" "$script" "$trust" --include=python3,python3-venv,ca-certificates "${unsigned[@]}"
    # How the network is reached is this machine's affair.
    [ -z "${PIP_CERT:-}" ] || cp "$PIP_CERT" "$root/etc/ssl/certs/ca-certificates.crt"
    mkdir "$root/tmp/home"
    cp "$wheel" "$source/packaging/check_installed.py" "$root/tmp/home"
    chown -R 65534:65534 "$root/tmp/home"
    name=./${wheel##*/}
    echo "$suite: $(. "$root/etc/os-release" && echo "$PRETTY_NAME"), $(user python3 --version), $(count_packages) packages"
    ! user sh -c 'command -v cc || command -v gcc || command -v clang' || { echo "there is a compiler"; exit 1; }

    step "environment" python3 -m venv bare
    step "pip install, numpy included" bare/bin/pip install --quiet "$name"
    step "first solution" bare/bin/poisson --mesh square:64 --source '2*pi^2*sin(pi*x)*sin(pi*y)' \
        --exact 'sin(pi*x)*sin(pi*y)' --dirichlet 'boundary=sin(pi*x)*sin(pi*y)' --output u.vtkhdf
    step "check" bare/bin/python check_installed.py
    # New kernels, and a cache that nothing has been put into.
    step "extras gmsh and compiler" bare/bin/pip install --quiet "${name}[gmsh,compiler]"
    step "check with them" env XDG_CACHE_HOME=/tmp/home/cache2 bare/bin/python check_installed.py gmsh compiler
    for extra in "${cuda[@]}"; do
        step "environment for $extra" python3 -m venv "$extra"
        step "extra $extra" "$extra/bin/pip" install --quiet "${name}[$extra]"
        step "check with it" "$extra/bin/python" check_installed.py cuda
    done
    [ "$keep" = 1 ] || rm -rf --one-file-system "$root"
done
[ "$failures" -eq 0 ] && echo "all is as it should be"
