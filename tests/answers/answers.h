/** Metamorphic tests: answers are tested by what must not change them.
 *
 *      In: a seed.  Out: a random problem; views of it, which describe the same body in other units, another position,
 *      numbering, or by other options; answers of programs, and relations between the answers of views.
 *
 *  Coordinates X in the unit square or cube belong to the body. A view places the body at x = length Q X. */
#ifndef WEFT_ANSWERS_H
#define WEFT_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANSWERS_PROBES = 3, ANSWERS_SIDES = 6, ANSWERS_QUANTITIES = 40 };

typedef enum answers_physics {
    ANSWERS_DIFFUSION,  /* -div(k grad u) = f */
    ANSWERS_ELASTICITY, /* Hooke's law, E = k, nu */
    ANSWERS_HEAT,       /* c du/dt - div(k grad u) = f */
    ANSWERS_TRANSPORT,  /* c (du/dt + w.grad u) = div(k grad u) + f */
    ANSWERS_NONLINEAR,  /* -div(k (1 + beta (u/U)^2) grad u) + s (u/U)^3 = f, U the unit of u */
    ANSWERS_N_PHYSICS
} answers_physics;

/** a + slope.X, for each component */
typedef struct answers_linear {
    double a[3], slope[3][3]; /* [component], [component][axis] */
} answers_linear;

typedef enum answers_condition {
    ANSWERS_NATURAL,
    ANSWERS_DIRICHLET,
    ANSWERS_NEUMANN,
    ANSWERS_ROBIN
} answers_condition;

/** Sides in the order left, right (X), bottom, top (Y), in space left, right, front, back (Y), bottom, top (Z). */
typedef struct answers_side {
    answers_condition condition;
    answers_linear value; /* of u, or a flux, which is constant */
    double alpha;         /* of ROBIN */
} answers_side;

/** "left", ... in the order of answers_side below. */
const char *answers_side_name(int d, int side);

typedef struct answers_problem {
    uint64_t seed;
    answers_physics physics;
    int d, components, n;  /* n: boxes along each axis */
    double jitter;         /* of inner nodes, in boxes */
    double k[2], nu;       /* of the materials left and right of X = 1/2 */
    double wave, angle[3]; /* k and f are multiplied by 1 + wave sin(angle.X) */
    double source[2][3];   /* [material][component] */
    double capacity, velocity[3], dt;
    double s, beta; /* of NONLINEAR */
    int steps;
    answers_linear initial;
    answers_side sides[ANSWERS_SIDES];
    double probes[ANSWERS_PROBES][3];
} answers_problem;

/** A description of a problem. Units are factors: a length of the body is `length` times that of X, and so on. */
typedef struct answers_view {
    double length, value, stiffness, time;
    double q[3][3]; /* orthogonal */
    /* factors of the sources and fluxes, and of prescribed and initial values */
    double loads, lifts;
    /* 0: as made; else the seed of a renumbering of nodes, cells and the vertices of cells */
    uint64_t numbering;
    uint64_t order;      /* 0: as made; else the seed of the order of options */
    bool splits;         /* each group of cells is two groups with the same values */
    bool from_files;     /* linear functions are read from a file of their values at the nodes */
    const char *program; /* a row of the table of programs */
    const char *options[12]; /* further options of the program, NULL at the end */
} answers_view;

typedef enum answers_kind {
    ANSWERS_VALUE,    /* in units of u */
    ANSWERS_INTEGRAL, /* of u */
    ANSWERS_FLOW,     /* a reaction or a load */
    ANSWERS_N_KINDS
} answers_kind;

typedef struct answers_quantity {
    char name[40];
    answers_kind kind;
    int n;
    double v[3];
} answers_quantity;

typedef struct answers_result {
    int n;
    answers_quantity all[ANSWERS_QUANTITIES];
    int exit_code;
    char *output; /* JSON */
    char *error;
} answers_result;

/** What all cases share. */
typedef struct answers_run {
    /* folders, a device or NULL, an interpreter or NULL */
    const char *build, *source, *device, *python;
    char *folder; /* for files */
    bool verbose;
    int64_t n_programs; /* that were run */
} answers_run;

/** A number from 0 to below n, and one between two. */
uint64_t answers_below(uint64_t *state, uint64_t n);
double answers_between(uint64_t *state, double low, double high);

void answers_problem_make(uint64_t seed, answers_physics physics, answers_problem *out);
/** The view in which x = X. */
void answers_view_make(const char *program, answers_view *out);
/** A rotation, or with `reflects` a rotation and a reflection, in d dimensions. */
void answers_view_rotate(answers_view *view, int d, bool reflects, uint64_t *state);

/** Write the mesh of a view. from_files: also a field `v` of the values at the nodes of a linear function. */
void answers_mesh_write(const answers_problem *problem, const answers_view *view,
                        const answers_linear *field, const char *path);

/** The names of the programs for a kind of problem, NULL at the end. */
const char *const *answers_programs(answers_physics physics);
/** Whether this program can be run on this machine. */
bool answers_can_run(const answers_run *run, const char *program);
/** The command of a view, NULL at the end, malloc'd texts; answers_command_free. */
char **answers_command(const answers_run *run, const answers_problem *problem,
                       const answers_view *view);
void answers_command_free(char **arguments);
/** Solve; free with answers_result_free. Exit code 0 or not: the caller looks. */
void answers_solve(answers_run *run, const answers_problem *problem, const answers_view *view,
                   answers_result *out);
void answers_result_free(answers_result *result);

/** A relation between answers: either another view of the problem has the same answer, or a function of its own. */
typedef struct answers_relation {
    const char *name, *what;
    bool (*applies)(const answers_problem *problem);
    /** Make another view of it. */
    void (*change)(const answers_problem *problem, answers_view *view, uint64_t *state);
    /** Adjust the problem, solve views, compare; what is wrong goes into `why`, of `size` bytes. */
    bool (*holds)(answers_run *run, answers_problem *problem, uint64_t *state, char *why,
                  size_t size);
} answers_relation;
extern const answers_relation answers_relations[];
bool answers_holds(const answers_relation *relation, answers_run *run, answers_problem *problem,
                   uint64_t *state, char *why, size_t size);

#endif
