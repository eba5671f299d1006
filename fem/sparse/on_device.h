/** Patterns and layouts of sparse matrices made by kernels of the device (kernels/setup), with the
 *  same contents as the host's. Not installed.
 *
 *      In: cells -> rows, on a device on which set-up runs.  Out: pattern, SELL matrix, cells of
 *      each row, symmetric layout; all stay on the device.
 *
 *  Decision  docs/decisions/0026-set-up-on-the-device-equals-the-host.md */
#pragma once

#include "fem/sparse/addto.h"
#include "fem/sparse/symmetric.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/setup.h"

/** The cells of each row of a range: cell * width + vertex, of row rows.first + i in places[start[i]] ..
 *  places[start[i + 1] - 1], ascending; int64_t and uint32_t. Free with weft_row_cells_free. */
typedef struct weft_row_cells {
    weft_target_range rows;
    weft_memory *start, *places;
} weft_row_cells;
/** rows    NULL: all
 *  Errors  WEFT_ERROR_UNSUPPORTED: more than 2^32 - 1 vertices of cells; _MEMORY, _COMPILER, _DEVICE;
 *          *out untouched */
weft_status weft_row_cells_make(weft_setup *setup, weft_connectivity *dofs,
                                const weft_target_range *rows, weft_row_cells *out,
                                weft_error *error);
/** Accepts {0}; leaves {0}. */
void weft_row_cells_free(weft_row_cells *cells);

/** A weft_pattern on the device. Free with weft_device_pattern_free. */
typedef struct weft_device_pattern {
    int64_t n_rows, n_entries;
    weft_memory *row_start, *columns; /* int64_t [n_rows + 1], int32_t [n_entries] */
} weft_device_pattern;
/** Errors  WEFT_ERROR_UNSUPPORTED: a row of more than 256 entries, more than 2^32 - 1 entries;
 *          _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_pattern_make(weft_setup *setup, weft_connectivity *dofs,
                                     const weft_row_cells *cells, weft_device_pattern *out,
                                     weft_error *error);
/** Accepts {0}; leaves {0}. */
void weft_device_pattern_free(weft_device_pattern *pattern);
/** Refuse rows of more than 256 entries, and more than 2^32 - 1 entries. */
weft_status weft_device_pattern_check(int32_t longest, int64_t n_entries, weft_error *error);
/** Copy it to the host.
 *  out     its sizes are set and its arrays NULL; they are made here
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE; the arrays stay NULL */
weft_status weft_device_pattern_read(const weft_device_pattern *pattern, weft_pattern *out,
                                     weft_error *error);

/** The rows outside of each block of 512 rows that it couples with, ascending: columns[start[block]] ..
 *  columns[start[block + 1] - 1], int64_t and int32_t. Free with weft_device_halos_free. */
typedef struct weft_device_halos {
    weft_memory *start, *columns;
} weft_device_halos;
/** Errors  WEFT_ERROR_UNSUPPORTED: a block that couples with too many rows (WEFT_ADDTO_LOCAL_BITS);
 *          _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_device_halos_make(weft_setup *setup, const weft_device_pattern *pattern,
                                   weft_device_halos *out, weft_error *error);
/** The local number of each entry's column, uint16_t: 0 .. 511 rows of the block, 512 + h entry h of
 *  its halo.
 *  out  [n_entries]; caller's; weft_memory_free */
weft_status weft_device_locals_make(weft_setup *setup, const weft_device_pattern *pattern,
                                    const weft_device_halos *halos, weft_memory **out,
                                    weft_error *error);
/** Accepts {0}; leaves {0}. */
void weft_device_halos_free(weft_device_halos *halos);

/** weft_sell_matrix_make for such a pattern, whose rows all have a diagonal entry, without values. */
weft_status weft_sell_matrix_from_device(weft_setup *setup, const weft_device_pattern *pattern,
                                         weft_sell_matrix **out, weft_error *error);
/** Make its values, zero, if it has none. */
weft_status weft_sell_matrix_make_values(weft_sell_matrix *matrix, weft_error *error);
/** weft_device_halos_make for such a matrix, from its layout.
 *  most  gets the length of the longest halo */
weft_status weft_sell_halos_make(weft_setup *setup, const weft_sell_matrix *matrix, int64_t n_rows,
                                 weft_device_halos *out, int64_t *most, weft_error *error);
/** The memories of a matrix, as the members of weft_sell; borrowed. */
typedef struct weft_sell_memories {
    weft_memory *values, *start, *columns, *column_start, *bases, *rows, *slots;
} weft_sell_memories;
void weft_sell_matrix_memories(const weft_sell_matrix *matrix, weft_sell_memories *out);
/** The starts of rows of the pattern that a matrix was made from, again from its layout.
 *  row_start  int64_t [n_rows + 1]; caller's; weft_memory_free */
weft_status weft_sell_matrix_row_starts(weft_setup *setup, const weft_sell_matrix *matrix,
                                        weft_memory **row_start, weft_error *error);
/** The same of the columns.
 *  row_start  of the pattern
 *  columns    caller's; weft_memory_free */
weft_status weft_sell_matrix_columns(weft_setup *setup, const weft_sell_matrix *matrix,
                                     weft_memory *row_start, int64_t n_entries,
                                     weft_memory **columns, weft_error *error);
/** weft_addto_rows_make for such a matrix, for the blocks of some rows.
 *  halos  of the pattern that the matrix was made from; borrowed by *out
 *  cells  of dofs; of rows from a multiple of 512 to another or to the last row
 *  out    caller's; free with weft_addto_rows_free after halo_start and halo were set to NULL */
weft_status weft_addto_rows_on_device(weft_setup *setup, const weft_sell_matrix *matrix,
                                      const weft_device_halos *halos, weft_connectivity *dofs,
                                      const weft_row_cells *cells, bool with_cells,
                                      weft_matrix_rows *out, weft_error *error);

/** A symmetric layout on the device. Free with weft_device_symmetric_free. */
typedef struct weft_device_symmetric {
    weft_symmetric *sizes; /* with its patches; columns, lists and offsets are NULL */
    weft_memory *patches, *columns, *lists, *offsets; /* as those of weft_symmetric */
} weft_device_symmetric;
/** Accepts {0}; leaves {0}. */
void weft_device_symmetric_free(weft_device_symmetric *symmetric);
/** weft_symmetric_make for such a pattern, which contains both a_ij and a_ji and the diagonal.
 *  out     caller's; weft_device_symmetric_free
 *  Memory  6 bytes per entry of the pattern during the call, beside what *out gets
 *  Errors  WEFT_ERROR_UNSUPPORTED: a patch of more than 4096 inner edges, and those of
 *          weft_device_halos_make and weft_symmetric_make; _MEMORY, _COMPILER, _DEVICE; *out
 *          untouched */
weft_status weft_device_symmetric_make(weft_setup *setup, const weft_device_pattern *pattern,
                                       const weft_symmetric_options *options,
                                       weft_device_symmetric *out, weft_error *error);
/** weft_symmetric_matrix_make for such a layout, whose patches, columns and lists are moved to the
 *  matrix. */
weft_status weft_symmetric_matrix_from_device(weft_setup *setup, weft_device_symmetric *layout,
                                              weft_symmetric_matrix **out, weft_error *error);
/** weft_symmetric_positions for such a layout. */
weft_status weft_device_symmetric_positions(weft_setup *setup,
                                            const weft_device_symmetric *symmetric,
                                            const weft_device_pattern *pattern,
                                            weft_connectivity *dofs, int lanes,
                                            weft_memory **positions, weft_error *error);

/** A CSR matrix on the device. Free with weft_device_matrix_free. */
typedef struct weft_device_matrix {
    weft_device_pattern pattern;
    weft_memory *values; /* [n_entries] double */
} weft_device_matrix;
/** Accepts {0}; leaves {0}. */
void weft_device_matrix_free(weft_device_matrix *matrix);
/** Set the values of a SELL matrix that was made from the same pattern.
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_sell_matrix_set(weft_setup *setup, const weft_device_matrix *from,
                                 weft_sell_matrix *to, weft_error *error);
/** D^-1 A for product kernels of scripts in single precision, D being the diagonal of A; it shares the layout.
 *  diagonal  [n_rows] float, not positive where a row becomes that of the identity, as of a constrained dof; borrowed, must
 *          outlive *out; in half precision its entries change by about 2^-11 of themselves, and D with them
 *  half_precision  store entries off the diagonal in half precision (IEEE 754 binary16), in units of a power
 *          of two per row, unless some do not fit or a halo is too long: for matrices of one component, which then differ
 *          from this one in x.A x by at most about 2^-11 of it, because sums of rows are kept. With
 *          several components rotations of a body would gain energy.
 *          The product kernel is then sell_half: the diagonal; for each pair of entries its values and the local
 *          numbers of their columns, two words, [slice][k / 2][lane], where the slice's values start in SELL, halved; unit
 *          of a row 2^(e - 7), e the exponent of its diagonal entry
 *  out     caller's; weft_sell_matrix_free; either may be freed first */
weft_status weft_sell_matrix_scaled(weft_setup *setup, weft_sell_matrix *matrix,
                                    weft_memory *diagonal, bool half_precision,
                                    weft_sell_matrix **out, weft_error *error);

/** A refined mesh's dofs over those of the coarser one, on the device. */
typedef struct weft_device_parents {
    weft_connectivity *parents; /* fine dofs -> 2 coarse dofs, whose mean a value is; borrowed */
    weft_memory *fine_fixed, *coarse_fixed; /* bytes, 1: constrained */
    bool is_masked;                         /* a constrained fine dof has a parent that is free */
} weft_device_parents;
/** Make bytes that are 1 at the given numbers.
 *  numbers  [n_numbers] on the host
 *  out      [n] */
weft_status weft_device_flags(weft_setup *setup, const int32_t *numbers, int64_t n_numbers,
                              int64_t n, weft_memory **out, weft_error *error);
/** Make coarse_fixed, a coarse dof is constrained where the fine one in its place is, and is_masked. */
weft_status weft_device_coarse_flags(weft_setup *setup, weft_device_parents *parents,
                                     weft_error *error);
/** A matrix on the device in one of two formats; borrowed. */
typedef struct weft_fine_matrix {
    const weft_device_matrix *csr; /* NULL: sell */
    const weft_sell_matrix *sell;  /* in double precision, with a diagonal entry in each row */
} weft_fine_matrix;
/** out = P^T A P, whose rows all have a diagonal entry; that of a constrained dof is zero and alone.
 *  Each row is summed in a fixed order.
 *  Errors  WEFT_ERROR_UNSUPPORTED: a row of more than 256 entries; _MEMORY, _COMPILER, _DEVICE */
weft_status weft_device_galerkin(weft_setup *setup, const weft_fine_matrix *A,
                                 const weft_device_parents *parents, weft_device_matrix *out,
                                 weft_error *error);

/** Entries of local matrices that are added up in the order of cells, where atomic additions would depend on what else a rank
 *  has: 16 bytes each. */
typedef struct weft_ordered_sums weft_ordered_sums;
/** n_cells, width  of the local matrices, [width][width]
 *  positions       uint32_t, of their entries in blocks of 32 cells (weft_sell_positions); borrowed for the call
 *  n_entries       of the matrix
 *  out             caller's; weft_ordered_sums_free
 *  Errors          WEFT_ERROR_UNSUPPORTED (too many), _MEMORY, _COMPILER, _DEVICE; *out untouched */
weft_status weft_ordered_sums_make(weft_device *device, int64_t n_cells, int width,
                                   weft_memory *positions, int64_t n_entries,
                                   weft_ordered_sums **out, weft_error *error);
void weft_ordered_sums_free(weft_ordered_sums **sums);
/** Where a program adds local matrices, in place of the matrix and of positions in it. Borrowed. */
weft_memory *weft_ordered_sums_values(const weft_ordered_sums *sums);
weft_memory *weft_ordered_sums_positions(const weft_ordered_sums *sums);
/** Then this sets the entries of the matrix, or adds to them. */
weft_status weft_ordered_sums_add(const weft_ordered_sums *sums, bool is_first, weft_memory *matrix,
                                  weft_error *error);
