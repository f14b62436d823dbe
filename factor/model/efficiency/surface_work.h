/* SPDX-License-Identifier: MIT */
/* The work behind a row of a surface: what the timed kernels or library calls do at the row's
 * arguments, on the machine of the profile. Kernels of ours state their work beside their code
 * (factor/kernels, files *_work.c); library calls state it in library_work.c. The tables here say
 * which surface times what. */
#pragma once

#include "lib/base/precision.h"
#include "factor/kernels/kernel_work.h"
#include "factor/tuning/tuning.h"
#include "lib/profile/profile.h"

enum { SURFACE_ARGS = 4, SURFACE_WORKS = 16 };

/* A point of a surface: the arguments in the order of the table's names. A name that begins with
 * '?' is of an argument that rows do not have and questions may; NaN when it is not given. Rows of
 * an argument with '=' are of kernels of their own: predictions take the row of their kernel. */
struct surface_point {
	const struct tuning *tuning; /* of the machine */
	const char *name;            /* of the surface */
	enum precision precision;    /* as the name says: .s or .d */
	double at[SURFACE_ARGS];
};

/* Fills in the works of one call (zero at first), one after the other, and returns their number; 0:
 * not known. A work without launches: beyond its start the row is the host's code. */
typedef size_t (*surface_function)(const struct surface_point *, struct kernel_work *work);

struct surface {
	const char *name; /* a pattern, as file names match in the shell */
	const char *arg[SURFACE_ARGS];
	surface_function work;
};

/* The tables; a row without a name ends each. */
extern const struct surface surfaces_streams[], surfaces_qr[], surfaces_lu[], surfaces_products[],
        surfaces_curves[];

/* The surface of that name, NULL where no table knows it. */
const struct surface *surface_of(const char *name);

/* Whether predictions interpolate along the argument of the surface, which may be NULL. */
bool surface_interpolates(const struct surface *surface, const char *arg);

/* Its work at these arguments; 0: not known. */
size_t surface_works_at(const struct surface *surface, const struct tuning *tuning,
        const char *name, const char *const *arg, const double *at, size_t count,
        struct kernel_work *work);

/* The work of a row; 0 for rows that no table knows. */
size_t surface_works(
        const struct tuning *tuning, const struct parameter *row, struct kernel_work *work);
