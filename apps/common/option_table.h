/** Tables of options. In: rows that name an option, its help and the member that takes its value, and
 *  a command line. Out: the members.
 *
 *  Decision  docs/decisions/0046-options-are-rows.md */
#pragma once

#include "apps/common/support.h"

#include <stddef.h>

/** One option, or a title of the help, in a table that ends with a zero row. */
typedef struct app_option {
    const char *name;   /* without dashes; NULL: a title, which is `help` */
    const char *value;  /* its value in the help: "FILE"; NULL: it takes none; "A B": two values */
    const char *help;   /* NULL: the option is not listed */
    int letter;         /* 'm' for -m; 0: none */
    bool is_joined;     /* a list of a problem file is one value, with commas between its parts */
    const char *former; /* a former name, accepted but not listed; or NULL */
    /** Read the value.
     *  option  "--name", for messages
     *  text    NULL if the option takes no value; points into argv
     *  at      the member */
    weft_status (*read)(const struct app_option *row, const char *option, const char *text,
                        void *at, weft_error *error);
    size_t offset; /* of the member in the values of the table */
    double low, high;
    const char *const *choices; /* NULL-terminated */
    size_t size;                /* of a choice or flag: that of bool or int */
} app_option;

/** The type of app_option.read. Those below read nonblank texts, numbers and integers in [low, high],
 *  the index of a choice, and for a flag store `low`. */
typedef weft_status app_option_read(const app_option *row, const char *option, const char *text,
                                    void *at, weft_error *error);
app_option_read app_read_text, app_read_number, app_read_integer, app_read_choice, app_read_flag;
/** Does nothing: for options that app_command_line_read handles. */
app_option_read app_read_nothing;

/* What stands in a row behind its name, value and help. */
#define APP_BY(function, type, member) .read = (function), .offset = offsetof(type, member)
#define APP_TEXT(type, member) APP_BY(app_read_text, type, member)
#define APP_NUMBER(type, member, least, most)                                                      \
    APP_BY(app_read_number, type, member), .low = (least), .high = (most)
#define APP_INTEGER(type, member, least, most)                                                     \
    APP_BY(app_read_integer, type, member), .low = (least), .high = (most)
#define APP_CHOICE(type, member, names)                                                            \
    APP_BY(app_read_choice, type, member), .choices = (names), .size = sizeof(((type *)0)->member)
#define APP_FLAG(type, member, number)                                                             \
    APP_BY(app_read_flag, type, member), .low = (number), .size = sizeof(((type *)0)->member)

/** Rows and the struct of their members. */
typedef struct app_option_table {
    const app_option *rows;
    void *values;
} app_option_table;

typedef struct app_command_line {
    const char *arguments, *doc; /* as args_doc and doc in argp */
    app_option_table tables[20]; /* in the order of the help; the rest zero */
    weft_status (*argument)(void *user, const char *text, weft_error *error);
    void *user; /* of argument */
    /* with app_problem_options: gets the texts of a problem file; caller's, also after an
     * error: weft_arena_free */
    weft_arena **texts;
} app_command_line;
/** Read a command line. --help, --usage, --version and --print-problem print and exit. The options of
 *  --problem are read first, without those that the command line replaces.
 *  Errors  WEFT_ERROR_USAGE, those of the rows; those of app_problem_read; WEFT_ERROR_IO: nothing can
 *          be printed;
 *          WEFT_ERROR_MEMORY */
weft_status app_command_line_read(const app_command_line *line, int argc, char **argv,
                                  weft_error *error);
/** Refuse a positional argument, for apps that take options only. It is probably a mesh without
 *  --mesh, or half of a formula.
 *  Errors  WEFT_ERROR_USAGE */
weft_status app_argument_refuse(void *user, const char *text, weft_error *error);
