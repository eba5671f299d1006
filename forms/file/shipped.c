/* Reads the form files that are shipped with Weft, for cells, a degree, and the inputs that have values. */
#include "core/weft_base.h"
#include "fem/embedded_forms.h"
#include "forms/weft_ufl.h"

#include <string.h>

/* What inputs with values are made of; the others keep the values of the file. */
static const struct {
    const char *name, *made;
} inputs[] = {{"young", "Coefficient(FiniteElement(\"DG\", cell, 0))"},
              {"poisson", "Coefficient(FiniteElement(\"DG\", cell, 0))"},
              {"force", "Coefficient(VectorElement(\"DG\", cell, 0))"},
              {"traction", "VectorConstant(cell)"}};

static const char *text_of(const char *name) {
    for (size_t i = 0; i < weft_embedded_forms_count; ++i)
        if (strcmp(weft_embedded_forms[i].name, name) == 0)
            return weft_embedded_forms[i].text;
    return NULL;
}

bool weft_ufl_is_shipped(const char *name) {
    return text_of(name) != NULL;
}

weft_status weft_ufl_read_shipped(const char *name, weft_cell_type cell, int degree,
                                  const char *given, const weft_ufl_options *options,
                                  weft_ufl **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *text = text_of(name), *body = NULL;
    weft_text made = {0};
    if (!text) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE, "no form file '%s' is shipped with Weft", name);
        weft_error_hint(error, "%s is", weft_embedded_forms[0].name);
        goto done;
    }
    body = strstr(text, "\n\n"); /* the values end at the first blank line */
    weft_text_add_bytes(&made, text, body ? (size_t)(body - text) : strlen(text));
    weft_text_add(&made, "\ncell, degree = %s, %d\n",
                  weft_cell_of(cell == WEFT_POINT ? WEFT_TETRAHEDRON : cell)->name, degree);
    for (size_t i = 0; given && i < sizeof inputs / sizeof *inputs; ++i)
        if (weft_has_word(given, inputs[i].name))
            weft_text_add(&made, "%s = %s\n", inputs[i].name, inputs[i].made);
    weft_text_add(&made, "%s", body ? body : "");
    if (made.failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(weft_ufl_read_text(name, made.data, made.length, options, out, error));
done:
    weft_text_free(&made);
    return status;
}
