/* Writes scripts for gnuplot 5 and runs it if it is installed. */
#include "apps/common/support.h"

#include <stdint.h>
#include <string.h>

/* Fall back to the terminal png if gnuplot was built without cairo. */
void app_gnuplot_terminal(weft_text *out, const char *kind, const char *more, int width,
                          int height) {
    if (strcmp(kind, "svg") == 0)
        weft_text_add(out, "set terminal svg noenhanced size %d,%d%s\n", width, height, more);
    else
        weft_text_add(out,
                      "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) "
                      "{ set terminal pngcairo noenhanced size %d,%d%s } "
                      "else { set terminal png noenhanced size %d,%d%s }\n",
                      width, height, more, width, height, more);
}

weft_status app_gnuplot_run(const char *folder, const char *script, const weft_monitor *monitor,
                            bool *drawn, int *stopped, weft_error *error) {
    weft_status status = WEFT_OK;
    app_child child = {0};
    char program[4096], *arguments[] = {program, (char *)(uintptr_t)script, NULL};
    *drawn = false;
    if (!app_find_in_path("gnuplot", program, sizeof program)) {
        weft_log(monitor, WEFT_LOG_INFO, "gnuplot is not installed: %s is not drawn", script);
        return WEFT_OK;
    }
    TRY(app_child_run(arguments, folder, NULL, NULL, &child, stopped, error));
    *drawn = child.exit_code == 0 && !*stopped;
    if (child.exit_code != 0 && !*stopped)
        weft_log(monitor, WEFT_LOG_WARNING, "gnuplot failed on %s/%s: %.600s", folder, script,
                 child.error);
done:
    app_child_clear(&child);
    return status;
}
