#!/usr/bin/env bash
# labels: full
# The commands of README.md, docs/tutorial-element.md and docs/using-the-library.md run, in order and in a
# folder of their own, and print what the pages show.
#   ```sh [exit-N]      commands; a folder and exported variables last from block to block
#   ```text             right after it: what it prints, "..." standing for anything
#   ```LANGUAGE FILE    a file that the reader writes; examples/FILE: an excerpt of docs/examples/FILE
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
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0 steps=0

fail() {
    echo "$page: $1"
    failures=$((failures + 1))
}

# Numbered steps in $scratch/steps: NNN.sh.CODE, NNN.text, NNN.file (first line: its name)
extract_fenced() {
    awk -v folder="$scratch/steps" '
        function open_step(kind) { name = sprintf("%s/%03d.%s", folder, ++n, kind); printf "" > name }
        inside && /^```/ { inside = 0; close(name); next }
        inside           { print > name; next }
        /^```/ {
            inside = 1
            language = substr($1, 4)
            if (language == "sh")
                open_step("sh." ($2 ~ /^exit-/ ? substr($2, 6) : 0))
            else if (language == "text")
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
                if (!name) { name = sprintf("%s/%03d.sh.0", folder, ++n); print "weft fuse - <<\"END\" | tee script.plan" > name }
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
    steps=$((steps + 1))
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

take_step() {
    local name
    case "$1" in
    *.sh.*) run_step "$1" "${1##*.}" ;;
    *.text)
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

take_page() { # page, how it is read, steps it has at least
    page=$1
    rm -rf "$scratch/steps" "$scratch/top" "$scratch/home"
    mkdir "$scratch/steps" "$scratch/top" "$scratch/home"
    ln -s "$WEFT_BUILD" "$scratch/top/build"
    ln -s "$WEFT_SOURCE/docs" "$WEFT_SOURCE/meshes" "$WEFT_SOURCE/fem" "$scratch/top"
    echo "$scratch/top" >"$scratch/folder"
    (
        export HOME=$scratch/home
        [ "$2" = fenced ] || PATH=$WEFT_BUILD:$PATH
        export -p
    ) >"$scratch/state"
    steps=0
    "extract_$2" "$WEFT_SOURCE/$page"
    for step in "$scratch"/steps/*; do
        take_step "$step"
    done
    echo "$page: $steps blocks of commands"
    [ "$steps" -ge "$3" ] || fail "only $steps blocks of commands found, expected $3"
}

# weft-gmsh as a reader has it: beside the programs
unset WEFT_GMSH
export LC_ALL=C
take_page README.md indented 2
if ! grep -q '^plan: 1 kernel' "$scratch/top/script.plan"; then
    fail "the script is not one kernel, as it says:"
    cat "$scratch/top/script.plan"
fi
take_page docs/tutorial-element.md fenced 12
take_page docs/using-the-library.md fenced 3
exit "$((failures > 0))"
