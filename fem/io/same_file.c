/* Finds out whether two names are those of one file. */
#include "fem/io/result.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same_inode(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* Copy the folder of a path; false if it is longer than a path can be. */
static bool find_folder(const char *path, const char *name, char out[PATH_MAX]) {
    const size_t length = (size_t)(name - path);
    if (length >= PATH_MAX)
        return false;
    memcpy(out, path, length);
    out[length] = '\0';
    if (length == 0)
        strcpy(out, ".");
    return true;
}

bool weft_same_file(const char *a, const char *b) {
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    if (!a || !b || strcmp(a, "-") == 0)
        return false;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    const char *name_a = slash_a ? slash_a + 1 : a, *name_b = slash_b ? slash_b + 1 : b;
    return strcmp(a, b) == 0 || is_same_inode(a, b) ||
           (strcmp(name_a, name_b) == 0 && find_folder(a, name_a, folder_a) &&
            find_folder(b, name_b, folder_b) && is_same_inode(folder_a, folder_b));
}
