/* SPDX-License-Identifier: MIT */
/* A number of a printed table. */
#pragma once

#include <math.h>
#include <stdio.h>

/* A space and the number, or a dash where it is not known. */
static inline void print_number(double value, int width, int digits, FILE *out)
{
	if (isnan(value))
		fprintf(out, " %*s", width, "-");
	else
		fprintf(out, " %*.*f", width, digits, value);
}
