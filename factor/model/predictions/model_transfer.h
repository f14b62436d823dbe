/* SPDX-License-Identifier: MIT */
/* How a triangle travels between host and device (LAWN 202, section 5.4): as rectangles of which
 * width (host_transfer.h). */
#ifndef FATHOM_MODEL_TRANSFER_H
#define FATHOM_MODEL_TRANSFER_H

#include "lib/profile/profile.h"
#include "lib/base/precision.h"

#include <stdint.h>

/* The power of two, from 32 up to what is no narrower than the matrix, with which an n x n triangle
 * is soonest there and back: narrow rectangles carry less of the other triangle, wide ones start
 * fewer copies. 0 when the profile does not cost copies. */
int64_t model_triangle_width(const struct profile *profile, int64_t n, enum precision precision);

#endif
