/* SPDX-License-Identifier: MIT */
#include "gpu_warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double little_free = 0.5; /* of the memory: less is a warning */

double gpu_mps_percentage(const char *text)
{
	char *end = NULL;
	const double percentage = text ? strtod(text, &end) : 0;

	return end && end != text && !*end && percentage > 0 && percentage < 100 ? percentage : 0;
}

int gpu_sm_numbers(int reported_sms, const char *mps_percentage)
{
	enum { LARGEST_DEVICE = 512 };
	const bool part = gpu_mps_percentage(mps_percentage) > 0;

	return part && reported_sms < LARGEST_DEVICE ? LARGEST_DEVICE : reported_sms;
}

PRINTF_LIKE(2, 3) static void warn(struct gpu_warnings *warnings, const char *format, ...)
{
	struct fault *warning = &warnings->text[warnings->count++];
	va_list args;

	va_start(args, format);
	vsnprintf(warning->text, sizeof warning->text, format, args);
	va_end(args);
}

/* Entries of a list with commas. */
static int entries_of(const char *list)
{
	int entries = list && list[0];

	for (const char *at = list; at && (at = strchr(at, ',')); at++)
		entries++;
	return entries;
}

/* Which GPU it is, and how much of it. */
static void warn_of_part(const struct gpu_surroundings *around, struct gpu_warnings *warnings)
{
	const struct gpu *gpu = around->gpu;

	if (entries_of(around->visible) > gpu->visible)
		warn(warnings,
		        "CUDA shows %d of the %d GPUs that CUDA_VISIBLE_DEVICES=%.100s names: it "
		        "stops at the first entry that is wrong, and shows one slice (MIG) only",
		        gpu->visible, entries_of(around->visible), around->visible);
	if (gpu->unlike)
		warn(warnings,
		        "the %d visible GPUs are not alike, and this is GPU %d (%.100s): name "
		        "another one by --device with its number, UUID or PCI address",
		        gpu->visible, gpu->device, gpu->name);
	if (gpu_mps_percentage(around->mps_percentage) > 0)
		warn(warnings,
		        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%.20s: under MPS this process has a "
		        "part of the GPU (%d multiprocessors are reported), and the profile "
		        "describes that part",
		        around->mps_percentage, gpu->sm_count);
}

/* Who else works on it, or cannot be seen there. */
static void warn_of_others(const struct gpu_surroundings *around, struct gpu_warnings *warnings)
{
	static const char unseen[] = "results that others disturb are not marked as noisy";
	const bool wsl = around->kernel && strstr(around->kernel, "microsoft");

	if (wsl)
		warn(warnings, "this is WSL: Windows shares the GPU and hands over launches in "
		               "groups, so launch times are longer than on Linux, and noisy");
	else if (around->gpu->kernel_timeout)
		warn(warnings, "this GPU drives a display, and the system ends kernels that run "
		               "for seconds: use another GPU, or expect noisy results");
	if (around->nvml->virtualization == NVML_VIRTUAL)
		warn(warnings,
		        "this is a virtual GPU: other virtual machines that share it are not seen, "
		        "and %s",
		        unseen);
	else if (!around->nvml_found)
		warn(warnings,
		        "the driver's management library (libnvidia-ml.so.1) does not know this "
		        "GPU: its clocks, power and other users are unknown, and %s",
		        unseen);
	else if (around->nvml->processes < 0)
		warn(warnings, "the driver does not say who else uses this GPU: %s", unseen);
}

static void warn_of_memory(const struct gpu *gpu, struct gpu_warnings *warnings)
{
	if (gpu->integrated)
		warn(warnings, "this GPU uses the host's memory: a transfer is a copy within one "
		               "memory, and work of the host slows the GPU");
	if (gpu->free_bytes >= 0 &&
	        (double)gpu->free_bytes < little_free * (double)gpu->memory_bytes)
		warn(warnings,
		        "only %.3g of %.3g GB of GPU memory are free: large sizes are left out; "
		        "stop what uses it",
		        1e-9 * (double)gpu->free_bytes, 1e-9 * (double)gpu->memory_bytes);
}

void gpu_warnings_find(const struct gpu_surroundings *around, struct gpu_warnings *warnings)
{
	warnings->count = 0;
	warn_of_part(around, warnings);
	warn_of_others(around, warnings);
	warn_of_memory(around->gpu, warnings);
}
