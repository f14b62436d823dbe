/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <string.h>

const char *const part_name[PARTS] = {"gemm", "transpose", "laswp", "trsm"};

bool part_find(const char *operation, enum part *part)
{
	for (int p = 0; p < PARTS; p++)
		if (strcmp(operation, part_name[p]) == 0) {
			*part = (enum part)p;
			return true;
		}
	return false;
}
