/* Splits and collects lists of the command line. */
#include "apps/scaling/scaling.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

weft_status scaling_list_append(scaling_list *list, const char *text, weft_error *error) {
    char *copy = strdup(text);
    const weft_status status =
        copy ? APP_APPEND(list->items, list->n, copy, error) : weft_out_of_memory(error, NULL);
    if (status != WEFT_OK)
        free(copy);
    return status;
}

static weft_status refuse(const char *option, const char *text, const char *at, const char *message,
                          weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s", message);
    weft_error_location(error, option, text, 1, (int)(at - text) + 1);
    weft_error_hint(error, "write %s A,B,C", option);
    return WEFT_ERROR_USAGE;
}

weft_status scaling_list_add(const char *option, const char *text, scaling_list *list,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    char *piece = NULL;
    for (const char *at = text;; ++at) {
        size_t length = strcspn(at, ","), used = length;
        const char *start = at;
        while (used && isspace((unsigned char)*start))
            ++start, --used;
        while (used && isspace((unsigned char)start[used - 1]))
            --used;
        if (used == 0)
            TRY(refuse(option, text, at, "this is empty", error));
        piece = strndup(start, used);
        if (!piece)
            TRY(weft_out_of_memory(error, NULL));
        for (int i = 0; i < list->n; ++i)
            if (strcmp(list->items[i], piece) == 0)
                TRY(refuse(option, text, start, "this was given before", error));
        TRY(scaling_list_append(list, piece, error));
        free(piece);
        piece = NULL;
        at += length;
        if (!*at)
            break;
    }
done:
    free(piece);
    return status;
}

void scaling_list_clear(scaling_list *list) {
    for (int i = 0; i < list->n; ++i)
        free(list->items[i]);
    free(list->items);
    *list = (scaling_list){0};
}
