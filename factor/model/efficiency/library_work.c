/* SPDX-License-Identifier: MIT */
#include "library_work.h"

#include <math.h>

enum { SWEEP_THREADS = 128, SWEEP_ELEMENTS = 64 /* of a thread */ };

void library_sweep_work(enum precision precision, double m, double n, bool written, bool cold,
        struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), bytes = m * n * word,
	             vectors = (m + n) * word;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = ceil(m * n / (SWEEP_THREADS * SWEEP_ELEMENTS)),
	        .threads = SWEEP_THREADS,
	        .registers = 64,
	        .dram = {bytes + vectors, written ? bytes : vectors},
	        .working_set = cold ? 0 : bytes + vectors};
	work->operations[work_fma_pipe(precision)] = 2 * m * n;
	work->link[cold ? LINK_DRAM : LINK_L2] = 2;
	work->link[LINK_REDUCE] = written ? 0 : 1;
}
