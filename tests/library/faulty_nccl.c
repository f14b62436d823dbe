/* SPDX-License-Identifier: MIT */
/* Stands in for NCCL, which several_faults.t puts before it: passes calls on to the library whose
 * path REAL_NCCL names. FAULT=FUNCTION:N makes the N-th call of that function return an error;
 * "lost" in place of a function: the N-th broadcast never starts; "state": from the N-th question
 * on NCCL says that another rank has failed. FAULT_LOG: a file that is there once the fault was. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEM_ERROR = 2, REMOTE_ERROR = 6 };

struct id {
	char bytes[128];
};

/* Whether this call of a function is to fail. */
static int fails(const char *name, long *calls)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const char *fault = getenv("FAULT"), *log = getenv("FAULT_LOG");
	const size_t length = strlen(name);
	FILE *file;

	if (!fault || strncmp(fault, name, length) != 0 || fault[length] != ':')
		return 0;
	pthread_mutex_lock(&lock);
	const long call = ++*calls, first = atol(fault + length + 1);
	const int now = strcmp(name, "state") == 0 ? call >= first : call == first;
	if (now && log && (file = fopen(log, "w")))
		fclose(file);
	pthread_mutex_unlock(&lock);
	return now;
}

static void *real(const char *name)
{
	static void *library;

	if (!library && !(library = dlopen(getenv("REAL_NCCL"), RTLD_NOW | RTLD_LOCAL)))
		abort();
	return dlsym(library, name);
}

#define PASSED(type, name, parameters, ...)                                                        \
	type name parameters;                                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		static long calls;                                                                 \
		type(*function) parameters;                                                        \
		*(void **)&function = real(#name);                                                 \
		if (fails(#name, &calls))                                                          \
			return FAILURE;                                                            \
		return function(__VA_ARGS__);                                                      \
	}

#define FAILURE SYSTEM_ERROR
PASSED(int, ncclGetVersion, (int *version), version)
PASSED(int, ncclCommInitAll, (void **comm, int count, const int *device), comm, count, device)
PASSED(int, ncclGetUniqueId, (struct id * id), id)
PASSED(int, ncclCommInitRank, (void **comm, int ranks, struct id id, int rank), comm, ranks, id,
        rank)
PASSED(int, ncclCommAbort, (void *comm), comm)
PASSED(int, ncclCommDestroy, (void *comm), comm)
PASSED(int, ncclCommSplit, (void *comm, int color, int key, void **part, void *settings), comm,
        color, key, part, settings)
PASSED(int, ncclGroupStart, (void), )
PASSED(int, ncclGroupEnd, (void), )
PASSED(int, ncclAllReduce,
        (const void *from, void *to, size_t count, int type, int operation, void *comm,
                void *stream),
        from, to, count, type, operation, comm, stream)
PASSED(int, ncclAllGather,
        (const void *from, void *to, size_t count, int type, void *comm, void *stream), from, to,
        count, type, comm, stream)
#undef FAILURE
#define FAILURE NULL
PASSED(const char *, ncclGetErrorString, (int result), result)

int ncclBroadcast(
        const void *from, void *to, size_t count, int type, int root, void *comm, void *stream);
int ncclBroadcast(
        const void *from, void *to, size_t count, int type, int root, void *comm, void *stream)
{
	static long calls, lost;
	int (*function)(const void *, void *, size_t, int, int, void *, void *);

	*(void **)&function = real("ncclBroadcast");
	if (fails("ncclBroadcast", &calls))
		return SYSTEM_ERROR;
	return fails("lost", &lost) ? 0 : function(from, to, count, type, root, comm, stream);
}

int ncclCommGetAsyncError(void *comm, int *error);
int ncclCommGetAsyncError(void *comm, int *error)
{
	static long calls, asked;
	int (*function)(void *, int *);

	*(void **)&function = real("ncclCommGetAsyncError");
	if (fails("ncclCommGetAsyncError", &calls))
		return SYSTEM_ERROR;
	const int result = function(comm, error);
	if (fails("state", &asked))
		*error = REMOTE_ERROR;
	return result;
}
