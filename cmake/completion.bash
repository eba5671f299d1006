# Completion of Weft's programs in bash: options from --help, values from what the program says it takes.

# The answer to a value that none has: "the values are a, b or c".
_weft_values() { # command..., option
    "${@:1:$#-1}" "${!#}=?" 2>&1 </dev/null | sed -n 's/.*the values are //p' | sed 's/,\| or / /g'
}

# What stands behind an option in --help: FILE, NAME, ...; nothing where it takes no value.
_weft_argument() { # option; $help
    sed -n "s/^ *\(-[^-], \)\?$1=\([^ ]*\).*/\2/p" <<<"$help" | head -n 1
}

_weft_files() { # current word, endings...
    local word=$1 ending
    shift
    compgen -d -S / -- "$word"
    for ending; do
        compgen -f -X "!*.$ending" -- "$word"
    done
}

_weft_meshes=(geo msh unv bdf nas vtk mesh) # what weft-gmsh reads

_weft_scripts() {
    "$@" '?' 2>&1 </dev/null | sed -n 's/^hint:.*shipped[a-z ]* are //p' | sed 's/[a-z_0-9]*\.\.\.$//; s/,/ /g'
}

_weft_device_list() {
    echo auto host cuda gpu null null:h200
    local threads
    for ((threads = 1; threads <= $(nproc 2>/dev/null || echo 1); threads *= 2)); do
        echo "host:$threads"
    done
}

_weft_value() { # option, current word; $program, $command, $help
    local argument
    argument=$(_weft_argument "$1")
    case "$1 $argument" in
    "--device "*) compgen -W "$(_weft_device_list)" -- "$2" ;;
    "--mesh "*)
        compgen -W "square: cube:" -- "$2"
        _weft_files "$2" vtkhdf "${_weft_meshes[@]}"
        ;;
    "--print "*) compgen -W "tokens script graph fusions implementations cover plan source" -- "$2" ;;
    "--format "*) compgen -W "text dot json" -- "$2" ;;
    *DIR*) compgen -d -S / -- "$2" ;;
    *FILE.vtkhdf) _weft_files "$2" vtkhdf ;;
    *FILE*) compgen -f -- "$2" ;;
    *" NAME" | *"all|LIST") compgen -W "$(_weft_values "${command[@]}" "$1")" -- "$2" ;;
    esac
}

_weft_word() { # current word, which is not an option
    case "${command[*]}" in
    weft) compgen -W "$("$program" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p') --help --version" -- "$1" ;;
    "weft compile" | "weft explain" | solve)
        compgen -W "$(_weft_scripts "${command[@]}")" -- "$1"
        _weft_files "$1" weft
        ;;
    "weft library")
        compgen -W "list show $(weft library list 2>/dev/null | awk '{ print $1 }')" -- "$1"
        ;;
    "weft new") compgen -W "function script" -- "$1" ;;
    "weft cache" | "weft tuning") compgen -W "list verify clear" -- "$1" ;;
    "weft plan")
        compgen -W diff -- "$1"
        _weft_files "$1" json
        ;;
    "weft gemm") compgen -W "S D C Z space" -- "$1" ;;
    "weft tune") _weft_files "$1" weft kernel.c ;;
    "weft compare") _weft_files "$1" json ;;
    "weft test") compgen -d -S / -- "$1" ;;
    weft-gmsh) _weft_files "$1" "${_weft_meshes[@]}" ;;
    esac
}

_weft_complete() {
    local program=$1 word=$2 previous=$3 help words
    local -a command=("${1##*/}")
    # "--option=value" comes as three words
    if [[ $word == '=' ]]; then
        word=''
    elif [[ $previous == '=' ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    [[ $word$previous != *: ]] || return 0
    if [[ ${command[0]} == weft && $COMP_CWORD -gt 1 ]]; then
        command+=("${COMP_WORDS[1]}")
    fi
    help=$("${command[@]}" --help 2>/dev/null)
    if [[ $previous == --* && -n $(_weft_argument "$previous") ]]; then
        words=$(_weft_value "$previous" "$word")
    elif [[ $word == -* ]]; then
        words=$(compgen -W "$(grep -o -- ' --[a-z][a-z-]*' <<<"$help" | sort -u)" -- "$word")
    else
        words=$(_weft_word "$word")
    fi
    mapfile -t COMPREPLY < <(printf '%s' "$words" | awk 'NF && !seen[$0]++')
    [[ ${COMPREPLY[0]-} != *[/:] || ${#COMPREPLY[@]} -ne 1 ]] || compopt -o nospace 2>/dev/null || true
}
complete -F _weft_complete poisson solve scaling advection_diffusion weft weft-gmsh
