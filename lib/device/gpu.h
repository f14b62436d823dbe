/* SPDX-License-Identifier: MIT */
/* The GPU for host code: opening a device, checked calls, warm-up, the in-stream timer. Without the
 * CUDA Toolkit gpu_none.c replaces gpu.c, and gpu_open fails with that reason. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/sample.h"

C_BEGIN

struct gpu {
	int device, visible; /* its number, and the number of visible devices */
	char name[256], uuid[64], pci[32];
	int major, minor; /* compute capability */
	int code;         /* compute capability that the loaded code was compiled for, 10 x major +
	                     minor: what kernels may use */
	bool warpgroups;  /* the loaded code has products by warpgroups */
	int sm_count;     /* that this process may use: all, or FATHOM_SMS of them */
	int device_sms;   /* of the whole device */
	int sm_numbers;   /* %smid is below: under MPS a part may have any of the device's numbers
	                   */
	int max_threads_per_sm, max_threads_per_block, max_blocks_per_sm;
	int64_t shared_per_block; /* opt-in maximum, bytes */
	int64_t shared_per_sm;
	int64_t l2_bytes;
	int64_t memory_bytes; /* total */
	int64_t free_bytes;   /* of it when the device was opened; -1: unknown */
	int copy_engines;
	double max_hz;       /* highest SM clock by attribute: an upper bound, no measurement */
	int driver, runtime; /* 13000 = 13.0 */
	bool cooperative, clusters;
	int max_cluster; /* largest cluster size that can be resident (8, or 16 non-portable); 1
	                    where device or code has no clusters */
	bool ecc;
	bool integrated;     /* its memory is the host's */
	bool kernel_timeout; /* the system ends long kernels, as of a GPU that drives a display */
	bool unlike;         /* another visible device has another compute capability or size */
};

/* The number of multiprocessors that cuBLAS shall count on (cublasSetSmCountTarget), all that may
 * be used but `kept` of them; 0 stands for the whole device. */
static inline int gpu_blas_sms(const struct gpu *gpu, int kept)
{
	return kept == 0 && gpu->sm_count == gpu->device_sms ? 0 : gpu->sm_count - kept;
}

/* Makes the device current (a context of the caller's on it stays) and fills gpu. device is its
 * number ("0"), UUID ("GPU-1a2b...", or the start of one that fits a single device) or PCI address
 * ("0000:17:00.0"; gpu_select.h), among the devices that CUDA_VISIBLE_DEVICES leaves visible. False
 * with a fault when there is no such device, or it cannot be used. */
bool gpu_open(struct gpu *gpu, const char *device, struct fault *fault);

/* Number of other processes using the device now (NVML); -1 when that is unknown. */
int gpu_other_users(const struct gpu *gpu);

/* Ends the program with expression, file and line when a CUDA call failed: exit 1, or exit 77 when
 * memory was short, which is no defect. */
void gpu_check(int error, const char *expression, const char *file, int line);
#define GPU(call) gpu_check((int)(call), #call, __FILE__, __LINE__)

/* Keeps all SMs busy for at least `seconds` and until three readings of the SM clock agree within
 * 0.3 % (at most 2 s more). Returns the clock reached, Hz. */
double gpu_warm(const struct gpu *gpu, double seconds);

/* Waits, at most a second, until the SM clock is back at hz (of gpu_warm) after hard work lowered
 * it. Returns the clock that the next call may wait for: hz, or the clock reached. */
double gpu_rest(const struct gpu *gpu, double hz);

/* Calls put(context) twice, each to its end in the stream: once to load code, then between a
 * profiler's start and stop. */
void gpu_profile(void (*put)(void *context), void *context, void *stream);

/* Resolution of %globaltimer, seconds (measured once per process on the device). */
double gpu_timer_resolution(void);

/* Both clocks read at the start and the end of an interval on one SM. */
struct gpu_span {
	uint64_t ns0, ns1;        /* %globaltimer */
	int64_t cycles0, cycles1; /* clock64 */
};

/* One sample out of a span that covered `operations` operations. host_seconds is the host's
 * duration around launch and synchronization (0: not compared): the sample agrees when the host saw
 * neither less than the span (0.2 % + resolutions) nor more than the span by 0.2 % plus `slack`
 * (launch and synchronization). */
void gpu_span_sample(const struct gpu_span *span, double operations, double host_seconds,
        double slack, struct sample *sample);

/* In-stream stamps: one small kernel on every SM writes both clocks. stream is a cudaStream_t. */
struct gpu_timer;
struct gpu_timer *gpu_timer_new(const struct gpu *gpu);
void gpu_timer_free(struct gpu_timer *timer);
void gpu_timer_start(struct gpu_timer *timer, void *stream);
void gpu_timer_stop(struct gpu_timer *timer, void *stream);
/* After the stream was synchronized: the span between the stamps (latest start to earliest stop, on
 * the SM of median elapsed cycles). */
void gpu_timer_span(const struct gpu_timer *timer, struct gpu_span *span);

/* Holds a stream: a kernel spins on a host flag until gpu_hold_release (or a 2 s timeout, which
 * gpu_hold_ok reports as false). For queueing work without starting it. */
struct gpu_hold;
struct gpu_hold *gpu_hold_new(void);
void gpu_hold_free(struct gpu_hold *hold);
void gpu_hold_start(struct gpu_hold *hold, void *stream);
void gpu_hold_release(struct gpu_hold *hold);
bool gpu_hold_ok(const struct gpu_hold *hold); /* after synchronization */

/* Launches a kernel that does nothing: one block of 256 threads, an argument of 8 bytes. */
void gpu_null_launch(void *stream);

/* Fills device memory with uniform random floats in [-1,1] (or doubles), from a counter-based
 * generator: the same seed gives the same data. */
void gpu_fill_float(float *data, int64_t count, uint64_t seed, void *stream);
void gpu_fill_double(double *data, int64_t count, uint64_t seed, void *stream);

C_END
