/* SPDX-License-Identifier: MIT */
/* The part of NCCL used here, through dlopen: without the library its series are absent, and no
 * group of several GPUs is possible. NCCL is told to use no multicast objects (NVLS). */
#pragma once

#include "lib/base/base.h"

/* NCCL's numbers for the types, the operation and the result used. */
enum { NCCL_UINT8 = 1, NCCL_UINT32 = 3, NCCL_SUM = 0, NCCL_IN_PROGRESS = 7 };

/* An ncclUniqueId: made by one process, the same in all. */
struct nccl_id {
	char bytes[128];
};

/* Functions of the library; each returns 0 for success. comm is an ncclComm_t, stream a
 * cudaStream_t. */
struct nccl {
	int version; /* 22809 = 2.28.9 */
	const char *(*error_text)(int result);
	int (*init_all)(void **comm, int count, const int *device);
	int (*unique_id)(struct nccl_id *id);
	int (*init_rank)(void **comm, int ranks, struct nccl_id id, int rank);
	int (*async_error)(void *comm, int *error);
	int (*abort)(void *comm);
	int (*destroy)(void *comm);
	/* NULL before version 2.18. settings: NULL. */
	int (*split)(void *comm, int color, int key, void **part, void *settings);
	int (*group_start)(void);
	int (*group_end)(void);
	int (*broadcast)(const void *from, void *to, size_t count, int type, int root, void *comm,
	        void *stream);
	int (*all_reduce)(const void *from, void *to, size_t count, int type, int operation,
	        void *comm, void *stream);
	/* count: of each device's part */
	int (*all_gather)(
	        const void *from, void *to, size_t count, int type, void *comm, void *stream);
};

/* False with a fault when the library or a function is missing. */
bool nccl_open(struct nccl *nccl, struct fault *fault);
