/* SPDX-License-Identifier: MIT */
/* Counters of kernels as ncu writes them. */
#include "fuzz.h"

#include "factor/programs/kernel_counters.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);

	for (int conclude = 0; conclude < 2; conclude++) {
		struct kernel_counters counters;
		struct fault fault = {.text = ""};
		fuzz_require(
		        kernel_counters_read(path, conclude, &counters, &fault) || fault.text[0]);
		free(counters.work);
	}
	return 0;
}
