/* SPDX-License-Identifier: MIT */
/* A fathom handle for each cuSOLVER handle, made at the first call that needs it and freed with
 * cusolverDnDestroy. */
#pragma once

#include "cusolver_calls.h"
#include "libfathom.h"

#include "lib/base/base.h"

enum { REASON_BYTES = 400 };

struct client {
	const struct libfathom *libfathom;
	struct fathom *fathom;
	cudaStream_t stream; /* of the cuSOLVER handle, during a call */
	struct client_state *state;
};

/* What the fathom handle is for: a call, or a question about a workspace. */
enum purpose { FOR_CALL, FOR_QUERY };

/* Before and after the use of a client's fathom handle, which then works in the stream of the
 * cuSOLVER handle; other threads with the same handle wait. False with the reason: libfathom cannot
 * be used for this handle, or there are to be no calls in this stream, which is under capture: a
 * graph could outlive the handle. */
bool client_enter(cusolverDnHandle_t handle, enum purpose purpose, struct client *client,
        char why[REASON_BYTES]);
void client_leave(struct client *client);

/* Room for the pivots of getrs, which the next call with the client may overwrite. NULL: none. */
int *client_pivots(struct client *client, int64_t count);
