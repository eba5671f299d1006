/* Checks that bytes are a complete shared object for this machine: the loader maps what the headers
 * announce without checking the file's length, and access beyond its end raises SIGBUS. */
#include "core/host/module.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* ELF header of the program that contains this code, set by the linker; NULL if not available. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

typedef struct object {
    const unsigned char *bytes;
    size_t size;
    ElfW(Ehdr) header;
    char *why; /* what is wrong, in words */
    size_t why_size;
} object;

static bool wrong(const object *o, const char *what) {
    snprintf(o->why, o->why_size, "%s", what);
    return false;
}

/* Do the bytes [offset, offset + length) lie in the file? */
static bool within(const object *o, uint64_t offset, uint64_t length, const char *what) {
    uint64_t end;
    if (!__builtin_add_overflow(offset, length, &end) && end <= o->size)
        return true;
    snprintf(o->why, o->why_size, "it is cut off: %s is beyond its end (%zu bytes)", what, o->size);
    return false;
}

static bool check_header(object *o) {
    const ElfW(Ehdr) *h = &o->header, *own = &__ehdr_start;
    if (o->size < sizeof *h || memcmp(o->bytes, ELFMAG, SELFMAG) != 0)
        return wrong(o, "it is not a shared object");
    memcpy(&o->header, o->bytes, sizeof *h);
    if (h->e_type != ET_DYN || h->e_version != EV_CURRENT)
        return wrong(o, "it is an ELF file, but not a shared object");
    if (own && (h->e_ident[EI_CLASS] != own->e_ident[EI_CLASS] ||
                h->e_ident[EI_DATA] != own->e_ident[EI_DATA] || h->e_machine != own->e_machine)) {
        snprintf(o->why, o->why_size,
                 "it is for another machine (ELF machine %d, class %d; this is %d, %d)",
                 h->e_machine, h->e_ident[EI_CLASS], own->e_machine, own->e_ident[EI_CLASS]);
        return false;
    }
    if (h->e_phnum == 0 || h->e_phentsize != sizeof(ElfW(Phdr)) ||
        (h->e_shnum > 0 && h->e_shentsize != sizeof(ElfW(Shdr))))
        return wrong(o, "its header is damaged");
    return within(o, h->e_phoff, (uint64_t)h->e_phnum * sizeof(ElfW(Phdr)), "its segment table") &&
           within(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(ElfW(Shdr)), "its section table");
}

static ElfW(Phdr) segment(const object *o, int i) {
    ElfW(Phdr) out;
    memcpy(&out, o->bytes + o->header.e_phoff + (size_t)i * sizeof out, sizeof out);
    return out;
}

static bool check_segments(const object *o) {
    bool any = false;
    uint64_t before = 0;
    for (int i = 0; i < o->header.e_phnum; ++i) {
        const ElfW(Phdr) s = segment(o, i);
        if (s.p_type == PT_GNU_STACK) /* has flags but no bytes */
            continue;
        if (!within(o, s.p_offset, s.p_filesz, "a segment"))
            return false;
        if (s.p_type != PT_LOAD)
            continue;
        uint64_t end;
        if (s.p_filesz > s.p_memsz || __builtin_add_overflow(s.p_vaddr, s.p_memsz, &end) ||
            end > (uint64_t)1 << 40 || (any && s.p_vaddr < before) ||
            (s.p_align > 1 && (s.p_vaddr - s.p_offset) % s.p_align != 0))
            return wrong(o, "its segments are damaged");
        before = end;
        any = true;
    }
    return any || wrong(o, "it has nothing to load");
}

static bool check_sections(const object *o) {
    for (int i = 0; i < o->header.e_shnum; ++i) {
        ElfW(Shdr) s;
        memcpy(&s, o->bytes + o->header.e_shoff + (size_t)i * sizeof s, sizeof s);
        if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL &&
            !within(o, s.sh_offset, s.sh_size, "a section"))
            return false;
    }
    return true;
}

/* Do the addresses [from, from + length) lie in one segment? */
static bool is_loaded(const object *o, uint64_t from, uint64_t length) {
    for (int i = 0; i < o->header.e_phnum; ++i) {
        const ElfW(Phdr) s = segment(o, i);
        if (s.p_type == PT_LOAD && from >= s.p_vaddr && from - s.p_vaddr <= s.p_memsz &&
            length <= s.p_memsz - (from - s.p_vaddr))
            return true;
    }
    return false;
}

/* The tables that the loader reads: the dynamic entries with their address and their length. */
static const struct {
    int64_t at, length;
} tables[] = {{DT_STRTAB, DT_STRSZ},
              {DT_SYMTAB, 0},
              {DT_HASH, 0},
              {DT_GNU_HASH, 0},
              {DT_RELA, DT_RELASZ},
              {DT_REL, DT_RELSZ},
              {DT_JMPREL, DT_PLTRELSZ},
              {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
              {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
              {DT_VERSYM, 0},
              {DT_VERNEED, 0},
              {DT_INIT, 0},
              {DT_FINI, 0}};

static bool find_entry(const object *o, const ElfW(Phdr) * dynamic, int64_t tag, uint64_t *value) {
    for (size_t at = 0; at + sizeof(ElfW(Dyn)) <= dynamic->p_filesz; at += sizeof(ElfW(Dyn))) {
        ElfW(Dyn) entry;
        memcpy(&entry, o->bytes + dynamic->p_offset + at, sizeof entry);
        if (entry.d_tag == tag) {
            *value = entry.d_un.d_val;
            return true;
        }
        if (entry.d_tag == DT_NULL)
            return false;
    }
    return false;
}

static bool check_dynamic(const object *o) {
    uint64_t at = 0, length = 0;
    for (int i = 0; i < o->header.e_phnum; ++i) {
        const ElfW(Phdr) dynamic = segment(o, i);
        if (dynamic.p_type != PT_DYNAMIC)
            continue;
        if (!is_loaded(o, dynamic.p_vaddr, dynamic.p_memsz) ||
            !find_entry(o, &dynamic, DT_NULL, &at) || !find_entry(o, &dynamic, DT_SYMTAB, &at) ||
            !find_entry(o, &dynamic, DT_STRTAB, &at))
            return wrong(o, "its dynamic section is damaged");
        for (size_t k = 0; k < sizeof tables / sizeof *tables; ++k) {
            if (!find_entry(o, &dynamic, tables[k].at, &at))
                continue;
            length = 1;
            if (tables[k].length && !find_entry(o, &dynamic, tables[k].length, &length))
                return wrong(o, "its dynamic section is damaged");
            if (!is_loaded(o, at, length))
                return wrong(o, "its dynamic section points out of it");
        }
        return true;
    }
    return wrong(o, "it has no dynamic section");
}

bool weft_object_check(const unsigned char *bytes, size_t size, char *why, size_t why_size) {
    object o = {.bytes = bytes, .size = size, .why = why, .why_size = why_size};
    return check_header(&o) && check_segments(&o) && check_sections(&o) && check_dynamic(&o);
}
