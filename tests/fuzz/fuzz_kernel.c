/* SPDX-License-Identifier: MIT */
/* Descriptions of kernels (advise kernel --file), and of devices. */
#include "fuzz.h"

#include "factor/programs/kernel_input.h"
#include "lib/device/description.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kernel_work work[KERNELS_OF_A_FILE];
	struct description description;
	struct fault fault = {.text = ""};
	const char *path = fuzz_file(data, size);
	const size_t count = kernel_read_file(work, path, &fault);

	fuzz_require(count || fault.text[0]);
	for (size_t i = 0; i < count; i++)
		kernel_complete(&work[i], &fault);
	description_read(path, &description);
	return 0;
}
