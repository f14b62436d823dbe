/* SPDX-License-Identifier: MIT */
/* The main program of a single probe: the Makefile compiles it once a probe, with its name as
 * ONE_PROBE. */
#include "lib/probe/probe.h"

#define VARIABLE(name) name##_probe
#define EXPANDED(name) VARIABLE(name)

extern const struct probe EXPANDED(ONE_PROBE);

int main(int argc, char **argv)
{
	const struct probe *const list[] = {&EXPANDED(ONE_PROBE)};

	return probe_main(argc, argv, list, ARRAY_LEN(list), NULL);
}
