/* labels: quick */
/* Any bytes as a mesh file of each format: passed or refused, nothing else. What passes and is not for Gmsh is read. */
#include "apps/gmsh/msh_old.h"
#include "apps/gmsh/weft_gmsh.h"
#include "core/weft_core.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_checked(msh_file *file, weft_status checked) {
    const int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    msh_counts counts = file->counts;
    if (checked == WEFT_OK && msh_old_is(file))
        msh_old_rewrite(file, &counts, out);
    msh_names_clear(&file->names);
    if (out >= 0)
        close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const paths[] = {"fuzz.unv", "fuzz.bdf", "fuzz.mesh", "fuzz.vtk"};
    weft_error error = {0};
    char *text = malloc(size + 1);
    if (!text || size == 0) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    msh_file file = {.path = "fuzz.msh", .text = text, .size = size, .error = &error};
    read_checked(&file, msh_check_mapped(&file));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        file = (msh_file){.path = paths[i], .text = text, .size = size, .error = &error};
        read_checked(&file, other_check_mapped(&file));
    }
    geo_check_text("/nonexistent/fuzz.geo", text, size, &error);
    free(text);
    return 0;
}
