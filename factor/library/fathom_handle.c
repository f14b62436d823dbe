/* SPDX-License-Identifier: MIT */
#include "fathom_handle.h"

#include "lib/base/msg.h"
#include "lib/device/current.h"

#include <stdio.h>
#include <stdlib.h>

/* Events besides the schedule's: all work of the handle so far; the work of a queue. */
enum { EVENT_DONE = EXECUTOR_EVENTS - 1, EVENT_JOIN = EXECUTOR_EVENTS - 2 };

/* The fault of fathom_create, which has no handle. */
static _Thread_local struct fault create_fault;

/* ---- calls ---- */

/* In the relaxed mode memory and events may be used although another stream is under capture. */
static struct caller caller_enter(void)
{
	struct caller caller = {driver_context(), cudaStreamCaptureModeRelaxed};

	cudaThreadExchangeStreamCaptureMode(&caller.mode);
	return caller;
}

static void caller_leave(struct caller caller)
{
	if (caller.context)
		driver_set_context(caller.context);
	cudaThreadExchangeStreamCaptureMode(&caller.mode);
	gpu_limit_sms(0);
}

bool call_enter(struct fathom *h)
{
	h->caller = caller_enter();
	if ((h->caller.context == h->context || driver_set_context(h->context)) &&
	        driver_context_number() == h->context_number) {
		gpu_limit_sms(h->cuda->gpu.sm_count);
		return true;
	}
	caller_leave(h->caller);
	return call_refuse(h, "the handle's CUDA context is gone: the device was reset");
}

void call_leave(struct fathom *h)
{
	caller_leave(h->caller);
}

/* Whether the stream is under capture; false when nothing can be put there. */
static bool ask_capture(struct fathom *h, cudaStream_t stream, bool *captured)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	cudaError_t error = cudaStreamIsCapturing(stream, &status);

	if (error != cudaSuccess)
		cudaGetLastError(); /* the next kernel's launch has not failed */
	if (error == cudaErrorStreamCaptureImplicit)
		return call_refuse(h,
		        "the legacy stream waits for all other streams: none of them may "
		        "be under capture");
	if (!cuda_ok(h->cuda, error, "stream"))
		return false;
	*captured = status == cudaStreamCaptureStatusActive;
	return status != cudaStreamCaptureStatusInvalidated ||
	       call_refuse(h, "the stream's capture has become invalid: it has to be ended");
}

/* Refuses calls that would invalidate a capture. */
static bool not_captured(struct fathom *h, cudaStream_t stream, const char *what)
{
	bool captured;

	return ask_capture(h, stream, &captured) &&
	       (!captured || call_refuse(h, "%s: not while the stream is being captured", what));
}

static bool allowed(struct fathom *h, bool *captured)
{
	return ask_capture(h, h->cuda->lanes[QUEUE_MAIN].stream, captured) &&
	       (!*captured || !h->host_panels ||
	               call_refuse(h, "calls with host panels can't be captured: they wait"));
}

bool call_begin(struct fathom *h, enum fathom_status *status)
{
	bool captured;

	*status = FATHOM_NOT_POSSIBLE;
	if (!call_enter(h))
		return false;
	h->e->queue = QUEUE_MAIN;
	if (allowed(h, &captured)) {
		cudaGetLastError(); /* an error of before is not of this call's launches */
		cuda_capture(h->cuda, captured);
		return true;
	}
	call_leave(h);
	return false;
}

/* Under capture only the queues that belong to the capture: a wait for others would invalidate it.
 */
static bool takes_part(const struct cuda *x, enum queue queue)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	return !x->captured ||
	       (cudaStreamIsCapturing(x->lanes[queue].stream, &status) == cudaSuccess &&
	               status == cudaStreamCaptureStatusActive);
}

/* Work that a failed call left in other queues comes before the caller's next work. */
static void join_queues(struct fathom *h)
{
	struct executor *e = h->e;
	struct fault first = e->fault;

	for (enum queue queue = QUEUE_MAIN + 1; queue < QUEUE_COUNT; queue++) {
		if (!takes_part(h->cuda, queue))
			continue;
		e->queue = queue;
		bool recorded = ex_record(e, EVENT_JOIN);
		e->queue = QUEUE_MAIN;
		if (recorded)
			ex_wait(e, EVENT_JOIN);
	}
	e->fault = first;
}

/* A captured EVENT_DONE is of no use outside of the graph: the caller orders its launches. */
enum fathom_status call_end(struct fathom *h, bool good)
{
	if (!good) {
		join_queues(h);
		cudaGetLastError(); /* the next call's launches have not failed */
	}
	h->e->queue = QUEUE_MAIN;
	good = (h->cuda->captured || ex_record(h->e, EVENT_DONE)) && good;
	call_leave(h);
	return good ? FATHOM_OK : FATHOM_FAILED;
}

/* ---- handles ---- */

const char *fathom_status_text(enum fathom_status status)
{
	switch (status) {
	case FATHOM_OK:
		return "done, or under way in the stream";
	case FATHOM_BAD_ARGUMENT:
		return "an argument is wrong; nothing was done";
	case FATHOM_NOT_POSSIBLE:
		return "not possible here: no usable GPU, or not under stream capture";
	case FATHOM_FAILED:
		return "CUDA, cuBLAS or a kernel failed; the results are worthless";
	}
	return "no status of this library";
}

const char *fathom_error(const struct fathom *h)
{
	return h ? h->e->fault.text : create_fault.text;
}

static bool set_stream(struct fathom *h, cudaStream_t stream)
{
	h->e->queue = QUEUE_MAIN;
	return cuda_follow(h->cuda, stream) && ex_wait(h->e, EVENT_DONE);
}

/* The executor, with everything that calls would otherwise allocate. */
static bool open_executor(struct fathom *h, int device)
{
	char name[16];

	snprintf(name, sizeof name, "%d", device);
	h->cuda = cuda_new(name, &create_fault);
	if (!h->cuda)
		return false;
	h->e = &h->cuda->base;
	h->context = driver_context();
	h->context_number = driver_context_number();
	if (cuda_reserve_exchange(h->cuda, DEFAULT_LU_LEAF) && cuda_sync(h->e) &&
	        cuda_follow(h->cuda, NULL))
		return true;
	create_fault = h->e->fault;
	executor_free(h->e);
	return false;
}

enum fathom_status fathom_create(struct fathom **handle)
{
	int device;

	if (!handle) {
		fault_set(&create_fault, "the place for the handle is NULL");
		return FATHOM_BAD_ARGUMENT;
	}
	*handle = NULL;
	cudaError_t error = cudaGetDevice(&device);
	if (error != cudaSuccess) {
		fault_set(&create_fault, "no GPU: %s", cudaGetErrorString(error));
		return FATHOM_NOT_POSSIBLE;
	}
	struct fathom *h = calloc(1, sizeof *h);
	if (!h) {
		fault_set(&create_fault, "out of host memory");
		return FATHOM_FAILED;
	}
	const struct caller caller = caller_enter();
	const bool opened = open_executor(h, device);
	caller_leave(caller);
	if (!opened) {
		free(h);
		return FATHOM_NOT_POSSIBLE;
	}
	*handle = h;
	return FATHOM_OK;
}

void fathom_destroy(struct fathom *h)
{
	if (!h)
		return;
	if (call_enter(h)) {
		const struct caller caller = h->caller;

		ex_wait_host(h->e, EVENT_DONE);
		executor_free(h->e);
		caller_leave(caller);
	} else {
		cuda_abandon(h->cuda);
	}
	choices_free(h->choices);
	free(h);
}

/* Queues of a capture belong to it until it ends, and it waits for no earlier work. */
enum fathom_status fathom_set_stream(struct fathom *h, struct CUstream_st *stream)
{
	static const char what[] = "a change of the stream";
	enum fathom_status status = FATHOM_NOT_POSSIBLE;

	if (!h)
		return FATHOM_BAD_ARGUMENT;
	if (!call_enter(h))
		return status;
	cudaStream_t old = h->cuda->lanes[QUEUE_MAIN].stream;
	if ((!old || not_captured(h, old, what)) && not_captured(h, stream, what))
		status = set_stream(h, stream) ? FATHOM_OK : FATHOM_FAILED;
	call_leave(h);
	return status;
}

enum fathom_status fathom_set_host_panels(struct fathom *h, int on)
{
	if (!h)
		return FATHOM_BAD_ARGUMENT;
	if (on && !cuda_host(h->cuda))
		return FATHOM_FAILED;
	h->host_panels = on != 0;
	return FATHOM_OK;
}

enum fathom_status fathom_set_math(struct fathom *h, enum fathom_math math)
{
	if (!h)
		return FATHOM_BAD_ARGUMENT;
	static const enum math meant[] = {[FATHOM_MATH_FP32] = MATH_FP32,
	        [FATHOM_MATH_3XTF32] = MATH_3XTF32,
	        [FATHOM_MATH_3XFP16] = MATH_3XFP16};
	if ((int)math < 0 || (size_t)math >= ARRAY_LEN(meant)) {
		call_refuse(
		        h, "math %d: 0 (fp32), 1 (3xTF32) and 2 (3xFP16) are possible", (int)math);
		return FATHOM_BAD_ARGUMENT;
	}
	if (!math_possible(h->e, meant[math])) {
		call_refuse(h, "3x%s needs a GPU of compute capability %s",
		        math == FATHOM_MATH_3XTF32 ? "TF32" : "FP16",
		        math == FATHOM_MATH_3XTF32 ? "8.0" : "9.0 and a build for it");
		return FATHOM_NOT_POSSIBLE;
	}
	h->e->math = meant[math];
	return FATHOM_OK;
}

/* EVENT_DONE follows graphs in the stream, too. */
enum fathom_status fathom_finish(struct fathom *h)
{
	enum fathom_status status = FATHOM_NOT_POSSIBLE;

	if (!h)
		return FATHOM_BAD_ARGUMENT;
	if (!call_enter(h))
		return status;
	if (not_captured(h, h->cuda->lanes[QUEUE_MAIN].stream, "waiting")) {
		h->e->queue = QUEUE_MAIN;
		status = ex_wait_host(h->e, EVENT_DONE) && cuda_exchange_ok(h->cuda)
		                 ? FATHOM_OK
		                 : FATHOM_FAILED;
	}
	call_leave(h);
	return status;
}
