/* The table of time integration schemes. */
#include "fem/time/scheme.h"
#include "core/weft_core.h"

#include <string.h>

extern const weft_time_row weft_time_theta, weft_time_bdf2, weft_time_sdirk2, weft_time_sdirk3;

static const weft_time_row *const rows[] = {[WEFT_TIME_THETA] = &weft_time_theta,
                                            [WEFT_TIME_BDF2] = &weft_time_bdf2,
                                            [WEFT_TIME_SDIRK2] = &weft_time_sdirk2,
                                            [WEFT_TIME_SDIRK3] = &weft_time_sdirk3};
enum { SCHEMES = sizeof rows / sizeof *rows };

int weft_time_scheme_count(void) {
    return SCHEMES;
}

const weft_time_scheme_info *weft_time_scheme_about(weft_time_scheme scheme) {
    return &rows[scheme]->about;
}

weft_time_scheme weft_time_scheme_default(void) {
    return WEFT_TIME_BDF2;
}

const weft_time_row *weft_time_row_of(weft_time_scheme scheme) {
    return (unsigned)scheme < SCHEMES ? rows[scheme] : NULL;
}

const weft_time_row *weft_time_row_to_start(void) {
    return rows[WEFT_TIME_SDIRK2];
}

weft_status weft_time_scheme_find(const char *name, weft_time_scheme *out, weft_error *error) {
    const char *names[SCHEMES];
    weft_text list = {0};
    for (int i = 0; i < SCHEMES; ++i) {
        names[i] = rows[i]->about.name;
        if (strcmp(name, names[i]) == 0) {
            weft_text_free(&list);
            *out = (weft_time_scheme)i;
            return WEFT_OK;
        }
        weft_text_add(&list, "%s%s", i == 0 ? "" : i + 1 < SCHEMES ? ", " : " or ", names[i]);
    }
    const char *near = weft_nearest_name(name, names, SCHEMES);
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no time integration scheme '%s'", name);
    weft_error_hint(error, "%s%s%sthe values are %s", near ? "did you mean " : "", near ? near : "",
                    near ? "? " : "", list.data ? list.data : "");
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}
