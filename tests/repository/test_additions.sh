#!/usr/bin/env bash
# labels: quick
# What a new part touches is what docs/finite-elements.md says: the names of each family, preconditioner, scheme and option of
# all programs are in the files of its row in the table there, and in no others, so that no other code depends on which there are.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
export LC_ALL=C
search() { grep "$@" || [ $? -eq 1 ]; } # to find nothing is not an error

# check PART NAME PATTERN [FILE...]: what is wrong. The pattern is in each file of the row, and may be in FILE.
check() {
    local part=$1 name=$2 pattern=$3 row found
    shift 3
    row=$(sed -n "s/^| $part | \(.*\) |$/\1/p" docs/finite-elements.md | tr -d '`' | sed "s/, /\n/g" | sed "s/NAME/$name/" | sort)
    [ -n "$row" ] || echo "docs/finite-elements.md: no row '$part'"
    found=$(search -rlE --include='*.[ch]' --include='*.py' "$pattern" core fusion fem forms gemm apps python | sort)
    comm -23 <(echo "$found") <(printf '%s\n' "$row" "$@" | sort -u) | sed "s|\$|: names the $part $name|"
    comm -13 <(echo "$found") <(echo "$row") | sed "s|\$|: does not name the $part $name|"
}

# rows TYPE FOLDER: a line "SYMBOL FILE" for each constant of the type.
rows() {
    search -roE --include='*.c' "^const $1 [a-z_0-9]+ = " "$2" | sed 's/^\([^:]*\):.* \([a-z_0-9]*\) = $/\2 \1/' | sort
}

# check_tree ROOT: all that is wrong, then how many names there are.
check_tree() (
    cd "$1"
    n=0
    while read -r symbol file; do
        name=$(basename "$file" .c)
        pattern="$symbol|WEFT_TIME_${name^^}"
        [ "$name" = theta ] || pattern="$pattern|$name" # which is also a parameter
        check 'time integration scheme' "$name" "\\b($pattern)\\b"
        n=$((n + 1))
    done < <(rows weft_time_row fem/time)
    while read -r enumerator name; do
        check 'explicit scheme or splitting of advection' "$name" "\\b$enumerator\\b"
        # the default of weft.AdvectionDiffusion
        [ "$name" = strang ] ||
            [ -z "$(search -rlE --include='*.[ch]' --include='*.py' --exclude=step_scheme.c "\"$name\"" fem apps python)" ] ||
            echo "the name $name is not only in fem/time/step_scheme.c"
        n=$((n + 1))
    done < <(search -oE '\[WEFT_(RUNGE_KUTTA|SPLITTING)_[A-Z0-9]+\] = *\{\{"[a-z0-9]+"' fem/time/step_scheme.c |
        sed 's/^\[\([A-Z_0-9]*\)\].*"\(.*\)"$/\1 \2/')
    while read -r symbol file; do
        # those of blocks and of auxiliary spaces are made of two others each
        check preconditioner "$(basename "$file" .c)" "\\b$symbol\\b" fem/precondition/{block,auxiliary}.c
        n=$((n + 1))
    done < <(rows weft_preconditioner_kind fem/precondition)
    while read -r symbol file; do
        check 'family of elements' "$(basename "$file" .c)" "\\b$symbol\\b"
        n=$((n + 1))
    done < <(rows weft_family_row fem/element)
    while read -r option; do
        found=$(search -lE "^ *\{\"$option\"," apps/{common,poisson,solve,advection_diffusion}/*.c | paste -s -d ' ')
        [ "$found" = apps/common/run_options.c ] || echo "the option --$option of all programs is in $found"
        n=$((n + 1))
    done < <(sed -n '/^const app_option app_program_options/,/^ *{0}/s/^ *{"\([a-z-]*\)".*/\1/p' apps/common/run_options.c)
    check 'option of all programs' table '\bapp_program_options\b' apps/{poisson,solve,advection_diffusion}/options.c
    echo "$n names"
)

# The check itself: what is found, and what is not.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{core,fusion,fem/time,fem/precondition,fem/element,forms,gemm,apps/{common,poisson,solve,advection_diffusion},python,docs}
cat >"$scratch/docs/finite-elements.md" <<'END'
| time integration scheme | `fem/time/NAME.c`, `fem/time/scheme.c`, `fem/weft_time_scheme.h` |
| explicit scheme or splitting of advection | `fem/time/step_scheme.c`, `fem/weft_time.h` |
| option of all programs | `apps/common/run_options.c`, `apps/common/run_options.h` |
END
cd "$scratch"
echo 'const weft_time_row weft_time_euler = {"euler"};' >fem/time/euler.c
echo '[WEFT_TIME_EULER] = &weft_time_euler' >fem/time/scheme.c
echo 'enum { WEFT_TIME_EULER };' >fem/weft_time_scheme.h
echo '[WEFT_SPLITTING_LIE] = {{"lie"' >fem/time/step_scheme.c
echo 'WEFT_SPLITTING_LIE' >fem/weft_time.h
echo 'const weft_preconditioner_kind weft_preconditioner_one = {' >fem/precondition/one.c
printf 'const app_option app_program_options[] = {\n    {"json",\n    {"plan",\n    {0}};\n' >apps/common/run_options.c
echo 'app_program_options[]' >apps/common/run_options.h
for program in poisson solve advection_diffusion; do echo 'app_program_options' >apps/$program/options.c; done
echo '    {"plan", other' >apps/solve/other.c
echo 'if (scheme == WEFT_TIME_EULER)' >apps/solve/time.c
echo 'scheme="euler"' >python/steps.py
echo 'strcmp(name, "lie"); WEFT_TIME_EULERS, eulers' >apps/common/lie.c
expected='apps/solve/time.c: names the time integration scheme euler
python/steps.py: names the time integration scheme euler
the name lie is not only in fem/time/step_scheme.c
docs/finite-elements.md: no row '"'preconditioner'"'
fem/precondition/one.c: names the preconditioner one
the option --plan of all programs is in apps/common/run_options.c apps/solve/other.c
5 names'
cd "$WEFT_SOURCE"
found=$(check_tree "$scratch" | grep -v '^: ')
[ "$found" = "$expected" ] || { echo "This check does not find what it should. Found:"; echo "$found"; exit 1; }

found=$(check_tree .)
echo "$found"
[ "$(wc -l <<<"$found")" -eq 1 ] || { echo "A name is in a file that the table of docs/finite-elements.md does not have, or the other way round."; exit 1; }
[ "${found% names}" -ge 20 ] || { echo "the rows are not found"; exit 1; }
