/* Sections of MSH 4 that hold lists with counts of their own: $Entities, $PartitionedEntities,
 * $Periodic and $GhostElements. Gmsh takes memory for a count before it reads the items. */
#include "apps/gmsh/weft_gmsh.h"

#include <string.h>

bool msh_has_counts(const char *section) {
    return strcmp(section, "Entities") == 0 || strcmp(section, "PartitionedEntities") == 0 ||
           strcmp(section, "Periodic") == 0 || strcmp(section, "GhostElements") == 0;
}

weft_status msh_refuse_part(const char *path, int64_t n, int64_t n_found, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this is a part of a mesh: it names %lld partitions, and has cells of %lld",
                   (long long)n, (long long)n_found);
    weft_error_location(error, path, NULL, 0, 0);
    weft_error_hint(error,
                    "read the file of the whole mesh: in Gmsh, Mesh.PartitionSplitMeshFiles = 0; "
                    "Weft makes parts of its own");
    return WEFT_ERROR_INPUT;
}

static weft_status check_part_count(msh_file *file) {
    if (file->cut || (file->counts.parts >= 0 && (uint64_t)file->counts.parts <= file->size))
        return WEFT_OK;
    return msh_error(file, NULL, 0, "$PartitionedEntities announces %lld partitions",
                     (long long)file->counts.parts);
}

/* ---- binary ---- */

/* A count and as many items of `bytes` bytes. */
static void skip_list(msh_file *file, size_t bytes) {
    int64_t n = msh_size(file);
    msh_skip(file, n, bytes);
}

/* Each: number, in partitions the parent's dimension and number and a list of parts, a point or a
 * box, a list of physical groups, and, but for points, a list of what bounds it. */
static weft_status binary_entities(msh_file *file, bool parts) {
    weft_status status = WEFT_OK;
    int64_t n[4];
    if (parts) {
        file->counts.parts = msh_size(file);
        TRY(check_part_count(file));
        skip_list(file, 8); /* ghosts: pairs of integers */
    }
    for (int d = 0; d < 4; ++d)
        n[d] = msh_size(file);
    for (int d = 0; d < 4; ++d)
        for (int64_t i = 0; i < n[d] && !file->cut; ++i) {
            msh_skip(file, parts ? 3 : 1, 4);
            if (parts)
                skip_list(file, 4);
            msh_skip(file, d > 0 ? 6 : 3, 8);
            skip_list(file, 4);
            if (d > 0)
                skip_list(file, 4);
        }
done:
    return status;
}

/* n links, each: dimension, numbers of both; a list of the map; a list of pairs of nodes */
static weft_status binary_periodic(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n = msh_size(file);
    for (int64_t i = 0; i < n && !file->cut; ++i) {
        msh_skip(file, 3, 4);
        skip_list(file, 8);
        int64_t pairs = msh_size(file);
        for (int64_t k = 0; k / 2 < pairs && !file->cut; ++k)
            TRY(msh_check_number(file, "Periodic", msh_size(file)));
    }
done:
    return status;
}

/* n of: element, its part, a list of parts */
static weft_status binary_ghosts(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t n = msh_size(file);
    for (int64_t i = 0; i < n && !file->cut; ++i) {
        TRY(msh_check_number(file, "GhostElements", msh_size(file)));
        msh_int(file);
        skip_list(file, 4);
    }
done:
    return status;
}

/* ---- text ---- */

typedef struct words {
    const char *at;
    size_t left;
} words;

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool skip_words(words *from, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        while (from->left > 0 && is_blank(*from->at))
            ++from->at, --from->left;
        if (from->left == 0)
            return false;
        while (from->left > 0 && !is_blank(*from->at))
            ++from->at, --from->left;
    }
    return true;
}

/* A count and as many words. */
static bool skip_word_list(words *from) {
    int64_t n = -1;
    return msh_integers(from->at, from->left, &n, 1) == 1 && n >= 0 && skip_words(from, 1) &&
           skip_words(from, n);
}

/* A count and as many numbers of groups, or of entities, which may be negative. Gmsh keeps them in 32 bits. */
static weft_status check_tags(msh_file *file, const char *section, words from) {
    weft_status status = WEFT_OK;
    int64_t n = 0, tag = 0;
    (void)msh_integers(from.at, from.left, &n, 1);
    for (int64_t i = 0; i < n && skip_words(&from, 1); ++i)
        if (msh_integers(from.at, from.left, &tag, 1) == 1)
            TRY(msh_check_tag(file, section, tag));
done:
    return status;
}

static weft_status text_entity(msh_file *file, const char *section, int dimension, bool parts) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    TRY(msh_content_line(file, section, &line, &length));
    words from = {line, length}, groups = {0};
    int64_t tag = 0;
    bool point = dimension == 0 && file->version > 4;
    bool right = msh_integers(line, length, &tag, 1) == 1 && skip_words(&from, parts ? 3 : 1) &&
                 (!parts || skip_word_list(&from)) && skip_words(&from, point ? 3 : 6);
    groups = from;
    right = right && skip_word_list(&from) && (dimension == 0 || skip_word_list(&from));
    if (!right)
        TRY(msh_error(file, line, length, "this line of $%s has fewer numbers than it announces",
                      section));
    TRY(msh_check_tag(file, section, tag));
    TRY(check_tags(file, section, groups));
done:
    return status;
}

static weft_status text_entities(msh_file *file, const char *section, bool parts) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    int64_t n[4], n_ghosts = 0;
    if (parts) {
        TRY(msh_numbers_line(file, section, &file->counts.parts, 1));
        TRY(check_part_count(file));
        TRY(msh_numbers_line(file, section, &n_ghosts, 1));
    }
    for (int64_t i = 0; i < n_ghosts; ++i)
        TRY(msh_content_line(file, section, &line, &length));
    TRY(msh_numbers_line(file, section, n, 4));
    for (int d = 0; d < 4; ++d) {
        if (n[d] < 0)
            TRY(msh_error(file, NULL, 0, "$%s has a negative count", section));
        for (int64_t i = 0; i < n[d]; ++i)
            TRY(text_entity(file, section, d, parts));
    }
done:
    return status;
}

static weft_status text_pair(msh_file *file) {
    weft_status status = WEFT_OK;
    int64_t pair[2];
    TRY(msh_numbers_line(file, "Periodic", pair, 2));
    TRY(msh_check_number(file, "Periodic", pair[0]));
    TRY(msh_check_number(file, "Periodic", pair[1]));
done:
    return status;
}

/* In 4.1: n links, each: a line of 3 integers, a line of the map, a count, and as many lines. */
static weft_status text_periodic(msh_file *file) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    int64_t n, link[3], n_pairs;
    TRY(msh_numbers_line(file, "Periodic", &n, 1));
    for (int64_t i = 0; i < n && file->version > 4; ++i) {
        TRY(msh_numbers_line(file, "Periodic", link, 3));
        TRY(msh_content_line(file, "Periodic", &line, &length));
        if (!skip_word_list(&(words){line, length}))
            TRY(msh_error(file, line, length, "a count and as many numbers were expected"));
        TRY(msh_numbers_line(file, "Periodic", &n_pairs, 1));
        for (int64_t k = 0; k < n_pairs; ++k)
            TRY(text_pair(file));
    }
    if (file->version == 4 && n > 0) {
        status = msh_error(file, NULL, 0, "$Periodic of MSH 4.0 is not read");
        weft_error_hint(file->error, "write the file as MSH 4.1, or without the section");
    }
done:
    return status;
}

static weft_status text_ghosts(msh_file *file) {
    weft_status status = WEFT_OK;
    const char *line;
    size_t length;
    int64_t n, element;
    TRY(msh_numbers_line(file, "GhostElements", &n, 1));
    for (int64_t i = 0; i < n; ++i) {
        TRY(msh_content_line(file, "GhostElements", &line, &length));
        words from = {line, length};
        if (msh_integers(line, length, &element, 1) < 1 || !skip_words(&from, 2) ||
            !skip_word_list(&from))
            TRY(msh_error(file, line, length, "an element with its parts was expected"));
        TRY(msh_check_number(file, "GhostElements", element));
    }
done:
    return status;
}

weft_status msh_check_counts(msh_file *file, const char *section) {
    bool parts = strcmp(section, "PartitionedEntities") == 0;
    if (strcmp(section, "Periodic") == 0)
        return file->binary ? binary_periodic(file) : text_periodic(file);
    if (strcmp(section, "GhostElements") == 0)
        return file->binary ? binary_ghosts(file) : text_ghosts(file);
    /* the caller reports a binary file that ends early */
    return file->binary ? binary_entities(file, parts) : text_entities(file, section, parts);
}
