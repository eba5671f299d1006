/* The command of a view: a program, a mesh file, and formulas in the view's units and coordinates. */
#include "answers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS = 96, TEXT = 1024 };

/* How a program says what a problem consists of. `file`: a script or a form file, whose text is written where it is
 * not shipped; `inputs`: coefficients are inputs of a form. */
typedef struct program {
    const char *name, *executable, *file;
    answers_physics physics;
    const char *k, *source[3], *capacity; /* options up to '=' */
    bool is_form;
    int degree;
} program;

static const program programs[] = {
    {"poisson", "poisson", NULL, ANSWERS_DIFFUSION, "--diffusivity", {"--source"}, NULL, false, 1},
    {"diffusion.weft",
     "solve",
     "diffusion.weft",
     ANSWERS_DIFFUSION,
     "--define=diffusivity",
     {"--define=source"},
     NULL,
     false,
     1},
    {"diffusion.ufl",
     "solve",
     "diffusion.ufl",
     ANSWERS_DIFFUSION,
     "--input=k",
     {"--input=f"},
     NULL,
     true,
     1},
    {"diffusion_2.ufl",
     "solve",
     "diffusion.ufl",
     ANSWERS_DIFFUSION,
     "--input=k",
     {"--input=f"},
     NULL,
     true,
     2},
    {"python",
     NULL,
     "problem.py",
     ANSWERS_DIFFUSION,
     "--diffusivity",
     {"--source"},
     NULL,
     false,
     1},
    {"elasticity.weft",
     "solve",
     "elasticity.weft",
     ANSWERS_ELASTICITY,
     "--define=young",
     {"--define=force_x", "--define=force_y", "--define=force_z"},
     NULL,
     false,
     1},
    {"elasticity_2.ufl",
     "solve",
     "elasticity.ufl",
     ANSWERS_ELASTICITY,
     "--input=k",
     {"--input=f"},
     NULL,
     true,
     2},
    {"elasticity.ufl",
     "solve",
     "elasticity.ufl",
     ANSWERS_ELASTICITY,
     "--input=k",
     {"--input=f"},
     NULL,
     true,
     1},
    {"heat.weft",
     "solve",
     "heat.weft",
     ANSWERS_HEAT,
     "--define=conductivity",
     {"--define=source"},
     "--define=capacity",
     false,
     1},
    {"heat.ufl",
     "solve",
     "heat.ufl",
     ANSWERS_HEAT,
     "--input=k",
     {"--input=f"},
     "--input=c",
     true,
     1},
    {"heat_2.ufl",
     "solve",
     "heat.ufl",
     ANSWERS_HEAT,
     "--input=k",
     {"--input=f"},
     "--input=c",
     true,
     2},
    {"advection_diffusion",
     "advection_diffusion",
     NULL,
     ANSWERS_TRANSPORT,
     "--diffusivity",
     {"--source"},
     "--capacity",
     false,
     1},
    {"radiation.weft",
     "solve",
     "radiation.weft",
     ANSWERS_NONLINEAR,
     "--define=k",
     {"--define=f"},
     NULL,
     false,
     1},
    {"nonlinear.ufl",
     "solve",
     "nonlinear.ufl",
     ANSWERS_NONLINEAR,
     "--input=k",
     {"--input=f"},
     NULL,
     true,
     1},
    {"nonlinear_2.ufl",
     "solve",
     "nonlinear.ufl",
     ANSWERS_NONLINEAR,
     "--input=k",
     {"--input=f"},
     NULL,
     true,
     2},
};
enum { N_PROGRAMS = sizeof programs / sizeof *programs };

static const program *find(const char *name) {
    for (int i = 0; i < N_PROGRAMS; ++i)
        if (strcmp(programs[i].name, name) == 0)
            return &programs[i];
    fprintf(stderr, "there is no program %s\n", name);
    exit(2);
}

const char *const *answers_programs(answers_physics physics) {
    static const char *names[ANSWERS_N_PHYSICS][N_PROGRAMS + 1];
    int n = 0;
    for (int i = 0; i < N_PROGRAMS; ++i)
        if (programs[i].physics == physics)
            names[physics][n++] = programs[i].name;
    names[physics][n] = NULL;
    return names[physics];
}

bool answers_can_run(const answers_run *run, const char *name) {
    return find(name)->executable || run->python;
}

typedef struct command {
    const answers_run *run;
    const answers_problem *problem;
    const answers_view *view;
    const program *program;
    char *arguments[ARGUMENTS + 1];
    int n;
} command;

__attribute__((format(printf, 2, 3))) static void add(command *c, const char *format, ...) {
    char text[8 * TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (c->n == ARGUMENTS || !(c->arguments[c->n++] = strdup(text))) {
        fprintf(stderr, "too many arguments\n");
        exit(3);
    }
}

/* scale (a + slope.X) as a formula in x, y, z. */
static void print_linear(const command *c, double scale, double a, const double slope[3],
                         char out[TEXT]) {
    static const char axes[] = "xyz";
    const bool is_constant = slope[0] == 0 && slope[1] == 0 && slope[2] == 0;
    if (is_constant) {
        snprintf(out, TEXT, "%.17g", scale * a);
        return;
    }
    int n = snprintf(out, TEXT, "(%.17g", scale * a);
    for (int j = 0; j < c->problem->d; ++j) {
        double b = 0;
        for (int i = 0; i < c->problem->d; ++i)
            b += slope[i] * c->view->q[j][i] / c->view->length;
        n += snprintf(out + n, TEXT - (size_t)n, "+(%.17g)*%c", scale * b, axes[j]);
    }
    snprintf(out + n, TEXT - (size_t)n, ")");
}

/* Component i of Q v, times scale, where v is linear; scalars are not rotated. */
static void print_component(const command *c, double scale, const answers_linear *v, int i,
                            char out[TEXT]) {
    double a = v->a[0], slope[3];
    memcpy(slope, v->slope[0], sizeof slope);
    if (c->problem->components > 1) {
        a = 0;
        memset(slope, 0, sizeof slope);
        for (int j = 0; j < c->problem->d; ++j) {
            a += c->view->q[i][j] * v->a[j];
            for (int k = 0; k < 3; ++k)
                slope[k] += c->view->q[i][j] * v->slope[j][k];
        }
    }
    print_linear(c, scale, a, slope, out);
}

/* All components, separated by commas. */
static void print_value(const command *c, double scale, const answers_linear *v,
                        char out[4 * TEXT]) {
    char text[TEXT];
    out[0] = '\0';
    for (int i = 0; i < c->problem->components; ++i) {
        print_component(c, scale, v, i, text);
        strcat(strcat(out, i ? "," : ""), text);
    }
}

/* value (1 + wave sin(angle.X)); a form has the wave in its text. Numbers and formulas by group are read in different
 * ways: every other form gets formulas. */
static void print_coefficient(const command *c, double value, char out[TEXT]) {
    char inner[TEXT];
    print_linear(c, 1, 0, c->problem->angle, inner);
    if (c->program->is_form && c->problem->seed % 2)
        snprintf(out, TEXT, "(%.17g)*1", value);
    else if (c->program->is_form || c->problem->wave == 0)
        snprintf(out, TEXT, "%.17g", value);
    else
        snprintf(out, TEXT, "(%.17g)*(1+(%.17g)*sin(%.900s))", value, c->problem->wave, inner);
}

static void add_materials(command *c) {
    static const char *const groups[] = {"steel", "air", "steel_2", "air_2"};
    const answers_problem *p = c->problem;
    const answers_view *v = c->view;
    const double unit = v->loads * v->stiffness * v->value / v->length / v->length;
    char value[TEXT];
    for (int g = 0; g < (v->splits ? 4 : 2); ++g) {
        char force[4 * TEXT] = "";
        const char *const between =
            c->program->source[0][2] == 'd' ? "@" : "=@"; /* --define=NAME@, --source=@ */
        const char *const at = c->program->is_form ? "@" : between;
        print_coefficient(c, v->stiffness * p->k[g % 2], value);
        add(c, "%s%s%s=%s", c->program->k, strchr(c->program->k, '=') ? "@" : "=@", groups[g],
            value);
        for (int i = 0; i < p->components; ++i) {
            double f = p->source[g % 2][0];
            for (int j = 0; j < p->d && p->components > 1; ++j)
                f = (j ? f : 0) + v->q[i][j] * p->source[g % 2][j];
            print_coefficient(c, unit * f, value);
            if (c->program->is_form)
                snprintf(force + strlen(force), TEXT, "%s%.17g", i ? "," : "", unit * f);
            else
                add(c, "%s%s%s=%s", c->program->source[i], at, groups[g], value);
        }
        if (c->program->is_form)
            add(c, "%s@%s=%s", c->program->source[0], groups[g], force);
    }
}

static void add_form_sides(command *c) {
    const answers_problem *p = c->problem;
    const double flux = c->view->loads * c->view->stiffness * c->view->value / c->view->length;
    const int which[2] = {1, 2 * p->d - 1};
    for (int i = 0; i < 2; ++i) {
        const answers_side *side = &p->sides[which[i]];
        answers_linear zero = {.a = {0}};
        char value[4 * TEXT];
        const bool has_flux =
            side->condition == ANSWERS_NEUMANN || side->condition == ANSWERS_ROBIN;
        print_value(c, flux, has_flux ? &side->value : &zero, value);
        add(c, "--measure=ds(%d)=%s", i + 1, answers_side_name(p->d, which[i]));
        add(c, "--input=g%d=%s", i + 1, value);
        add(c, "--input=alpha%d=%.17g", i + 1,
            side->condition == ANSWERS_ROBIN ? side->alpha * c->view->stiffness / c->view->length
                                             : 0);
    }
}

static void add_side(command *c, int s) {
    const answers_side *side = &c->problem->sides[s];
    const char *name = answers_side_name(c->problem->d, s);
    const answers_view *v = c->view;
    const double flux = v->loads * v->stiffness * v->value / v->length;
    char value[4 * TEXT];
    if (side->condition == ANSWERS_DIRICHLET) {
        print_value(c, v->lifts * v->value, &side->value, value);
        if (s == 0 && v->from_files)
            snprintf(value, sizeof value, "(%.17g)*field(%s/field.vtkhdf,v)", v->lifts * v->value,
                     c->run->folder);
        add(c, "--dirichlet=%s=%s", name, value);
    }
    if (c->program->is_form || side->condition == ANSWERS_DIRICHLET ||
        side->condition == ANSWERS_NATURAL)
        return;
    print_value(c, flux, &side->value, value);
    if (side->condition == ANSWERS_NEUMANN)
        add(c, "--neumann=%s=%s", name, value);
    else
        add(c, "--robin=%s=%.17g,%s", name, side->alpha * v->stiffness / v->length, value);
}

static void add_time(command *c) {
    const answers_problem *p = c->problem;
    const answers_view *v = c->view;
    const double C = v->stiffness * v->time / v->length / v->length, dt = p->dt * v->time;
    char value[4 * TEXT];
    print_value(c, v->lifts * v->value, &p->initial, value);
    add(c, "--initial=%s", value);
    add(c, "%s=%.17g", c->program->capacity, C * p->capacity);
    if (p->physics == ANSWERS_HEAT) {
        add(c, "--time=%.17g,%.17g", dt, dt * p->steps);
        return;
    }
    double w[3] = {0};
    for (int i = 0; i < p->d; ++i)
        for (int j = 0; j < p->d; ++j)
            w[i] += v->q[i][j] * p->velocity[j] * v->length / v->time;
    add(c, "--dt=%.17g", dt);
    add(c, "--steps=%d", p->steps);
    if (p->d == 2)
        add(c, "--velocity=%.17g,%.17g", w[0], w[1]);
    else
        add(c, "--velocity=%.17g,%.17g,%.17g", w[0], w[1], w[2]);
}

static void add_constants(command *c) {
    const answers_problem *p = c->problem;
    double angle[3] = {0};
    for (int j = 0; j < p->d; ++j)
        for (int i = 0; i < p->d; ++i)
            angle[j] += p->angle[i] * c->view->q[j][i] / c->view->length;
    if (c->program->is_form) {
        add(c, "--input=wave=%.17g", p->wave);
        for (int a = 0; a < p->d; ++a)
            add(c, "--input=angle%d=%.17g", a, angle[a]);
        add_form_sides(c);
    }
    if (p->physics == ANSWERS_NONLINEAR) {
        const answers_view *v = c->view;
        add(c, "--nonlinear");
        add(c, "--input=s=%.17g", p->s * v->stiffness * v->value / v->length / v->length);
        add(c, "--input=scale=%.17g", v->value);
        if (c->program->is_form)
            add(c, "--input=beta=%.17g", p->beta);
    }
    if (p->physics == ANSWERS_ELASTICITY)
        add(c, c->program->is_form ? "--input=nu=%.17g" : "--define=poisson=%.17g", p->nu);
}

static void add_results(command *c) {
    const answers_problem *p = c->problem;
    for (int i = 0; i < ANSWERS_PROBES; ++i) {
        double x[3] = {0};
        for (int a = 0; a < p->d; ++a)
            for (int b = 0; b < p->d; ++b)
                x[a] += c->view->length * c->view->q[a][b] * p->probes[i][b];
        if (p->d == 2)
            add(c, "--probe=%.17g,%.17g", x[0], x[1]);
        else
            add(c, "--probe=%.17g,%.17g,%.17g", x[0], x[1], x[2]);
    }
    if (!c->program->executable)
        return;
    if (p->components == 1) {
        const char *u = p->physics == ANSWERS_TRANSPORT ? "T" : "u";
        add(c, "--integral=I=%s", u);
        add(c, "--integral=R@right=%s", u);
        add(c, "--extrema=E=%s", u);
    }
    if (p->physics != ANSWERS_HEAT && p->physics != ANSWERS_TRANSPORT)
        add(c, "--reactions");
}

static void write_form(const command *c, const char *path) {
    static const char *const cells[] = {"triangle", "tetrahedron"};
    const answers_problem *p = c->problem;
    const bool is_vector = p->components > 1;
    const char *kind = is_vector ? "Vector" : "Finite", *cell = cells[p->d - 2];
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(3);
    }
    fprintf(file,
            "V = %sElement(\"Lagrange\", %s, %d)\nD = FiniteElement(\"DG\", %s, 0)\n"
            "DV = %sElement(\"DG\", %s, 0)\nu, v = %s(V), TestFunction(V)\n"
            "k, f = Coefficient(D), Coefficient(DV)\nx = SpatialCoordinate(%s)\n",
            kind, cell, c->program->degree, cell, kind, cell,
            p->physics == ANSWERS_NONLINEAR ? "Coefficient" : "TrialFunction", cell);
    for (const char *const *name =
             (const char *const[]){"wave", "angle0", "angle1", "angle2", "alpha1", "alpha2", "c",
                                   "nu", "s", "scale", "beta", NULL};
         *name; ++name)
        fprintf(file, "%s = Constant(%s)\n", *name, cell);
    fprintf(file, "g1, g2 = %sConstant(%s), %sConstant(%s)\n", is_vector ? "Vector" : "", cell,
            is_vector ? "Vector" : "", cell);
    fprintf(file, "W = 1 + wave*sin(%s)\n",
            p->d == 2 ? "angle0*x[0] + angle1*x[1]" : "angle0*x[0] + angle1*x[1] + angle2*x[2]");
    if (is_vector)
        fprintf(file,
                "e = sym(grad(u))\nA = inner(k*W/(1 + nu)*(e + nu/(1 - 2*nu)*tr(e)*Identity(%d)), "
                "sym(grad(v)))*dx\n",
                p->d);
    else
        fprintf(file, "A = k*W*inner(grad(u), grad(v))*dx\n");
    fprintf(file, "B = A + alpha1*inner(u, v)*ds(1) + alpha2*inner(u, v)*ds(2)\n"
                  "load = W*inner(f, v)*dx + inner(g1, v)*ds(1) + inner(g2, v)*ds(2)\n");
    if (p->physics == ANSWERS_NONLINEAR)
        fprintf(file, "F = B + k*W*beta*(u/scale)**2*inner(grad(u), grad(v))*dx + "
                      "s*(u/scale)**3*v*dx - load\n");
    else
        fprintf(file, "a, L = B, load\n");
    if (p->physics == ANSWERS_HEAT)
        fprintf(file, "m = c*u*v*dx\n");
    fclose(file);
}

static bool same_option(const char *a, const char *b) {
    const size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

/* Options from `first` on in another order; those of the same name keep theirs, since the last may decide. */
static void shuffle(command *c, int first, uint64_t seed) {
    char *kept[ARGUMENTS];
    uint64_t state = seed;
    memcpy(kept, c->arguments, sizeof kept);
    for (int i = c->n - 1; i > first; --i) {
        const int j = first + (int)answers_below(&state, (uint64_t)(i - first + 1));
        char *at = c->arguments[i];
        c->arguments[i] = c->arguments[j];
        c->arguments[j] = at;
    }
    for (int i = first; i < c->n; ++i) {
        int k = first;
        while (!kept[k] || !same_option(kept[k], c->arguments[i]))
            ++k;
        c->arguments[i] = kept[k];
        kept[k] = NULL;
    }
}

char **answers_command(const answers_run *run, const answers_problem *problem,
                       const answers_view *view) {
    command c = {.run = run, .problem = problem, .view = view, .program = find(view->program)};
    char path[4096];
    if (c.program->executable)
        add(&c, "%s/%s", run->build, c.program->executable);
    else
        add(&c, "%s", run->python);
    snprintf(path, sizeof path, "%s/%s", c.program->is_form ? run->folder : run->source,
             c.program->file);
    if (c.program->is_form)
        write_form(&c, path);
    if (c.program->file)
        add(&c, "%s", access(path, R_OK) == 0 ? path : c.program->file); /* or a shipped script */
    add(&c, "--mesh=%s/mesh.vtkhdf", run->folder);
    add(&c, "--json=-");
    const int first = c.n;
    if (run->device)
        add(&c, "--device=%s", run->device);
    add_materials(&c);
    add_constants(&c);
    for (int s = 0; s < 2 * problem->d; ++s)
        add_side(&c, s);
    if (c.program->capacity)
        add_time(&c);
    add_results(&c);
    for (int i = 0; view->options[i]; ++i)
        add(&c, "%s", view->options[i]);
    if (view->order)
        shuffle(&c, first, view->order);
    char **out = calloc((size_t)c.n + 1, sizeof *out);
    if (!out)
        exit(3);
    memcpy(out, c.arguments, (size_t)c.n * sizeof *out);
    return out;
}

void answers_command_free(char **arguments) {
    for (int i = 0; arguments[i]; ++i)
        free(arguments[i]);
    free(arguments);
}
