/* SPDX-License-Identifier: MIT */
#include "arm_processor.h"

#include "lib/base/base.h"

#include <stdio.h>
#include <stdlib.h>

/* Processors of machines with NVIDIA GPUs. Grace: Neoverse V2; Orin: Cortex-A78AE; Thor: Neoverse
 * V3AE; Xavier: Carmel; Nano: Cortex-A57. */
static const struct {
	unsigned long implementer, part;
	const char *name;
} known[] = {{0x41, 0xd07, "Arm Cortex-A57"}, {0x41, 0xd08, "Arm Cortex-A72"},
        {0x41, 0xd0c, "Arm Neoverse N1"}, {0x41, 0xd40, "Arm Neoverse V1"},
        {0x41, 0xd42, "Arm Cortex-A78AE"}, {0x41, 0xd49, "Arm Neoverse N2"},
        {0x41, 0xd4f, "Arm Neoverse V2"}, {0x41, 0xd83, "Arm Neoverse V3AE"},
        {0x41, 0xd84, "Arm Neoverse V3"}, {0x4e, 0x004, "NVIDIA Carmel"},
        {0xc0, 0xac3, "AmpereOne"}};

void arm_processor(const char *implementer, const char *part, char *text, size_t size)
{
	const unsigned long by = strtoul(implementer, NULL, 0), which = strtoul(part, NULL, 0);

	snprintf(text, size, "arm64 implementer 0x%02lx part 0x%03lx", by, which);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].implementer == by && known[i].part == which)
			snprintf(text, size, "%s", known[i].name);
}
