/* SPDX-License-Identifier: MIT */
/* The operations of the deferred executor (deferred.h), made from operations.h: a task keeps the
 * arguments in a structure. Panels on the host run at once and store their results later. */
#pragma once

#include "deferred_queues.h"

/* EACH(f, a, b, ...): f(a) f(b) ..., of up to nine. */
#define EACH_1(f, a) f(a)
#define EACH_2(f, a, ...) f(a) EACH_1(f, __VA_ARGS__)
#define EACH_3(f, a, ...) f(a) EACH_2(f, __VA_ARGS__)
#define EACH_4(f, a, ...) f(a) EACH_3(f, __VA_ARGS__)
#define EACH_5(f, a, ...) f(a) EACH_4(f, __VA_ARGS__)
#define EACH_6(f, a, ...) f(a) EACH_5(f, __VA_ARGS__)
#define EACH_7(f, a, ...) f(a) EACH_6(f, __VA_ARGS__)
#define EACH_8(f, a, ...) f(a) EACH_7(f, __VA_ARGS__)
#define EACH_9(f, a, ...) f(a) EACH_8(f, __VA_ARGS__)
#define EACH_PICK(a, b, c, d, e, f, g, h, i, each, ...) each
#define EACH(f, ...)                                                                               \
	EACH_PICK(__VA_ARGS__, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2,     \
	        EACH_1, 0)                                                                         \
	(f, __VA_ARGS__)
#define MEMBER_OF(declaration) declaration;
#define BEHIND(argument) , kept->argument

/* The host waits for the current queue. */
static inline bool deferred_arrive(struct executor *e)
{
	struct deferred *d = deferred_self(e);
	const struct task_queue *q = &d->queues[e->queue];
	bool ok = true;

	while (ok && q->done < q->count)
		ok = run_one(d);
	return ok;
}

/* An operation that the host waits for runs when its queue has arrived. */
#define DEFER_WAITED(name, parameters, arguments)                                                  \
	static inline bool deferred_##name(struct executor *e, EXECUTOR_LIST parameters)           \
	{                                                                                          \
		struct executor *inner = deferred_self(e)->host;                                   \
		return deferred_arrive(e) && inner->ops->name(inner, EXECUTOR_LIST arguments);     \
	}
#define DEFER_QUEUED(name, parameters, arguments)                                                  \
	struct name##_arguments {                                                                  \
		EACH(MEMBER_OF, EXECUTOR_LIST parameters)                                          \
	};                                                                                         \
	static inline bool task_##name(struct executor *inner, void *arguments_)                   \
	{                                                                                          \
		const struct name##_arguments *kept = arguments_;                                  \
		bool ok = inner->ops->name(inner EACH(BEHIND, EXECUTOR_LIST arguments));           \
		free(arguments_);                                                                  \
		return ok;                                                                         \
	}                                                                                          \
	static inline bool deferred_##name(struct executor *e, EXECUTOR_LIST parameters)           \
	{                                                                                          \
		const struct name##_arguments now = {EXECUTOR_LIST arguments};                     \
		return defer(e, task_##name, &now, sizeof now);                                    \
	}
#define OPERATION(name, parameters, arguments, phase, left_out, ends, ...)                         \
	DEFER_##ends(name, parameters, arguments)
#define CHOSEN OPERATION
/* Memory and sizes: the host's at once. */
#define SERVICE(type, name, parameters, arguments)                                                 \
	static inline type host_##name##_now(struct executor *e, EXECUTOR_LIST parameters)         \
	{                                                                                          \
		struct executor *inner = deferred_self(e)->host;                                   \
		return inner->ops->name(inner, EXECUTOR_LIST arguments);                           \
	}
#include "factor/executors/operations.h"

/* ---- panels on the host: at once, their results later ---- */

struct kept_bytes {
	void *to, *now;
	size_t bytes;
};

static inline bool task_store(struct executor *h, void *arguments)
{
	struct kept_bytes *kept = arguments;

	(void)h;
	memcpy(kept->to, kept->now, kept->bytes);
	free(kept->now);
	free(kept);
	return true;
}

static inline bool deferred_host_panel_getrf(
        struct executor *e, struct matrix host, struct pivots p, int *ipiv)
{
	const size_t bytes = (size_t)(p.n + 1) * sizeof(int);
	struct kept_bytes kept = {p.data, xmalloc(bytes), bytes};

	return ex_host_panel_getrf(
	               deferred_self(e)->host, host, (struct pivots){kept.now, p.n}, ipiv) &&
	       defer(e, task_store, &kept, sizeof kept);
}

static inline bool deferred_host_panel_geqrf(
        struct executor *e, struct matrix host, struct matrix tau)
{
	const size_t bytes = (size_t)(tau.m * precision_bytes(tau.precision));
	struct kept_bytes kept = {matrix_address(tau), xmalloc(bytes + 1), bytes};
	struct matrix now = {kept.now, 0, tau.m, 1, tau.m, tau.precision};

	return ex_host_panel_geqrf(deferred_self(e)->host, host, now) &&
	       defer(e, task_store, &kept, sizeof kept);
}

static inline bool deferred_keep_pivots(
        struct executor *e, const int *ipiv, int info, struct pivots p)
{
	const size_t bytes = (size_t)(p.n + 1) * sizeof(int);
	struct kept_bytes kept = {p.data, xmalloc(bytes), bytes};

	memcpy(kept.now, ipiv, bytes - sizeof(int));
	((int *)kept.now)[p.n] = info;
	return defer(e, task_store, &kept, sizeof kept);
}

struct kept_info {
	int *to, now;
};

static inline bool task_panel_info(struct executor *h, void *arguments)
{
	struct kept_info *kept = arguments;

	(void)h;
	if (*kept->to == 0)
		*kept->to = kept->now;
	free(kept);
	return true;
}

static inline bool deferred_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	struct kept_info kept = {info, 0};

	return ex_host_panel_potrf(deferred_self(e)->host, uplo, host, first, &kept.now) &&
	       defer(e, task_panel_info, &kept, sizeof kept);
}

/* ---- V and T with a panel in one call, which the host executor does not have ---- */

static inline bool task_reflectors(struct executor *host, void *arguments)
{
	const struct panel_reflectors_arguments *kept = arguments;
	bool ok = ex_panel_reflectors(
	        host, kept->a, kept->tau, kept->v, kept->t, kept->summed, kept->work);

	free(arguments);
	return ok;
}

static inline bool deferred_one_call(struct executor *e, struct matrix a, struct matrix tau,
        struct matrix v, struct matrix t, bool summed, void *work)
{
	const struct panel_reflectors_arguments now = {a, tau, v, t, summed, work};

	return defer(e, task_reflectors, &now, sizeof now);
}

static inline bool deferred_panel_reflects(struct executor *e, struct matrix a)
{
	(void)a;
	return deferred_self(e)->one_call;
}
