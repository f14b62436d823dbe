/* SPDX-License-Identifier: MIT */
/* The main program of a single probe: the Makefile compiles it once a probe, with its name as
 * PROBE. */
#include "lib/probe/probe.h"

#define VARIABLE(name) name##_probe
#define EXPANDED(name) VARIABLE(name)

extern const struct probe EXPANDED(PROBE);

int main(int argc, char **argv)
{
	const struct probe *const list[] = {&EXPANDED(PROBE)};

	return probe_main(argc, argv, list, ARRAY_LEN(list));
}
