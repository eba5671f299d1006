/** Compares the tensors of compiled integrals with those that FFCx computed for random cells. */
#pragma once

#include "forms/weft_ufl.h"

#include <jansson.h>

typedef enum tensor_outcome {
    TENSOR_MATCHED,
    TENSOR_UNSUPPORTED, /* not compiled */
    TENSOR_WRONG,
    TENSOR_UNKNOWN /* no samples */
} tensor_outcome;

/** Where tensors are computed. */
typedef struct tensor_way {
    weft_device *device;
    bool single; /* float, else double */
} tensor_way;

/** What was found about one integral of the oracle. */
typedef struct tensor_finding {
    int form, integral; /* their numbers in the oracle's file */
    tensor_outcome outcome;
    int n_bodies;    /* functions that ran: of each variant, facet, and metadata */
    bool has_action; /* the action of the form was compared too */
    char what[1200]; /* why they differ, or what is not supported; else "" */
} tensor_finding;

/** Compile all integrals of a file's forms, with every body that their functions have, run them, and
 *  compare; for matrices A, also the action and the product without the matrix, with A times a vector.
 *  forms   of the oracle, in the order of the file's
 *  report  called once for each of the oracle's integrals, in order */
void tensors_compare(const tensor_way *way, weft_ufl *ufl, const json_t *forms,
                     void (*report)(void *user, const tensor_finding *finding), void *user);
