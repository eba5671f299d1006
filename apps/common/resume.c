/* Takes the choices that a program made itself from the checkpoint that a run continues: they depend on the number of
 * steps, on what was measured and on the machine. */
#include "apps/common/fem.h"
#include "apps/common/run.h"

#include <stdlib.h>
#include <string.h>

/* The name after an option of the program's, which precede those with texts of the user; false: it is not there. */
static bool find_choice(const char *problem, const char *option, char *out, size_t size) {
    const char *at = strstr(problem, option);
    if (!at)
        return false;
    at += strlen(option);
    const size_t length = strcspn(at, " ");
    if (length >= size)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

static weft_status keep_preconditioner(const char *problem, weft_problem_options *options,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    char name[64];
    int kind = WEFT_JACOBI;
    if (options->preconditioner != WEFT_AUTO)
        return WEFT_OK;
    if (find_choice(problem, " --preconditioner ", name, sizeof name))
        TRY(weft_preconditioner_find(name, &kind, error));
    options->earlier = kind;
done:
    return status;
}

weft_status app_resume_choices(const char *path, weft_problem_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    char *problem = NULL, name[64];
    weft_assembly assembly = 0;
    int choice = 0;
    if (!path)
        return WEFT_OK;
    TRY(weft_checkpoint_problem(path, &problem, error));
    if (options->assembly == WEFT_AUTO && find_choice(problem, " --assembly ", name, sizeof name)) {
        TRY(app_parse_assembly(name, NULL, NULL, &assembly, error));
        options->assembly = (int)assembly;
    }
    if (options->method == WEFT_AUTO && find_choice(problem, " --method ", name, sizeof name))
        for (choice = 0; choice < weft_method_count(); ++choice)
            if (strcmp(weft_method_about((weft_method)choice)->name, name) == 0 &&
                !weft_method_about((weft_method)choice)->needs_symmetric)
                options->method = choice; /* GMRES or BiCGStab, by the memory */
    TRY(keep_preconditioner(problem, options, error));
done:
    free(problem);
    return status;
}
