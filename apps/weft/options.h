/** The options of all subcommands of weft. In: a command line. Out: the values of its options. */
#pragma once

#include "apps/common/option_table.h"
#include "forms/weft_ufl.h"
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
    const char *sizes;                      /* of a function; NULL: none */
    const char *form, *stage;             /* of form files: a name, what is printed; may be NULL */
    weft_ufl_options ufl;                 /* of form files */
    int max_fusion, elements, iterations; /* 0: not given */
    double seconds;                       /* 0: not given */
    weft_expression *expressions;         /* malloc'd */
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

/** What reads options that are more than a text, number or choice; of weft_tool_options. An empty text
 *  is accepted by weft_tool_text. */
app_option_read weft_tool_text, weft_tool_parameter, weft_tool_expression, weft_tool_device,
    weft_tool_precision, weft_tool_scatter, weft_tool_variant, weft_tool_product_kernel,
    weft_tool_why;
/** Values of --plan, of --rematerialize, and of its former name --store, which is its opposite. */
extern const char *const weft_tool_plans[], *const weft_tool_rematerialise[],
                                                *const weft_tool_stores[];

/** Read a subcommand's command line. --help prints and exits.
 *  table, more  rows of weft_tool_options; NULL: none
 *  usage, doc  as in argp
 *  out         n_arguments_max is set before; weft_tool_clear
 *  Errors      WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status weft_tool_read(const app_option *table, const app_option *more, const char *usage,
                           const char *doc, int argc, char **argv, weft_tool_options *out,
                           weft_error *error);
/** The same for a command that is followed by list, verify or clear: arguments[0] is one of them.
 *  of  the listed things, for messages */
weft_status weft_tool_action_read(const app_option *table, const char *doc, const char *of,
                                  int argc, char **argv, weft_tool_options *out, weft_error *error);
void weft_tool_clear(weft_tool_options *options);
