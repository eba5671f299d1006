#!/usr/bin/env bash
# Write man pages of the programs and of the commands of weft by help2man: man_pages.sh BUILD FOLDER
# Says so and writes nothing where help2man is not installed.
set -euo pipefail
build=$1
folder=$2
if ! command -v help2man >/dev/null; then
    echo "help2man is not installed: no man pages"
    exit 0
fi
export LC_ALL=C
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$("$build/weft" --version)
version=${version##* }

# help2man joins the lines of examples, and knows no section of ours but that one.
mend() {
    awk '/^\.SH EXAMPLE/             { print; print ".nf"; inside = 1; next }
         inside && /^\.(IP|TP)$/     { next }
         inside && /^\.HP$/          { continued = 1; next }
         inside && /^\.(PP|SH)/      { print ".fi"; inside = 0 }
         inside                      { print (continued ? "        " : "") $0; continued = 0; next }
         /^\.PP$/                    { held = 1; next }
         sub(/^Exit status: */, "")  { print ".SH \"EXIT STATUS\""; held = 0 }
         sub(/^Environment: */, "")  { print ".SH ENVIRONMENT"; held = 0 }
         held && !/^\.SH/            { print ".PP" }
                                     { held = 0; print }
         END { if (inside) print ".fi" }'
}

# The first sentence after the lines of usage.
summary_of() {
    "$@" --help | awk '/^(Usage|  or): / { next } NF { text = text " " $0; if (/\.$/) exit } !NF && text { exit }
                       END { sub(/^ /, "", text); sub(/\.$/, "", text); print tolower(substr(text, 1, 1)) substr(text, 2) }'
}

see_also() {
    printf '[SEE ALSO]\n'
    for other in "${names[@]}"; do
        [ "$other" = "$1" ] || printf '.BR %s (1)\n' "$other"
    done
    printf '.PP\nThe documentation is in /usr/share/doc/weft or where Weft was installed.\n'
}

write_page() { # name summary
    see_also "$1" >"$scratch/include"
    help2man --no-info --section=1 --name="$2" --version-string="$version" --source="Weft $version" \
        --manual='User Commands' --include="$scratch/include" "$scratch/$1" | mend >"$scratch/page"
    install -D -m 644 "$scratch/page" "$folder/$1.1"
}

names=()
for program in poisson solve scaling advection_diffusion weft weft-gmsh; do
    [ ! -x "$build/$program" ] || names+=("$program")
done
# Commands of weft as programs of their own, which is what help2man takes.
while read -r command; do
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$build/weft" "$command" >"$scratch/weft-$command"
    names+=("weft-$command")
done < <("$build/weft" --help | sed -n '/^$/,/^$/ s/^  \([a-z]*\) .*/\1/p' | grep -vx weft)
# weft-gmsh has its own way to print usage, which help2man does not see.
if [ -x "$build/weft-gmsh" ]; then
    printf '#!/bin/sh\n"%s" "$@" | sed "s/^usage:/Usage:/; s/^       weft-gmsh/  or:  weft-gmsh/"\n' \
        "$build/weft-gmsh" >"$scratch/weft-gmsh"
fi
for name in "${names[@]}"; do
    [ -e "$scratch/$name" ] || ln -s "$build/$name" "$scratch/$name"
    chmod +x "$scratch/$name"
    if [ "$name" = weft-gmsh ]; then # it speaks of options first
        write_page "$name" "read or make a mesh by Gmsh for Weft"
    else
        write_page "$name" "$(summary_of "$scratch/$name")"
    fi
done
