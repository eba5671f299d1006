/* Replays corpus files through a fuzz target where libFuzzer is not used: as a plain test. Every
 * argument is a file or a folder of files; the empty input and every prefix of each file (a cheap
 * truncation test, at most 256 of them) are tried too. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An exact copy, so that a sanitizer sees the first byte past the end. */
static void replay(const uint8_t *data, size_t size) {
    uint8_t *copy = calloc(size ? size : 1, 1);
    if (!copy)
        return;
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot read %s\n", path);
        return 0;
    }
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    replay(bytes, size);
    size_t step = size / 256 + 1;
    for (size_t prefix = 0; prefix < size; prefix += step)
        replay(bytes, prefix);
    return 1;
}

static int replay_path(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return 0;
    if (!S_ISDIR(info.st_mode))
        return replay_file(path);
    int n = 0;
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        char child[4096];
        int length = snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof child)
            n += replay_path(child);
    }
    if (folder)
        closedir(folder);
    return n;
}

int main(int n_arguments, char **arguments) {
    int n = 0;
    replay((const uint8_t *)"", 0);
    for (int i = 1; i < n_arguments; ++i)
        n += replay_path(arguments[i]);
    printf("replayed %d files\n", n);
    return n > 0 ? 0 : 77;
}
