#!/usr/bin/env bash
# labels: quick
# One way to write each of two things. A function with the label done: returns only behind it, so that it frees what
# it made wherever it ends. A pointer in a condition is p or !p; p != NULL makes a number or a bool that is kept.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
export LC_ALL=C

# check_sources FILE...: a line for each return before done: and each comparison with NULL that should be p or !p.
check_sources() {
    awk '
    function finish_file() {
        while (match(text, /[=!]= NULL/)) {
            before = substr(text, 1, RSTART - 1); is_equal = substr(text, RSTART, 1) == "="
            after = substr(text, RSTART + RLENGTH); text = before "?!NULL!?" after
            depth = 0
            for (i = length(before); i > 0 && i > length(before) - 400; --i) { # the bracket around it, or the start
                c = substr(before, i, 1)
                if (c == ")") ++depth
                else if (c == "(" && depth-- == 0) break
                else if (depth == 0 && c ~ /[;{}]/ && substr(before, 1, i) !~ /for \([^;]*(;[^;]*)?;$/) break
                else if (depth == 0 && c == ";") break
            }
            inside = substr(before, i + 1); sub(/.*(return|[^=!<>]=) /, "", inside) # the expression
            head = substr(before, 1, i)
            if (is_equal || head ~ /(^|[^a-z_0-9])(if|while) \($/ || (c == ";" && head ~ /for \([^;]*;$/) ||
                after ~ /^[ \n]*(&&|\|\||\?)/ || inside ~ /(&&|\|\|)[^,?]*$/) {
                line = gsub(/\n/, "\n", before) + 1
                print file ":" line ": write p or !p for a comparison with NULL" > "/dev/stderr"
                ++failures
            }
        }
        text = ""
    }
    FNR == 1 { finish_file(); file = FILENAME; returns = inside_comment = 0 }
    {
        gsub(/\\["\\]/, ""); gsub(/"[^"]*"/, "\"\""); gsub(/\/\*[^*]*\*+\//, "")
        if (inside_comment && !sub(/^.*\*\//, "")) $0 = ""
        else inside_comment = 0
        if (sub(/\/\*.*$/, "")) inside_comment = 1
        text = text $0 "\n"
    }
    /^\}/ { returns = 0 }
    /(^|[^a-z_0-9])return[ ;(]/ && !returns { returns = FNR }
    /^done:/ && returns { print FILENAME ":" returns ": a return before done:" > "/dev/stderr"; ++failures }
    END { finish_file(); print failures + 0 }' "$@" 2>&1
}

# The check itself: what counts, and what does not.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/bad.c" <<'EOF'
weft_status f(void) {
    if (a)
        return WEFT_OK; /* early */
    if (g(a) && p != NULL)
        x = p == NULL;
    for (int i = 0; p != NULL; ++i)
        y = p != NULL ? 1 : 0;
    if (f(a, b) ||
        p != NULL)
        z();
    while ((p = next(p)) != NULL)
        z();
done:
    return status;
}
EOF
cat >"$scratch/good.c" <<'EOF'
int g(void) {
    return p != NULL;
}
/* return, p == NULL
 * return */
weft_status f(void) {
    if (!p)
        add("return b; p == NULL", "\"return");
    made.whole = (p != NULL) + (q != NULL);
    for (int i = 0; i < n; ++i)
        g(i, p != NULL, "a");
    if (same(p != NULL, q))
        made.is_there = p != NULL; /* return */
    const options o = {.some = p != NULL, .other = q != NULL};
done:
    if (a || b)
        return p != NULL;
}
EOF
found=$(check_sources "$scratch/good.c" "$scratch/bad.c" | sed 's/^[^ ]*bad.c:\([0-9]*\):.*/\1/' | sort -n | tr '\n' ' ')
if [ "$found" != "3 4 5 6 7 7 9 11 " ]; then
    echo "The check does not find what it should: $found"
    check_sources "$scratch/good.c" "$scratch/bad.c"
    exit 1
fi

cd "$WEFT_SOURCE"
found=$(find core fusion fem forms gemm apps -name '*.[ch]' -print0 | sort -z | xargs -0 -n 100000 bash -c "$(declare -f check_sources)"'; check_sources "$@"' -)
echo "$found"
[ "$(tail -n 1 <<<"$found")" -eq 0 ]
