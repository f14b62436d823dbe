/* SPDX-License-Identifier: MIT */
/* A small TAP harness: assertions number themselves, finish() prints the plan. A program that ends
 * before finish() has no plan and counts as failed. */
#pragma once

#include "lib/base/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Recorded machines that tests read: the one that answers for GPUs, and another one of the same
 * architecture. */
#define RECORDED "data/nvidia-h200"
#define OTHER_RECORDED "data/nvidia-h100"

static int tap_count, tap_failed;

/* A line of explanation, shown by run.sh below a failure. */
PRINTF_LIKE(1, 2) static inline void diag(const char *format, ...)
{
	va_list args;

	fputs("# ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

PRINTF_LIKE(3, 0)
static inline bool tap_line(bool condition, const char *suffix, const char *format, va_list args)
{
	printf("%sok %d - ", condition ? "" : "not ", ++tap_count);
	vprintf(format, args);
	printf("%s\n", suffix);
	fflush(stdout); /* lines survive a crash and stay in order with the diagnostics */
	tap_failed += !condition;
	return condition;
}

PRINTF_LIKE(2, 3) static inline bool ok(bool condition, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_line(condition, "", format, args);
	va_end(args);
	return condition;
}

/* |got - want| <= relative * |want|. Two NaNs are equal, and so are equal infinities. */
static inline bool is_real(double got, double want, double relative, const char *what)
{
	bool same = got == want || (isnan(got) && isnan(want)) ||
	            fabs(got - want) <= relative * fabs(want);

	ok(same, "%s", what);
	if (!same)
		diag("got %.9g, want %.9g (relative tolerance %g)", got, want, relative);
	return same;
}

static inline bool is_text(const char *got, const char *want, const char *what)
{
	bool same = got && want ? strcmp(got, want) == 0 : got == want;

	ok(same, "%s", what);
	if (!same)
		diag("got '%s', want '%s'", got ? got : "(null)", want ? want : "(null)");
	return same;
}

/* Whether full cross products are asked for (make test-full). */
static inline bool test_full(void)
{
	const char *full = getenv("FATHOM_TEST_FULL");

	return full && *full && *full != '0';
}

/* One assertion that is impossible here. */
static inline void skip(const char *what, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, reason);
	fflush(stdout);
}

/* Instead of any assertion: the whole program is impossible here. Ends it. */
_Noreturn static inline void skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(0);
}

/* The last statement of main: return finish(); */
static inline int finish(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed > 0;
}
