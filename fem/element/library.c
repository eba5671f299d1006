/* Makes the library of shipped functions with the tables of fem, and finds shipped scripts. */
#include "fem/element/tables.h"
#include "fem/embedded_scripts.h"
#include "fem/weft_fem.h"

#include <string.h>

weft_status weft_fem_library_make(weft_library **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    TRY(weft_library_make(&library, error));
    TRY(weft_tables_register(library, error));
    *out = library;
    library = NULL;
done:
    weft_library_free(&library);
    return status;
}

const char *weft_fem_script(const char *name) {
    static const char ending[] = ".weft";
    size_t length = strlen(name);
    for (const weft_embedded_file *file = weft_embedded_scripts; file->name; ++file)
        if (strncmp(file->name, name, length) == 0 &&
            (file->name[length] == '\0' || strcmp(file->name + length, ending) == 0))
            return file->text;
    return NULL;
}
