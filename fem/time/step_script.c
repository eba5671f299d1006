/* Composes the script of a time step from fem/scripts/step_*.weft and the tables of schemes, as the problem requires, and
 * prepends declarations of the operators, lists and values that it uses. */
#include "fem/time/private.h"
#include "fem/time/step_scheme.h"

#include <stdio.h>
#include <string.h>

const char *weft_ad_operator_name(weft_ad_operator which) {
    static const char *const names[] = {"A", "M", "B", "C"};
    return names[which];
}

const char *weft_ad_list_name(weft_ad_list list) {
    static const char *const names[WEFT_AD_LISTS] = {
        "T",   "g",    "k",     "e", "D1", "D2", "D3", "D4", "free", "which", "d_M",
        "d_B", "load", "one_B", "S", "l",  "z",  "p",  "y",  "z_B",  "p_B"};
    return names[list];
}

const char *weft_ad_value_name(weft_ad_value value) {
    static const char *const names[WEFT_AD_VALUES] = {
        "steps", "step", "t", "h", "when", "iterations", "tolerance", "infinity", "failed", "size",
        "bound", "pass", "iterations_B", "stages", "iterations_1", "iterations_2", "iterations_3",
        "iterations_4", "total", "share_B", "share_C", "duration",
        /* of the script only */
        "stage", "offset", "share", "limit", "rr", "rz", "rz_before", "pq", "count", "limit_B",
        "rr_B", "rz_B", "rz_before_B", "pq_B", "reach", "reach_B"};
    return names[value];
}

bool weft_ad_has_operator(const weft_advection_diffusion *ad, weft_ad_operator which) {
    return which == WEFT_AD_A || which == WEFT_AD_M ? ad->advects : ad->diffuses;
}

bool weft_ad_has_list(const weft_advection_diffusion *ad, weft_ad_list list) {
    return weft_has_word(ad->text.data + ad->body, weft_ad_list_name(list));
}

bool weft_ad_has_value(const weft_advection_diffusion *ad, weft_ad_value value) {
    return weft_has_word(ad->text.data + ad->body, weft_ad_value_name(value));
}

/* Append a shipped piece without its comments. */
static void add_piece(weft_text *out, const char *name) {
    const char *text = weft_fem_script(name);
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
        if (line[strspn(line, " ")] != '#')
            weft_text_add(out, "%.*s", (int)length, line);
        line += length;
    }
}

/* Do the values of Dirichlet conditions? */
static bool moves(const weft_advection_diffusion *ad) {
    return ad->bc && weft_bc_moves(ad->bc).dirichlet;
}

/* Dirichlet values at the end of the current part of the step, and the slope towards them:
 *     update g = select(which < 0.5, g, select(which < 1.5, kept_1(x, t + h*pass), ...)) */
static void add_kept(const weft_advection_diffusion *ad, weft_text *out) {
    const int n = ad->n_kept;
    weft_text_add(out, "update g = select(which < 0.5, g, ");
    for (int i = 1; i < n; ++i)
        weft_text_add(out, "select(which < %d.5, kept_%d(x, t + h*pass), ", i, i);
    weft_text_add(out, "kept_%d(x, t + h*pass)", n);
    for (int i = 0; i < n; ++i)
        weft_text_add(out, ")");
    weft_text_add(out, ";\n");
    if (ad->advects)
        weft_text_add(out, "update k = select(free > 0, k, (g - T)/h);\n");
}

/* Reassemble the operators at t + h/2, which is of the second order whatever the assembly, with their inverse
 * diagonals. */
static void add_renewal(const weft_advection_diffusion *ad, weft_text *out) {
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i) {
        const char *name = weft_ad_operator_name((weft_ad_operator)i);
        if (!weft_ad_has_operator(ad, (weft_ad_operator)i))
            continue;
        weft_text_add(out, "new_%s = apply(reassemble_%s, T);\n", name, name);
        if (i == WEFT_AD_M || i == WEFT_AD_B)
            weft_text_add(out, "update d_%s = select(free > 0, 1/new_%s, 0);\n", name, name);
        if (i == WEFT_AD_B)
            weft_text_add(out, "row_B = apply(B, free - free + 1);\nupdate one_B = free*row_B;\n");
    }
}

/* values[stage] of the counter `stage` from `first` to n - 1: select(stage < 2.5, h/2, h) */
static void add_choice(const char *const *values, int first, int n, weft_text *out) {
    int depth = 0;
    for (int i = first; i + 1 < n; ++i)
        if (strcmp(values[i], values[i + 1]) != 0) {
            weft_text_add(out, "select(stage < %d.5, %s, ", i, values[i]);
            ++depth;
        }
    weft_text_add(out, "%s%.*s;\n", values[n - 1], depth, ")))");
}

/* name_1 to name_n, of which that of the stage becomes a value */
static void add_update(const char *name, int n, const char *value, weft_text *out) {
    for (int i = 1; i <= n; ++i) {
        weft_text_add(out, "        update %s%d = ", name, i);
        if (i > 1)
            weft_text_add(out, "select(stage < %d.5, %s%d, ", i - 2, name, i);
        if (i < n)
            weft_text_add(out, "select(stage < %d.5, %s, %s%d)", i - 1, value, name, i);
        weft_text_add(out, "%s%s;\n", i < n ? "" : value, i > 1 ? ")" : "");
    }
}

/* Slopes that are solves start from what their stages added in the step before: D1, D2... */
static void add_advection(const weft_advection_diffusion *ad, weft_text *out) {
    static const char *const added[] = {"D1", "D2", "D3", "D4"};
    const weft_runge_kutta_row *row = &weft_runge_kutta_rows[ad->problem->runge_kutta];
    weft_text_add(out,
                  "    update S = T;\n    update stage = 0;\n    update offset = %s;\n"
                  "    update share = %s;\n    repeat at most stages while (failed <= 0) {\n",
                  row->a[0], row->b[0]);
    if (ad->solves_mass) {
        weft_text_add(out, "        update l = k;\n        update k = k + ");
        add_choice(added, 0, row->n, out);
    }
    add_piece(out, ad->solves_mass ? "step_slope.weft" : "step_slope_lumped.weft");
    if (ad->solves_mass) {
        add_update("iterations_", row->n, "count", out);
        add_update("D", row->n, "k - l", out);
    }
    weft_text_add(out, "        update S = S + share*k;\n        update stage = stage + 1;\n"
                       "        update offset = ");
    add_choice(row->a, 1, row->n, out);
    weft_text_add(out, "        update share = ");
    add_choice(row->b, 1, row->n, out);
    weft_text_add(out, "    }\n    update T = select(free > 0, S, g);\n");
}

static void add_body(const weft_advection_diffusion *ad, weft_text *out) {
    const int n_stages = weft_runge_kutta_rows[ad->problem->runge_kutta].n;
    const weft_splitting_row *splitting = &weft_splitting_rows[ad->problem->splitting];
    const bool has_passes = splitting->n_passes > 1 && ad->advects && ad->diffuses;
    add_piece(out, "step_loop.weft");
    if (ad->reassembles || ad->load_moves)
        weft_text_add(out, "update when = t + h/2;\n");
    if (ad->reassembles)
        add_renewal(ad, out);
    if (ad->load_moves)
        weft_text_add(out, "update load = apply(reassemble_load, T);\n");
    if (has_passes)
        weft_text_add(out,
                      "    update pass = 0;\n    repeat at most %d while (pass < %d) {\n"
                      "        update stages = %d*%s;\n",
                      splitting->n_passes, splitting->n_passes, n_stages, splitting->advects);
    if (moves(ad))
        add_kept(ad, out);
    if (ad->advects)
        add_advection(ad, out);
    if (ad->diffuses) {
        weft_text_add(out, "    pushed = apply(C, T)%s;\n", ad->has_load ? " + duration*load" : "");
        add_piece(out, weft_ad_is_preconditioned(ad) ? "step_diffusion_preconditioned.weft"
                                                     : "step_diffusion.weft");
        add_piece(out, "step_diffused.weft");
    }
    if (has_passes)
        weft_text_add(out, "        update pass = pass + 1;\n    }\n");
    for (int i = 1; ad->solves_mass && i <= n_stages; ++i)
        weft_text_add(out, "%siterations_%d%s", i == 1 ? "update total = total + " : " + ", i,
                      i == n_stages ? ";\n" : "");
    if (ad->diffuses)
        weft_text_add(out, "update total = total + iterations_B;\n");
    add_piece(out, "step_end.weft");
}

static void declare(const char *body, weft_text *out, const char *before, const char *name,
                    const char *after) {
    if (weft_has_word(body, name))
        weft_text_add(out, "%s%s%s", before, name, after);
}

static void add_declarations(const weft_advection_diffusion *ad, const char *body, weft_text *out) {
    weft_text_add(out, "include cg;\nindex nodes plain;\n");
    for (int i = 0; i < WEFT_AD_OPERATORS; ++i) {
        char renewal[16];
        const char *name = weft_ad_operator_name((weft_ad_operator)i);
        (void)snprintf(renewal, sizeof renewal, "reassemble_%s", name);
        declare(body, out, "operator ", name, " over nodes;\n");
        declare(body, out, "operator ", renewal, " over nodes;\n");
    }
    declare(body, out, "operator ", "reassemble_load", " over nodes;\n");
    declare(body, out, "operator ", "P", " over nodes;\n");
    for (int i = 0; i < WEFT_AD_LISTS; ++i)
        declare(body, out, "input ", weft_ad_list_name((weft_ad_list)i), " : real over nodes;\n");
    for (int i = 0; i < WEFT_AD_VALUES; ++i)
        declare(body, out, "input ", weft_ad_value_name((weft_ad_value)i), " : real;\n");
    if (!moves(ad))
        return;
    weft_text_add(out, "input x : real[%d] over nodes;\n", ad->mesh->dimension);
    for (int i = 1; i <= ad->n_kept; ++i)
        weft_text_add(out, "expression kept_%d(x, y, z, t) over nodes = 0;\n", i);
}

weft_status weft_ad_text_make(weft_advection_diffusion *ad, weft_error *error) {
    weft_text body = {0};
    add_body(ad, &body);
    if (!body.failed)
        add_declarations(ad, body.data, &ad->text);
    ad->body = ad->text.length;
    weft_text_add(&ad->text, "%s", body.failed ? "" : body.data);
    const bool failed = body.failed || ad->text.failed;
    weft_text_free(&body);
    return failed ? weft_out_of_memory(error, "the script of a step") : WEFT_OK;
}
