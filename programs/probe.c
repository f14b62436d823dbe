/* SPDX-License-Identifier: MIT */
/* All probes as one program. Operands choose among them; without any it measures the whole machine
 * and fits its profile, by scripts/probe.sh. */
#include "lib/base/home.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"

#include <stdlib.h>

#define HARDWARE(name) extern const struct probe name##_probe;
#define CALIBRATION(name) HARDWARE(name)
#include "measured_list.h"
#undef HARDWARE
#undef CALIBRATION

#define HARDWARE(name) #name " "
#define CALIBRATION(name)
static const char hardware[] =
#include "measured_list.h"
        "";
#undef HARDWARE
#undef CALIBRATION
#define HARDWARE(name)
#define CALIBRATION(name) #name " "
static const char calibration[] =
#include "measured_list.h"
        "";
#undef HARDWARE
#undef CALIBRATION

static void measure_machine(const struct cli_common *common, char *const *words, size_t count)
{
	const char **all = xcalloc(count + 6, sizeof *all);
	size_t n = 0;

	all[n++] = home_programs();
	all[n++] = common->output;
	all[n++] = common->device;
	all[n++] = common->json ? "--json" : "";
	all[n++] = hardware;
	all[n++] = calibration;
	for (size_t i = 0; i < count; i++)
		all[n++] = words[i];
	home_run_script("scripts/probe.sh", all, n);
}

int main(int argc, char **argv)
{
#define HARDWARE(name) &name##_probe,
#define CALIBRATION(name) HARDWARE(name)
	static const struct probe *const list[] = {
#include "measured_list.h"
	};

	return probe_main(argc, argv, list, ARRAY_LEN(list), measure_machine);
}
