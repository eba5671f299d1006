/* What a script asks of the plan: split and fuse. */
#include "script_internal.h"

/* split: 'split' ';' */
weft_status script_parse_split(script_parser *parser) {
    weft_status status = WEFT_OK;
    TRY(script_expect(parser, ";", "after 'split'"));
    ++parser->script->n_splits;
done:
    return status;
}

/* fuse: 'fuse' '{' statement {statement} '}' */
weft_status script_parse_fuse(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const weft_place place = parser->tokens[parser->position - 1].place;
    const int first = script->n_statements;
    if (parser->fuse > 0)
        return weft_error_at(parser->error, WEFT_ERROR_SYNTAX, place,
                             "'fuse' stands inside another one");
    TRY(script_expect(parser, "{", "before the statements that are to share a kernel"));
    SCRIPT_APPEND(parser, script->fuses, script->n_fuses, place);
    parser->fuse = script->n_fuses;
    while (!script_accept(parser, "}")) {
        if (script_token(parser)->kind == TOKEN_END) {
            status = script_unexpected(parser, "'}' to end the block");
            weft_error_hint(parser->error, "the block starts at %s:%d:%d", place.source->name,
                            place.line, place.column);
            goto done;
        }
        if (script_at(parser, "repeat") || script_at(parser, "split")) {
            status = weft_error_at(parser->error, WEFT_ERROR_SYNTAX, script_token(parser)->place,
                                   "'%s' stands outside 'fuse'", script_token(parser)->text);
            goto done;
        }
        TRY(script_parse_statement(parser));
    }
    if (script->n_statements == first)
        status = weft_error_at(parser->error, WEFT_ERROR_TYPE, place,
                               "there is no statement in this block");
done:
    parser->fuse = 0;
    return status;
}

static int fuse_of(const weft_script *script, int statement) {
    return statement >= 0 && statement < script->n_statements ? script->statements[statement].fuse
                                                              : 0;
}

void script_print_wishes_end(const weft_script *script, int statement, weft_text *out) {
    const int was = fuse_of(script, statement - 1);
    if (was > 0 && was != fuse_of(script, statement))
        weft_text_add(out, "}\n");
}

void script_print_wishes_start(const weft_script *script, int statement, weft_text *out) {
    const int fuse = fuse_of(script, statement);
    for (int i = statement > 0 ? script->statements[statement - 1].part : 0;
         i < script->statements[statement].part; ++i)
        weft_text_add(out, "split;\n");
    if (fuse > 0 && fuse != fuse_of(script, statement - 1))
        weft_text_add(out, "fuse {\n");
}
