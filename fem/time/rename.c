/* Gives the local matrix of a form another name, so that shipped scripts which call theirs K can follow. */
#include "fem/time/rename.h"

#include <ctype.h>
#include <string.h>

const char weft_time_own_matrix[] = "K__own";

static bool is_of_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The input of a form's action, of which the products of other texts have their own. */
static const char own_direction[] = "v__own";

void weft_time_rename(weft_text *out, const char *text) {
    while (*text) {
        size_t n = 1;
        if (is_of_word(*text))
            while (is_of_word(text[n]))
                ++n;
        if (n == 1 && *text == 'K')
            weft_text_add(out, "%s", weft_time_own_matrix);
        else if (n == 1 && *text == 'v')
            weft_text_add(out, "%s", own_direction);
        else
            weft_text_add_bytes(out, text, n);
        text += n;
    }
}

void weft_time_copy_form(const weft_form *from, const char *text, weft_bound_form *out) {
    *out = (weft_bound_form){.form = *from};
    out->form.text = text;
    out->form.action = NULL;
    out->form.kernels = NULL;
    out->form.is_symmetric = false; /* said of the matrix of `from` */
    out->form.inputs = out->inputs;
    memcpy(out->inputs, from->inputs, (size_t)from->n_inputs * sizeof *from->inputs);
}

weft_status weft_time_scale_form(const weft_form *from, weft_memory *factor, weft_text *text,
                                 weft_bound_form *out, weft_error *error) {
    weft_time_rename(text, from->text);
    weft_text_add(text, "\ninput time__factor : real;\nK = time__factor*%s;\n",
                  weft_time_own_matrix);
    if (text->failed)
        return weft_out_of_memory(error, "a form in time");
    weft_time_copy_form(from, text->data, out);
    out->form.is_symmetric = from->is_symmetric;
    weft_form_bind_input(out, "time__factor", factor);
    return WEFT_OK;
}
