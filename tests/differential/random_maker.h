/* What random_make.c (declarations, statements) and random_expression.c share. */
#ifndef RANDOM_MAKER_H
#define RANDOM_MAKER_H

#include "random_script.h"

typedef struct maker {
    random_script *script;
    uint64_t state;
    bool target[RANDOM_LISTS];  /* may still be accumulated into */
    bool updated[RANDOM_LISTS]; /* has its next value: a straight script gives one alone */
    bool accumulated[RANDOM_LISTS];
    bool gone[RANDOM_LISTS]; /* made in a loop that has ended */
    int loop;                /* statement that opens the loop being made, or -1 */
    int depth;               /* loops being made */
} maker;

/** In [0, n). */
int random_maker_below(maker *m, int n);
enum { NO_SET = -2 };
enum { FIRST_OVER_NODES = 2 /* an input of scalars */ };
/** The functions of matrices that the script may call. */
void random_functions_make(maker *m);
/** Sets, maps, operator and inputs. */
void random_declare(maker *m);
int random_list_add(maker *m, const char *prefix, int set, const random_shape *shape);
int random_node_add(maker *m, const random_node *node);
/** The set that arithmetic of lists over these has its values over: pairs for a row and a
 *  column. NO_SET: there is none. */
int random_set_join(const random_script *s, int a, int b);
/** A random expression over a set, its operations `depth` deep; its node, or -1: what was picked
 *  does not fit together. */
int random_expression_add(maker *m, int set, int depth);

#endif
