/* Identifies the build of the program or library that holds this code, by the ID that its linker has written. */
#include "core/base/build.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

typedef struct search {
    uintptr_t address; /* of this code */
    char *out;
    bool found;
} search;

static size_t aligned(size_t n) {
    return (n + 3) / 4 * 4;
}

/* Read the notes of a segment: name, type and content of each are padded to 4 bytes. */
static void read_notes(search *s, const unsigned char *at, size_t size) {
    ElfW(Nhdr) note;
    while (!s->found && size >= sizeof note) {
        memcpy(&note, at, sizeof note);
        const size_t name = sizeof note, content = name + aligned(note.n_namesz),
                     next = content + aligned(note.n_descsz);
        if (next > size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(at + name, "GNU", 4) == 0) {
            weft_hash(at + content, note.n_descsz, s->out);
            s->found = true;
        }
        at += next;
        size -= next;
    }
}

static bool holds(const struct dl_phdr_info *object, uintptr_t address) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t first = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= first && address - first < segment->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *user) {
    search *s = user;
    (void)size;
    if (!holds(object, s->address))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            read_notes(s, (const unsigned char *)object->dlpi_addr + segment->p_vaddr,
                       segment->p_filesz);
    }
    return 1;
}

bool weft_build_identity(char out[33]) {
    search s = {.address = (uintptr_t)&weft_build_identity, .out = out};
    dl_iterate_phdr(look_at, &s);
    return s.found;
}
