/* SPDX-License-Identifier: MIT */
/* For the library under cuSOLVER's name: functions of cuSOLVER that the library does not answer are
 * jumps (scripts/trampolines.sh), which ask here for their target once. */
#include "real.h"

/* Of the jumps' file: the names, and the targets as far as they are known. */
extern const char *const trampoline_names[];
extern void *trampoline_targets[];

void *trampoline_find(long i);
void *trampoline_find(long i)
{
	void *target = real_function(trampoline_names[i]);

	__atomic_store_n(&trampoline_targets[i], target, __ATOMIC_RELEASE);
	return target;
}
