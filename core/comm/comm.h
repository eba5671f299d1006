/** Kinds of communicators: a table of operations, from which the others are made. */
#pragma once

#include "core/weft_comm.h"

/** The operations of a kind. Arguments are checked, and size > 1. */
typedef struct weft_comm_kind_row {
    const char *name;
    weft_status (*gather)(weft_comm *comm, const void *mine, size_t bytes, void *all,
                          weft_error *error);
    weft_status (*exchange)(weft_comm *comm, const weft_message *sent, int n_sent,
                            const weft_message *received, int n_received, weft_error *error);
    void (*abandon)(weft_comm *comm, const weft_error *error);
    void (*free)(weft_comm *comm);
} weft_comm_kind_row;

struct weft_comm {
    const weft_comm_kind_row *kind;
    int rank, size, local, processors; /* local: number among the ranks of this machine */
    bool staged;                       /* GPUs exchange through the host */
    void *state;                       /* of the kind */
};

/** Set the error that calls return when another rank has failed.
 *  what  its message; empty: not known */
weft_status weft_comm_failed(int rank, const char *what, weft_error *error);
