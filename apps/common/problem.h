/** Problem files. In: YAML, whose keys are the options of a program, and a command line. Out: texts for
 *  the rows of its tables of options. docs/problem-files.md describes the format. */
#pragma once

#include "apps/common/option_table.h"

/** One use of an option. */
typedef struct app_entry {
    const app_option *row; /* NULL: the positional argument */
    void *values;          /* of the row's table */
    const char *text;      /* NULL if the option takes no value; in the arena or in argv */
    int line, column;      /* in the file, from 1; 0: on the command line */
} app_entry;
typedef struct app_entries {
    app_entry *list; /* malloc'd */
    int n;
} app_entries;

/** Read a problem file.
 *  line     the command line, whose tables list the keys; with a positional argument the key script
 *  arena    gets the texts
 *  entries  appended in the order of the file
 *  Errors   WEFT_ERROR_IO; WEFT_ERROR_INPUT with file, line and column: not YAML, more than 1 MB, nested
 *           more than 6 deep, an alias, a key that is unknown (with the nearest one) or given twice, a value
 *           of the wrong kind; WEFT_ERROR_MEMORY */
weft_status app_problem_read(const char *path, const app_command_line *line, weft_arena *arena,
                             app_entries *entries, weft_error *error);
/** Whether b takes the place of a: the same option, of the same group or name where it has one. */
bool app_entry_replaces(const app_entry *b, const app_entry *a);
/** Give an error of a value its place in the file. */
void app_problem_locate(const char *path, const app_entry *entry, weft_error *error);
/** Append the entries as a problem file that reads back to them. */
void app_problem_write(const app_entries *entries, weft_text *out);

/** The rows --problem and --print-problem, which app_command_line_read handles. */
extern const app_option app_problem_options[];
