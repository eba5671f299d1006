/* Scheduling directives of random scripts. They change nothing that a script means, so that any range
 * of statements may get some; the compiler refuses what cannot be. */
#include "random_script.h"

#include <string.h>

/* The end of the statements from `first` on that one block may hold. */
static int range_end(const random_script *s, int first) {
    int end = first;
    while (end < s->n_statements && s->statements[end].kind != RANDOM_REPEAT &&
           s->statements[end].kind != RANDOM_END && s->statements[end].kind != RANDOM_APPLY)
        ++end;
    return end;
}

/* Numbers before `{`, 0 where the planner chooses. Strides divide blocks. */
static void fuse_make(uint64_t *state, random_fuse *out) {
    static const int blocks[] = {0, 0, 32, 64, 96, 128, 256}, iterations[] = {0, 1, 2, 3, 4, 7};
    *out = (random_fuse){0};
    out->block = blocks[random_below(state, 7)];
    if (random_below(state, 3) > 0)
        out->iterations = iterations[random_below(state, 6)];
    if (out->iterations > 1 && random_below(state, 2) == 0)
        out->stride = out->block == 64 || out->block == 256 ? 64 : 32;
}

static void directive_make(random_script *s, uint64_t *state) {
    const int first = random_below(state, s->n_statements), end = range_end(s, first);
    const int choice = random_below(state, 5), wanted = 1 + (choice < 2) + random_below(state, 3);
    const int last = first + wanted < end ? first + wanted : end;
    for (int i = first; i < last; ++i)
        if (s->statements[i].fuse > 0 || s->statements[i].together > 0)
            return;
    if (choice == 4 && first < end)
        s->statements[first].split = true;
    else if (choice < 2 && s->n_togethers < RANDOM_BLOCKS) {
        s->togethers[s->n_togethers++] = random_below(state, 4) - 1;
        for (int i = first; i < last; ++i)
            s->statements[i].together = s->n_togethers;
    } else if (choice < 4 && s->n_fuses < RANDOM_BLOCKS) {
        fuse_make(state, &s->fuses[s->n_fuses++]);
        for (int i = first; i < last; ++i)
            s->statements[i].fuse = s->n_fuses;
    }
    for (int i = first + 1; i < last; ++i)
        s->statements[i].split = false;
}

void random_directives_make(random_script *s) {
    uint64_t state = s->seed * 15485863u + 11u;
    const int n = random_below(&state, 2) == 0 ? 1 + random_below(&state, RANDOM_BLOCKS) : 0;
    for (int i = 0; i < n && s->n_statements > 0; ++i)
        directive_make(s, &state);
}

bool random_script_is_directed(const random_script *s) {
    bool is = false;
    for (int i = 0; i < s->n_statements; ++i)
        is |= s->statements[i].fuse > 0 || s->statements[i].together > 0 || s->statements[i].split;
    return is;
}
