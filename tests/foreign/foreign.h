/* SPDX-License-Identifier: MIT */
/* Kernels that are not this project's, as text books and a library have them, each at one size. The
 * work of each stands in NAME.work, written from the kernel's text before its first timing. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

enum { FOREIGN_PIECES = 3 };

struct foreign_kernel {
	const char *name, *what;
	size_t bytes[FOREIGN_PIECES]; /* of device memory; 0: not used */
	/* Fresh random input into device memory, in the stream. */
	void (*fill)(void *const *piece, uint64_t seed, void *stream);
	/* The launches. Input stays as it is, so they may follow each other. A cudaError_t. */
	int (*run)(void *const *piece, void *stream);
	/* Whether the pieces, copied to the host after the first run, hold the right result. */
	bool (*check)(void *const *piece);
};

/* A kernel without a name ends each. */
extern const struct foreign_kernel foreign_cub[], foreign_moves[], foreign_stencils[],
        foreign_blocks[];

/* Random words of 32 bits in device memory. */
void foreign_fill_words(void *words, int64_t count, uint64_t seed, void *stream);

/* The larger of both deviations; one that is NaN is never forgotten. */
static inline double foreign_worse(double worst, double off)
{
	return off <= worst ? worst : off > worst ? off : 1e300;
}

C_END
