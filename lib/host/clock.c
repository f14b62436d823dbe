/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <math.h>
#include <time.h>

double clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_thread(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#if defined(__x86_64__)
#define ADD(to, from) "add %" #from ", %" #to "\n\t"
#elif defined(__aarch64__)
#define ADD(to, from) "add %" #to ", %" #to ", %" #from "\n\t"
#endif

enum {
	ROW = 100, /* dependent adds of a round */
	WIDE = 80, /* independent adds of a round */
	LONG_ROUNDS = 1000,
	SHORT_ROUNDS = 50, /* a microsecond */
	WIDE_ROUNDS = 250, /* a microsecond at five adds a cycle */
	LONG_TRIES = 5,
	SHORT_TRIES = 3
};

#ifdef ADD
#define ADD10                                                                                      \
	ADD(0, 1)                                                                                  \
	ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1)
#define ADD8 ADD(0, 8) ADD(1, 8) ADD(2, 8) ADD(3, 8) ADD(4, 8) ADD(5, 8) ADD(6, 8) ADD(7, 8)

/* Adds of two registers: adds of a constant take no cycle on some processors. */
static void add_in_a_row(int rounds)
{
	static volatile uint64_t state = 1;
	uint64_t sum = state, term = sum | 1;

	for (int i = 0; i < rounds; i++)
		__asm__ volatile(ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10
		                 : "+r"(sum)
		                 : "r"(term));
}

/* Eight sums: more than any processor adds at once. */
static void add_side_by_side(int rounds)
{
	static volatile uint64_t state = 1;
	uint64_t a = state, b = a, c = a, d = a, e = a, f = a, g = a, h = a, term = a | 1;

	for (int i = 0; i < rounds; i++)
		__asm__ volatile(
		        ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8
		        : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h)
		        : "r"(term));
}

/* Seconds of the quickest try: an interruption only makes a try slower. */
static double quickest(void (*add)(int), int rounds, int tries)
{
	double least = INFINITY;

	for (int i = 0; i < tries; i++) {
		double start = clock_now();
		add(rounds);
		least = fmin(least, clock_now() - start);
	}
	return least;
}

double clock_core_hz(void)
{
	return ROW * LONG_ROUNDS / quickest(add_in_a_row, LONG_ROUNDS, LONG_TRIES);
}

struct core_rate clock_core_rate(void)
{
	const double row = quickest(add_in_a_row, SHORT_ROUNDS, SHORT_TRIES);
	const double wide = quickest(add_side_by_side, WIDE_ROUNDS, SHORT_TRIES);
	const double hz = ROW * SHORT_ROUNDS / row, adds = WIDE * WIDE_ROUNDS / wide;

	return (struct core_rate){adds, adds / hz};
}
#else
double clock_core_hz(void)
{
	return NAN;
}

struct core_rate clock_core_rate(void)
{
	return (struct core_rate){NAN, NAN};
}
#endif

const char *clock_utc(char text[32])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return text;
}
