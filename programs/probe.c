/* SPDX-License-Identifier: MIT */
/* All probes as one program, which `make probe` runs; operands choose among them. */
#include "lib/probe/probe.h"

#define PROBE(name) extern const struct probe name##_probe;
#include "measured_list.h"
#undef PROBE

int main(int argc, char **argv)
{
#define PROBE(name) &name##_probe,
	static const struct probe *const list[] = {
#include "measured_list.h"
	};
#undef PROBE

	return probe_main(argc, argv, list, ARRAY_LEN(list));
}
