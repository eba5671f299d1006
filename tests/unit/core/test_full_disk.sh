#!/usr/bin/env bash
# labels: quick
# A full disk below the kernel cache, the tuning database, $TMPDIR and every folder to compile in: the run goes
# on elsewhere with one warning, or ends with a message, and leaves nothing behind. On small file systems in
# memory, mounted in a name space of our own.
set -euo pipefail

if [ "${1:-}" != inside ]; then
    flags=-m
    [ "$(id -u)" -eq 0 ] || flags=-rm
    if ! unshare $flags mount -t tmpfs -o size=1m tmpfs /mnt 2>/dev/null; then
        echo "skipped: no file system can be mounted here (unshare $flags mount)"
        exit 77
    fi
    exec unshare $flags bash "$0" inside
fi

mount -t tmpfs -o size=64m tmpfs /mnt # ours alone, and gone with this process
scratch=/mnt/scratch
mkdir -p "$scratch"/{cache,temporary,run}
mount -t tmpfs -o size=1m tmpfs "$scratch/cache"
mount -t tmpfs -o size=64k tmpfs "$scratch/temporary"
cd "$scratch/run"
export XDG_CACHE_HOME=$scratch/cache WEFT_CACHE=on

fail() {
    echo "FAILED: $*"
    cat "$scratch/out" "$scratch/err"
    exit 1
}

# leave KILOBYTES: an empty cache folder on a disk with so much room.
leave() {
    rm -rf "$scratch/cache"/*
    mkdir -m 700 "$scratch/cache/weft"
    (umask 077 && : >"$scratch/cache/weft/lock")
    head -c $((($(df -k --output=avail "$scratch/cache" | tail -n 1) - $1) * 1024)) /dev/zero >"$scratch/cache/filler"
}

# expect CODE PROGRAM...: with this exit code, and no temporary folders left where it ran.
expect() {
    local code=0 wanted=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $*"
    if compgen -G "$scratch/cache/weft/tmp-*" || compgen -G "$scratch/temporary/*"; then
        fail "files are left behind by $*"
    fi
}

# Once, whatever was tried.
warned() {
    [ "$(grep -c "warning: the kernel cache keeps nothing" "$scratch/err")" -eq 1 ] || fail "$1: one warning was expected"
}

for room in 0 8 36; do
    leave $room
    expect 0 "$WEFT_BUILD/poisson" --mesh square:4
    warned "$room kB"
    grep -q "No space left on device\|no space is left in $scratch/cache/weft" "$scratch/err" || fail "$room kB: no reason"
done

# What fits is kept, and found again.
leave 900
expect 0 "$WEFT_BUILD/poisson" --mesh square:4
if grep -q warning "$scratch/err"; then fail "there is room, and a warning"; fi

# $TMPDIR is full as well: the next place serves.
leave 8
: >"$scratch/temporary/filler"
head -c 65536 /dev/zero >"$scratch/temporary/filler" 2>/dev/null || true
mv "$scratch/temporary/filler" "$scratch/temporary/.filler"
TMPDIR=$scratch/temporary expect 0 "$WEFT_BUILD/poisson" --mesh square:4
warned "full TMPDIR"

# The tuning database: what is measured is used and not kept, with a warning.
for room in 0 12; do
    leave $room
    expect 0 "$WEFT_BUILD/weft" calibrate --device host:1 --time-limit 0.5 --precision single mmul
    grep -q "warning: the tuning database keeps nothing: .*\(full\|space\)" "$scratch/err" || fail "$room kB: tuning"
done

# A disk that gets full between two writes: one warning, and the run goes on with what it has measured.
# tuned ROOM COMMAND...
tuned() {
    leave "$1"
    shift
    expect 0 "$@"
    [ "$(grep -c "warning: the tuning database keeps nothing" "$scratch/err")" -le 1 ] || fail "several warnings"
    if grep -q "cannot write the tuning database" "$scratch/err"; then full=$((full + 1)); fi
}
full=0
for room in 28 32 36; do
    tuned $room "$WEFT_BUILD/weft" calibrate mmul --device host:1 --time-limit 0.5 --precision single
done
tuned 32 "$WEFT_BUILD/weft" gemm D NN 64 64 64 --device host:1 --tune 1
[ $full -ge 2 ] || fail "no disk got full between two writes: the sizes do not fit any more"

# Every place is full: a message, and exit code 2 as for any file that cannot be written.
case $WEFT_BUILD in /tmp/* | /var/tmp/*) exit 0 ;; esac # the programs would be hidden
for place in /tmp /var/tmp /dev/shm; do
    [ -d "$place" ] || continue
    mount -t tmpfs -o size=64k tmpfs "$place"
    { head -c 65536 /dev/zero >"$place/filler"; } 2>/dev/null || true
done
leave 8
expect 2 "$WEFT_BUILD/poisson" --mesh square:4
grep -q "error: no room to compile in" "$scratch/err" || fail "no message where every disk is full"
grep -q "hint: make room" "$scratch/err" || fail "no hint where every disk is full"
