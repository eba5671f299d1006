/* labels: quick */
/* Any bytes as a mesh file of each format: passed or refused, nothing else. */
#include "core/weft_core.h"
#include "apps/gmsh/weft_gmsh.h"

#include <stdlib.h>
#include <string.h>

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
    msh_check_mapped(&file);
    msh_names_clear(&file.names);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        file = (msh_file){.path = paths[i], .text = text, .size = size, .error = &error};
        other_check_mapped(&file);
    }
    geo_check_text("/nonexistent/fuzz.geo", text, size, &error);
    free(text);
    return 0;
}
