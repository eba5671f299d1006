/* The collected text as one shared object. */
#include "batch.h"
#include "core/cache/cache.h"
#include "core/host/compiler.h"
#include "core/weft_core.h"
#include "emulation_compiler.h"
#include "fusion/base/cuda_on_host.h"
#include "fusion/base/prelude.h"
#include "fusion/codegen/codegen.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void batch_prelude(const weft_device *device, bool single, weft_text *out) {
    weft_source_backend(&device->limits)->prelude(out, &device->limits, single);
}

void batch_prelude_nested(const weft_device *device, weft_text *out) {
    const weft_prelude_value values[] = {{NULL, NULL}};
    if (!batch_of(device)->emulated)
        weft_prelude_write(weft_source_backend(&device->limits)->nested, values, out);
}

/* CUDA text as C++: functions in a namespace, dynamic shared memory an array of ours. */
static void write_emulated(const char *text, FILE *file) {
    static const char *const patterns[][2] = {
        {"extern \"C\" ", ""},
        {"extern __shared__ __align__(128) unsigned char shared[];",
         "unsigned char *const shared = emulated_shared;"},
        {"extern __shared__ __align__(16) unsigned char shared[];",
         "unsigned char *const shared = emulated_shared;"}};
    while (*text != '\0') {
        const char *next = NULL;
        size_t which = 0;
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
            const char *found = strstr(text, patterns[i][0]);
            if (found != NULL && (next == NULL || found < next)) {
                next = found;
                which = i;
            }
        }
        const size_t n = next != NULL ? (size_t)(next - text) : strlen(text);
        fwrite(text, 1, n, file);
        text += n;
        if (next != NULL) {
            fputs(patterns[which][1], file);
            text += strlen(patterns[which][0]);
        }
    }
}

static weft_status write_file(const weft_device *device, const char *path, int single,
                              weft_error *error) {
    const batch *b = batch_of(device);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "%s cannot be written", path);
    for (int i = 0; i < 2; ++i) {
        weft_text prelude = {0};
        if (b->text[i].length == 0 || (!b->emulated && i != single))
            continue;
        batch_prelude(device, i != 0, &prelude);
        if (b->nested[i])
            batch_prelude_nested(device, &prelude);
        if (b->emulated) {
            fprintf(file, "namespace %s {\n", i != 0 ? "in_float" : "in_double");
            write_emulated(prelude.data, file);
            write_emulated(b->text[i].data, file);
            fputs("}\n", file);
        } else
            fprintf(file, "%s%s", prelude.data, b->text[i].data);
        weft_text_free(&prelude);
    }
    if (b->emulated)
        fprintf(file, "extern \"C\" const emulated_named emulated_names[] = {\n%s    {0, 0}};\n",
                b->names.data);
    return fclose(file) == 0 ? WEFT_OK
                             : weft_error_set(error, WEFT_ERROR_IO, "%s cannot be written", path);
}

int batch_run_program(const char *const *arguments) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* The fast way is without optimisation, and without the inlining that the text insists on: a third
 * of the time. Else with the options that users get. */
static weft_status run_compiler(const batch *b, const char *const *paths, const char *object,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const char *cc = getenv("CC"), *arguments[WEFT_COMPILER_WORDS + WEFT_COMPILER_OPTIONS + 10];
    static const char *const fast[] = {"-O0", "-Dalways_inline=unused"};
    weft_cache none = {.folder = -1};
    weft_processor processor;
    weft_compiler compiler;
    int n = 0;
    TRY(weft_processor_read(b->set, &processor, error));
    TRY(weft_compiler_find(cc != NULL && cc[0] != '\0' ? cc : "cc", &processor, &none, &compiler,
                           error));
    for (int i = 0; compiler.words[i] != NULL; ++i)
        arguments[n++] = compiler.words[i];
    for (int i = 0; compiler.options[i] != NULL; ++i)
        arguments[n++] = compiler.options[i];
    for (int i = 0; !b->optimised && i < 2; ++i)
        arguments[n++] = fast[i];
    arguments[n++] = "-o";
    arguments[n++] = object;
    arguments[n++] = paths[0];
    arguments[n++] = paths[1];
    arguments[n++] = "-lm";
    arguments[n] = NULL;
    if (batch_run_program(arguments) != 0)
        status = weft_error_set(error, WEFT_ERROR_COMPILER, "%s does not compile the batch",
                                arguments[0]);
done:
    return status;
}

weft_status batch_compile_own(batch *b, const char *source, const batch_own **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    char folder[] = "/tmp/weft-own-XXXXXX", path[64], object[64];
    weft_text cpp = {0};
    FILE *file = NULL;
    batch_own made = {.object = NULL};
    weft_hash(source, strlen(source), made.hash);
    for (int i = 0; i < b->n_own; ++i)
        if (strcmp(b->own[i].hash, made.hash) == 0) {
            *out = &b->own[i];
            return WEFT_OK;
        }
    if (b->n_own == BATCH_OWN)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "too many texts outside the batch");
    if (mkdtemp(folder) == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "no folder in /tmp can be made");
    snprintf(path, sizeof path, "%s/own.cu", folder);
    snprintf(object, sizeof object, "%s/own.so", folder);
    weft_cuda_on_host_text(source, &cpp);
    file = fopen(path, "w");
    if (cpp.failed || file == NULL || fputs(cpp.data, file) < 0 || fclose(file) != 0)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "%s cannot be written", path));
    if (emulation_run_compiler(path, object, NULL) != 0)
        TRY(weft_error_set(error, WEFT_ERROR_COMPILER, "g++ does not compile %s", path));
    made.object = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (made.object == NULL)
        TRY(weft_error_set(error, WEFT_ERROR_COMPILER, "%s", dlerror()));
    void *found = dlsym(made.object, "emulate_wide");
    memcpy(&made.emulate, &found, sizeof found);
    b->own[b->n_own] = made;
    *out = &b->own[b->n_own++];
done:
    weft_text_free(&cpp);
    unlink(path);
    unlink(object);
    rmdir(folder);
    return status;
}

weft_status batch_compile(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    batch *b = batch_of(device);
    char folder[] = "/tmp/weft-batch-XXXXXX", first[64], second[64], object[64];
    if (mkdtemp(folder) == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "no folder in /tmp can be made");
    snprintf(first, sizeof first, "%s/double.%s", folder, b->emulated ? "cu" : "c");
    snprintf(second, sizeof second, "%s/float.c", folder);
    snprintf(object, sizeof object, "%s/batch.so", folder);
    const char *const paths[] = {first, second};
    TRY(write_file(device, first, 0, error));
    if (!b->emulated) {
        TRY(write_file(device, second, 1, error));
        TRY(run_compiler(b, paths, object, error));
    } else if (emulation_run_compiler(first, object, NULL) != 0)
        TRY(weft_error_set(error, WEFT_ERROR_COMPILER, "g++ does not compile the batch"));
    b->object = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (b->object == NULL) {
        status = weft_error_set(error, WEFT_ERROR_COMPILER, "%s", dlerror());
        goto done;
    }
    if (b->emulated) {
        void *found = dlsym(b->object, "emulate_call");
        memcpy(&b->emulate, &found, sizeof found);
    }
done:
    unlink(first);
    unlink(second);
    unlink(object);
    rmdir(folder);
    return status;
}
