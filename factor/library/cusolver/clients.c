/* SPDX-License-Identifier: MIT */
#include "clients.h"

#include "device.h"
#include "real.h"
#include "report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEWEST_PIVOTS = 16384 };

/* A state stays in the list until its cuSOLVER handle is destroyed. One without a fathom handle
 * says why: making one is not tried again. */
struct client_state {
	struct client_state *next;
	cusolverDnHandle_t handle;
	pthread_mutex_t lock;
	bool tried;
	const struct libfathom *libfathom;
	struct fathom *fathom;
	cudaStream_t stream; /* the fathom handle's */
	cudaStream_t parked; /* ours: the fathom handle is there between calls */
	int *pivots;
	int64_t pivot_count;
	char why[REASON_BYTES];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct client_state *list;

/* ---- the list ---- */

static struct client_state *state_new(cusolverDnHandle_t handle)
{
	struct client_state *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->handle = handle;
	pthread_mutex_init(&s->lock, NULL);
	s->next = list;
	list = s;
	return s;
}

static struct client_state *state_of(cusolverDnHandle_t handle)
{
	pthread_mutex_lock(&list_lock);
	struct client_state *s = list;
	while (s && s->handle != handle)
		s = s->next;
	if (!s)
		s = state_new(handle);
	pthread_mutex_unlock(&list_lock);
	return s;
}

static struct client_state *state_take(cusolverDnHandle_t handle)
{
	pthread_mutex_lock(&list_lock);
	struct client_state **place = &list;
	while (*place && (*place)->handle != handle)
		place = &(*place)->next;
	struct client_state *s = *place;
	if (s)
		*place = s->next;
	pthread_mutex_unlock(&list_lock);
	return s;
}

/* Memory and streams of a context that is gone went with it: their addresses may be others' now. */
static void state_free(struct client_state *s)
{
	bool gone = false;

	if (!s)
		return;
	if (s->fathom) {
		const enum fathom_status status = s->libfathom->finish(s->fathom);
		gone = status == FATHOM_NOT_POSSIBLE;
		if (status == FATHOM_FAILED)
			say("results of this handle are wrong: %s", s->libfathom->error(s->fathom));
		s->libfathom->destroy(s->fathom);
	}
	if (s->pivots && !gone)
		device_free(s->pivots);
	if (s->parked && !gone)
		device_stream_free(s->parked);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- the fathom handle ---- */

static void open_fathom(struct client_state *s)
{
	s->tried = true;
	s->libfathom = libfathom();
	if (!s->libfathom) {
		snprintf(s->why, sizeof s->why, "%s", libfathom_error());
		return;
	}
	if (s->libfathom->create(&s->fathom) != FATHOM_OK) {
		s->fathom = NULL;
		snprintf(s->why, sizeof s->why, "no fathom handle: %s", s->libfathom->error(NULL));
		return;
	}
	if (!device_stream_new(&s->parked)) {
		s->parked = NULL;
		s->libfathom->destroy(s->fathom);
		s->fathom = NULL;
		snprintf(s->why, sizeof s->why, "CUDA gives no stream");
	}
}

/* The default stream and the legacy stream, under its other name, exist as long as the process. */
static bool is_lasting(cudaStream_t stream)
{
	return (uintptr_t)stream <= 1;
}

static bool follow(struct client_state *s, cudaStream_t stream)
{
	if (stream == s->stream)
		return true;
	if (s->libfathom->set_stream(s->fathom, stream) != FATHOM_OK)
		return false;
	s->stream = stream;
	return true;
}

static bool enter(
        struct client_state *s, enum purpose purpose, cudaStream_t stream, char why[REASON_BYTES])
{
	if (!s->tried)
		open_fathom(s);
	if (!s->fathom) {
		snprintf(why, REASON_BYTES, "%s", s->why);
		return false;
	}
	if (device_captured(stream)) {
		if (purpose == FOR_QUERY)
			return true;
		snprintf(why, REASON_BYTES, "a stream is under capture");
		return false;
	}
	if (!follow(s, stream)) {
		snprintf(why, REASON_BYTES, "%s", s->libfathom->error(s->fathom));
		return false;
	}
	return true;
}

bool client_enter(
        cusolverDnHandle_t handle, enum purpose purpose, struct client *c, char why[REASON_BYTES])
{
	cudaStream_t stream;

	if (!handle || REAL_CALL(cusolverDnGetStream, handle, &stream) != CUSOLVER_STATUS_SUCCESS) {
		snprintf(why, REASON_BYTES, "the handle is not valid");
		return false;
	}
	struct client_state *s = state_of(handle);
	if (!s) {
		snprintf(why, REASON_BYTES, "out of host memory");
		return false;
	}
	pthread_mutex_lock(&s->lock);
	if (!enter(s, purpose, stream, why)) {
		pthread_mutex_unlock(&s->lock);
		return false;
	}
	*c = (struct client){s->libfathom, s->fathom, stream, s};
	return true;
}

/* A client may destroy its stream after the call, and a fathom handle must not stay in it. */
void client_leave(struct client *c)
{
	if (!is_lasting(c->state->stream))
		follow(c->state, c->state->parked);
	pthread_mutex_unlock(&c->state->lock);
}

int *client_pivots(struct client *c, int64_t count)
{
	struct client_state *s = c->state;

	if (count <= s->pivot_count)
		return s->pivots;
	if (s->pivots)
		device_free(s->pivots);
	s->pivot_count = max_int64(count, FEWEST_PIVOTS);
	s->pivots = device_new(s->pivot_count * (int64_t)sizeof *s->pivots);
	if (!s->pivots)
		s->pivot_count = 0;
	return s->pivots;
}

/* ---- cuSOLVER's handles ---- */

/* The address may be that of a handle that went away with a reset of the device. */
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
	cusolverStatus_t status = REAL_CALL(cusolverDnCreate, handle);

	if (status == CUSOLVER_STATUS_SUCCESS)
		state_free(state_take(*handle));
	return status;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
	state_free(state_take(handle));
	return REAL_CALL(cusolverDnDestroy, handle);
}
