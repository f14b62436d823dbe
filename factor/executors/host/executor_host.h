/* SPDX-License-Identifier: MIT */
/* Internals of the host executor: its state, and the functions that its files share. */
#pragma once

#include "factor/executors/executor.h"

struct host_executor {
	struct executor base;
	struct {
		void *data;
		int64_t bytes;
	} stages[EXECUTOR_STAGES];
	double *marks; /* readings of the clock */
	int64_t mark_count;
	const struct gram_loops *gram; /* NULL: the project's own */
	int64_t l2_bytes;              /* of a core; 0: unknown */
};

/* Calls an operation in the precision of a matrix. */
#define CALL(a, name, ...) ((a).precision == SINGLE ? name##_s(__VA_ARGS__) : name##_d(__VA_ARGS__))

/* OpenBLAS's number of threads, a setting of the process that all host executors share: one thread
 * while one exists, and between begin and end all threads or one. */
void host_threads_begin(bool all);
void host_threads_end(void);

/* From now on "all" are at most so many; 0: no limit. Not while several threads use executors. */
void host_threads_most(int threads);

/* info becomes first + row, unless row is 0 or info is already set. */
static inline void host_store_info(int *info, int row, int64_t first)
{
	if (*info == 0 && row != 0)
		*info = (int)(first + row);
}

/* host_<name> of every operation that the host has. */
#define FUNCTION(type, name, parameters) type host_##name parameters;
#include "factor/executors/operations.h"
