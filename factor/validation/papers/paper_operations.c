/* SPDX-License-Identifier: MIT */
#include "paper_operations.h"

#include <string.h>

const char *const paper_op_name[PARTS] = {
        "gemm", "transpose", "laswp", "trsm", "syrk", "trmm", "small_gemm", "thin_gemm", "scopy"};

bool paper_op_find(const char *operation, enum paper_op *part)
{
	for (int p = 0; p < PARTS; p++)
		if (strcmp(operation, paper_op_name[p]) == 0) {
			*part = (enum paper_op)p;
			return true;
		}
	return false;
}

struct paper_op_problem paper_op_problem(enum paper_op part, int64_t m, int64_t n)
{
	struct paper_op_problem problem = {.part = part, .m = m, .n = n};

	if (part == PAPER_OP_GEMM || part == PAPER_OP_TRMM)
		problem.k = n;
	else if (part == PAPER_OP_LASWP)
		problem.k = PAPER_OP_EXCHANGES;
	else if (part == PAPER_OP_SMALL_GEMM)
		problem.k = PAPER_OP_SMALL_K;
	else if (part == PAPER_OP_SYRK || part == PAPER_OP_THIN_GEMM)
		problem = (struct paper_op_problem){part, m, m, n};
	return problem;
}

bool paper_op_has(const struct paper_op_way *way, const char *key, const char *value)
{
	char found[16];

	return results_option(way->options, key, found, sizeof found) && strcmp(found, value) == 0;
}

struct matrix paper_op_triangle(const struct paper_op_data *data)
{
	const int64_t m = data->problem.m;

	return matrix_view(data->x, 0, paper_op_has(data->way, "uplo", "u") ? m : 0, m, m);
}
