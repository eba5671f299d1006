/* Encodes, decodes, reads and verifies cache entries. */
#include "core/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Header of an entry, little-endian, WEFT_ENTRY_HEADER bytes:
 *     0  magic "WEFT\r\n\x1a\n"      8  format version, u32    12  kind, u32
 *    16  payload bytes, u64         24  key, 32 digits        56  source key, 32 digits
 *    88  payload hash, 32 digits   120  description, 256 bytes, zero padded
 *   376  zero                      480  hash of bytes 0 to 479, 32 digits
 * The magic changes when a file is sent through anything that changes line ends. */
static const unsigned char magic[8] = {'W', 'E', 'F', 'T', '\r', '\n', 0x1a, '\n'};
enum {
    AT_VERSION = 8,
    AT_KIND = 12,
    AT_BYTES = 16,
    AT_KEY = 24,
    AT_SOURCE_KEY = 56,
    AT_PAYLOAD_HASH = 88,
    AT_DESCRIPTION = 120,
    AT_HEADER_HASH = 480,
    DIGITS = 32
};
#define LARGEST_ENTRY ((off_t)1 << 30)

const char weft_entry_no_memory[] = "there is no memory to read it";

static void put_number(unsigned char *out, uint64_t value, int n_bytes) {
    for (int i = 0; i < n_bytes; ++i)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_number(const unsigned char *bytes, int n_bytes) {
    uint64_t value = 0;
    for (int i = 0; i < n_bytes; ++i)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

void weft_entry_encode(const weft_entry *entry, unsigned char out[WEFT_ENTRY_HEADER]) {
    char hash[DIGITS + 1];
    memset(out, 0, WEFT_ENTRY_HEADER);
    memcpy(out, magic, sizeof magic);
    put_number(out + AT_VERSION, WEFT_CACHE_FORMAT, 4);
    put_number(out + AT_KIND, (uint64_t)entry->kind, 4);
    put_number(out + AT_BYTES, entry->payload_bytes, 8);
    memcpy(out + AT_KEY, entry->key, DIGITS);
    memcpy(out + AT_SOURCE_KEY, entry->source_key, DIGITS);
    memcpy(out + AT_PAYLOAD_HASH, entry->payload_hash, DIGITS);
    memcpy(out + AT_DESCRIPTION, entry->description,
           strnlen(entry->description, sizeof entry->description - 1));
    weft_hash(out, AT_HEADER_HASH, hash);
    memcpy(out + AT_HEADER_HASH, hash, DIGITS);
}

static void get_digits(char out[DIGITS + 1], const unsigned char *bytes) {
    memcpy(out, bytes, DIGITS);
    out[DIGITS] = '\0';
}

const char *weft_entry_check(const unsigned char *bytes, size_t size, const char *key,
                             weft_entry *entry) {
    char hash[DIGITS + 1];
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return "it is not a Weft cache entry";
    if (size < WEFT_ENTRY_HEADER)
        return "its header is cut off";
    weft_hash(bytes, AT_HEADER_HASH, hash);
    if (memcmp(bytes + AT_HEADER_HASH, hash, DIGITS) != 0)
        return "its header is damaged";
    if (get_number(bytes + AT_VERSION, 4) != WEFT_CACHE_FORMAT)
        return "it has another format version";
    *entry = (weft_entry){.kind = (weft_entry_kind)get_number(bytes + AT_KIND, 4),
                          .payload_bytes = get_number(bytes + AT_BYTES, 8)};
    get_digits(entry->key, bytes + AT_KEY);
    get_digits(entry->source_key, bytes + AT_SOURCE_KEY);
    get_digits(entry->payload_hash, bytes + AT_PAYLOAD_HASH);
    memcpy(entry->description, bytes + AT_DESCRIPTION, sizeof entry->description - 1);
    if (key && strcmp(entry->key, key) != 0)
        return "it is the entry of another key";
    if (entry->payload_bytes != size - WEFT_ENTRY_HEADER)
        return entry->payload_bytes > size - WEFT_ENTRY_HEADER ? "it is cut off"
                                                               : "bytes follow its end";
    weft_hash(bytes + WEFT_ENTRY_HEADER, size - WEFT_ENTRY_HEADER, hash);
    if (strcmp(hash, entry->payload_hash) != 0)
        return "its content is damaged";
    return NULL;
}

bool weft_entry_name(const char *file_name, char key[33]) {
    if (strspn(file_name, "0123456789abcdef") != DIGITS || strcmp(file_name + DIGITS, ".weft") != 0)
        return false;
    memcpy(key, file_name, DIGITS);
    key[DIGITS] = '\0';
    return true;
}

static const char *read_bytes(int file, unsigned char *bytes, size_t size) {
    size_t used = 0;
    while (used < size) {
        ssize_t n = read(file, bytes + used, size - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return "it cannot be read";
        if (n == 0)
            return "it was cut off while it was read";
        used += (size_t)n;
    }
    return NULL;
}

const char *weft_entry_read(int folder, const char *file_name, unsigned char **bytes, size_t *size,
                            bool *missing) {
    struct stat info, owner;
    const char *wrong = NULL;
    unsigned char *data = NULL;
    *missing = false;
    /* O_NONBLOCK: opening a pipe that somebody has put there must not block */
    int file = openat(folder, file_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        *missing = errno == ENOENT;
        return *missing          ? "it is missing"
               : errno == ELOOP  ? "it is a symbolic link"
               : errno == EACCES ? "it may not be read"
                                 : "it cannot be opened";
    }
    if (fstat(folder, &owner) != 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        wrong = "it is not a plain file";
    else if (info.st_uid != owner.st_uid)
        wrong = "it belongs to another user";
    else if (info.st_size > LARGEST_ENTRY)
        wrong = "it is too large";
    if (!wrong) {
        data = malloc((size_t)info.st_size + 1);
        wrong = data ? read_bytes(file, data, (size_t)info.st_size) : weft_entry_no_memory;
    }
    close(file);
    if (wrong) {
        free(data);
        return wrong;
    }
    *bytes = data;
    *size = (size_t)info.st_size;
    return NULL;
}
