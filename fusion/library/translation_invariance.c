/* "//@ shift X": the same number added to every member of X, or the same row to every row, changes
 * nothing. A caller that has differences may give those. */
#include "fusion/library/private.h"

#include <string.h>

weft_status reader_shift(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    reader->mode = READ_FORMULA;
    TRY(meta_tokens(reader, meta));
    const kernel_token *token = reader->token;
    for (int i = 0; token->kind == KERNEL_NAME && i < function->n_arguments; ++i)
        if (strcmp(token->text, function->arguments[i].name) == 0) {
            function->arguments[i].shifts = true;
            ++reader->token;
            TRY(expect_end(reader));
            goto done;
        }
    status = reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column,
                          "a shift line names an argument of the function");
done:
    return status;
}

bool weft_function_shifts(const weft_function *function, int argument) {
    return argument < function->n_arguments && function->arguments[argument].shifts;
}
