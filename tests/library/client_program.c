/* SPDX-License-Identifier: MIT */
/* A client of cuSOLVER, on the stand-ins of this folder: it says what is wrong, and exits with 1.
 * With BY_NAME it opens cuSOLVER by name, as some clients do; else it is linked with it.
 * client_program answered | passed | off | other | threads */
#include "client_standin.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BY_NAME
static void *cusolver;
#define THE(name) ((__typeof__(&name))function(cusolver, #name))
#else
#define THE(name) name
#endif

enum { N = 24, LD = 29, NRHS = 3, ROOM = 8192 };

static int wrong;

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		printf("wrong: there is no %s\n", name);
		exit(1);
	}
	return found;
}

static void check(int good, const char *what)
{
	if (!good) {
		printf("wrong: %s\n", what);
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	}
}

static void *calling(const char *name)
{
	void *library = RTLD_DEFAULT;
#ifdef BY_NAME
	library = cusolver;
#endif
	return function(library, name);
}

static long long answered(const char *name)
{
	return ((long long (*)(const char *))calling("fathom_cusolver_answered"))(name);
}

static long long passed_on(const char *name)
{
	return ((long long (*)(const char *))calling("fathom_cusolver_passed"))(name);
}

/* Functions of the stand-in for libfathom, which the client library has loaded. */
static void *of_libfathom(const char *name)
{
	return function(dlopen("libfathom.so.0.1", RTLD_LAZY | RTLD_NOLOAD), name);
}

/* ---- matrices ---- */

static double noise(int i)
{
	unsigned x = (unsigned)i * 2654435761u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return (double)x / 4294967296.0 - 0.5;
}

/* A symmetric positive definite matrix: LU, QR and Cholesky all work. */
static double entry(int i, int j)
{
	return i == j ? N : noise(i < j ? i * N + j : j * N + i);
}

#define REAL float
#define PRECISION CUDA_R_32F
#define NAME(x) x##_s
#define DN(x) THE(cusolverDnS##x)
#include "client_program_calls.h"
#undef REAL
#undef PRECISION
#undef NAME
#undef DN
#define REAL double
#define PRECISION CUDA_R_64F
#define NAME(x) x##_d
#define DN(x) THE(cusolverDnD##x)
#include "client_program_calls.h"

static cusolverDnHandle_t open_handle(cudaStream_t stream)
{
	cusolverDnHandle_t handle = NULL;

	check(THE(cusolverDnCreate)(&handle) == CUSOLVER_STATUS_SUCCESS, "create");
	check(THE(cusolverDnSetStream)(handle, stream) == CUSOLVER_STATUS_SUCCESS, "set stream");
	return handle;
}

/* ---- what the client does ---- */

static void all_calls(cusolverDnHandle_t handle)
{
	legacy_calls_s(handle);
	legacy_calls_d(handle);
	wide_calls_s(handle);
	wide_calls_d(handle);
}

static const char *const legacy_names[] = {
        "getrf", "getrs", "geqrf", "orgqr", "ormqr", "potrf", "potrs"};
static const char *const wide_names[] = {"Xgetrf", "Xgetrs", "Xgeqrf", "Xpotrf", "Xpotrs", "Getrf",
        "Getrs", "Geqrf", "Potrf", "Potrs"};

/* Each call is answered by libfathom, in the handle's stream, whose handle then leaves that stream
 * and is freed with cuSOLVER's. */
static void test_answered(void)
{
	static char place[16];
	cudaStream_t stream = (cudaStream_t)(void *)place;
	cusolverDnHandle_t handle = open_handle(stream);
	char name[40];

	all_calls(handle);
	for (size_t i = 0; i < sizeof legacy_names / sizeof *legacy_names; i++)
		for (const char *letter = "SD"; *letter; letter++) {
			snprintf(name, sizeof name, "cusolverDn%c%s", *letter, legacy_names[i]);
			check(answered(name) > 0, name);
		}
	for (size_t i = 0; i < sizeof wide_names / sizeof *wide_names; i++) {
		snprintf(name, sizeof name, "cusolverDn%s", wide_names[i]);
		check(answered(name) > 0, name);
	}
	check(answered("cusolverDnNothing") == -1 && passed_on("cusolverDnNothing") == -1,
	        "an unknown name has no count");
	check(passed_on(NULL) == 0, "no call is passed on");
	check(((cudaStream_t(*)(void))of_libfathom("standin_stream"))() != stream,
	        "the fathom handle leaves the stream");
	int (*live)(void) = (int (*)(void))of_libfathom("standin_live");
	check(live() == 1, "one fathom handle");
	THE(cusolverDnDestroy)(handle);
	check(live() == 0, "it is freed");
}

static void test_passed(void)
{
	cusolverDnHandle_t handle = open_handle(NULL);
	long long before;

	passed_calls_s(handle);
	passed_calls_d(handle);
	check(answered(NULL) == 0, "no call is answered");
	before = passed_on("cusolverDnSgetrf");
	THE(cusolverDnSetStream)(handle, (cudaStream_t)0x770);
	check(lu_s(handle, N) == PASSED, "a stream under capture");
	check(passed_on("cusolverDnSgetrf") == before + 1, "its call is counted");
	THE(cusolverDnSetStream)(handle, NULL);
	check(lu_s(handle, N) == 0, "the same call without a capture is answered");
	check(lu_s(handle, 13) == PASSED, "what libfathom refuses");
	check(lu_s(handle, 19) == PASSED, "a workspace that is larger than what is free");
	check(lu_s(handle, 17) == -(int)CUSOLVER_STATUS_EXECUTION_FAILED,
	        "a failure of libfathom is a status");
	THE(cusolverDnDestroy)(handle);
}

/* Without libfathom's answers each call reaches cuSOLVER. */
static void test_off(void)
{
	cusolverDnHandle_t handle = open_handle(NULL);

	check(lu_s(handle, N) == PASSED && lu_d(handle, N) == PASSED, "calls are passed on");
	check(answered(NULL) == 0 && passed_on(NULL) == 2, "and counted");
	THE(cusolverDnDestroy)(handle);
}

/* Calls that libfathom does not know. */
static void test_other(void)
{
	int info = 0;

	for (int i = 0; i < 2; i++) {
		check(THE(cusolverDnMixed)(
		              1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17) == 4807,
		        "arguments of all kinds arrive, and the result");
		check(THE(cusolverDnSpotrfBatched)(NULL, CUBLAS_FILL_MODE_LOWER, 1, NULL, 1, &info,
		              1) == CUSOLVER_STATUS_SUCCESS &&
		                info == PASSED,
		        "a batched call");
	}
}

/* ---- threads: four handles of their own, four in one handle ---- */

static cusolverDnHandle_t shared;

static void *thread_main(void *own)
{
	cusolverDnHandle_t handle = own ? open_handle(NULL) : shared;

	for (int i = 0; i < 20; i++)
		all_calls(handle);
	if (own)
		THE(cusolverDnDestroy)(handle);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[8];

	shared = open_handle(NULL);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, thread_main, i % 2 ? &shared : NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	check(answered("cusolverDnSgetrf") == 320 && answered("cusolverDnXpotrs") == 320,
	        "all calls are counted");
	check(((int (*)(void))of_libfathom("standin_clashes"))() == 0,
	        "one call of a handle at a time");
	check(((int (*)(void))of_libfathom("standin_live"))() == 1, "own handles are freed");
	THE(cusolverDnDestroy)(shared);
}

int main(int count, char **words)
{
	const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {{"answered", test_answered}, {"passed", test_passed}, {"off", test_off},
	        {"other", test_other}, {"threads", test_threads}};
#ifdef BY_NAME
	const char *before = getenv("CLIENT_OPENS");
	if (before && !dlopen(before, RTLD_NOW | RTLD_LOCAL))
		printf("wrong: %s\n", dlerror());
	cusolver = dlopen("libcusolver.so.12", RTLD_NOW | RTLD_LOCAL);
	if (!cusolver) {
		printf("wrong: %s\n", dlerror());
		return 1;
	}
#endif
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (count == 2 && strcmp(words[1], tests[i].name) == 0) {
			tests[i].run();
			printf("%s: %d wrong\n", words[1], wrong);
			return wrong > 0;
		}
	return 2;
}
