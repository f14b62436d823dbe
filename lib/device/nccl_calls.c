/* SPDX-License-Identifier: MIT */
#include "nccl_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"

static const char file_name[] = "libnccl.so.2";

/* dlsym's object pointers become function pointers by their bytes. */
static bool find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* Multicast objects can put GPUs out of service that others share. */
static void no_multicast(void)
{
	setenv("NCCL_NVLS_ENABLE", "0", 1);
}

/* The library stays loaded: its threads may outlive the last communicator. */
bool nccl_open(struct nccl *nccl, struct fault *fault)
{
	int (*version)(int *number);
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, no_multicast);
	void *library = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return fault_set(fault, "NCCL is not installed (%s)", file_name);
	if (!find(library, "ncclGetVersion", &version) ||
	        !find(library, "ncclGetErrorString", &nccl->error_text) ||
	        !find(library, "ncclCommInitAll", &nccl->init_all) ||
	        !find(library, "ncclGetUniqueId", &nccl->unique_id) ||
	        !find(library, "ncclCommInitRank", &nccl->init_rank) ||
	        !find(library, "ncclCommGetAsyncError", &nccl->async_error) ||
	        !find(library, "ncclCommAbort", &nccl->abort) ||
	        !find(library, "ncclCommDestroy", &nccl->destroy) ||
	        !find(library, "ncclGroupStart", &nccl->group_start) ||
	        !find(library, "ncclGroupEnd", &nccl->group_end) ||
	        !find(library, "ncclBroadcast", &nccl->broadcast) ||
	        !find(library, "ncclAllReduce", &nccl->all_reduce) ||
	        !find(library, "ncclAllGather", &nccl->all_gather) || version(&nccl->version) != 0)
		return fault_set(fault, "%s lacks a function that is needed", file_name);
	find(library, "ncclCommSplit", &nccl->split);
	return true;
}
