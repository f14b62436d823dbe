/* SPDX-License-Identifier: MIT */
/* Real single and double precision, by LAPACK's letters. */
#pragma once

#include "base.h"

enum precision { SINGLE = 's', DOUBLE = 'd' };

static inline int64_t precision_bytes(enum precision precision)
{
	return precision == SINGLE ? 4 : 8;
}
