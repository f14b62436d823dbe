/* SPDX-License-Identifier: MIT */
/* The transfer of a triangle between host and device as rectangles (LAWN 202, section 5.4;
 * host_transfer.h): their width. */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/precision.h"

#include <stdint.h>

/* The power of two, from 32 to the order of the matrix or above, with which an n x n triangle is
 * fastest to the device and back. Narrow rectangles carry less of the other triangle, wide ones
 * start fewer copies. 0 when the profile has no cost of copies. */
int64_t model_triangle_width(const struct profile *profile, int64_t n, enum precision precision);
