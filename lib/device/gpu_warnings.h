/* SPDX-License-Identifier: MIT */
/* What a user should know before a GPU is measured: who shares it, what cannot be seen, what
 * limits it. Decided from plain facts; needs no GPU. */
#pragma once

#include "gpu.h"
#include "lib/base/base.h"
#include "nvml.h"

enum { GPU_WARNINGS = 8 };

struct gpu_surroundings {
	const struct gpu *gpu;
	const struct nvml_facts *nvml;
	bool nvml_found;            /* nvml_read succeeded */
	const char *mps_percentage; /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; NULL: not set */
	const char *visible;        /* CUDA_VISIBLE_DEVICES; NULL: not set */
	const char *kernel; /* release of the system's kernel: WSL's has "microsoft" in it */
};

struct gpu_warnings {
	int count;
	struct fault text[GPU_WARNINGS];
};

void gpu_warnings_find(const struct gpu_surroundings *around, struct gpu_warnings *warnings);

/* The part of the GPU that the text allows under MPS, in percent; 0 when it is no part: not set,
 * no number between 0 and 100, or 100. */
double gpu_mps_percentage(const char *text);

/* Numbers of multiprocessors (%smid) are below this. Under MPS the driver counts those of the part,
 * which may have any numbers of the whole device. */
int gpu_sm_numbers(int reported_sms, const char *mps_percentage);
