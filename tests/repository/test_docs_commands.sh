#!/usr/bin/env bash
# labels: full
# Follows every page that has commands, as a reader does: in the folder of a clone, by copying block after block.
#   ```sh [exit-N]      commands; a folder and exported variables last from block to block
#   ```text             right after a block with exit-N, and on pages that say so after any: what it prints, "..."
#                       standing for anything
#   ```LANGUAGE FILE    a file that the reader writes; examples/FILE: an excerpt of docs/examples/FILE
# The first block takes the reader into a new folder of his own, and nothing is left in the source tree.
# In README.md, where blocks are indented: lines that begin with weft, poisson or build/, and the script.
set -euo pipefail
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON|PORTABLE:BOOL=ON)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a build that is not for installing"
    exit 77
fi
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not part of this build, and the pages mesh .geo files"
    exit 77
fi
if ! git -C "$WEFT_SOURCE" rev-parse --git-dir >/dev/null 2>&1; then
    echo "skipped: the source tree is no clone, so it cannot be said what changes in it"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0 steps=0

fail() {
    echo "$page: $1"
    failures=$((failures + 1))
}

# The source tree as it is now, in a clone of its own that has the programs in build/.
clone=$scratch/weft
mkdir "$clone"
(
    cd "$WEFT_SOURCE"
    git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar --null -T - -cf -
) | tar -C "$clone" -xf -
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git -C "$clone" init -q
echo /build >>"$clone/.git/info/exclude"
git -C "$clone" add -A
git -C "$clone" -c user.name=reader -c user.email=reader@localhost -c commit.gpgsign=false commit -qm tree
ln -s "$WEFT_BUILD" "$clone/build"

# Numbered steps in $scratch/steps: NNN.sh.CODE, NNN.text, NNN.file (first line: its name)
extract_fenced() {
    awk -v folder="$scratch/steps" '
        function open_step(kind) { name = sprintf("%s/%03d.%s", folder, ++n, kind); printf "" > name }
        inside && /^```/ { inside = 0; close(name); next }
        inside           { print > name; next }
        /^```/ {
            inside = 1
            language = substr($1, 4)
            if (language == "sh") {
                code = match($0, /exit-[0-9]+/) ? substr($0, RSTART + 5, RLENGTH - 5) : 0
                open_step("sh." code)
            } else if (language == "text")
                open_step(last == "sh" ? "text" : "ignored")
            else if ($2 != "") {
                open_step("file")
                print $2 > name
            } else
                open_step("ignored")
            last = language
        }' "$1"
}

extract_indented() {
    awk -v folder="$scratch/steps" '
        /^    / {
            line = substr($0, 5)
            if (!block) { block = 1; script = line ~ /^index / }
            if (script) {
                if (!name) { name = sprintf("%s/%03d.sh.0", folder, ++n); print "weft compile - <<\"END\" | tee ~/script.plan" > name }
                print line > name
            } else if (going || line ~ /^(weft|poisson|build\/)/) {
                if (!going) name = sprintf("%s/%03d.sh.0", folder, ++n)
                print line > name
                going = line ~ /\\$/
            }
            next
        }
        { if (script && name) { print "END" > name }
          block = script = going = 0; name = "" }' "$1"
}

# Does $1 print as $2 shows it? "..." is anything.
matches() {
    local pattern
    pattern=$(sed -e 's/[][*?\\]/\\&/g' -e 's/\.\.\./*/g' "$2")
    [[ $(<"$1") == $pattern ]]
}

# A shell for each block, for "set -e" counts for nothing in a subshell whose status is looked at.
cat >"$scratch/run" <<'END'
. "$1/state"
cd "$(<"$1/folder")"
. "$2"
pwd >"$1/folder"
export -p >"$1/state"
END
run_step() { # block, expected exit code
    local code=0
    bash -e -o pipefail "$scratch/run" "$scratch" "$1" >"$scratch/out" 2>&1 </dev/null || code=$?
    cat "$scratch/out" >>"$scratch/all"
    steps=$((steps + 1))
    ended=$2
    if [ "$code" -ne "$2" ]; then
        fail "exit $code, expected $2, of"
        cat "$1" "$scratch/out"
    fi
}

excerpt() { # file in docs/, the step
    local whole part
    whole=$(<"$WEFT_SOURCE/docs/$1")
    part=$(tail -n +2 "$2")
    [[ $whole == *"$part"* ]] || { fail "this is not part of docs/$1:"; tail -n +2 "$2"; }
}

take_step() { # step; exact: whether every text is compared
    local name
    case "$1" in
    *.sh.*) run_step "$1" "${1##*.}" ;;
    *.text)
        [ "$exact$ended" != no0 ] || return 0
        matches "$scratch/out" "$1" || {
            fail "expected"
            cat "$1"
            echo "but it prints"
            cat "$scratch/out"
        }
        ;;
    *.file)
        name=$(head -n 1 "$1")
        case "$name" in
        examples/*) excerpt "$name" "$1" ;;
        *)
            mkdir -p "$(<"$scratch/folder")/$(dirname "$name")"
            tail -n +2 "$1" >"$(<"$scratch/folder")/$name"
            ;;
        esac
        ;;
    esac
}

# Is the reader, after the first block, in a new folder that is not part of the clone?
check_folder() {
    case "$(<"$scratch/folder")/" in
    "$clone"/*) fail "its first block does not begin with a folder of its own" ;;
    esac
}

check_clean() {
    local changed
    changed=$(git -C "$clone" status --porcelain)
    [ -z "$changed" ] && return
    fail "leaves this in the source tree: $changed"
    git -C "$clone" reset -q --hard
    git -C "$clone" clean -fdq -e /build
}

take_page() { # page, how it is read, whether every text is compared
    local first=yes exact=${3:-no} ended=0
    page=$1
    rm -rf "$scratch/steps" "$scratch/home" "$scratch/all"
    mkdir "$scratch/steps" "$scratch/home"
    : >"$scratch/all"
    echo "$clone" >"$scratch/folder"
    (
        export HOME=$scratch/home
        [ "$2" = fenced ] || PATH=$WEFT_BUILD:$PATH
        export -p
    ) >"$scratch/state"
    steps=0
    "extract_$2" "$WEFT_SOURCE/$page"
    for step in "$scratch"/steps/*; do
        take_step "$step"
        if [ "$steps" -eq 1 ] && [ $first = yes ] && [ "$2" = fenced ]; then
            check_folder
            first=no
        fi
    done
    echo "$page: $steps blocks of commands"
    check_clean
}

at_least() { # blocks
    [ "$steps" -ge "$1" ] || fail "only $steps blocks of commands found, expected $1"
}
expect() { # what the page promises of the numbers, a pattern of a line that is printed
    grep -qE -- "$1" "$scratch/all" || { fail "nothing prints $1"; cat "$scratch/all"; }
}

# weft-gmsh as a reader has it: beside the programs
unset WEFT_GMSH WEFT
export LC_ALL=C

for path in "$WEFT_SOURCE/README.md" "$WEFT_SOURCE"/docs/*.md; do
    page=${path#"$WEFT_SOURCE/"}
    case "$page" in
    README.md)
        take_page "$page" indented
        at_least 2
        grep -q '^plan: 1 kernel' "$scratch/home/script.plan" || fail "the script is not one kernel, as it says"
        ;;
    docs/tutorial-element.md)
        take_page "$page" fenced yes
        at_least 12
        ;;
    docs/using-the-library.md)
        take_page "$page" fenced yes
        at_least 3
        ;;
    docs/tutorial-poisson.md)
        take_page "$page" fenced
        at_least 10
        expect '^probe +u\(0\.5,0\.5\) +(75(\.0+[0-9]*)?|74\.99999[0-9]*)$'
        expect '^mesh +plate.geo, refined 2 times'
        expect '^probe +u\(2,0\.5\) +(25(\.0000[0-9]*)?|24\.99999[0-9]*)$'
        expect '^probe +u\(0,0\.5\) +(75(\.0000[0-9]*)?|74\.99999[0-9]*)$'
        ;;
    docs/reading-an-explanation.md)
        take_page "$page" fenced
        at_least 5
        expect '^6 calls: 6 kernels unfused, 3 fused'
        expect 'mvmul_3, E +not fused: .y. must be complete before it is read'
        ;;
    docs/tutorial-new-element.md)
        take_page "$page" fenced
        at_least 12
        # 1/cosh(1) = 0.648054 but for the error of 32 cells a side; errors that fall by four; exact solutions.
        expect '^probe +u\(1,0\.5\) +0\.6480[0-9]*$'
        expect '^error +L2 5\.1[0-9]*e-03'
        expect '^error +L2 1\.2[89][0-9]*e-03'
        expect '^error +L2 3\.2[0-9]*e-04'
        expect '^1 function, 1 granularity run, 0 wrong'
        expect '^error +L2 [0-9.]*e-1[0-9]'
        expect '^Newton +converged in 1 load step'
        expect '^sum +W'
        expect '^plan: 1 kernel'
        expect '^8 calls: 8 kernels unfused, 1 fused'
        ;;
    docs/scaling.md)
        take_page "$page" fenced yes
        at_least 5
        ;;
    *) ! grep -q '^```sh' "$path" || take_page "$page" fenced ;;
    esac
done
exit "$((failures > 0))"
