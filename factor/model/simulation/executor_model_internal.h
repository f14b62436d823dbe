/* SPDX-License-Identifier: MIT */
/* Internals of the model executor: its clocks, and what its operations have in common. */
#ifndef FATHOM_EXECUTOR_MODEL_INTERNAL_H
#define FATHOM_EXECUTOR_MODEL_INTERNAL_H

#include "executor_model.h"
#include "factor/model/cost/cost_blocks.h"
#include "simulation.h"

/* An operation with its cost, in the order of the calls. */
struct charged {
	enum phase phase;
	const char *operation;
	int64_t m, n, k, block;
	enum queue queue;
	struct cost cost;
	double device;     /* seconds of the cost's terms */
	double host[2];    /* the host's clock before and after, waiting included */
	int64_t simulated; /* operation of the simulation, -1: the host's alone */
};

struct simulated {
	struct executor base;
	struct executor_ops ops;
	struct cost_reader reader;
	const struct cost_model *cost_model;
	const struct block_cost_model *blocks;
	enum model_target target;
	bool overlap;
	double host; /* clock: when the host is free, seconds */
	struct simulation device;
	int64_t event[EXECUTOR_EVENTS]; /* operation that the event follows, -1: none, it is over */
	struct model_mark {
		double host;
		int64_t last; /* operation of the queue, -1: none */
	} * mark;
	int64_t mark_count;
	enum way { NO_WAY, FORWARDS, BACKWARDS } way; /* of Gram-Schmidt's last pass */
	unsigned queues;                              /* bit per queue that was used */
	bool recorded;                                /* a mark behind each operation of a queue */
	struct charged *charged;
	size_t count, room;
};

static inline struct simulated *model_self(struct executor *e)
{
	return (struct simulated *)e;
}

static inline struct cost_reader *model_reader(struct executor *e)
{
	return &model_self(e)->reader;
}

static inline const struct block_cost_model *model_blocks(struct executor *e)
{
	return model_self(e)->blocks;
}

static inline struct matrix model_shape(int64_t m, int64_t n)
{
	return (struct matrix){.m = m, .n = n, .ld = m};
}

/* Runs an operation on the clocks. Returns true, as operations do. */
bool model_charge(struct executor *e, enum phase phase, const char *operation, struct matrix shape,
        int64_t k, struct cost cost);

/* The reader for operations that run slower beside another queue's work. */
static inline struct cost_reader *model_shared_reader(struct executor *e)
{
	model_reader(e)->shares = e->shares;
	return model_reader(e);
}

/* An operation of the model executor: it costs `cost` in the phase; `shape` and `k` are the size in
 * timelines. Costs depend on few of an operation's parameters. */
#define MODEL_OPERATION(name, phase, shape, k, cost, ...)                                          \
	static bool model_##name(struct executor *e, __VA_ARGS__)                                  \
	{                                                                                          \
		return model_charge(e, phase, #name, shape, k, cost);                              \
	}
/* Operations that need no workspace here. */
static inline int64_t model_no_work(struct executor *e, struct matrix a)
{
	return 0;
}

/* The operations of each file, executor_model_panels.c .. gram.c, into ops. */
void model_add_panels(struct executor_ops *ops);
void model_add_blocks(struct executor_ops *ops);
void model_add_kernels(struct executor_ops *ops);
void model_add_gram(struct executor_ops *ops);

/* Seconds by phase and term of what was charged (executor_model_parts.c). */
void model_account(struct simulated *s, struct model_result *result);

#endif
