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

static inline bool test_asked(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value && *value != '0';
}

/* ---- small runs ----
 *
 * FATHOM_TEST_SMALL=1 asks for a run under a sanitizer, where kernels are hundreds of times slower.
 * Tests leave large cases out and take a sample of the others, which aims at a case of every
 * kernel. */

static inline bool test_small(void)
{
	return test_asked("FATHOM_TEST_SMALL");
}

/* Whether the i-th case of a loop runs: in a small run every n-th, from the first on. */
static inline bool test_turn(size_t i, size_t n)
{
	return !test_small() || i % n == 0;
}

/* Whether a case of an m x n matrix runs: in a small run at most 300 x 300 elements. */
static inline bool test_fits(int64_t m, int64_t n)
{
	return !test_small() || m * n <= 300 * 300;
}

/* The size, in a small run at most `most`. */
static inline int64_t test_at_most(int64_t size, int64_t most)
{
	return test_small() && size > most ? most : size;
}

/* Whether full cross products are asked for (make test-full). */
static inline bool test_full(void)
{
	return test_asked("FATHOM_TEST_FULL") && !test_small();
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
