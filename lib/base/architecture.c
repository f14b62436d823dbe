/* SPDX-License-Identifier: MIT */
#include "architecture.h"

static const struct architecture known[] = {
        {75, 64, 2, 0, 0, 1},
        {80, 64, 32, 64, 512, 1},
        {86, 128, 2, 0, 128, 1},
        {87, 128, 2, 0, 512, 1},
        {89, 128, 2, 0, 128, 1},
        {90, 128, 64, 128, 1024, 16},
        {100, 128, 64, 64, 2048, 16},
        {103, 128, 2, 0, 2048, 16},
        {110, 128, 2, 0, 2048, 8},
        {120, 128, 2, 0, 128, 8},
};

const struct architecture *architecture_of(int capability)
{
	const struct architecture *found = known;

	for (size_t i = 0; i < ARRAY_LEN(known) && known[i].capability <= capability; i++)
		found = &known[i];
	return found;
}
