/* Compiles the kernels for set-up beside the program.
 *
 * Decision  docs/decisions/0052-cache-entries-are-verified.md */
#include "core/weft_core.h"
#include "fusion/setup/setup.h"

#include <stdio.h>

void weft_setup_precompile(weft_device *device) {
    char file[64], title[80];
    for (int i = 0; weft_setup_on_device(device) && weft_setup_file(i, file, sizeof file); ++i) {
        weft_error ignored; /* failures come again where the kernels are needed */
        weft_text text = {0};
        (void)snprintf(title, sizeof title, "setup_%s", file);
        if (weft_setup_source(file, &text, &ignored) == WEFT_OK)
            weft_module_store_later(device, title, text.data);
        weft_text_free(&text);
    }
}
