/* SPDX-License-Identifier: MIT */
/* A stand-in for the driver's library (libcuda.so.1), which drivers.t builds: it names the version
 * STANDIN_VERSION and fails to start with the error STANDIN_ERROR. */
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_ERROR = 999, CUDA_13 = 13000 };

int cuDriverGetVersion(int *version);
int cuGetProcAddress_v2(
        const char *name, void **function, int version, unsigned long long flags, int *status);

static int number_of(const char *variable, int otherwise)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : otherwise;
}

static int start(unsigned flags)
{
	(void)flags;
	return number_of("STANDIN_ERROR", UNKNOWN_ERROR);
}

static int any_other(void)
{
	return UNKNOWN_ERROR;
}

int cuDriverGetVersion(int *version)
{
	*version = number_of("STANDIN_VERSION", CUDA_13);
	return 0;
}

/* As CUDA 11.3 declares it. */
static int look_up(const char *name, void **function, int version, unsigned long long flags)
{
	return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

int cuGetProcAddress_v2(
        const char *name, void **function, int version, unsigned long long flags, int *status)
{
	(void)flags;
	if (strcmp(name, "cuInit") == 0)
		*function = (void *)start;
	else if (strcmp(name, "cuDriverGetVersion") == 0)
		*function = (void *)cuDriverGetVersion;
	else if (strcmp(name, "cuGetProcAddress") == 0)
		*function = version < 12000 ? (void *)look_up : (void *)cuGetProcAddress_v2;
	else
		*function = (void *)any_other;
	if (status)
		*status = 0;
	return 0;
}
