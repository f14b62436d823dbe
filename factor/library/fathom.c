/* SPDX-License-Identifier: MIT */
/* The calls of fathom.h, in each precision. */
#include "fathom_handle.h"

#include "factor/algorithms/getrf.h"

#define REAL float
#define PRECISION SINGLE
#define NAME(x) fathom_s##x
#include "fathom_template.h"
#include "fathom_template_qr_update.h"
#undef REAL
#undef PRECISION
#undef NAME

#define REAL double
#define PRECISION DOUBLE
#define NAME(x) fathom_d##x
#include "fathom_template.h"
#include "fathom_template_qr_update.h"
