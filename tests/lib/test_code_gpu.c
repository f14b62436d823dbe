/* SPDX-License-Identifier: MIT */
/* The code that was loaded for the GPU is the newest that was asked for and that it can run. */
#include "tests/tap.h"

#include "lib/device/gpu.h"

#include "lib/device/current.h"

#include <stdlib.h>
#include <string.h>

/* The newest of the named architectures up to the device's; code for 9.0a runs on 9.0 alone. */
static int newest(char *names, int device, bool *warpgroups)
{
	int best = 0;

	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		const bool own = strchr(name, 'a') != NULL;
		const int arch = atoi(name);
		if (own ? arch != device : arch > device || arch < best)
			continue;
		*warpgroups = own || (*warpgroups && arch == best);
		best = arch;
	}
	return best;
}

int main(void)
{
	const char *asked = getenv("FATHOM_TEST_ARCHS");
	struct fault fault;
	struct gpu gpu;
	bool warpgroups = false;

	if (!asked)
		skip_all("run by make test, which says for which architectures it built");
	if (!gpu_open(&gpu, "0", &fault))
		skip_all(fault.text);
	char *names = strdup(asked);
	const int code = newest(names, 10 * gpu.major + gpu.minor, &warpgroups);
	const struct current *current = gpu_current();
	diag("asked for %s; loaded: PTX version %d, binary version %d%s; GPU %d.%d", asked,
	        current->code, current->binary, current->warpgroups ? ", with warpgroups" : "",
	        gpu.major, gpu.minor);
	ok(current->code == code, "compiled for %d", code);
	ok(current->binary / 10 == gpu.major, "machine code of the device's generation");
	ok(current->warpgroups == warpgroups, "%s warpgroups", warpgroups ? "with" : "without");
	ok(gpu.max_cluster == 1 || code >= 90, "clusters only with code for them");
	free(names);
	return finish();
}
