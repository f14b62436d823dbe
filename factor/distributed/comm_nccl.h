/* SPDX-License-Identifier: MIT */
/* Ranks that are GPUs, through NCCL: several GPUs of one process, or one a process. */
#pragma once

#include "comm.h"

#include "lib/device/nccl_calls.h"

/* comms[i]: of devices[i], each once; this process drives all ranks, each from a thread of its own.
 * False with a fault. */
bool comm_nccl_all(
        struct comm **comms, int count, const int *devices, double seconds, struct fault *fault);

/* One rank a process, on the current device. One process makes the id and sends it to the others by
 * other means. NULL with a fault, also when the other ranks do not come within `seconds`. */
bool comm_nccl_id(struct nccl_id *id, struct fault *fault);
struct comm *comm_nccl_rank(
        int rank, int ranks, struct nccl_id id, double seconds, struct fault *fault);
