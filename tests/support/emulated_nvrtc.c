/* A stand-in for NVRTC: CUDA text is compiled by g++ for the host (kernels/prelude/cuda_on_host.h), and fake_cuda.c
 * runs it. Text with instructions of a GPU is refused, as NVRTC refuses what it cannot compile. */
#include "core/base/file.h"
#include "emulation_compiler.h"
#include "fusion/base/cuda_on_host.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* NVRTC's, not ours */

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILATION = 6, LOG_BYTES = 4000, KERNELS = 512, REGISTERS = 32 };

/* Room for the registers of each kernel, which core/cuda/resource_usage.c reads. */
static const char figures[] =
    "asm(\".pushsection .nv.info,\\\"\\\",@progbits\\n.space 6144\\n.popsection\");\n";
_Static_assert(KERNELS * 12 == 6144, "an attribute has 12 bytes");

typedef struct program {
    char *source, *object;
    size_t size;
    char log[LOG_BYTES];
} program;

int nvrtcVersion(int *major, int *minor);
const char *nvrtcGetErrorString(int code);
int nvrtcCreateProgram(program **out, const char *source, const char *name, int n_headers,
                       const char *const *headers, const char *const *include_names);
int nvrtcDestroyProgram(program **p);
/* Write for each function of the object that it takes REGISTERS registers and spills none. */
static void write_figures(unsigned char *object) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)object;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(object + header->e_shoff);
    const char *names = (const char *)object + sections[header->e_shstrndx].sh_offset;
    const Elf64_Sym *symbols = NULL;
    size_t n_symbols = 0, n = 0;
    unsigned char *out = NULL;
    for (int i = 0; i < header->e_shnum; ++i) {
        if (strcmp(names + sections[i].sh_name, ".nv.info") == 0)
            out = object + sections[i].sh_offset;
        if (sections[i].sh_type == SHT_SYMTAB) {
            symbols = (const Elf64_Sym *)(const void *)(object + sections[i].sh_offset);
            n_symbols = sections[i].sh_size / sizeof *symbols;
        }
    }
    for (size_t i = 0; out && i < n_symbols && n < KERNELS; ++i) {
        const uint32_t words[] = {0x00082f04, (uint32_t)i, REGISTERS};
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
            ELF64_ST_BIND(symbols[i].st_info) == STB_GLOBAL && symbols[i].st_shndx != SHN_UNDEF)
            memcpy(out + 12 * n++, words, sizeof words);
    }
}

int nvrtcCompileProgram(program *p, int n_options, const char *const *options);
int nvrtcGetCUBINSize(program *p, size_t *size);
int nvrtcGetCUBIN(program *p, char *cubin);
int nvrtcGetProgramLogSize(program *p, size_t *size);
int nvrtcGetProgramLog(program *p, char *log);

/* The version is in every key of Weft's cache: no NVRTC of NVIDIA's has this one, and it changes with the emulation. */
int nvrtcVersion(int *major, int *minor) {
    weft_text emulation = {0};
    weft_cuda_on_host("", &emulation);
    *major = 13;
    *minor = 1000 + (int)(weft_hash_text(emulation.failed ? "" : emulation.data) % 1000000);
    weft_text_free(&emulation);
    return 0;
}
const char *nvrtcGetErrorString(int code) {
    return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "an error of a stand-in";
}
int nvrtcCreateProgram(program **out, const char *source, const char *name, int n_headers,
                       const char *const *headers, const char *const *include_names) {
    *out = calloc(1, sizeof **out);
    if (*out)
        (*out)->source = strdup(source);
    return *out && (*out)->source ? 0 : 1;
}
int nvrtcDestroyProgram(program **p) {
    free((*p)->source);
    free((*p)->object);
    free(*p);
    *p = NULL;
    return 0;
}

int nvrtcCompileProgram(program *p, int n_options, const char *const *options) {
    char folder[] = "/tmp/weft-emulated-XXXXXX", source[64], object[64], log[64];
    int code = COMPILATION;
    weft_text cpp = {0};
    if (strstr(p->source, "ld.relaxed") || !mkdtemp(folder)) {
        snprintf(p->log, sizeof p->log, "instructions of a GPU are not emulated");
        return COMPILATION;
    }
    snprintf(source, sizeof source, "%s/source.cc", folder);
    snprintf(object, sizeof object, "%s/object.so", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    weft_cuda_on_host_text(p->source, &cpp);
    weft_text_add(&cpp, "%s", figures);
    if (!cpp.failed && weft_file_replace(source, cpp.data, cpp.length) == WEFT_OK &&
        emulation_run_compiler(source, object, log) == 0 &&
        weft_file_read(object, &p->object, &p->size, NULL) == WEFT_OK) {
        write_figures((unsigned char *)p->object);
        code = 0;
    } else
        weft_system_file_read(log, p->log, sizeof p->log);
    weft_text_free(&cpp);
    unlink(source);
    unlink(object);
    unlink(log);
    rmdir(folder);
    return code;
}
int nvrtcGetCUBINSize(program *p, size_t *size) {
    *size = p->size;
    return 0;
}
int nvrtcGetCUBIN(program *p, char *cubin) {
    memcpy(cubin, p->object, p->size);
    return 0;
}
int nvrtcGetProgramLogSize(program *p, size_t *size) {
    *size = strlen(p->log) + 1;
    return 0;
}
int nvrtcGetProgramLog(program *p, char *log) {
    memcpy(log, p->log, strlen(p->log) + 1);
    return 0;
}
