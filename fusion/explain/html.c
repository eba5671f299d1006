/* Writes the HTML report: script and device, the graph and the kernels of each segment with
 * predicted and measured times, the script next to the generated source, lines in the colours of
 * their kernels. */
#include "fusion/explain/html.h"
#include "core/weft_escape.h"
#include "fusion/control/program.h"

#include <string.h>

static const char style[] =
    "body{font:14px sans-serif;margin:1.5em;color:#222;background:#fff}\n"
    "h1{font-size:1.4em}h2{font-size:1.15em;margin-top:1.6em}\n"
    "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;white-space:nowrap}\n"
    "th{border-bottom:1px solid #999}td:first-child,th:first-child{text-align:left}\n"
    "h1,p,td:first-child{white-space:normal;overflow-wrap:anywhere}\n"
    "svg{max-width:100%;height:auto}svg text{font:12px monospace}svg .name{fill:#555}\n"
    ".call{fill:#fff;stroke:#444}.list{fill:#f4f4f4;stroke:#888}.kernel{stroke:#999}\n"
    ".edge{fill:none;stroke:#555}.adds{stroke-dasharray:4 3}\n"
    ".edge:hover{stroke:#c00;stroke-width:3}\n"
    ".sides{display:flex;gap:1em;align-items:flex-start}\n"
    ".side{flex:1;min-width:0;max-height:90vh;overflow:auto;border:1px solid #ccc}\n"
    "@media(max-width:900px){.sides{display:block}.side{margin-bottom:1em}td,th{padding:2px 5px}}\n"
    "pre{margin:0;font:12px/1.45 monospace;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    ".line{display:block;padding-left:3.5em;text-indent:-3.5em}.side p{margin:.5em}\n"
    ".line i{display:inline-block;width:3.5em;text-indent:0;color:#999;font-style:normal}\n"
    "a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}\n";

void weft_report_text(const char *text, weft_text *out) {
    weft_text_add_markup(out, text);
}

void weft_report_colour(int kernel, weft_text *out) {
    weft_text_add(out, "hsl(%d, 65%%, %d%%)", kernel * 67 % 360, 92 - kernel / 6 % 3 * 4);
}

/* ---- kernels ---- */

/* "12.3 kB", "4.1 us": three digits and a suitable unit; units[0] is the unit of 1. */
static void write_amount(double amount, const char *const *units, int n_units, weft_text *out) {
    int unit = 0;
    while (unit + 1 < n_units && amount >= 999.5) {
        amount /= 1000;
        ++unit;
    }
    weft_text_add(out, amount >= 999.5 ? "<td>%.0f%s</td>" : "<td>%.3g%s</td>", amount,
                  units[unit]);
}

static void write_bytes(double bytes, weft_text *out) {
    static const char *const units[] = {" B", " kB", " MB", " GB"};
    write_amount(bytes, units, 4, out);
}

static void write_time(double seconds, bool known, weft_text *out) {
    static const char *const units[] = {" ns", " us", " ms", " s"};
    if (known)
        write_amount(1e9 * seconds, units, 4, out);
    else
        weft_text_add(out, "<td>-</td>");
}

static void write_kernel(const weft_segment *segment, const weft_plan_kernel *kernel, int number,
                         double measured, weft_text *out) {
    const weft_implementation *one = kernel->implementation;
    weft_text_add(out, "<tr style=\"background:");
    weft_report_colour(number, out);
    weft_text_add(out, "\"><td><a href=\"#kernel%d\">", number);
    weft_report_text(kernel->name, out);
    weft_text_add(out, "</a></td><td>%s</td><td>%d</td>",
                  weft_index_set_name(segment->graph, kernel->index_set),
                  one ? one->fusion->n_calls : 0);
    static const char *const counts[] = {"", " k", " M", " G"};
    write_bytes(kernel->bytes_loaded, out);
    write_bytes(kernel->bytes_stored, out);
    write_amount(kernel->flops, counts, 4, out);
    write_time(one ? one->cost : 0, one != NULL, out);
    write_time(measured, measured >= 0, out);
    weft_text_add(out, "</tr>\n");
}

static void write_kernels(const weft_segment *segment, int first, const double *seconds,
                          weft_text *out) {
    weft_text_add(out, "<table><tr><th>kernel</th><th>over</th><th>calls</th><th>loaded</th>"
                       "<th>stored</th><th>flop</th><th>predicted</th><th>measured</th></tr>\n");
    for (int i = 0; i < segment->plan->n_kernels; ++i)
        write_kernel(segment, &segment->plan->kernels[i], first + i,
                     seconds ? seconds[first + i] : -1, out);
    weft_text_add(out, "</table>\n");
}

/* ---- script and source ---- */

/* The kernel of the call in a line of the script, or -1. */
static int kernel_of_line(const weft_compilation *c, const weft_source *source, int line) {
    int first = 0;
    for (int s = 0; s < c->control->n_segments; ++s) {
        const weft_segment *segment = c->control->segments[s];
        for (int i = 0; i < segment->plan->n_kernels; ++i) {
            const weft_implementation *one = segment->plan->kernels[i].implementation;
            for (int k = 0; one && k < one->fusion->n_calls; ++k) {
                const weft_location *place = &segment->graph->calls[one->order[k]].place;
                if (place->line == line && strcmp(place->source->name, source->name) == 0)
                    return first + i;
            }
        }
        first += segment->plan->n_kernels;
    }
    return -1;
}

static void write_line(const char *text, size_t length, int number, int kernel, bool names,
                       weft_text *out) {
    weft_text one = {0};
    weft_text_add_bytes(&one, text, length);
    weft_text_add(out, "<span class=\"line\"");
    if (names)
        weft_text_add(out, " id=\"kernel%d\"", kernel);
    if (kernel >= 0) {
        weft_text_add(out, " style=\"background:");
        weft_report_colour(kernel, out);
        weft_text_add(out, "\"");
    }
    weft_text_add(out, kernel >= 0 && !names ? "><a href=\"#kernel%d\"><i>%d</i>" : "><i>", kernel,
                  number);
    if (kernel < 0 || names)
        weft_text_add(out, "%d</i>", number);
    weft_report_text(one.data, out);
    weft_text_add(out, "%s</span>", kernel >= 0 && !names ? "</a>" : "");
    out->failed |= one.failed;
    weft_text_free(&one);
}

static void write_script(const weft_compilation *c, weft_text *out) {
    for (int i = 0; i < c->script->n_sources; ++i) {
        const weft_source *source = &c->script->sources[i];
        const char *at = source->text;
        weft_text_add(out, "<p>");
        weft_report_text(source->name, out);
        weft_text_add(out, "</p><pre>");
        for (int line = 1; *at != '\0'; ++line) {
            const size_t length = strcspn(at, "\n");
            write_line(at, length, line, kernel_of_line(c, source, line), false, out);
            at += length + (at[length] == '\n');
        }
        weft_text_add(out, "</pre>\n");
    }
}

/* The kernel whose definition (name and argument list) starts in a line of the source, or -1. */
static int kernel_defined(const weft_compilation *c, const char *line, size_t length) {
    int number = 0;
    for (int s = 0; s < c->control->n_segments; ++s) {
        const weft_plan *plan = c->control->segments[s]->plan;
        for (int i = 0; i < plan->n_kernels; ++i, ++number) {
            const size_t n = strlen(plan->kernels[i].name);
            for (size_t at = 1; at + n < length; ++at)
                if (line[at + n] == '(' && line[at - 1] == ' ' &&
                    strncmp(line + at, plan->kernels[i].name, n) == 0)
                    return number;
        }
    }
    return -1;
}

static void write_source(const weft_compilation *c, weft_text *out) {
    const char *at = c->source;
    int kernel = -1;
    bool opened = false;
    weft_text_add(out, "<details><summary>types, loads, stores and intrinsics</summary><pre>");
    for (int line = 1; *at != '\0'; ++line) {
        const size_t length = strcspn(at, "\n");
        const int defined = at[0] != ' ' ? kernel_defined(c, at, length) : -1;
        if (defined >= 0 && !opened)
            weft_text_add(out, "</pre></details><pre>");
        opened |= defined >= 0;
        kernel = defined >= 0 ? defined : kernel;
        write_line(at, length, line, kernel, defined >= 0, out);
        if (at[0] == '}')
            kernel = -1;
        at += length + (at[length] == '\n');
    }
    weft_text_add(out, opened ? "</pre>\n" : "</pre></details>\n");
}

/* ---- the page ---- */

static void write_head(const weft_compilation *c, weft_text *out) {
    weft_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    weft_report_text(c->script->n_sources > 0 ? c->script->sources[0].name : "script", out);
    weft_text_add(out, "</title><style>\n%s</style></head><body>\n<h1>", style);
    weft_report_text(c->script->n_sources > 0 ? c->script->sources[0].name : "script", out);
    weft_text_add(out, "</h1>\n<p>Planned for ");
    weft_report_text(c->limits.name, out);
    weft_text_add(
        out,
        "; real is %s. Bytes and operations are for one element; times are for a launch over %lld "
        "elements, predicted, and as measured where the tuning database knows the kernel.</p>\n",
        c->options.single ? "float" : "double",
        (long long)(c->options.elements > 0 ? c->options.elements : 1000000));
}

weft_status weft_compilation_html(const weft_compilation *compilation, const double *seconds,
                                  const weft_report_layout *layout, weft_text *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_compilation *c = compilation;
    int first = 0;
    write_head(c, out);
    for (int i = 0; i < c->control->n_segments; ++i) {
        const weft_segment *segment = c->control->segments[i];
        if (segment->number >= 0)
            weft_text_add(out, "<h2>Segment %d of %d%s</h2>\n", i + 1, c->control->n_segments,
                          segment->loop >= 0 ? ", in a loop" : "");
        else
            weft_text_add(out, "<h2>Kernels</h2>\n");
        write_kernels(segment, first, seconds, out);
        weft_text_add(out, "<div class=\"graph\">\n");
        TRY(weft_report_graph(segment, first, layout, out, error));
        weft_text_add(out, "</div>\n");
        first += segment->plan->n_kernels;
    }
    weft_text_add(out, "<h2>Script and source</h2>\n<div class=\"sides\"><div class=\"side\">\n");
    write_script(c, out);
    weft_text_add(out, "</div><div class=\"side\">\n");
    write_source(c, out);
    weft_text_add(out, "</div></div>\n</body></html>\n");
    if (out->failed)
        status = weft_out_of_memory(error, "a page");
done:
    return status;
}
