/** What the files of weft run share. In: a script with its options, a mesh. Out: lists, written.
 *
 *      apps/weft/run.c        options, the script and its operators
 *      apps/weft/run_lists.c  inputs from formulas, results */
#pragma once

#include "apps/common/run.h"
#include "apps/weft/tool.h"
#include "fem/operator/operator.h"

enum { OPERATORS_MAX = 8, LISTS_MAX = 64 };

/* NAME[@GROUP]=TEXT of --input, --define, --param or --operator. */
typedef struct setting {
    char *name, *group, *text; /* malloc'd; group may be NULL */
    char origin[96];
} setting;

typedef struct settings {
    setting *list;
    int n;
} settings;

typedef struct run_options {
    app_run_options run;
    const char *script, *kernels;
    settings inputs, defines, params, operators;
} run_options;

/* A list of the script, on the device and on the host. */
typedef struct list {
    weft_name_info info;
    bool is_written; /* returned, or updated */
    double *values;  /* as the device has them */
    double *plain;   /* [n][components], of lists to be written over cells */
    int64_t n, padded;
    int components;
    weft_memory *memory;
} list;

typedef struct own_operator {
    char *text;
    weft_bound_form form;
    weft_operator *op;
    weft_operator_in_script in_script;
} own_operator;

typedef struct weft_run {
    const run_options *options;
    app_run base;
    char *text; /* of the script */
    weft_compilation *compilation;
    weft_program *program;
    weft_space_facets facets;
    list lists[LISTS_MAX];
    int n_lists;
    own_operator operators[OPERATORS_MAX];
} weft_run;

/** Refuse the script.
 *  format  of the message, for `name` */
weft_status weft_run_refuse(const weft_run *run, const char *hint, weft_error *error,
                            const char *format, const char *name);
/** Bind the mesh and all inputs, and memory for the returned values. */
weft_status weft_run_bind(weft_run *run, weft_error *error);
/** Read, print and write what the script has returned or updated. */
weft_status weft_run_pull(weft_run *run, weft_error *error);
void weft_run_print(const weft_run *run);
weft_status weft_run_write(const weft_run *run, weft_error *error);
