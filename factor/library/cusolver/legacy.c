/* SPDX-License-Identifier: MIT */
/* cuSOLVER's legacy calls, for float and double. */
#include "promises.h"
#include "real.h"
#include "request.h"

#define REAL float
#define PRECISION SINGLE
#define NAME(x) cusolverDnS##x
#define CALL(x) CALL_S##x
#include "legacy_template.h"
#undef REAL
#undef PRECISION
#undef NAME
#undef CALL

#define REAL double
#define PRECISION DOUBLE
#define NAME(x) cusolverDnD##x
#define CALL(x) CALL_D##x
#include "legacy_template.h"
