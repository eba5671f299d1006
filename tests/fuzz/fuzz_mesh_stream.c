/* labels: quick */
/* Any bytes as the stream of weft-gmsh, then as a mesh: read or refused, nothing else. */
#include "core/weft_core.h"
#include "fem/io/read.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    const uint8_t *at;
    size_t left;
} bytes;

/* In pieces of odd lengths, as a pipe may give them. */
static ssize_t read_bytes(void *user, void *out, size_t n) {
    bytes *from = user;
    size_t piece = n < 7919 ? n : 7919;
    piece = piece < from->left ? piece : from->left;
    if (piece > 0)
        memcpy(out, from->at, piece);
    from->at += piece;
    from->left -= piece;
    return (ssize_t)piece;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_mesh *mesh = NULL;
    weft_mesh_data parts = {0};
    weft_error error = {0};
    bytes from = {data, size};
    weft_stream_source source = {"fuzz", read_bytes, &from, (int64_t)size, false, false, 0};
    if (weft_mesh_stream_read(&source, NULL, &parts, &error) == WEFT_OK &&
        weft_mesh_make(&parts, "fuzz", NULL, &mesh, &error) == WEFT_OK) {
        double point[3] = {0.25, 0.25, 0.25}, weights[4];
        int64_t cell;
        weft_mesh_locate(mesh, point, &cell, weights);
        weft_mesh_free(&mesh);
    }
    weft_mesh_data_free(&parts);
    return 0;
}
