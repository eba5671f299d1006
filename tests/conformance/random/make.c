/* Writes random forms: expressions of each shape from a grammar, with terms that are linear in the arguments. */
#include "make.h"

#include <stdio.h>
#include <string.h>

typedef struct maker {
    uint64_t state;
    weft_text *out;
    int d;              /* dimension */
    bool smooth;        /* no functions but polynomials and quotients */
    bool on_sides;      /* in dS */
    bool constant;      /* the arguments are, on each cell: they have no derivatives */
    const char *normal; /* "n", or NULL */
} maker;

static int below(maker *m, int n) {
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((m->state >> 33) % (uint64_t)n);
}

/* Each function writes an expression. depth: of operators that may follow; order: of derivatives that may. */
static void scalar(maker *m, int depth, int order);
static void vector(maker *m, int depth, int order);
static void matrix(maker *m, int depth, int order);

typedef void (*writer)(maker *, int, int);
static const writer writers[] = {scalar, vector, matrix};

/* Write a template: s, v, m stand for expressions of these shapes, S, V, M for such that are differentiated, with
 * `left` more derivatives at most, i for an axis, c for a number. Everything else stands for itself, and what is in
 * braces. */
static void expand(maker *m, const char *text, int depth, int order, int left) {
    for (; *text; ++text) {
        const char *const shapes = "svm", *const lower = "SVM";
        const char *same = strchr(shapes, *text), *less = strchr(lower, *text);
        if (*text == '{') {
            for (++text; *text != '}'; ++text)
                weft_text_add(m->out, "%c", *text);
        } else if (same)
            writers[same - shapes](m, depth - 1, order);
        else if (less)
            writers[less - lower](m, depth - 1, left);
        else if (*text == 'i')
            weft_text_add(m->out, "%d", below(m, m->d));
        else if (*text == 'c')
            weft_text_add(m->out, "%.2f", 0.25 + below(m, 12) / 8.0);
        else
            weft_text_add(m->out, "%c", *text);
    }
}

typedef struct pattern {
    const char *text;
    int order, dimension; /* derivatives that it needs; the only dimension that has it, or 0 */
    bool rough;
} pattern;
#define PLAIN(text)                                                                                \
    { text, 0, 0, false }
#define ROUGH(text)                                                                                \
    { text, 0, 0, true }
#define DERIVED(text)                                                                              \
    { text, 1, 0, false }
#define ONLY(d, text)                                                                              \
    { text, 0, d, false }

static void choose(maker *m, const pattern *patterns, int n, int depth, int order) {
    const pattern *p = NULL;
    do
        p = &patterns[below(m, n)];
    while (p->order > order || (p->dimension && p->dimension != m->d) || (p->rough && m->smooth));
    expand(m, p->text, depth, order, order - p->order);
}
#define CHOOSE(m, patterns, depth, order)                                                          \
    choose(m, patterns, (int)(sizeof patterns / sizeof *patterns), depth, order)

static void scalar(maker *m, int depth, int order) {
    static const pattern leaves[] = {PLAIN("{f}"),    PLAIN("{f}"),    PLAIN("{k}"),
                                     PLAIN("{x}[i]"), PLAIN("{g}[i]"), PLAIN("{A}[i, i]"),
                                     PLAIN("c*{k}"),  PLAIN("{h}")};
    static const pattern operators[] = {
        PLAIN("(s + s)"),
        PLAIN("(s - s)"),
        PLAIN("s*s"),
        PLAIN("c*s"),
        PLAIN("-s"),
        PLAIN("s/(2.5 + (s)**2)"),
        PLAIN("(s)**2"),
        ROUGH("{sin}(s)"),
        ROUGH("{exp}(s/4)"),
        ROUGH("{sqrt}(2 + (s)**2)"),
        ROUGH("(3.0 + (s)**2)**1.5"),
        ROUGH("{ln}(2 + (s)**2)"),
        ROUGH("{atan}(s)"),
        ROUGH("{tanh}(s)"),
        ROUGH("{erf}(s)"),
        ROUGH("{cos}(s)"),
        PLAIN("{dot}(v, v)"),
        PLAIN("{inner}(m, m)"),
        PLAIN("{tr}(m)"),
        PLAIN("{det}(m)"),
        ROUGH("{conditional}({lt}(s, s), s, s)"),
        ROUGH("{conditional}({And}({gt}(s, c), {Not}({le}(s, s))), s, s)"),
        ROUGH("{abs}(s)"),
        ROUGH("{max_value}(s, s)"),
        ROUGH("{min_value}(s, c)"),
        DERIVED("{div}(V)"),
        DERIVED("(S).dx(i)"),
        DERIVED("(V)[i].dx(i)"),
        PLAIN("(v)[i]"),
        PLAIN("(m)[i, i]"),
        DERIVED("{inner}({grad}(S), v)"),
        {"{curl}(V)", 1, 2, false}};
    if (depth <= 0)
        CHOOSE(m, leaves, depth, order);
    else
        CHOOSE(m, operators, depth, order);
}

static void vector(maker *m, int depth, int order) {
    static const pattern leaves[] = {PLAIN("{g}"), PLAIN("{x}"), PLAIN("{b}"), PLAIN("{A}[i, :]"),
                                     PLAIN("{A}[:, i]")};
    static const pattern operators[] = {PLAIN("(v + v)"),
                                        PLAIN("s*v"),
                                        PLAIN("{dot}(m, v)"),
                                        PLAIN("{dot}(v, m)"),
                                        DERIVED("{grad}(S)"),
                                        DERIVED("{div}(M)"),
                                        DERIVED("{nabla_div}(M)"),
                                        ONLY(2, "{perp}(v)"),
                                        ONLY(3, "{cross}(v, v)"),
                                        {"{curl}(V)", 1, 3, false},
                                        {"{curl}(S)", 1, 2, false},
                                        ONLY(2, "{as_vector}([s, s])"),
                                        ONLY(3, "{as_vector}([s, s, s])"),
                                        PLAIN("{elem_mult}(v, v)"),
                                        PLAIN("{diag_vector}(m)"),
                                        PLAIN("(m)*(v)"),
                                        PLAIN("(v)/(3 + (s)**2)")};
    if (depth <= 0)
        CHOOSE(m, leaves, depth, order);
    else
        CHOOSE(m, operators, depth, order);
}

static void matrix(maker *m, int depth, int order) {
    static const pattern leaves[] = {PLAIN("{A}"), PLAIN("{A}"), PLAIN("{B}"),
                                     PLAIN("{x}[i]*{Identity}({d})")};
    static const pattern operators[] = {
        PLAIN("(m + m)"),
        PLAIN("s*m"),
        DERIVED("{grad}(V)"),
        DERIVED("{nabla_grad}(V)"),
        PLAIN("{outer}(v, v)"),
        PLAIN("(m).{T}"),
        PLAIN("{sym}(m)"),
        PLAIN("{skew}(m)"),
        PLAIN("{dev}(m)"),
        PLAIN("{diag}(v)"),
        PLAIN("{cofac}(m)"),
        PLAIN("(m)*(m)"),
        ROUGH("{inv}(3*{Identity}({d}) + 0.1*m)"),
        {"{grad}({grad}(S))", 2, 0, false},
        PLAIN("{as_tensor}({B}[{i}, {j}]*{A}[{j}, {k2}], ({i}, {k2}))")};
    if (depth <= 0)
        CHOOSE(m, leaves, depth, order);
    else
        CHOOSE(m, operators, depth, order);
}

/* A factor without arguments, on one side or as a mean in dS. */
static void factor(maker *m, int depth) {
    static const char *const before[] = {"(f*(", "(f*(", "avg(f*(", "jump(f*("};
    static const char *const behind[] = {"))('+')", "))('-')", "))", "))"};
    const int side = below(m, 4);
    weft_text_add(m->out, "%s", m->on_sides ? before[side] : "(");
    if (m->normal && below(m, 3) == 0) {
        weft_text_add(m->out, "dot(n, ");
        vector(m, depth - 1, 1);
        weft_text_add(m->out, ")");
    } else
        scalar(m, depth, 2);
    weft_text_add(m->out, "%s", m->on_sides ? behind[side] : ")");
}

/* Something linear in an argument of rank 0 or 1. */
static void linear(maker *m, const char *name, int rank) {
    static const char *const sides[] = {"('+')", "('-')"};
    static const char *const before[2][6] = {
        {"", "", "dot(g, grad(", "dot(x, grad(", "(grad(", "div(grad("},
        {"", "div(", "inner(A, grad(", "dot(g, ", "tr(sym(grad(", "nabla_grad("}};
    static const char *const behind[2][6] = {{"", ".dx(0)", "))", "))", ")[0])", "))"},
                                             {"[0]", ")", "))", ")", ")))", ")[0, 0]"}};
    const int which = m->constant ? 0 : below(m, rank == 0 && below(m, 8) > 0 ? 5 : 6);
    weft_text_add(m->out, "(%s%s%s)%s", before[rank][which], name, behind[rank][which],
                  m->on_sides ? sides[below(m, 2)] : "");
}

static void integral(maker *m, const char *const *names, int n, int rank, int depth, int degree) {
    static const char *const measures[] = {"dx", "dx", "dx", "ds", "dS"};
    const int which = below(m, 5);
    m->on_sides = which == 4;
    m->normal = which > 2 ? "n" : NULL;
    factor(m, depth);
    for (int i = 0; i < n; ++i) {
        weft_text_add(m->out, "*");
        linear(m, names[i], rank);
    }
    weft_text_add(m->out, "*%s(degree=%d, domain=f.ufl_domain())", measures[which], degree);
}

/* The space of the arguments: often one of those that are constant on cells or everywhere, or has such parts. */
static void space(maker *m, int rank, int most) {
    static const char *const constant[] = {"DG", "R"};
    const char *const kind = rank ? "Vector" : "Finite";
    const int which = below(m, rank ? 5 : 4), family = below(m, 3);
    m->constant = which < 2;
    weft_text_add(m->out, "S = ");
    if (m->constant)
        weft_text_add(m->out, "%sElement('%s', cell, 0)\n", kind, constant[which]);
    else if (which == 4) /* as many values as axes */
        weft_text_add(
            m->out, "MixedElement(FiniteElement('CG', cell, 1), FiniteElement('%s', cell, 0)%s)\n",
            constant[below(m, 2)], m->d == 3 ? ", FiniteElement('R', cell, 0)" : "");
    else
        weft_text_add(m->out, "%sElement('%s', cell, %d)\n", kind, family == 0 ? "DG" : "CG",
                      1 + below(m, rank ? 1 : most));
}

void random_form(uint64_t seed, int *degree, weft_text *out) {
    static const char *const cells[] = {"interval", "triangle", "quadrilateral", "tetrahedron",
                                        "hexahedron"};
    static const int dimensions[] = {1, 2, 2, 3, 3}, most[] = {3, 2, 2, 2, 1};
    static const char *const test[] = PLAIN("v"), *const both[] = {"v", "u"};
    maker m = {.state = seed * 0x9E3779B97F4A7C15u + 1, .out = out};
    for (int i = 0; i < 8; ++i)
        below(&m, 2);
    const int cell = 1 + below(&m, 4);
    m.d = dimensions[cell];
    m.smooth = below(&m, 2) == 0;
    *degree = m.d == 2 ? 2 + below(&m, 3) : 1 + below(&m, 2);
    const int rank = m.d == 3 && cell == 4 ? 0 : below(&m, 2);
    weft_text_add(out, "cell, d, k2 = %s, %d, Index()\n", cells[cell], m.d);
    space(&m, rank, most[cell]);
    weft_text_add(out, "P = FiniteElement('CG', cell, %d)\n", 1 + below(&m, most[cell]));
    weft_text_add(out, "Q = FiniteElement('DG', cell, %d)\n", below(&m, 2));
    weft_text_add(out, "G, T = VectorElement('CG', cell, %d), TensorElement('DG', cell, %d%s)\n",
                  1 + below(&m, 2), below(&m, 2), below(&m, 2) ? ", symmetry=True" : "");
    weft_text_add(out,
                  "v, u, w = TestFunction(S), TrialFunction(S), Coefficient(S)\n"
                  "f, h, g, A = Coefficient(P), Coefficient(Q), Coefficient(G), Coefficient(T)\n"
                  "k, b, B = Constant(cell), VectorConstant(cell), TensorConstant(cell)\n"
                  "x, n = SpatialCoordinate(cell), FacetNormal(cell)\n");
    weft_text_add(out, "L = ");
    integral(&m, test, 1, rank, 3, *degree);
    weft_text_add(out, " + ");
    integral(&m, test, 1, rank, 2, *degree);
    weft_text_add(out, "\na = ");
    integral(&m, both, 2, rank, 2, *degree);
    if (below(&m, 2)) {
        weft_text_add(out, " + ");
        integral(&m, both, 2, rank, 1, *degree);
    }
    weft_text_add(out, "\nforms = [L, a]\n");
    if (below(&m, 2)) {
        m.on_sides = false;
        m.normal = NULL;
        weft_text_add(out, "E = (");
        scalar(&m, 2, 1);
        weft_text_add(out, ")*(1.5 + %s + inner(grad(w), grad(w)))", rank ? "dot(w, w)" : "w**2");
        weft_text_add(out, "%s*dx(degree=%d, domain=f.ufl_domain())\n", below(&m, 2) ? "**2" : "",
                      *degree);
        weft_text_add(out, "F = derivative(E, w, v)\nJ = derivative(F, w, u)\nforms += [F, J]\n");
    }
}
