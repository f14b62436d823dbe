/* SPDX-License-Identifier: MIT */
/* The recorder's operations: each calls the inner executor's and notes it, with the name and shape
 * of the model executor's record. */
#include "recorder_internal.h"

#include "factor/kernels/gemm/half_pair.h"

static struct matrix shape(int64_t m, int64_t n)
{
	return (struct matrix){.m = m, .n = n};
}

static bool note(struct executor *e, bool ok, enum noted_kind kind, enum phase phase,
        const char *operation, enum lane engine, struct matrix a, int64_t k)
{
	return recorder_note(e, ok,
	        (struct noted){.kind = kind,
	                .phase = phase,
	                .operation = operation,
	                .engine = engine,
	                .m = a.m,
	                .n = a.n,
	                .k = k,
	                .after = -1});
}

/* ---- the operations of operations.h: services pass through, the others are noted ---- */

#define SHAPE(m, n) shape(m, n)
#define FROM_COLUMN(a, j) shape((a).m, (a).n - (j))

#define SERVICE(type, name, parameters, arguments)                                                 \
	static type recorder_##name(struct executor *e, EXECUTOR_LIST parameters)                  \
	{                                                                                          \
		struct executor *inner = recorder_call(e);                                         \
		type answer = inner->ops->name(inner, EXECUTOR_LIST arguments);                    \
		e->fault = inner->fault;                                                           \
		return answer;                                                                     \
	}
#define OPTIONAL(name, parameters, arguments)                                                      \
	static bool recorder_##name(struct executor *e, EXECUTOR_LIST parameters)                  \
	{                                                                                          \
		return ex_##name(recorder_call(e), EXECUTOR_LIST arguments);                       \
	}
#define OPERATION(name, parameters, arguments, phase, left_out, ends, engine, shape, k, ...)       \
	static bool recorder_##name(struct executor *e, EXECUTOR_LIST parameters)                  \
	{                                                                                          \
		struct executor *inner = recorder_call(e);                                         \
		bool ok = inner->ops->name(inner, EXECUTOR_LIST arguments);                        \
		return note(e, ok, NOTED_##ends, phase, #name, LANE_##engine, shape, k);           \
	}
#define CHOSEN OPERATION
#include "factor/executors/operations.h"

static void recorder_release(struct executor *e, void *data)
{
	struct executor *inner = recorder_call(e);

	inner->ops->release(inner, data);
}

/* ---- panels on the host, and the copies behind them ---- */

static bool on_host(
        struct executor *e, bool ok, const char *operation, struct matrix host, struct matrix sent)
{
	return note(e, ok, NOTED_HOST, PHASE_PANEL, operation, LANE_HOST, host, 0) &&
	       note(e, true, NOTED_QUEUED, PHASE_PANEL, "send", LANE_IN, sent, 0);
}

static bool recorder_host_panel_getrf(
        struct executor *e, struct matrix host, struct pivots p, int *ipiv)
{
	struct executor *inner = recorder_call(e);

	return on_host(e, inner->ops->host_panel_getrf(inner, host, p, ipiv), "host_getrf", host,
	        shape(p.n + 1, 1));
}

static bool recorder_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	struct executor *inner = recorder_call(e);

	return on_host(e, inner->ops->host_panel_geqrf(inner, host, tau), "host_geqrf", host, tau);
}

static bool recorder_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	struct executor *inner = recorder_call(e);

	return on_host(e, inner->ops->host_panel_potrf(inner, uplo, host, first, info),
	        "host_potrf", host, shape(1, 1));
}

/* ---- events ---- */

static bool recorder_record(struct executor *e, int event)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->record(inner, event);

	if (ok)
		recorder_self(e)->event[event] = recorder_self(e)->last[e->queue];
	else
		e->fault = inner->fault;
	return ok;
}

static bool recorder_wait(struct executor *e, int event)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->wait(inner, event);

	return recorder_note(e, ok,
	        (struct noted){
	                .kind = NOTED_JOIN, .after = ok ? recorder_self(e)->event[event] : -1});
}

/* The host waits from the end of the note on. */
static bool waited(struct executor *e, bool ok, int64_t after, const char *operation)
{
	return recorder_note(e, ok,
	        (struct noted){.kind = NOTED_HOST,
	                .phase = recorder_phase(recorder_self(e), after),
	                .operation = operation,
	                .after = after});
}

static bool recorder_wait_host(struct executor *e, int event)
{
	struct executor *inner = recorder_call(e);
	bool ok = inner->ops->wait_host(inner, event);

	return waited(e, ok, ok ? recorder_self(e)->event[event] : -1, "wait");
}

static bool recorder_sync(struct executor *e)
{
	int64_t all = recorder_all(e);
	struct executor *inner = recorder_call(e);

	return waited(e, inner->ops->sync(inner), all, "sync");
}

void recorder_add_operations(struct executor_ops *ops)
{
#define SERVICE(type, name, ...) ops->name = recorder_##name;
#define OPTIONAL(name, ...) ops->name = recorder_##name;
#define OPERATION(name, ...) ops->name = recorder_##name;
#define CHOSEN(name, ...) ops->name = recorder_##name;
#define HOST_PANEL(name, ...) ops->name = recorder_##name;
#include "factor/executors/operations.h"
	ops->release = recorder_release;
	ops->sync = recorder_sync;
	ops->record = recorder_record;
	ops->wait = recorder_wait;
	ops->wait_host = recorder_wait_host;
}
