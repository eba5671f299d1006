/** The options of all subcommands of weft. In: a command line. Out: the values of its options. */
#pragma once

#include "apps/common/support.h"
#include "fusion/weft_compile.h"

/** Options of all subcommands, collected by one parser; each subcommand has its own table. */
typedef struct weft_tool_options {
    const char *print, *format, *device, *kernels; /* borrowed from argv; kernels may be NULL */
    const char *devices[8];                        /* every --device; the last is also `device` */
    int n_devices, seed;
    weft_plan_kind plan;
    weft_scatter scatter;
    const char *scatter_name; /* its name for --scatter */
    weft_rematerialise rematerialise;
    bool single, only_double; /* --precision; neither: not given */
    bool invalid, again, check;
    int tune;                               /* covers to measure; 0: not given */
    const char *why[2];                     /* two calls */
    int n_why;                              /* number given */
    const char *force, *html, *json, *draw; /* files; NULL: none */
    const char *out;                        /* a folder */
    int max_fusion, elements, iterations;   /* 0: not given */
    double seconds;                         /* 0: not given */
    weft_expression *expressions;           /* malloc'd */
    int n_expressions;
    weft_parameter *parameters; /* malloc'd */
    int n_parameters;
    weft_variant_choice variants[16];
    int n_variants;
    weft_operator_choice operators[8];
    int n_operators;
    weft_arena *arena;        /* names and texts of the above */
    const char *arguments[8]; /* positional arguments; borrowed */
    int n_arguments, n_arguments_max;
} weft_tool_options;

enum {
    TOOL_PRINT = 0x100,
    TOOL_FORMAT,
    TOOL_PLAN,
    TOOL_SET,
    TOOL_DEFINE,
    TOOL_DEVICE,
    TOOL_KERNELS,
    TOOL_PRECISION,
    TOOL_SINGLE, /* former name of --precision single */
    TOOL_SCATTER,
    TOOL_INVALID,
    TOOL_VARIANT,
    TOOL_PRODUCT_KERNEL,
    TOOL_SEED,
    TOOL_SECONDS,
    TOOL_AGAIN,
    TOOL_CHECK,
    TOOL_TUNE,
    TOOL_WHY,
    TOOL_FORCE,
    TOOL_HTML,
    TOOL_REMATERIALIZE,
    TOOL_REMATERIALISE, /* former option, the opposite of --rematerialize */
    TOOL_TRIP_COUNT,
    TOOL_JSON,
    TOOL_DRAW,
    TOOL_OUT,
    TOOL_MAX_FUSION,
    TOOL_ELEMENTS
};

/** Read a subcommand's command line. --help prints and exits.
 *  usage, doc  as in argp
 *  out         n_arguments_max is set before; weft_tool_clear
 *  Errors      WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status weft_tool_read(const struct argp_option *table, const char *usage, const char *doc,
                           int argc, char **argv, weft_tool_options *out, weft_error *error);
void weft_tool_clear(weft_tool_options *options);
