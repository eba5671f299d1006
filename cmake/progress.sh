# Progress on a terminal, for scripts that source this: one line on stderr, redrawn in place.
progress_on=0
[ -t 2 ] && [ "${TERM:-dumb}" != dumb ] && progress_on=1

progress() { # text
    [ "$progress_on" = 0 ] || printf '\r\033[K%.78s' "$1" >&2
}

progress_end() {
    [ "$progress_on" = 0 ] || printf '\r\033[K' >&2
}
