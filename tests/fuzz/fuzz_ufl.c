/* labels: quick */
/* Any bytes as a form file, of legacy UFL and of today's: forms that print and
 * compile, or an error with a message. */
#include "forms/weft_ufl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const char *name, const char *text, size_t size) {
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    weft_text printed = {0};
    if (weft_ufl_read_text(name, text, size, NULL, &ufl, &error) == WEFT_OK) {
        if (weft_ufl_print_forms(ufl, NULL, &printed, &error) != WEFT_OK ||
            weft_ufl_print_degrees(ufl, NULL, &printed, &error) != WEFT_OK || !printed.data)
            abort();
        const weft_status compiled = weft_ufl_print_kernels(ufl, NULL, &printed, &error);
        if (compiled != WEFT_OK && (compiled == WEFT_ERROR_INTERNAL || error.message[0] == '\0'))
            abort();
    } else if (error.status == WEFT_OK || error.status == WEFT_ERROR_INTERNAL ||
               error.message[0] == '\0' || ufl) {
        abort();
    }
    weft_text_free(&printed);
    weft_ufl_free(&ufl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    read_as("fuzz.ufl", text, size);
    read_as("fuzz.py", text, size);
    free(text);
    return 0;
}
