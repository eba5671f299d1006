/* Reads the resource usage of kernels from a CUBIN and its assembler log. */
#include "core/cuda/cuda.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* An attribute of .nv.info is
 *
 *     format (1 byte) | attribute (1 byte) | value (2 bytes), or for format 4: length (2) | bytes
 *
 * These two attributes hold a symbol and a number. */
enum { FORMAT_SIZED = 4, ATTRIBUTE_STACK = 0x11, ATTRIBUTE_REGISTERS = 0x2f };
/* Shared memory per block that the driver reserves on sm_90 and later; included in the section. */
enum { RESERVED_SHARED = 1024 };

typedef struct elf_view {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
} elf_view;

static bool inside(const elf_view *elf, uint64_t offset, uint64_t n) {
    return offset <= elf->size && n <= elf->size - offset;
}

static bool section_at(const elf_view *elf, unsigned i, Elf64_Shdr *out) {
    uint64_t offset = elf->header.e_shoff + (uint64_t)i * sizeof *out;
    if (i >= elf->header.e_shnum || offset < elf->header.e_shoff ||
        !inside(elf, offset, sizeof *out))
        return false;
    memcpy(out, elf->bytes + offset, sizeof *out);
    return out->sh_type == SHT_NOBITS || inside(elf, out->sh_offset, out->sh_size);
}

/* A zero-terminated string of a string section, or "". */
static const char *text_at(const elf_view *elf, const Elf64_Shdr *strings, uint64_t offset) {
    if (strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
        return "";
    const unsigned char *text = elf->bytes + strings->sh_offset + offset;
    return memchr(text, 0, strings->sh_size - offset) ? (const char *)text : "";
}

static bool find_section(const elf_view *elf, const char *name, Elf64_Shdr *out) {
    Elf64_Shdr names;
    if (!section_at(elf, elf->header.e_shstrndx, &names))
        return false;
    for (unsigned i = 1; i < elf->header.e_shnum; ++i)
        if (section_at(elf, i, out) && strcmp(text_at(elf, &names, out->sh_name), name) == 0)
            return true;
    return false;
}

static int find_symbol(const elf_view *elf, const char *kernel) {
    Elf64_Shdr table, strings;
    if (!find_section(elf, ".symtab", &table) || !section_at(elf, table.sh_link, &strings))
        return -1;
    for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
        Elf64_Sym symbol;
        memcpy(&symbol, elf->bytes + table.sh_offset + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            strcmp(text_at(elf, &strings, symbol.st_name), kernel) == 0)
            return (int)i;
    }
    return -1;
}

static uint32_t word_at(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static bool read_attributes(const elf_view *elf, uint32_t symbol, weft_kernel_resources *out) {
    Elf64_Shdr info;
    bool found = false;
    if (!find_section(elf, ".nv.info", &info) || info.sh_type == SHT_NOBITS)
        return false;
    const unsigned char *at = elf->bytes + info.sh_offset, *end = at + info.sh_size;
    while (end - at >= 4) {
        size_t length = at[0] == FORMAT_SIZED ? (size_t)at[2] | (size_t)at[3] << 8 : 0;
        const unsigned char *value = at + 4;
        if (length > (size_t)(end - value))
            return false;
        if (length == 8 && word_at(value) == symbol && at[1] == ATTRIBUTE_REGISTERS) {
            out->registers = (int)word_at(value + 4);
            found = true;
        }
        if (length == 8 && word_at(value) == symbol && at[1] == ATTRIBUTE_STACK)
            out->stack_bytes = (int)word_at(value + 4);
        at = value + length;
    }
    return found;
}

/* Parse the log's lines
 *
 *     Function properties for NAME
 *     592 bytes stack frame, 792 bytes spill stores, 1512 bytes spill loads */
static void read_spills(const char *log, const char *kernel, weft_kernel_resources *out) {
    static const char start[] = "Function properties for ";
    const size_t length = strlen(kernel);
    for (const char *at = log; (at = strstr(at, start));) {
        int stack, stores, loads;
        at += sizeof start - 1;
        if (strncmp(at, kernel, length) != 0 || (at[length] != '\n' && at[length] != '\r'))
            continue;
        const char *line = strchr(at, '\n');
        if (line && (line = strstr(line, "bytes stack frame"))) {
            while (line > at && line[-1] != '\n')
                --line;
            line += strcspn(line, "0123456789\n");
            if (sscanf(line, "%d bytes stack frame, %d bytes spill stores, %d bytes spill loads",
                       &stack, &stores, &loads) == 3) {
                out->spill_store_bytes = stores;
                out->spill_load_bytes = loads;
            }
        }
        return;
    }
}

bool weft_cubin_resources(const weft_cubin *cubin, const char *kernel, weft_kernel_resources *out) {
    elf_view elf = {.bytes = cubin->bytes, .size = cubin->size};
    weft_kernel_resources resources = {.spill_store_bytes = -1, .spill_load_bytes = -1};
    char name[512];
    Elf64_Shdr shared;
    if (cubin->size < sizeof elf.header || memcmp(cubin->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&elf.header, cubin->bytes, sizeof elf.header);
    int symbol = find_symbol(&elf, kernel);
    if (symbol < 0 || !read_attributes(&elf, (uint32_t)symbol, &resources))
        return false;
    int length = snprintf(name, sizeof name, ".nv.shared.%s", kernel);
    if (length > 0 && (size_t)length < sizeof name && find_section(&elf, name, &shared))
        resources.shared_bytes =
            (int)(shared.sh_size > RESERVED_SHARED ? shared.sh_size - RESERVED_SHARED : 0);
    if (cubin->whole > cubin->size)
        read_spills((const char *)cubin->bytes + cubin->size, kernel, &resources);
    *out = resources;
    return true;
}
