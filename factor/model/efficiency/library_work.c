/* SPDX-License-Identifier: MIT */
#include "library_work.h"

#include <math.h>

enum { SWEEP_THREADS = 128, FILE_REGISTERS = 65536, MOST_EACH = 64 /* elements of a thread */ };

/* Of gemv and of ger: a thread's registers, its loads at once in words, and its fewest elements,
 * while the matrix does not fill the device. */
static const struct sweep {
	double registers, loads, fewest;
} sweeps[] = {[SWEEP_GEMV_N] = {64, 8, 4}, [SWEEP_GEMV_T] = {64, 8, 4}, [SWEEP_GER] = {48, 4, 8}};

void library_sweep_work(enum library_sweep sweep, enum precision precision, double m, double n,
        bool cold, int sms, struct kernel_work *work)
{
	const struct sweep *s = &sweeps[sweep];
	const double word = (double)precision_bytes(precision), bytes = m * n * word,
	             vectors = (m + n) * word, room = FILE_REGISTERS / s->registers * sms,
	             each = fmax(s->fewest, fmin(MOST_EACH, m * n / room));

	*work = (struct kernel_work){.launches = 1,
	        .blocks = ceil(m * n / (SWEEP_THREADS * each)),
	        .threads = SWEEP_THREADS,
	        .registers = s->registers,
	        .dram = {bytes + vectors, sweep == SWEEP_GER ? bytes : vectors},
	        .working_set = cold ? 0 : bytes + vectors,
	        .in_flight = s->loads * word};
	work->operations[work_fma_pipe(precision)] = 2 * m * n;
	work->link[LINK_DRAM] = 1 + ceil(each / s->loads);
	if (sweep == SWEEP_GEMV_T) { /* sums over a block, once */
		work->link[LINK_SHUFFLE] = 5;
		work->link[LINK_SHARED] = 3;
	}
}
