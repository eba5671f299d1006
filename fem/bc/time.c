/* Evaluates conditions whose formulas depend on time, by kernels that are compiled once. */
#include "fem/base/memory.h"
#include "fem/bc/private.h"
#include "fem/space/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool uses_time(const char *text) {
    return text && weft_has_word(text, "t");
}

weft_bc_motion weft_bc_moves(const weft_bc *bc) {
    weft_bc_motion motion = {false, false, false};
    for (int i = 0; i < bc->n_pieces; ++i) {
        const weft_condition *condition = &bc->pieces[i].condition;
        if (condition->kind == WEFT_DIRICHLET)
            motion.dirichlet |= uses_time(condition->value);
        else
            motion.flux |= uses_time(condition->value);
        motion.alpha |= condition->kind == WEFT_ROBIN && uses_time(condition->alpha);
    }
    for (int i = 0; i < bc->n_joined; ++i) {
        const weft_bc_motion other = weft_bc_moves(bc->joined[i]);
        motion.flux |= other.flux;
        motion.alpha |= other.alpha;
    }
    return motion;
}

weft_status weft_bc_set_time(weft_bc *bc, double t, weft_error *error) {
    return weft_memory_write(bc->when, 0, &t, sizeof t, error);
}

weft_memory *weft_bc_time(const weft_bc *bc) {
    return bc->when;
}

/* ---- Dirichlet values ------------------------------------------------------------------------ */

/* The coordinates of the dofs' nodes. */
static weft_status make_points(const weft_bc *bc, weft_bc_mover *mover, weft_error *error) {
    const int d = weft_space_mesh(bc->space)->dimension;
    const int c = weft_space_components(bc->space);
    const double *all = weft_space_points(bc->space);
    mover->x = weft_array_make((size_t)(mover->n * d), sizeof *mover->x);
    if (!mover->x)
        return weft_out_of_memory(error, "boundary conditions");
    for (int64_t i = 0; i < mover->n; ++i)
        memcpy(&mover->x[i * d], &all[(int64_t)(mover->dofs[i] / c) * d],
               (size_t)d * sizeof *mover->x);
    return weft_memory_place(bc->context->device, mover->x, (size_t)(mover->n * d),
                             sizeof *mover->x, &mover->points, error);
}

/* A weft_data_points.mark: the nodes of the space that are in the group. */
static weft_status mark_group(const weft_data_points *points, int group, unsigned char *marks,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_bc_mover *mover = points->user;
    const weft_data_points *nodes = weft_space_data_points(mover->space);
    const int c = weft_space_components(mover->space);
    unsigned char *all = weft_array_make((size_t)nodes->n, 1);
    if (!all)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    TRY(nodes->mark(nodes, group, all, error));
    for (int64_t i = 0; i < mover->n; ++i)
        marks[i] = all[mover->dofs[i] / c];
done:
    free(all);
    return status;
}

/* The dofs that have the value of one condition. */
static weft_status make_mover(weft_bc *bc, int piece, const int32_t *owners, double *moving,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_bc_mover *mover = &bc->steps.movers[bc->steps.n_movers];
    *mover = (weft_bc_mover){.piece = piece, .space = bc->space};
    for (int64_t i = 0; i < bc->n_constrained; ++i)
        mover->n += owners[i] == piece;
    if (mover->n == 0)
        goto done;
    ++bc->steps.n_movers;
    mover->dofs = weft_array_make((size_t)mover->n, sizeof *mover->dofs);
    if (!mover->dofs)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    for (int64_t i = 0, k = 0; i < bc->n_constrained; ++i)
        if (owners[i] == piece) {
            mover->dofs[k++] = bc->constrained[i];
            moving[bc->constrained[i]] = 1;
        }
    TRY(weft_connectivity_make(bc->context->device, mover->dofs, mover->n, 1,
                               weft_space_dofs(bc->space), &mover->at, error));
    TRY(make_points(bc, mover, error));
done:
    return status;
}

static weft_status make_movers(weft_bc *bc, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_space_dofs(bc->space);
    const bool is_moving = weft_bc_moves(bc).dirichlet && weft_space_is_mapped(bc->space);
    int32_t *owners = weft_array_make((size_t)bc->n_constrained, sizeof *owners);
    double *moving = weft_array_make((size_t)n, sizeof *moving);
    bc->steps.movers = calloc((size_t)bc->n_pieces + 1, sizeof *bc->steps.movers);
    if (!owners || !moving || !bc->steps.movers)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    if (is_moving)
        TRY(weft_error_refuse(
            error, WEFT_ERROR_UNSUPPORTED,
            "conditions in t are not prescribed for functions with continuous tangential or normal "
            "components",
            "write values that do not depend on t, or weak conditions into the "
            "forms"));
    TRY(weft_bc_owners(bc, owners, error));
    for (int i = 0; i < bc->n_pieces; ++i)
        if (bc->pieces[i].condition.kind == WEFT_DIRICHLET &&
            uses_time(bc->pieces[i].condition.value))
            TRY(make_mover(bc, i, owners, moving, error));
    TRY(weft_memory_place(bc->context->device, moving, (size_t)n, sizeof *moving, &bc->steps.moving,
                          error));
done:
    free(owners);
    free(moving);
    return status;
}

/* The dofs of each condition are an index set; their values are scattered to a list over all dofs,
 * which u takes over where it moves. */
static void write_script(const weft_bc *bc, weft_text *out) {
    const int d = weft_space_mesh(bc->space)->dimension;
    weft_text_add(out, "index nodes plain;\ninput u, moving : real over nodes;\n"
                       "input when : real;\n");
    for (int i = 0; i < bc->steps.n_movers; ++i)
        weft_text_add(out,
                      "index set_%d plain;\n"
                      "connectivity at_%d : set_%d -> nodes[1];\n"
                      "input points_%d : real[%d,1] over set_%d;\n"
                      "expression value_%d(x, y, z, t) over set_%d = 0;\n"
                      "g[at_%d] += value_%d(points_%d, when);\n",
                      i, i, i, i, d, i, i, i, i, i, i);
    weft_text_add(out, "update u = select(moving > 0.5, g, u);\n");
}

static weft_status bind_mover(weft_bc *bc, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_program *program = bc->steps.values.program;
    char name[32];
    snprintf(name, sizeof name, "at_%d", i);
    TRY(weft_program_bind_connectivity(program, name, bc->steps.movers[i].at, error));
    snprintf(name, sizeof name, "points_%d", i);
    TRY(weft_program_bind(program, name, bc->steps.movers[i].points, error));
done:
    return status;
}

/* What formulas by group and fields of files have at the dofs of each condition. */
static weft_status bind_data(weft_bc *bc, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = bc->steps.n_movers;
    weft_data_points *points = calloc((size_t)n, sizeof *points);
    char(*names)[24] = calloc((size_t)n, sizeof *names);
    if (!points || !names)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    for (int i = 0; i < n; ++i) {
        const weft_bc_mover *mover = &bc->steps.movers[i];
        snprintf(names[i], sizeof names[i], "set_%d", i);
        points[i] = (weft_data_points){
            .over = names[i], .n = mover->n, .x = mover->x, .mark = mark_group, .user = mover};
    }
    TRY(weft_data_bind(bc->context->data, bc->steps.values.compilation, bc->steps.values.program,
                       &(weft_data_sites){.points = points, .n = n}, error));
done:
    free(points);
    free(names);
    return status;
}

static weft_status make_values(weft_bc *bc, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = bc->steps.n_movers;
    weft_text text = {0};
    weft_expression *formulas = calloc((size_t)n + 1, sizeof *formulas);
    char(*names)[24] = calloc((size_t)n + 1, sizeof *names);
    write_script(bc, &text);
    if (!formulas || !names || text.failed)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    for (int i = 0; i < n; ++i) {
        const weft_condition *condition = &bc->pieces[bc->steps.movers[i].piece].condition;
        snprintf(names[i], sizeof names[i], "value_%d", i);
        formulas[i] = (weft_expression){names[i], condition->value, condition->origin};
    }
    const weft_fragment fragment = {"dirichlet.weft", text.data};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = formulas, .n_expressions = n};
    TRY(weft_compiled_make(bc->context, &fragment, 1, &options, &bc->steps.values, error));
    for (int i = 0; i < n; ++i)
        TRY(bind_mover(bc, i, error));
    TRY(weft_program_bind(bc->steps.values.program, "moving", bc->steps.moving, error));
    TRY(weft_program_bind(bc->steps.values.program, "when", bc->when, error));
    TRY(bind_data(bc, error));
done:
    weft_text_free(&text);
    free(formulas);
    free(names);
    return status;
}

/* ---- fluxes ---------------------------------------------------------------------------------- */

static weft_status make_fluxes(weft_bc *bc, weft_memory *b, weft_error *error) {
    weft_status status = WEFT_OK;
    bc->steps.fluxes = calloc((size_t)bc->n_pieces + 1, sizeof *bc->steps.fluxes);
    if (!bc->steps.fluxes)
        TRY(weft_out_of_memory(error, "boundary conditions"));
    for (int i = 0; i < bc->n_pieces; ++i) {
        const weft_bc_piece *piece = &bc->pieces[i];
        weft_bound_form form;
        if (!weft_bc_has_flux(&piece->condition))
            continue;
        TRY(weft_bc_flux_form(bc, piece, WEFT_LOAD_DEGREE, b, &form, error));
        const weft_fragment fragments[] = {{form.form.name, form.form.text},
                                           {"outputs", "return b;\n"}};
        const weft_compile_options options = weft_form_vector_options(bc->context, &form.form);
        weft_compiled *compiled = &bc->steps.fluxes[bc->steps.n_fluxes++];
        TRY(weft_compiled_make(bc->context, fragments, 2, &options, compiled, error));
        TRY(weft_compiled_bind_form(compiled, &form.form, error));
    }
done:
    return status;
}

weft_status weft_bc_apply(weft_bc *bc, weft_memory *u, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!weft_bc_moves(bc).dirichlet)
        goto done;
    if (!bc->steps.movers)
        TRY(make_movers(bc, error));
    if (bc->steps.n_movers == 0)
        goto done;
    if (!bc->steps.values.program)
        TRY(make_values(bc, error));
    TRY(weft_program_bind(bc->steps.values.program, "u", u, error));
    TRY(weft_program_run(bc->steps.values.program, error));
done:
    return status;
}

weft_status weft_bc_add_fluxes(weft_bc *bc, weft_memory *b, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!bc->steps.fluxes)
        TRY(make_fluxes(bc, b, error));
    for (int i = 0; i < bc->steps.n_fluxes; ++i) {
        TRY(weft_program_bind(bc->steps.fluxes[i].program, "b", b, error));
        TRY(weft_program_run(bc->steps.fluxes[i].program, error));
    }
    for (int i = 0; i < bc->n_joined; ++i)
        TRY(weft_bc_add_fluxes(bc->joined[i], b, error));
done:
    return status;
}

void weft_bc_steps_free(weft_bc *bc) {
    weft_compiled_free(&bc->steps.values);
    for (int i = 0; i < bc->steps.n_fluxes; ++i)
        weft_compiled_free(&bc->steps.fluxes[i]);
    free(bc->steps.fluxes);
    for (int i = 0; i < bc->steps.n_movers; ++i) {
        weft_connectivity_free(&bc->steps.movers[i].at);
        weft_memory_free(&bc->steps.movers[i].points);
        free(bc->steps.movers[i].dofs);
        free(bc->steps.movers[i].x);
    }
    free(bc->steps.movers);
    weft_memory_free(&bc->steps.moving);
}
