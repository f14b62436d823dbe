/* SPDX-License-Identifier: MIT */
/* OpenBLAS's number of threads while host executors exist. */
#include "executor_host.h"

#include <cblas.h>

static int all_threads, executors;

void host_threads_open(void)
{
	if (executors++ == 0)
		all_threads = openblas_get_num_threads();
	openblas_set_num_threads(1);
}

void host_threads_close(void)
{
	if (--executors == 0)
		openblas_set_num_threads(all_threads);
}

void host_threads_begin(bool all)
{
	openblas_set_num_threads(all ? all_threads : 1);
}

void host_threads_end(void)
{
	openblas_set_num_threads(1);
}

int executor_host_threads(void)
{
	return all_threads;
}
