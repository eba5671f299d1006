/* Compiles, binds and runs the scripts of the Krylov methods besides CG. */
#include "fem/solve/krylov.h"
#include "fem/precondition/precondition.h"
#include "fem/space/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_MAX = 24 };

typedef struct krylov_input {
    char name[24];
    weft_memory *memory;
} krylov_input;

struct weft_krylov {
    const weft_krylov_method *method;
    int restart;         /* m */
    bool has_operator_m; /* M is a preconditioner of the caller, otherwise scaling.weft, by d */
    weft_compiled scripts[WEFT_KRYLOV_SCRIPTS];
    bool bound[WEFT_KRYLOV_SCRIPTS];
    krylov_input own[OWN_MAX];
    int n_own;
    weft_share replicated; /* of what each rank has all of: the basis' numbers */
};

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The solver's own data, by their names in the scripts. */
static weft_memory *shared(const weft_solver *cg, const char *name) {
    static const struct {
        const char *name;
        weft_cg_name datum;
    } data[] = {{"x", WEFT_CG_X},         {"d", WEFT_CG_D},
                {"M_d", WEFT_CG_D},       {"q", WEFT_CG_Q},
                {"rr", WEFT_CG_RR},       {"rz", WEFT_CG_RZ},
                {"limit", WEFT_CG_LIMIT}, {"iterations", WEFT_CG_ITERATIONS}};
    for (size_t i = 0; i < sizeof data / sizeof data[0]; ++i)
        if (strcmp(data[i].name, name) == 0)
            return cg->memory[data[i].datum];
    return NULL;
}

weft_memory *weft_krylov_memory(const weft_solver *cg, const char *name) {
    for (int i = 0; i < cg->krylov->n_own; ++i)
        if (strcmp(cg->krylov->own[i].name, name) == 0)
            return cg->krylov->own[i].memory;
    return NULL;
}

static const char *const index_sets[] = {"nodes", "basis", "steps"};

static int64_t index_set_size(const weft_solver *cg, int set) {
    return set == 0 ? cg->n : cg->krylov->restart;
}

/* The number of elements of a list over one index set, or over two: "basis, nodes". */
static int64_t elements(const weft_solver *cg, const char *over) {
    int64_t n = 1;
    for (int set = 0; over && set < 3; ++set)
        if (strstr(over, index_sets[set]))
            n *= index_set_size(cg, set);
    return n;
}

/* Make an input; number and step are the numbers of the elements of their index sets. */
static weft_status make_input(weft_solver *cg, const weft_name_info *info, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_krylov *krylov = cg->krylov;
    krylov_input *own = &krylov->own[krylov->n_own];
    const int64_t n = elements(cg, info->over);
    const size_t size = sizeof(double);
    TRY(weft_memory_make(cg->context->device, (size_t)n * size, &own->memory, error));
    snprintf(own->name, sizeof own->name, "%s", info->name);
    ++krylov->n_own;
    TRY(weft_memory_zero(own->memory, error));
    if (strcmp(info->name, "number") == 0 || strcmp(info->name, "step") == 0)
        for (int64_t i = 0; i < n; ++i) {
            const double value = (double)i;
            TRY(weft_memory_write(own->memory, (size_t)i * size, &value, size, error));
        }
done:
    return status;
}

static weft_status make_inputs(weft_solver *cg, const weft_compilation *compilation,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < weft_compilation_names(compilation); ++i) {
        weft_name_info info;
        weft_compilation_name(compilation, i, &info);
        if (info.kind == WEFT_NAME_INPUT && !shared(cg, info.name) &&
            !weft_krylov_memory(cg, info.name))
            TRY(make_input(cg, &info, error));
    }
done:
    return status;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static bool applies_m(const weft_solver *cg, weft_krylov_script script) {
    return strstr(weft_fem_script(cg->krylov->method->files[script]), "operator M ") != NULL;
}

static weft_status compile(weft_solver *cg, weft_krylov_script script, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_compiled *compiled = &cg->krylov->scripts[script];
    const char *file = cg->krylov->method->files[script];
    const weft_fragment fragment = {file, weft_fem_script(file)};
    const weft_fragment scaling = {"scaling.weft", weft_fem_script("scaling.weft")};
    const bool scales = !cg->krylov->has_operator_m;
    const weft_operator_choice choices[] = {
        {.name = "M", .fragments = scales ? &scaling : NULL, .n_fragments = scales},
        weft_operator_in_script_choice(&cg->in_script, "A")};
    const weft_compile_options options = {.size = sizeof options,
                                          .operators = choices,
                                          .n_operators = script == WEFT_KRYLOV_LOOP ? 2
                                                         : applies_m(cg, script)    ? 1
                                                                                    : 0};
    TRY(weft_compiled_make(cg->context, &fragment, 1, &options, compiled, error));
    TRY(make_inputs(cg, compiled->compilation, error));
done:
    return status;
}

static weft_status precondition(void *user, const weft_program_product *product,
                                weft_error *error) {
    const weft_solver *cg = user;
    return weft_preconditioner_apply(cg->options->preconditioner, product->v, product->y, error);
}

static weft_status size_set(weft_solver *cg, weft_program *program, int set, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_size(program, index_sets[set], index_set_size(cg, set), error));
    TRY(weft_program_share(program, index_sets[set],
                           set == 0 || !cg->op->layout ? weft_layout_share(cg->op->layout)
                                                       : &cg->krylov->replicated,
                           error));
done:
    return status;
}

static weft_status bind(weft_solver *cg, weft_krylov_script script, bool unbind,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_compiled *compiled = &cg->krylov->scripts[script];
    for (int i = 0; i < weft_compilation_names(compiled->compilation); ++i) {
        weft_name_info info;
        weft_compilation_name(compiled->compilation, i, &info);
        for (int set = 0; info.kind == WEFT_NAME_INDEX && set < 3; ++set)
            if (strcmp(info.name, index_sets[set]) == 0)
                TRY(size_set(cg, compiled->program, set, error));
        if (info.kind != WEFT_NAME_INPUT)
            continue;
        weft_memory *memory = shared(cg, info.name);
        memory = memory ? memory : weft_krylov_memory(cg, info.name);
        /* of lists over the basis, a cycle takes the rows that it reaches */
        TRY(weft_program_bind_beginning(compiled->program, info.name, unbind ? NULL : memory,
                                        error));
    }
    if (cg->krylov->has_operator_m && applies_m(cg, script) && !unbind) {
        TRY(weft_program_bind_operator(compiled->program, "M", precondition, cg, error));
        weft_program_loop_on_host(compiled->program, cg->options->preconditioner->is_foreign);
    }
    if (script == WEFT_KRYLOV_LOOP && !unbind)
        TRY(weft_operator_in_script_bind(&cg->in_script, compiled->program, "A", error));
    if (script == WEFT_KRYLOV_LOOP)
        TRY(weft_program_record_history(compiled->program, "rr", unbind ? NULL : cg->history,
                                        unbind ? 0 : WEFT_CG_ITERATIONS_MAX + 1, error));
done:
    return status;
}

static weft_status bind_once(weft_solver *cg, weft_krylov_script script, weft_error *error) {
    if (cg->krylov->bound[script])
        return WEFT_OK;
    cg->krylov->bound[script] = true;
    return bind(cg, script, false, error);
}

weft_status weft_krylov_run(weft_solver *cg, weft_krylov_script script, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(bind_once(cg, script, error));
    TRY(weft_program_run(cg->krylov->scripts[script].program, error));
done:
    return status;
}

void weft_krylov_unbind(weft_solver *cg) {
    for (int i = 0; cg->krylov && i < WEFT_KRYLOV_SCRIPTS; ++i)
        if (cg->krylov->bound[i]) {
            cg->krylov->bound[i] = false;
            (void)bind(cg, (weft_krylov_script)i, true, NULL);
        }
}

/* ---- methods --------------------------------------------------------------------------------- */

int weft_krylov_restart(const weft_cg_options *options) {
    enum { RESTART = 30 };
    return options->restart ? options->restart : RESTART;
}

int weft_krylov_cycle(const weft_solver *cg) {
    const bool restarts = weft_krylov_method_of(cg->options->method)->end != NULL;
    return restarts && cg->krylov ? cg->krylov->restart : 0;
}

weft_status weft_krylov_prepare(weft_solver *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char yes = 1;
    const weft_krylov_method *method = weft_krylov_method_of(cg->options->method);
    const int restart = weft_krylov_restart(cg->options);
    if (restart < 1 || restart > WEFT_RESTART_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "the restart length must lie in [1, %d]: it is %d", WEFT_RESTART_MAX,
                           restart));
    const bool has_operator_m = cg->options->preconditioner != NULL;
    if (cg->krylov && cg->krylov->method == method && cg->krylov->restart == restart &&
        cg->krylov->has_operator_m == has_operator_m)
        goto done;
    weft_krylov_free(&cg->krylov);
    cg->krylov = calloc(1, sizeof *cg->krylov);
    if (!cg->krylov)
        TRY(weft_out_of_memory(error, method->info.title));
    cg->krylov->method = method;
    cg->krylov->restart = restart;
    cg->krylov->has_operator_m = has_operator_m;
    TRY(weft_memory_make(cg->context->device, (size_t)restart + 1, &cg->krylov->replicated.owned,
                         error));
    for (int k = 0; k < restart && cg->op->layout; ++k)
        TRY(weft_memory_write(cg->krylov->replicated.owned, (size_t)k, &yes, 1, error));
    for (int i = 0; i < WEFT_KRYLOV_SCRIPTS; ++i)
        if (method->files[i])
            TRY(compile(cg, (weft_krylov_script)i, error));
done:
    if (status != WEFT_OK)
        weft_krylov_free(&cg->krylov);
    return status;
}

static weft_status run_loop(weft_solver *cg, int iterations, int *done, double *rr,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t counted = 0;
    const double most = iterations;
    TRY(weft_memory_write(cg->memory[WEFT_CG_ITERATIONS], 0, &most, sizeof most, error));
    TRY(weft_memory_write(cg->memory[WEFT_CG_LIMIT], 0, &cg->limit, sizeof cg->limit, error));
    TRY(weft_krylov_run(cg, WEFT_KRYLOV_LOOP, error));
    TRY(weft_program_iterations(cg->krylov->scripts[WEFT_KRYLOV_LOOP].program, &counted, error));
    TRY(weft_memory_read(cg->history, 0, rr, (size_t)(counted + 1) * sizeof *rr, error));
    *done = (int)counted;
    cg->rr = rr[counted];
    cg->rz = cg->pq = 1;
done:
    return status;
}

/* Run a cycle in pieces, each with only as many vectors of the basis as it reaches: rows of V and of
 * the other matrices that are not reached are left out. Where loops are captured, a graph would have
 * to be made for each number of rows, so there is one piece. */
static weft_status run_cycle(weft_solver *cg, int iterations, int *done, double *rr,
                             weft_error *error) {
    enum { PIECE = 5 };
    weft_status status = WEFT_OK;
    const int m = cg->krylov->restart;
    const int piece = weft_device_captures(cg->context->device) ? m : PIECE;
    weft_program *program = cg->krylov->scripts[WEFT_KRYLOV_LOOP].program;
    int counted = 0, wanted = 0;
    TRY(bind_once(cg, WEFT_KRYLOV_LOOP, error));
    for (*done = 0; *done < iterations && counted == wanted; *done += counted) {
        wanted = iterations - *done < piece ? iterations - *done : piece;
        const int rows = *done + wanted < m ? *done + wanted + 1 : m;
        TRY(weft_program_size(program, "basis", rows, error));
        TRY(run_loop(cg, wanted, &counted, rr + *done, error));
    }
done:
    return status;
}

weft_status weft_krylov_iterations(weft_solver *cg, bool is_new, int iterations, int *done,
                                   double *rr, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_krylov_method *method = cg->krylov->method;
    double broken = 0;
    iterations = iterations < WEFT_CG_ITERATIONS_MAX ? iterations : WEFT_CG_ITERATIONS_MAX;
    cg->breakdown = NULL;
    if (is_new) {
        cg->start_rr = cg->rr;
        TRY(weft_krylov_run(cg, WEFT_KRYLOV_START, error));
    }
    TRY(method->end ? run_cycle(cg, iterations, done, rr, error)
                    : run_loop(cg, iterations, done, rr, error));
    if (method->breakdowns[0])
        TRY(weft_memory_read(weft_krylov_memory(cg, "broken"), 0, &broken, sizeof broken, error));
    if (broken >= 1)
        cg->breakdown = method->breakdowns[(int)broken - 1];
    if (method->end && *done > 0)
        TRY(method->end(cg, *done, error));
done:
    return status;
}

void weft_krylov_free(weft_krylov **krylov) {
    weft_krylov *old = krylov ? *krylov : NULL;
    if (!old)
        return;
    for (int i = 0; i < WEFT_KRYLOV_SCRIPTS; ++i)
        weft_compiled_free(&old->scripts[i]);
    for (int i = 0; i < old->n_own; ++i)
        weft_memory_free(&old->own[i].memory);
    weft_memory_free(&old->replicated.owned);
    free(old);
    *krylov = NULL;
}
