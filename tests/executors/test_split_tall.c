/* SPDX-License-Identifier: MIT */
/* Which products V^T C are computed by 3xTF32 with operands split inside the kernel: products of
 * enough rows and columns, and of enough work for two kernels. */
#include "tests/tap.h"

#include "factor/executors/split.h"

#include <inttypes.h>

int main(void)
{
	static const struct {
		int64_t rows, k, n, ld;
		bool wanted;
	} cases[] = {{65536, 128, 128, 65536, true}, {65536, 128, 127, 65536, false},
	        {4096, 128, 128, 4096, false}, {16384, 64, 256, 16384, true},
	        {16384, 64, 128, 16384, false}, {1024, 256, 16384, 1024, true},
	        {1020, 256, 16384, 1020, false}, {65536, 513, 512, 65536, false},
	        {65536, 128, 128, 65537, false}, {65536, 128, 128, 65540, true}};
	const struct executor e = {.splits = &split_limits_cuda, .split = {.bytes = 1}};
	const struct executor plain = {.splits = &split_limits_cuda};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const int64_t rows = cases[i].rows, k = cases[i].k, n = cases[i].n;
		const struct matrix v = {NULL, 0, rows, k, cases[i].ld, SINGLE},
		                    c = {NULL, 0, rows, n, cases[i].ld, SINGLE},
		                    p = {NULL, 0, k, n, k, SINGLE};
		ok(split_wanted_tall(&e, v, c, p) == cases[i].wanted &&
		                !split_wanted_tall(&plain, v, c, p),
		        "%" PRId64 " x %" PRId64 " beside %" PRId64 " columns, lda %" PRId64 ": %s",
		        rows, k, n, cases[i].ld, cases[i].wanted ? "split" : "not split");
	}
	return finish();
}
