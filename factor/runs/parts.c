/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <string.h>

const char *const part_name[PARTS] = {
        "gemm", "transpose", "laswp", "trsm", "syrk", "trmm", "small_gemm", "thin_gemm"};

bool part_find(const char *operation, enum part *part)
{
	for (int p = 0; p < PARTS; p++)
		if (strcmp(operation, part_name[p]) == 0) {
			*part = (enum part)p;
			return true;
		}
	return false;
}

struct part_problem part_problem(enum part part, int64_t m, int64_t n)
{
	struct part_problem problem = {.part = part, .m = m, .n = n};

	switch (part) {
	case PART_GEMM:
	case PART_TRMM:
		problem.k = n;
		break;
	case PART_LASWP:
		problem.k = PART_EXCHANGES;
		break;
	case PART_SYRK:
	case PART_THIN_GEMM:
		problem.n = m;
		problem.k = n;
		break;
	case PART_SMALL_GEMM:
		problem.k = PART_SMALL_K;
		break;
	default:
		break;
	}
	return problem;
}

bool part_has(const struct part_way *way, const char *key, const char *value)
{
	char found[16];

	return results_option(way->options, key, found, sizeof found) && strcmp(found, value) == 0;
}

struct matrix part_triangle(const struct part_way *way, const struct part_data *data)
{
	const int64_t m = data->problem.m;

	return matrix_view(data->x, 0, part_has(way, "uplo", "u") ? m : 0, m, m);
}
