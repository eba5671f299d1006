/* weft calibrate --plot: figures 4 and 5 of Fousek et al. 2011, from the file of --validate
 * --json. */
#include "apps/weft/tool.h"
#include "core/base/file.h"
#include "core/weft_escape.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MOST = 128, DEGREE = 5, WIDTH = 720, HEIGHT = 420 };

typedef struct draw_cover {
    double predicted, measured; /* seconds */
    int place;                  /* index in the file; later rank among the predictions, from 1 */
    int rank;                   /* rank among the measured times, from 1 */
} draw_cover;

/* Data of one script in one precision. */
typedef struct draw_case {
    char name[NAME_MOST]; /* of its files */
    const char *script, *type;
    int64_t elements;
    double unfused; /* seconds; NaN: none */
    draw_cover *covers;
    int n;
} draw_case;

typedef struct drawing {
    const char *path, *out; /* borrowed, as is the arena */
    const weft_monitor *monitor;
    weft_arena *arena;
    json_t *root;
    const char *device;
    draw_case *cases;
    int n, n_undrawn; /* undrawn: scripts without pictures */
} drawing;

/* ---- reading ------------------------------------------------------------------------------ */

static weft_status refuse(const drawing *d, const char *where, const char *what,
                          weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%s%s%s", where, where[0] ? " " : "", what);
    weft_error_location(error, d->path, NULL, 0, 0);
    weft_error_hint(error, "give a file that weft calibrate --validate --json FILE has written");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_key(const drawing *d, const char *where, const char *key,
                              const char *what, weft_error *error) {
    char place[160];
    snprintf(place, sizeof place, "%s.%s", where, key);
    return refuse(d, place, what, error);
}

/* Read a positive time; elements / time must be finite. */
static weft_status read_seconds(const drawing *d, const json_t *object, const char *where,
                                const char *key, int64_t elements, double *out, weft_error *error) {
    const json_t *value = json_object_get(object, key);
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out > 0) || !isfinite((double)elements / *out))
        return refuse_key(d, where, key, "is not a positive number of seconds", error);
    return WEFT_OK;
}

static int compare(double a, double b, int place_a, int place_b) {
    return a < b ? -1 : a > b ? 1 : place_a - place_b;
}

static int by_predicted(const void *a, const void *b) {
    const draw_cover *x = a, *y = b;
    return compare(x->predicted, y->predicted, x->place, y->place);
}

static int by_measured(const void *a, const void *b) {
    const draw_cover *x = *(draw_cover *const *)a, *y = *(draw_cover *const *)b;
    return compare(x->measured, y->measured, x->place, y->place);
}

/* Sort by prediction; equal ones stay in the order of the file. */
static weft_status rank(drawing *d, draw_case *one, weft_error *error) {
    draw_cover **order = weft_arena_alloc(d->arena, (size_t)one->n, sizeof(draw_cover *));
    if (!order)
        return weft_out_of_memory(error, NULL);
    qsort(one->covers, (size_t)one->n, sizeof *one->covers, by_predicted);
    for (int i = 0; i < one->n; ++i) {
        one->covers[i].place = i + 1;
        order[i] = &one->covers[i];
    }
    qsort(order, (size_t)one->n, sizeof(draw_cover *), by_measured);
    for (int i = 0; i < one->n; ++i)
        order[i]->rank = i + 1;
    return WEFT_OK;
}

/* Make a file name from the script's base name and the type, of portable characters; number it if
 * an earlier script has the same. */
static void name_case(const draw_case *first, draw_case *one) {
    const char *slash = strrchr(one->script, '/'), *base = slash ? slash + 1 : one->script;
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".weft") == 0)
        length -= 5;
    int used = snprintf(one->name, NAME_MOST - 16, "%.*s-%s", (int)(length < 80 ? length : 80),
                        base, one->type);
    for (char *c = one->name; *c; ++c)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
            *c = '_';
    used = used < NAME_MOST - 17 ? used : NAME_MOST - 17;
    int number = 1;
    for (int i = 0; first + i < one; ++i)
        if (strcmp(first[i].name, one->name) == 0) {
            snprintf(one->name + used, 16, "-%d", ++number);
            i = -1; /* start over */
        }
}

static weft_status read_covers(drawing *d, const json_t *list, const char *where, draw_case *one,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    one->n = (int)json_array_size(list);
    if (!json_is_array(list) || one->n == 0)
        TRY(refuse_key(d, where, "covers", "contains no covers: there is nothing to plot", error));
    one->covers = weft_arena_alloc(d->arena, (size_t)one->n, sizeof *one->covers);
    if (!one->covers)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < one->n; ++i) {
        const json_t *item = json_array_get(list, (size_t)i);
        draw_cover *cover = &one->covers[i];
        char place[96];
        snprintf(place, sizeof place, "%s.covers[%d]", where, i);
        *cover = (draw_cover){.place = i};
        TRY(read_seconds(d, item, place, "predicted_seconds", one->elements, &cover->predicted,
                         error));
        TRY(read_seconds(d, item, place, "measured_seconds", one->elements, &cover->measured,
                         error));
    }
    TRY(rank(d, one, error));
done:
    return status;
}

static weft_status read_case(drawing *d, const json_t *item, int index, weft_error *error) {
    weft_status status = WEFT_OK;
    draw_case *one = &d->cases[index];
    char where[48];
    snprintf(where, sizeof where, "scripts[%d]", index);
    const json_t *unfused = json_object_get(item, "unfused_seconds");
    *one = (draw_case){.script = json_string_value(json_object_get(item, "script")),
                       .type = json_string_value(json_object_get(item, "type")),
                       .elements = json_integer_value(json_object_get(item, "instances")),
                       .unfused = NAN};
    if (!one->script)
        TRY(refuse_key(d, where, "script", "is not a name", error));
    if (!one->type)
        TRY(refuse_key(d, where, "type", "is not a name", error));
    if (one->elements < 1)
        TRY(refuse_key(d, where, "instances", "is not a positive whole number", error));
    if (unfused && !json_is_null(unfused))
        TRY(read_seconds(d, item, where, "unfused_seconds", one->elements, &one->unfused, error));
    TRY(read_covers(d, json_object_get(item, "covers"), where, one, error));
    name_case(d->cases, one);
done:
    return status;
}

static weft_status read_drawing(drawing *d, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    json_error_t place;
    TRY(weft_file_read_as(d->path, WEFT_FILE_JSON, &text, &length, error));
    d->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &place);
    if (!d->root && (!place.text[0] || json_error_code(&place) == json_error_out_of_memory))
        TRY(weft_out_of_memory(error, NULL)); /* it says nothing then */
    if (!d->root) {
        refuse(d, "", "this is not JSON", error);
        weft_error_location(error, d->path, text, place.line, place.column);
        weft_error_hint(error, "%s", place.text);
        TRY(WEFT_ERROR_INPUT);
    }
    const json_t *scripts = json_object_get(d->root, "scripts");
    d->device = json_string_value(json_object_get(d->root, "device"));
    if (!json_is_array(scripts) || !d->device)
        TRY(refuse(d, "", "this holds no \"device\" and list of \"scripts\"", error));
    d->n = (int)json_array_size(scripts);
    if (d->n == 0)
        TRY(refuse(d, "scripts", "is empty: there is nothing to plot", error));
    d->cases = weft_arena_alloc(d->arena, (size_t)d->n, sizeof *d->cases);
    if (!d->cases)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < d->n; ++i)
        TRY(read_case(d, json_array_get(scripts, (size_t)i), i, error));
done:
    free(text);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static weft_status write_file(const drawing *d, const draw_case *one, const char *end,
                              weft_text *text, weft_error *error) {
    char name[NAME_MOST + 32];
    snprintf(name, sizeof name, "%s%s", one->name, end);
    return app_folder_write(d->out, name, text, error);
}

static weft_status write_data(const drawing *d, const draw_case *one, weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, "# rank predicted, rank measured, predicted s, measured s\n");
    for (int i = 0; i < one->n; ++i) {
        const draw_cover *cover = &one->covers[i];
        weft_text_add(&text, "%d %d %.9g %.9g\n", cover->place, cover->rank, cover->predicted,
                      cover->measured);
    }
    return write_file(d, one, ".dat", &text, error);
}

static void add_title(weft_text *out, const drawing *d, const draw_case *one) {
    char parts[2][200];
    snprintf(parts[0], sizeof *parts, "%.100s (%.20s), %lld elements", one->script, one->type,
             (long long)one->elements);
    snprintf(parts[1], sizeof *parts, "%.150s", d->device);
    for (int k = 0; k < 2; ++k) {
        weft_text_add(out, k == 0 ? "set title " : ".\"\\n\".");
        weft_text_add_gnuplot(out, parts[k]);
    }
}

static void begin(weft_text *out, const drawing *d, const draw_case *one, const char *figure,
                  const char *x) {
    weft_text_add(out,
                  "# gnuplot %s-%s.gp, in this folder, draws %s-%s.svg and .png\n"
                  "set encoding utf8\n",
                  one->name, figure, one->name, figure);
    add_title(out, d, one);
    weft_text_add(out,
                  "\nset xlabel '%s'\nset ylabel 'million elements per second'\n"
                  "set xrange [0:%d]\nset yrange [0:*]\nset key top right\nset border 3\n"
                  "set tics nomirror out\nset grid ytics lt 1 lc rgb '#dddddd'\n"
                  "million(seconds) = %lld * 1e-6 / seconds\n",
                  x, one->n + 1, (long long)one->elements);
}

/* Write the plot of `curves` for each image format, on white so that dark pages can show it. */
static void finish(weft_text *out, const draw_case *one, const char *figure, const char *curves) {
    static const char *const kinds[] = {"svg", "png"};
    char name[NAME_MOST + 32];
    for (int k = 0; k < 2; ++k) {
        app_gnuplot_terminal(out, kinds[k], " background '#ffffff'", WIDTH, HEIGHT);
        snprintf(name, sizeof name, "%s-%s", one->name, figure);
        app_gnuplot_output(out, name, kinds[k]);
        weft_text_add(out, "plot %s\nunset output\n", curves);
    }
}

/* Figure 4: the covers in the order of their measured times. */
static weft_status write_sorted(const drawing *d, const draw_case *one, weft_error *error) {
    weft_text text = {0};
    char curves[2 * NAME_MOST + 300];
    snprintf(
        curves, sizeof curves,
        "'%s.dat' using 2:(million($4)) %s lc rgb '#0b5fa5' title 'measured', \\\n"
        "    '' using 2:(million($3)) with points pt 7 ps 0.5 lc rgb '#d95f02' title 'predicted'",
        one->name, one->n > 1 ? "smooth unique with lines lw 2" : "with points pt 7");
    begin(&text, d, one, "figure4", "covers, the fastest first");
    finish(&text, one, "figure4", curves);
    return write_file(d, one, "-figure4.gp", &text, error);
}

/* Fit a polynomial by least squares in t from -1 to 1, where the powers are well conditioned. The
 * initial coefficients have the magnitude of the data, because gnuplot scales its steps by them. */
static void add_fit(weft_text *out, const draw_case *one) {
    double mean = 0;
    for (int i = 0; i < one->n; ++i)
        mean += (double)one->elements * 1e-6 / one->covers[i].measured / one->n;
    weft_text_add(out, "t(x) = (2.0 * x - %d) / %d\npolynomial(x) = c0", one->n + 1, one->n - 1);
    for (int k = 1; k <= DEGREE; ++k)
        weft_text_add(out, " + c%d * t(x)**%d", k, k);
    weft_text_add(out, "\n");
    for (int k = 0; k <= DEGREE; ++k)
        weft_text_add(out, "c%d = %.9g\n", k, mean);
    weft_text_add(out,
                  "set fit nologfile quiet limit 1e-12\n"
                  "fit polynomial(x) '%s.dat' using 1:(million($4)) via c0",
                  one->name);
    for (int k = 1; k <= DEGREE; ++k)
        weft_text_add(out, ",c%d", k);
    weft_text_add(out, "\n");
}

/* Figure 5: the covers in the order of their predictions. */
static weft_status write_ordered(const drawing *d, const draw_case *one, weft_error *error) {
    weft_text text = {0}, curves = {0};
    begin(&text, d, one, "figure5", "covers in the order of their predictions");
    weft_text_add(
        &curves,
        "'%s.dat' using 1:(million($4)) with points pt 7 ps 0.5 lc rgb '#0b5fa5' title 'measured'",
        one->name);
    if (one->n > DEGREE + 1) { /* fewer are met by a polynomial, and show no trend */
        add_fit(&text, one);
        weft_text_add(&curves,
                      ", \\\n    [1:%d] polynomial(x) with lines lw 2 lc rgb '#d95f02' "
                      "title 'polynomial of degree %d'",
                      one->n, DEGREE);
    }
    if (isfinite(one->unfused))
        weft_text_add(&curves,
                      ", \\\n    [0:%d] million(%.9g) with lines lw 2 dt 2 lc rgb '#555555' "
                      "title 'best without fusions'",
                      one->n + 1, one->unfused);
    text.failed = text.failed || curves.failed;
    finish(&text, one, "figure5", curves.failed ? "" : curves.data);
    weft_text_free(&curves);
    return write_file(d, one, "-figure5.gp", &text, error);
}

static weft_status draw(drawing *d, const draw_case *one, weft_error *error) {
    static const char *const figures[] = {"figure4", "figure5"};
    weft_status status = WEFT_OK;
    bool all = true;
    for (int k = 0; k < 2; ++k) {
        char script[NAME_MOST + 32];
        bool drawn = false;
        int stopped = 0; /* not used: signals end the program */
        snprintf(script, sizeof script, "%s-%s.gp", one->name, figures[k]);
        TRY(app_gnuplot_run(d->out, script, d->monitor, &drawn, &stopped, error));
        all = all && drawn;
    }
    d->n_undrawn += !all;
    printf("%s: %d covers, %s-figure4 and %s-figure5 as %s\n", one->name, one->n, one->name,
           one->name, all ? "SVG and PNG" : "scripts for gnuplot alone");
done:
    return status;
}

weft_status weft_tool_draw(const weft_tool_options *options, const weft_monitor *monitor,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    drawing d = {
        .path = options->draw, .out = options->out, .monitor = monitor, .arena = options->arena};
    if (!d.path || !d.out)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "--plot FILE and --out DIR go together"));
    if (options->check || options->json || options->n_arguments > 0 || options->n_devices > 0)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "--plot measures nothing: give it only a file and --out DIR"));
    TRY(read_drawing(&d, error));
    if (mkdir(d.out, 0777) != 0 && errno != EEXIST) {
        weft_error_set(error, WEFT_ERROR_IO, "cannot make this folder: %s", strerror(errno));
        weft_error_location(error, d.out, NULL, 0, 0);
        TRY(WEFT_ERROR_IO);
    }
    for (int i = 0; i < d.n; ++i) {
        TRY(write_data(&d, &d.cases[i], error));
        TRY(write_sorted(&d, &d.cases[i], error));
        TRY(write_ordered(&d, &d.cases[i], error));
        TRY(draw(&d, &d.cases[i], error));
    }
    if (d.n_undrawn > 0)
        printf("to plot where gnuplot is installed: cd %s && gnuplot *.gp\n", d.out);
done:
    json_decref(d.root);
    return status;
}
