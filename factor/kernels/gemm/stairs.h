/* SPDX-License-Identifier: MIT */
/* Stairs: the columns of C in blocks of `width`, the last one maybe narrower. The diagonal of block
 * t begins in row t * step (step >= width), and the elements on and below it are updated. A rank
 * has such a part of a lower triangle whose blocks of columns are dealt out in turn. */
#pragma once

#include "lib/base/matrix.h"

struct stairs {
	int64_t width, step;
};

/* The row where column j meets the diagonal. */
static inline int64_t stairs_top(struct stairs s, int64_t j)
{
	return j / s.width * s.step + j % s.width;
}

/* Elements of an m x n matrix there; on the diagonal they count half. */
static inline double stairs_elements(struct stairs s, int64_t m, int64_t n)
{
	double elements = 0;

	for (int64_t j = 0; j < n; j += s.width) {
		const double w = (double)min_int64(s.width, n - j);
		elements += w * (double)(m - stairs_top(s, j)) - w * w / 2;
	}
	return elements;
}
