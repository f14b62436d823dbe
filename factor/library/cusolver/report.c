/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "cusolver_calls.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_NAME(name) [CALL_##name] = "cusolverDn" #name,
static const char *const names[CALL_COUNT] = {COUNTED_CALLS(CALL_NAME)};
#undef CALL_NAME

static atomic_llong answered[CALL_COUNT], passed[CALL_COUNT];
static pthread_once_t mode_once = PTHREAD_ONCE_INIT;
static enum client_mode mode;

/* One write a line: lines of several threads stay whole. */
PRINTF_LIKE(1, 0) static void say_line(const char *format, va_list args)
{
	char text[600];

	vsnprintf(text, sizeof text, format, args);
	fprintf(stderr, "libfathom_cusolver: %s\n", text);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

void say_verbose(const char *format, ...)
{
	va_list args;

	if (client_mode() != MODE_VERBOSE)
		return;
	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

static void read_mode(void)
{
	const char *value = getenv("FATHOM_CUSOLVER");

	if (!value || !*value || strcmp(value, "on") == 0)
		return;
	if (strcmp(value, "verbose") == 0)
		mode = MODE_VERBOSE;
	else if (strcmp(value, "off") == 0)
		mode = MODE_OFF;
	else
		say("FATHOM_CUSOLVER=%s is unknown and does nothing: on, off and verbose are "
		    "possible",
		        value);
}

/* Read at the first call, so that other programs under the same preload say nothing. */
enum client_mode client_mode(void)
{
	pthread_once(&mode_once, read_mode);
	return mode;
}

const char *call_name(enum client_call call)
{
	return names[call];
}

void report_answered(enum client_call call, const char *shape)
{
	atomic_fetch_add(&answered[call], 1);
	say_verbose("%s %s: answered by libfathom", names[call], shape);
}

void report_passed(enum client_call call, const char *shape, const char *why)
{
	atomic_fetch_add(&passed[call], 1);
	say_verbose("%s %s: passed on to cuSOLVER: %s", names[call], shape, why);
}

static long long count_of(atomic_llong *counts, const char *name)
{
	long long sum = name ? -1 : 0;

	for (int i = 0; i < CALL_COUNT; i++)
		if (!name)
			sum += atomic_load(&counts[i]);
		else if (strcmp(name, names[i]) == 0)
			sum = atomic_load(&counts[i]);
	return sum;
}

long long fathom_cusolver_answered(const char *name)
{
	return count_of(answered, name);
}

long long fathom_cusolver_passed(const char *name)
{
	return count_of(passed, name);
}

/* In verbose mode the program's end has the counts. */
__attribute__((destructor)) static void report_counts(void)
{
	if (mode != MODE_VERBOSE)
		return;
	for (int i = 0; i < CALL_COUNT; i++)
		if (atomic_load(&answered[i]) + atomic_load(&passed[i]) > 0)
			say("%s: %lld answered by libfathom, %lld passed on", names[i],
			        atomic_load(&answered[i]), atomic_load(&passed[i]));
	say("all calls: %lld answered by libfathom, %lld passed on", fathom_cusolver_answered(NULL),
	        fathom_cusolver_passed(NULL));
}
