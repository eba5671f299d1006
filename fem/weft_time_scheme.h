/** Time integration schemes. In: the name of one. Out: its number and what it can do. */
#ifndef WEFT_TIME_SCHEME_H
#define WEFT_TIME_SCHEME_H

#include "core/weft_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** docs/finite-elements.md says how to add one. */
typedef enum weft_time_scheme {
    WEFT_TIME_THETA,
    WEFT_TIME_BDF2,
    WEFT_TIME_SDIRK2,
    WEFT_TIME_SDIRK3
} weft_time_scheme;

typedef struct weft_time_scheme_info {
    const char *name, *help; /* a few words */
    int order;               /* with takes_theta of theta = 1/2; else it is 1 */
    int n_stages;            /* linear systems, or solves by Newton's method, in a step */
    int n_before; /* solutions before that at the start of a step: until there are as many, another
                              * scheme makes the steps */
    bool takes_theta;
    bool damps; /* however long a step is, it damps what decays fast, as jumps (L-stable) */
} weft_time_scheme_info;

/** The number of schemes, which are numbered from 0. */
int weft_time_scheme_count(void);
const weft_time_scheme_info *weft_time_scheme_about(weft_time_scheme scheme);
weft_time_scheme weft_time_scheme_default(void);
/** Errors  WEFT_ERROR_USAGE (no such scheme; the hint has the nearest name, and all) */
weft_status weft_time_scheme_find(const char *name, weft_time_scheme *out, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
