/* SPDX-License-Identifier: MIT */
/* Checks of arguments, for every call. */
#include "fathom_handle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORK_ALIGNMENT = 256 };
static const int64_t most_bytes = INT64_C(1) << 48;

bool call_refuse(struct fathom *h, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(h->e->fault.text, sizeof h->e->fault.text, format, args);
	va_end(args);
	return false;
}

bool call_shape(struct fathom *h, const char *name, struct matrix a)
{
	int64_t bytes;

	if (a.m < 0 || a.n < 0)
		return call_refuse(
		        h, "%s of %" PRId64 " x %" PRId64 ": sizes start at 0", name, a.m, a.n);
	if (a.ld < 1 || a.ld < a.m)
		return call_refuse(h,
		        "leading dimension %" PRId64 " of %s: at least %" PRId64 " is needed", a.ld,
		        name, a.m > 1 ? a.m : 1);
	if (__builtin_mul_overflow(a.ld, a.n > 0 ? a.n : 1, &bytes) ||
	        __builtin_mul_overflow(bytes, precision_bytes(a.precision), &bytes) ||
	        bytes > most_bytes)
		return call_refuse(h,
		        "%s of %" PRId64 " x %" PRId64 ", leading dimension %" PRId64
		        ": too large for any memory",
		        name, a.m, a.n, a.ld);
	if (a.ld > INT32_MAX)
		return call_refuse(h, "leading dimension %" PRId64 " of %s: at most %d is possible",
		        a.ld, name, INT32_MAX);
	return true;
}

bool call_given(struct fathom *h, const char *name, const void *data, int64_t count)
{
	return data || count == 0 || call_refuse(h, "%s is NULL", name);
}

bool call_work(struct fathom *h, const void *work, int64_t bytes, int64_t needed)
{
	if (needed < 0)
		return false;
	if (bytes < needed)
		return call_refuse(h,
		        "a workspace of %" PRId64 " bytes: the _work function asks for %" PRId64,
		        bytes, needed);
	if ((uintptr_t)work % WORK_ALIGNMENT)
		return call_refuse(h, "the workspace is not aligned to %d bytes", WORK_ALIGNMENT);
	return call_given(h, "the workspace", work, needed);
}

bool call_trans(struct fathom *h, char letter, enum trans *trans)
{
	*trans = letter == 'N' || letter == 'n' ? PLAIN : TRANSPOSED;
	return (letter && strchr("NnTtCc", letter)) ||
	       call_refuse(h, "trans '%.1s': N, T and C are possible", &letter);
}

bool call_uplo(struct fathom *h, char letter, enum uplo *uplo)
{
	*uplo = letter == 'L' || letter == 'l' ? LOWER : UPPER;
	return (letter && strchr("LlUu", letter)) ||
	       call_refuse(h, "uplo '%.1s': L and U are possible", &letter);
}

bool call_side(struct fathom *h, char letter, enum side *side)
{
	*side = letter == 'L' || letter == 'l' ? LEFT : RIGHT;
	return (letter && strchr("LlRr", letter)) ||
	       call_refuse(h, "side '%.1s': L and R are possible", &letter);
}

struct matrix call_matrix(
        const void *data, int64_t m, int64_t n, int64_t ld, enum precision precision)
{
	return (struct matrix){(void *)(uintptr_t)data, 0, m, n, ld, precision};
}

struct matrix call_column(const void *data, int64_t count, enum precision precision)
{
	return call_matrix(data, count, 1, max_int64(count, 1), precision);
}

bool call_matrix_given(struct fathom *h, const char *name, struct matrix a)
{
	return call_given(h, name, a.data, a.m * a.n);
}

void call_plan(
        struct fathom *h, enum operation operation, struct matrix a, struct default_plan *chosen)
{
	plan_default(h->e, operation, a.m, a.n, a.precision, h->host_panels, chosen);
}
