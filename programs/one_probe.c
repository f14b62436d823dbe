/* SPDX-License-Identifier: MIT */
/* The main of a probe's own program: the Makefile compiles it once a probe, PROBE being its name.
 */
#include "lib/probe/probe.h"

#define VARIABLE(name) name##_probe
#define EXPANDED(name) VARIABLE(name)

extern const struct probe EXPANDED(PROBE);

int main(int argc, char **argv)
{
	const struct probe *const list[] = {&EXPANDED(PROBE)};

	return probe_main(argc, argv, list, ARRAY_LEN(list));
}
