/* SPDX-License-Identifier: MIT */
/* Curves: read, and fitted by the probe that the file names; by all probes where it names none. */
#include "fuzz.h"

#include "lib/probe/probe_fits.h"

#include <string.h>

#define PROBE(name) {#name, name##_fit},
static const struct {
	const char *name;
	void (*fit)(const struct table *curve, struct profile *profile);
} fits[] = {
#include "probe_list.h"
};
#undef PROBE

static struct table *curve;

static void fit_all(void *unused)
{
	const char *named = table_meta(curve, "probe");

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
		if (named && strcmp(named, fits[i].name) != 0)
			continue;
		struct profile *profile = profile_new();
		fits[i].fit(curve, profile);
		struct table *table = profile_to_table(profile);
		struct fault fault;
		fuzz_require(
		        profile_from_table(table, &fault) != NULL); /* what fit writes is read */
		profile_free(profile);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = {.text = ""};

	curve = curve_read(fuzz_file(data, size), &fault);
	fuzz_require(curve || fault.text[0]);
	if (curve)
		fuzz_guarded(fit_all, NULL);
	table_free(curve);
	return 0;
}
