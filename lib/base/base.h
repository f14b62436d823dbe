/* SPDX-License-Identifier: MIT */
/* Included by every header: fixed-size types, bool and a few helpers, for C and C++. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* C_BEGIN and C_END stand around the functions and data of a header that C and CUDA files share. */
#ifdef __cplusplus
#define NORETURN [[noreturn]]
#define C_BEGIN extern "C" {
#define C_END }
#else
#define NORETURN _Noreturn
#define C_BEGIN
#define C_END
#endif

/* A function of the device that is always inlined; one of host and device. */
#define DEVICE __device__ __forceinline__
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

static inline int64_t min_int64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max_int64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline double max_double(double a, double b)
{
	return b > a ? b : a;
}

/* Exit codes of every program (documented in --help and the README). */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_MEASURE_FAILED = 1,
	EXIT_BAD_USAGE = 2,
	EXIT_NOT_POSSIBLE = 77
};

/* Why a function failed and what to do, in one sentence. Functions that report faults neither exit
 * nor print: they fill the fault and return false or NULL. */
struct fault {
	char text[512];
	bool refused; /* a limit of what can be done here, and no error (fault_refuse) */
};
