/* What must hold between the answers of views. Tolerance: solves stop at a residual of 1e-11 and matrices have condition numbers
 * up to 1e6, so that answers are compared to 1e-5 of the largest. */
#include "answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TOLERANCE = 1e-5;

/* ---- comparing ------------------------------------------------------------------------------------------- */

/* A quantity in units of X, in its directions. */
static answers_quantity in_body(const answers_problem *p, const answers_view *view,
                                const answers_quantity *q) {
    answers_quantity out = *q;
    double unit = view->value;
    if (q->kind == ANSWERS_FLOW)
        unit *= view->stiffness * pow(view->length, p->d - 2);
    if (q->kind == ANSWERS_INTEGRAL)
        unit *= pow(view->length, q->name[0] == 'R' ? p->d - 1 : p->d);
    for (int i = 0; i < q->n; ++i) {
        out.v[i] = q->n == 1 ? q->v[i] : 0;
        for (int j = 0; j < p->d && q->n > 1; ++j)
            out.v[i] += view->q[j][i] * q->v[j];
        out.v[i] /= unit;
    }
    return out;
}

static answers_result all_in_body(const answers_problem *p, const answers_view *view,
                                  const answers_result *r) {
    answers_result out = *r;
    for (int i = 0; i < r->n; ++i)
        out.all[i] = in_body(p, view, &r->all[i]);
    return out;
}

static double largest(const answers_result *r, answers_kind kind) {
    double most = 0;
    for (int i = 0; i < r->n; ++i)
        for (int k = 0; k < r->all[i].n && r->all[i].kind == kind; ++k)
            most = fmax(most, fabs(r->all[i].v[k]));
    return most;
}

static const answers_quantity *quantity(const answers_result *r, const char *name) {
    for (int i = 0; i < r->n; ++i)
        if (strcmp(r->all[i].name, name) == 0)
            return &r->all[i];
    return NULL;
}

/* Each quantity of a is that of b, to `tolerance` of the size of quantities of its kind; a and b are in body units. */
static bool agree(const answers_problem *p, const answers_result *a, const answers_result *b,
                  double tolerance, char *why, size_t size) {
    double scale[ANSWERS_N_KINDS];
    scale[ANSWERS_VALUE] = fmax(largest(a, ANSWERS_VALUE), largest(b, ANSWERS_VALUE));
    scale[ANSWERS_INTEGRAL] = scale[ANSWERS_VALUE];
    scale[ANSWERS_FLOW] = fmax(fmax(largest(a, ANSWERS_FLOW), largest(b, ANSWERS_FLOW)),
                               fmax(p->k[0], p->k[1]) * scale[ANSWERS_VALUE]);
    int n = 0;
    for (int i = 0; i < a->n; ++i) {
        const answers_quantity *q = &a->all[i], *other = quantity(b, q->name);
        if (!other)
            continue;
        ++n;
        for (int k = 0; k < q->n; ++k)
            if (!(fabs(q->v[k] - other->v[k]) <= tolerance * scale[q->kind])) {
                snprintf(why, size, "%s: %.12g and %.12g, of values up to %.3g", q->name, q->v[k],
                         other->v[k], scale[q->kind]);
                return false;
            }
    }
    if (n < ANSWERS_PROBES)
        snprintf(why, size, "only %d quantities are in both results", n);
    return n >= ANSWERS_PROBES;
}

/* Solve; in body units. A failure with these options is a failure of the case. */
static bool solve(answers_run *run, const answers_problem *p, const answers_view *view,
                  answers_result *out, char *why, size_t size) {
    answers_result raw;
    answers_view with = *view;
    int n = 0;
    while (with.options[n])
        ++n;
    if (p->physics == ANSWERS_NONLINEAR)
        with.options[n++] = "--newton-iterations=100";
    with.options[n] = p->physics == ANSWERS_TRANSPORT ? "--tolerance=1e-12" : "--tolerance=1e-11";
    answers_solve(run, p, &with, &raw);
    if (raw.exit_code != 0)
        snprintf(why, size, "exit %d: %.500s", raw.exit_code, raw.error);
    const bool solved = raw.exit_code == 0;
    *out = all_in_body(p, view, &raw);
    answers_result_free(&raw);
    out->output = out->error = NULL;
    return solved;
}

/* ---- relations ------------------------------------------------------------------------------------------- */

static bool any(const answers_problem *p) {
    (void)p;
    return true;
}

static bool in_time(const answers_problem *p) {
    return p->physics == ANSWERS_HEAT || p->physics == ANSWERS_TRANSPORT;
}

static bool has_reactions(const answers_problem *p) {
    return !in_time(p);
}

static bool is_scalar(const answers_problem *p) {
    return p->components == 1;
}

static bool is_linear(const answers_problem *p) {
    return p->physics != ANSWERS_NONLINEAR;
}

static bool is_nonlinear(const answers_problem *p) {
    return p->physics == ANSWERS_NONLINEAR;
}

static bool has_programs(const answers_problem *p) {
    return p->physics != ANSWERS_TRANSPORT;
}

static bool is_heat(const answers_problem *p) {
    return p->physics == ANSWERS_HEAT;
}

/* One of the programs that can be run here. */
static const char *choose_program(const answers_run *run, const answers_problem *p,
                                  uint64_t *state) {
    const char *const *names = answers_programs(p->physics);
    int n = 0, k;
    while (names[n])
        ++n;
    do
        k = (int)answers_below(state, (uint64_t)n);
    while (!answers_can_run(run, names[k]));
    return names[k];
}

static double power_of_ten(uint64_t *state, int most) {
    return pow(10, (double)answers_below(state, (uint64_t)(2 * most + 1)) - most);
}

static void units(const answers_problem *p, answers_view *view, uint64_t *state) {
    (void)p;
    view->length = power_of_ten(state, 5);
    view->value = power_of_ten(state, 6);
    view->stiffness = power_of_ten(state, 9);
    view->time = power_of_ten(state, 5);
}

static void position(const answers_problem *p, answers_view *view, uint64_t *state) {
    answers_view_rotate(view, p->d, answers_below(state, 2), state);
}

static void numbering(const answers_problem *p, answers_view *view, uint64_t *state) {
    (void)p;
    view->numbering = 1 + answers_below(state, 1000000);
}

static void groups(const answers_problem *p, answers_view *view, uint64_t *state) {
    (void)p;
    (void)state;
    view->splits = true;
}

static void order(const answers_problem *p, answers_view *view, uint64_t *state) {
    (void)p;
    view->order = 1 + answers_below(state, 1000000);
}

static void files(const answers_problem *p, answers_view *view, uint64_t *state) {
    (void)p;
    view->from_files = true;
    view->numbering = answers_below(state, 2) * 77;
}

bool answers_holds(const answers_relation *relation, answers_run *run, answers_problem *p,
                   uint64_t *state, char *why, size_t size) {
    answers_view a, b;
    answers_result first, second;
    if (!relation->change)
        return relation->holds(run, p, state, why, size);
    answers_view_make(choose_program(run, p, state), &a);
    b = a;
    relation->change(p, &b, state);
    return solve(run, p, &a, &first, why, size) && solve(run, p, &b, &second, why, size) &&
           agree(p, &first, &second, TOLERANCE, why, size);
}

/* u(loads) + u(prescribed values) = u(both) */
static bool superposition(answers_run *run, answers_problem *p, uint64_t *state, char *why,
                          size_t size) {
    answers_view both, loads, lifts;
    answers_result r[3];
    answers_view_make(choose_program(run, p, state), &both);
    loads = lifts = both;
    loads.lifts = 0;
    lifts.loads = 0;
    if (!solve(run, p, &both, &r[0], why, size) || !solve(run, p, &loads, &r[1], why, size) ||
        !solve(run, p, &lifts, &r[2], why, size))
        return false;
    answers_result sum = {.n = 0};
    for (int i = 0; i < r[1].n; ++i) {
        const answers_quantity *q = &r[1].all[i], *other = quantity(&r[2], q->name);
        if (!other || strcmp(q->name, "least") == 0 || strcmp(q->name, "greatest") == 0)
            continue;
        sum.all[sum.n] = *q;
        for (int k = 0; k < q->n; ++k)
            sum.all[sum.n].v[k] += other->v[k];
        ++sum.n;
    }
    return agree(p, &r[0], &sum, TOLERANCE, why, size);
}

/* What enters by sources and fluxes. */
static double loads_of(const answers_problem *p, int component) {
    double sum = (p->source[0][component] + p->source[1][component]) / 2;
    for (int s = 0; s < 2 * p->d; ++s)
        if (p->sides[s].condition == ANSWERS_NEUMANN)
            sum += p->sides[s].value.a[component];
    return sum;
}

/* Reactions, loads and what Robin conditions exchange add up to what terms of the equation itself take up. */
static bool balance(answers_run *run, answers_problem *p, uint64_t *state, char *why, size_t size) {
    answers_view view;
    answers_result r;
    double sum[3] = {0};
    int n = 0;
    answers_view_make(choose_program(run, p, state), &view);
    p->wave = 0;
    if (strcmp(view.program, "python") == 0)
        view.program = answers_programs(p->physics)[0];
    if (!solve(run, p, &view, &r, why, size))
        return false;
    const answers_quantity *loads = quantity(&r, "loads");
    if (strstr(
            view.program,
            ".ufl")) /* what a form's ds(1) makes flow in is exchange, since its matrix has ds(1) too */
        loads = NULL;
    for (int k = 0; k < p->components && loads; ++k) {
        const double wanted = loads_of(p, k);
        if (fabs(loads->v[k] - wanted) <= 1e-9 * (1 + fabs(wanted)))
            continue;
        snprintf(why, size, "loads are %.12g, they should be %.12g", loads->v[k], wanted);
        return false;
    }
    for (int i = 0; i < r.n; ++i)
        for (int k = 0; k < r.all[i].n && r.all[i].kind == ANSWERS_FLOW; ++k, ++n)
            if (strcmp(r.all[i].name, "balance") != 0)
                sum[k] += (strcmp(r.all[i].name, "equation") == 0 ? -1 : 1) * r.all[i].v[k];
    const double most =
        fmax(largest(&r, ANSWERS_FLOW), fmax(p->k[0], p->k[1]) * largest(&r, ANSWERS_VALUE));
    for (int k = 0; k < 3; ++k)
        if (!(fabs(sum[k]) <= TOLERANCE * most)) {
            snprintf(why, size, "the balance is %.6g instead of 0, the largest of its parts %.6g",
                     sum[k], most);
            return false;
        }
    if (n < 2)
        snprintf(why, size, "there are no reactions");
    return n >= 2;
}

/* The stress, or flux, of a linear field through the side with this outer normal. */
static void flux_of(const answers_problem *p, const answers_linear *u, int axis, double sign,
                    double out[3]) {
    const double k = p->k[0], lambda = k * p->nu / (1 + p->nu) / (1 - 2 * p->nu),
                 mu = k / 2 / (1 + p->nu);
    double trace = 0;
    for (int i = 0; i < p->d; ++i)
        trace += u->slope[i][i];
    for (int i = 0; i < p->components; ++i)
        out[i] = p->components == 1 ? sign * k * u->slope[0][axis]
                                    : sign * (mu * (u->slope[i][axis] + u->slope[axis][i]) +
                                              (i == axis ? lambda * trace : 0));
}

/* u = a + slope.X solves the equation without sources in one material, and elements represent it exactly. */
static bool patch(answers_run *run, answers_problem *p, uint64_t *state, char *why, size_t size) {
    const int fluxes[2] = {1, 2 * p->d - 1};
    answers_view view;
    answers_result r;
    p->k[1] = p->k[0];
    p->wave = 0;
    memset(p->source, 0, sizeof p->source);
    memset(p->velocity, 0, sizeof p->velocity);
    for (int s = 0; s < 2 * p->d; ++s)
        p->sides[s] = (answers_side){.condition = ANSWERS_DIRICHLET, .value = p->initial};
    for (int i = 0; i < 2; ++i) {
        answers_side *side = &p->sides[fluxes[i]];
        if (answers_below(state, 3) == 0)
            continue;
        *side = (answers_side){.condition = ANSWERS_NEUMANN};
        flux_of(p, &p->initial, fluxes[i] / 2, 1, side->value.a);
    }
    answers_view_make(choose_program(run, p, state), &view);
    answers_view_rotate(&view, p->d, answers_below(state, 2), state);
    view.numbering = answers_below(state, 1000000);
    if (!solve(run, p, &view, &r, why, size))
        return false;
    for (int i = 0; i < ANSWERS_PROBES; ++i)
        for (int c = 0; c < p->components; ++c) {
            double wanted = p->initial.a[c];
            for (int a = 0; a < p->d; ++a)
                wanted += p->initial.slope[c][a] * p->probes[i][a];
            if (!(fabs(r.all[i].v[c] - wanted) <= 1e-7)) {
                snprintf(why, size, "probe %d has %.12g, the exact value is %.12g", i,
                         r.all[i].v[c], wanted);
                return false;
            }
        }
    return true;
}

/* Where f = s u0^3 and u = u0 on the boundary, u = u0, however far that is from the start. */
static bool constant(answers_run *run, answers_problem *p, uint64_t *state, char *why,
                     size_t size) {
    const double u0 = answers_between(state, 0.5, 3) * (answers_below(state, 2) ? 1 : -1);
    answers_view view;
    answers_result r;
    p->wave = 0;
    p->s = pow(10, answers_between(state, -8, 8));
    p->source[0][0] = p->source[1][0] = p->s * u0 * u0 * u0;
    for (int s = 0; s < 2 * p->d; ++s) {
        p->sides[s] = (answers_side){
            .condition = s == 0 || answers_below(state, 2) ? ANSWERS_DIRICHLET : ANSWERS_NATURAL};
        p->sides[s].value.a[0] = u0;
    }
    answers_view_make(choose_program(run, p, state), &view);
    view.value = power_of_ten(state, 4);
    view.stiffness = power_of_ten(state, 6);
    if (!solve(run, p, &view, &r, why, size))
        return false;
    for (int i = 0; i < ANSWERS_PROBES; ++i)
        if (!(fabs(r.all[i].v[0] - u0) <= 1e-6 * fabs(u0))) {
            snprintf(why, size, "probe %d has %.12g, the exact value is %.12g", i, r.all[i].v[0],
                     u0);
            return false;
        }
    return true;
}

/* Another assembly, method, preconditioner, plan, number of threads or ordering: the same answer, or none. */
static bool choices(answers_run *run, answers_problem *p, uint64_t *state, char *why, size_t size) {
    static const char *const assemblies[] = {"--assembly=lma", "--assembly=lma-gather",
                                             "--assembly=csr", "--assembly=matrix-free",
                                             "--assembly=edge"},
                             *const preconditioners[] = {"--preconditioner=jacobi",
                                                         "--preconditioner=chebyshev",
                                                         "--preconditioner=aggregation",
                                                         "--preconditioner=none"},
                             *const methods[] = {"--method=cg", "--method=minres", "--method=gmres",
                                                 "--method=bicgstab"},
                             *const others[] = {"--plan=unfused", "--ordering=metis",
                                                "--ordering=bisection", "--restart=50"};
    answers_view a, b;
    answers_result first, second;
    const bool steps = p->physics == ANSWERS_TRANSPORT;
    answers_view_make(choose_program(run, p, state), &a);
    if (strcmp(a.program, "python") == 0)
        a.program = answers_programs(p->physics)[0];
    b = a;
    b.options[0] = assemblies[answers_below(state, strstr(a.program, "_2") ? 4 : 5)];
    b.options[1] = preconditioners[answers_below(state, steps ? 3 : 4)];
    b.options[2] = steps ? others[answers_below(state, 3)] : methods[answers_below(state, 4)];
    b.options[3] = steps ? NULL : others[answers_below(state, 4)];
    if (!solve(run, p, &a, &first, why, size))
        return false;
    if (!solve(run, p, &b, &second, why, size))
        return strncmp(why, "exit 1", 6) == 0 || strstr(why, "hint:") != NULL;
    return agree(p, &first, &second, TOLERANCE, why, size);
}

/* Forget loads and exchange: a form's ds(1) makes flow in by exchange what conditions have among the loads. */
static void forget_loads(answers_result *r) {
    for (int i = 0; i < r->n; ++i)
        if (r->all[i].kind == ANSWERS_FLOW && strncmp(r->all[i].name, "reaction ", 9) != 0)
            r->all[i--] = r->all[--r->n];
}

/* Two programs, or a script and a form, of the same discretisation: sources and coefficients constant in each material. */
static bool programs(answers_run *run, answers_problem *p, uint64_t *state, char *why,
                     size_t size) {
    answers_view a, b;
    answers_result first, second;
    p->wave = p->beta = 0;
    do
        answers_view_make(choose_program(run, p, state), &a);
    while (strstr(a.program, "_2"));
    do
        answers_view_make(choose_program(run, p, state), &b);
    while (strstr(b.program, "_2") || a.program == b.program);
    if (!solve(run, p, &a, &first, why, size) || !solve(run, p, &b, &second, why, size))
        return false;
    forget_loads(&first);
    forget_loads(&second);
    return agree(p, &first, &second, TOLERANCE, why, size);
}

/* On the host, to the last bit; on a GPU, threads add in any order. */
static double same_bits(const answers_run *run) {
    return run->device && strncmp(run->device, "host", 4) != 0 ? 1e-9 : 0;
}

/* A run in two parts is the run in one, both with checkpoints at the same steps, and with the same storage and preconditioner, which
 * are chosen by the number of steps otherwise. */
static bool restart(answers_run *run, answers_problem *p, uint64_t *state, char *why, size_t size) {
    const bool transport = p->physics == ANSWERS_TRANSPORT;
    char checkpoint[4096], resume[4096], other[4096], every[64];
    answers_view view;
    answers_result whole, rest;
    const int steps = p->steps, first = 1 + (int)answers_below(state, (uint64_t)steps - 1);
    snprintf(checkpoint, sizeof checkpoint, "--checkpoint=%s/state.vtkhdf", run->folder);
    snprintf(other, sizeof other, "--checkpoint=%s/other.vtkhdf", run->folder);
    snprintf(resume, sizeof resume, "--%s=%s/state.vtkhdf", transport ? "restart" : "resume",
             run->folder);
    snprintf(every, sizeof every, "--checkpoint-every=%d", first);
    answers_view_make(choose_program(run, p, state), &view);
    view.options[0] = other;
    view.options[1] = every;
    view.options[2] = "--assembly=csr";
    view.options[3] = "--preconditioner=jacobi";
    if (!solve(run, p, &view, &whole, why, size))
        return false;
    p->steps = first;
    view.options[0] = checkpoint;
    if (!solve(run, p, &view, &rest, why, size))
        return false;
    p->steps = steps;
    view.options[4] = resume;
    return solve(run, p, &view, &rest, why, size) &&
           agree(p, &whole, &rest, same_bits(run), why, size);
}

/* int c u = int c u(0) + t int f in an insulated body; the integral of a linear function is its value at the centre. */
static bool conservation(answers_run *run, answers_problem *p, uint64_t *state, char *why,
                         size_t size) {
    answers_view view;
    answers_result r;
    p->wave = 0;
    memset(p->velocity, 0, sizeof p->velocity);
    for (int s = 0; s < 2 * p->d; ++s)
        p->sides[s].condition = ANSWERS_NATURAL;
    p->dt *= pow(10, (double)answers_below(state, 5)); /* long steps too */
    answers_view_make(choose_program(run, p, state), &view);
    view.options[0] = "--neumann=right=0"; /* a program that has no condition takes u = 0 */
    if (!solve(run, p, &view, &r, why, size))
        return false;
    double start = p->initial.a[0],
           entered = (p->source[0][0] + p->source[1][0]) / 2 * p->dt * p->steps / p->capacity;
    for (int a = 0; a < p->d; ++a)
        start += p->initial.slope[0][a] / 2;
    const answers_quantity *found = quantity(&r, "I");
    const double most = fmax(fmax(fabs(start), fabs(entered)), largest(&r, ANSWERS_VALUE));
    if (found && fabs(found->v[0] - start - entered) <= 1e-6 * most)
        return true;
    snprintf(why, size, "int u is %.12g, but at the start %.12g and %.12g entered",
             found ? found->v[0] : NAN, start, entered);
    return false;
}

/* After a long time heat is in its stationary state. */
static bool stationary(answers_run *run, answers_problem *p, uint64_t *state, char *why,
                       size_t size) {
    answers_view a, b;
    answers_result first, second;
    p->dt = 1e7;
    p->steps = 4;
    const bool form = answers_below(state, 2);
    answers_view_make(form ? "heat_2.ufl" : "heat.weft", &a);
    answers_view_make(form ? "diffusion_2.ufl" : "diffusion.weft", &b);
    if (!solve(run, p, &a, &first, why, size))
        return false;
    p->physics = ANSWERS_DIFFUSION;
    return solve(run, p, &b, &second, why, size) && agree(p, &first, &second, TOLERANCE, why, size);
}

/* The number of threads changes no bit; the storage and preconditioner that are chosen depend on it. */
static bool threads(answers_run *run, answers_problem *p, uint64_t *state, char *why, size_t size) {
    answers_view view;
    answers_result first, second;
    const char *device = run->device;
    answers_view_make(choose_program(run, p, state), &view);
    if (strcmp(view.program, "python") != 0) { /* its choices count no threads */
        view.options[0] = "--assembly=csr";
        view.options[1] = "--preconditioner=jacobi";
    }
    run->device = "host:1";
    const bool one = solve(run, p, &view, &first, why, size);
    run->device = answers_below(state, 2) ? "host:2" : "host:3";
    const bool more = one && solve(run, p, &view, &second, why, size);
    run->device = device;
    return more && agree(p, &first, &second, 0, why, size);
}

const answers_relation answers_relations[] = {
    {"units", "lengths, coefficients, values and times in other units", any, units, NULL},
    {"position", "rotated and reflected", any, position, NULL},
    {"numbering", "nodes, cells and vertices of cells in another order", any, numbering, NULL},
    {"groups", "groups of cells divided", any, groups, NULL},
    {"superposition", "loads and prescribed values one at a time", is_linear, NULL, superposition},
    {"balance", "reactions, loads and exchange add up to zero", has_reactions, NULL, balance},
    {"patch", "linear functions are solved exactly", is_linear, NULL, patch},
    {"constant", "a constant state of a nonlinear equation", is_nonlinear, NULL, constant},
    {"choices", "assembly, method, preconditioner, plan and ordering", any, NULL, choices},
    {"programs", "two programs for the same problem", has_programs, NULL, programs},
    {"order", "options in another order", any, order, NULL},
    {"files", "values from a file instead of a formula", is_scalar, files, NULL},
    {"restart", "a run in two parts", in_time, NULL, restart},
    {"conservation", "the mean of an insulated body", in_time, NULL, conservation},
    {"stationary", "heat after a long time", is_heat, NULL, stationary},
    {"threads", "another number of threads", any, NULL, threads},
    {NULL, NULL, NULL, NULL, NULL},
};
