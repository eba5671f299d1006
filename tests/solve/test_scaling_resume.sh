#!/bin/bash
# labels: full
# A study that is stopped goes on where it was: killed after any number of runs, its file cut at any
# byte, ended by Ctrl-C. The app is a stand-in beside a copy of scaling, so that its times are known, and
# so are its failures: by words, by signal, by output that is no JSON, by not converging.
set -u
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
if grep -q '^WEFT_SANITIZE:STRING=.' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a sanitizer's runtime would print into what is compared"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir bin
cp "$WEFT_BUILD/scaling" bin/
cat >bin/poisson <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    --mesh) mesh=$2 ;;
    --assembly) assembly=$2 ;;
    esac
    shift
done
n=${mesh#*:}
echo "$mesh $assembly $$" >>started
[ "${NAP:-0}" = 0 ] || sleep "$NAP"
outcome=converged code=0 l2=1 h1=1
case $n-$assembly in
13-lma) echo "poisson: error: no luck" >&2; exit 3 ;;
13-csr) kill -SEGV $$ ;;
13-edge) echo "{ this is not JSON"; exit 0 ;;
13-*) outcome=stagnation code=1 ;;
8-*) l2=0.015625 h1=0.125 ;;
16-*) l2=0.00390625 h1=0.0625 ;;
esac
echo "{\"mesh\": {\"cells\": $((2 * n * n)), \"nodes\": $(((n + 1) * (n + 1))), \"dimension\": 2},
  \"iterations\": $n, \"outcome\": \"$outcome\", \"l2_error\": $l2, \"h1_error\": $h1,
  \"seconds\": {\"assembly\": $n, \"solve\": $((2 * n)), \"order\": 0.0}}"
exit $code
END
chmod +x bin/poisson
fail() { echo "FAILED: $*" >&2; exit 1; }
ask=(--sizes 8,16 --assembly lma,csr --repeat 3 --no-plots)
all=16 # two sizes, two assemblies, one run that does not count and three that do
study() { # expected exit code, folder, options
    local expected=$1 code=0
    shift
    bin/scaling --out "$@" >out 2>err || code=$?
    [ "$code" = "$expected" ] || fail "scaling --out $*: exit $code, not $expected: $(cat out err)"
}
complete() { # folder: each run once, and results that say so
    python3 - "$1" <<'END' || fail "$1 is not complete"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/study.jsonl")][1:]
done = sorted((line["case"], line["round"]) for line in lines)
assert done == sorted(set(done)) and len(done) == 16, done
results = json.load(open(sys.argv[1] + "/results.json"))
assert results["complete"] is True
for case in results["cases"]:
    n = int(case["mesh"].split(":")[1])
    assert case["runs"] == 3 and case["seconds"]["solve"]["values"] == [2 * n] * 3, case
    assert case["seconds"]["compute"]["median"] == 3 * n, case
    assert case["dofs_per_second"] == (n + 1) ** 2 / 2, case
fine = results["cases"][2:]
assert all(abs(case["l2_order"] - 2) < 1e-12 and abs(case["h1_order"] - 1) < 1e-12 for case in fine)
END
    python3 "$WEFT_SOURCE/tests/solve/scaling_check.py" "$1" || fail "the files of $1"
}

runs() { # process id: it is there, and not only waiting to be collected
    [ -n "$1" ] && grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null
}

study 0 whole "${ask[@]}"
complete whole
[ "$(wc -l <started)" = $all ] || fail "a run was started twice"
study 0 whole "${ask[@]}"
grep -q "4 cases, 0 runs now, 0 failed" out || fail "a whole study is run again: $(cat out)"

# Killed after 0, 1, 5 and 11 runs: what is on disk stays, what is not is run, and no app is left.
for n in 0 1 5 11; do
    rm -f started
    NAP=0.05 bin/scaling --out "killed$n" "${ask[@]}" >out 2>err &
    pid=$!
    for _ in {1..600}; do
        [ "$(grep -c case "killed$n/study.jsonl" 2>/dev/null)" -ge "$n" ] 2>/dev/null && [ -s started ] && break
        sleep 0.01
    done
    kill -KILL $pid
    wait $pid 2>/dev/null
    last=$(tail -n 1 started | cut -d' ' -f3)
    for _ in {1..300}; do runs "$last" || break; sleep 0.01; done
    runs "$last" && fail "an app outlives the study that was killed"
    [ -f "killed$n/results.json" ] && [ "$n" -lt 4 ] && fail "results before the first round is done"
    study 0 "killed$n" "${ask[@]}"
    complete "killed$n"
done

# The file cut at several lengths: in the question, in a record, at the end of a line.
size=$(stat -c %s whole/study.jsonl)
for length in 0 1 300 $((size / 3)) $((size / 2)) $((size - 1)); do
    rm -rf cut
    mkdir cut
    head -c "$length" whole/study.jsonl >cut/study.jsonl
    NAP=0 study 0 cut "${ask[@]}"
    complete cut
done

# Ctrl-C: 130 at once, words, files of what there is, and on it goes. Also SIGTERM. A shell's job in the
# background ignores SIGINT, so the study is started with every signal as at a terminal.
usual='import os, signal, sys
for number in signal.SIGINT, signal.SIGHUP: signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])'
for pair in INT:130 TERM:143 HUP:129; do
    rm -rf stopped started
    NAP=0.4 python3 -c "$usual" bin/scaling --out stopped "${ask[@]}" >out 2>err &
    pid=$!
    for _ in {1..600}; do [ -s started ] && break; sleep 0.01; done
    kill -"${pair%:*}" $pid
    code=0
    wait $pid || code=$?
    [ $code = "${pair#*:}" ] || fail "SIG${pair%:*}: exit $code: $(cat err)"
    grep -q "16 runs are left: the same command continues" err || fail "what is said: $(cat err)"
    grep -q '"complete": false' stopped/results.json || fail "the results of a stopped study"
    grep -q 'Not complete: 16 runs' stopped/report.md || fail "the report of a stopped study"
done
study 0 stopped "${ask[@]}"
complete stopped
# What is to be ignored is.
rm -f started
NAP=0.02 nohup bin/scaling --out ignored "${ask[@]}" >out 2>err &
pid=$!
for _ in {1..600}; do [ -s started ] && break; sleep 0.01; done
kill -HUP $pid
wait $pid || fail "nohup: exit $?: $(cat err)"
complete ignored

# On a terminal: what runs, how many are left, and their seconds: at least so many before each case has run
# once, then the sum of the last ones. The line is gone at the end.
NAP=0.3 python3 - "${ask[@]}" <<'END' || fail "the line of progress"
import fcntl, os, pty, re, struct, subprocess, sys, termios

def watch(columns, *options):
    """What is written to a terminal so wide (0: it does not say), after each return to its start."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = subprocess.Popen(["bin/scaling", *options], stdout=subprocess.DEVNULL, stderr=theirs,
                           env=dict(os.environ, TERM="xterm"))
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    assert run.wait() == 0
    assert text.endswith(b"\r\x1b[K"), "the line is not gone"
    return [line for line in text.decode().split("\r\x1b[K") if line.strip()]

lines = watch(0, "--out", "watched", *sys.argv[1:])
shape = re.compile(r"\[(=*) *\] square:(8|16) \| (lma|csr) \| host, run (\d) of 4; (\d+) runs left, "
                   r"(at least )?(\d+) s$")
seen = [shape.match(line) for line in lines]
assert seen and all(seen), lines
left = [int(line.group(5)) for line in seen]
assert left == sorted(left, reverse=True) and left[0] == 16 and left[-1] == 1, left
for line in seen:
    runs, seconds = int(line.group(5)), int(line.group(7))
    assert bool(line.group(6)) == (runs > 12), line.group(0)
    if runs <= 12:  # a run naps for 0.3 s; the rest is up to the machine
        assert seconds >= int(0.3 * runs), line.group(0)
assert all(len(line.group(1)) == (16 - int(line.group(5))) * 20 // 16 for line in seen)
narrow = watch(40, "--out", "narrow", "--sizes", "8", "--assembly", "lma", "--repeat", "1", "--no-plots")
assert narrow and all(len(line) == 39 for line in narrow), narrow
END
complete watched

# Two at a time are one too many.
NAP=0.2 bin/scaling --out shared "${ask[@]}" >/dev/null 2>&1 &
pid=$!
for _ in {1..600}; do [ -s shared/study.jsonl ] && break; sleep 0.01; done
study 2 shared "${ask[@]}"
grep -q "another process is working on this study" err || fail "$(cat err)"
kill $pid
wait $pid 2>/dev/null

# Another question, one change each, is refused by name and nothing is changed.
cp whole/study.jsonl before
changed() { # words, options
    local words=$1
    shift
    study 2 whole "$@"
    grep -qF -- "$words" err || fail "no '$words' in: $(cat err)"
    cmp -s before whole/study.jsonl || fail "a refused study has changed"
}
changed "--mesh, --sizes or --refine (square:8,square:16 there, square:8,square:32 here)" \
    --sizes 8,32 --assembly lma,csr --repeat 3
changed "it differs in: --assembly (lma,csr there, lma here)" --sizes 8,16 --assembly lma --repeat 3
changed "--repeat (3 there, 4 here)" --sizes 8,16 --assembly lma,csr --repeat 4
changed "--warmup (1 there, 0 here)" "${ask[@]}" --warmup 0
changed "--device or --threads (host there, host:1 here)" "${ask[@]}" --device host:1
changed "the options behind -- (" "${ask[@]}" -- --source 1
cp bin/poisson kept
echo "# another build" >>bin/poisson
changed "the program itself" "${ask[@]}"
cp kept bin/poisson

# A line in the middle that is damaged is named.
cp -r whole damaged
sed -i '3s/round/ruond/' damaged/study.jsonl
study 2 damaged "${ask[@]}"
grep -q "damaged/study.jsonl:3:1: error: this line is not the record of a run" err || fail "$(cat err)"
sed -i '3s/.*/{/' damaged/study.jsonl
study 2 damaged "${ask[@]}"
grep -q "damaged/study.jsonl:3:1: error: this line is not JSON" err || fail "$(cat err)"
sed -i 3d damaged/study.jsonl
study 0 damaged "${ask[@]}"
complete damaged

# Cases that fail are given up by name, the others go on; another try tries them again.
study 1 ill --sizes 8,13 --assembly lma,csr,edge,lma-gather --repeat 2
for words in "square:13 | lma | host failed: poisson: error: no luck" \
    "square:13 | csr | host failed: ended by signal 11" \
    "square:13 | edge | host failed: exit status 0 without results"; do
    grep -qF -- "$words" err || fail "no '$words' in: $(cat err)"
done
grep -q "8 cases, 18 runs now, 4 failed" out || fail "$(cat out)"
grep -qF -- '- square:13 \| lma-gather \| host: stagnation' ill/report.md || fail "the report of failures"
study 1 ill --sizes 8,13 --assembly lma,csr,edge,lma-gather --repeat 2
grep -q "8 cases, 3 runs now, 4 failed" out || fail "failed cases are not tried again: $(cat out)"
echo ok
