/* SPDX-License-Identifier: MIT */
/* Internals of the model executor: its clocks, and what its operations have in common. */
#pragma once

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
	double late;       /* more on an idle queue */
	double alone;      /* more as the first call of its kind, behind nothing */
	double host[2];    /* the host's clock before and after, waiting included */
	int64_t simulated; /* operation of the simulation, -1: the host's alone */
};

struct simulated {
	struct executor base;
	struct executor_ops ops;
	struct cost_reader *reader;
	struct cost_hardware *hardware; /* of the reader */
	bool borrows;                   /* the reader is another executor's */
	const struct cost_model *costs;
	enum model_target target;
	bool overlap;
	const char *lasting; /* the row of its updates under lasting load, or NULL */
	double busiest;      /* seconds of arithmetic of the busiest of several ranks; 0: one */
	double host;         /* clock: when the host is free, seconds */
	struct simulation device;
	int64_t event[EXECUTOR_EVENTS]; /* operation that the event follows, -1: none, it is over */
	int64_t seen[QUEUE_COUNT];      /* operation that a synchronization waited for */
	struct model_mark {
		double host;
		int64_t last; /* operation of the queue, -1: none */
	} * mark;
	int64_t mark_count;
	struct panel_geometry geometry;               /* of the resident panel at hand */
	enum way { NO_WAY, FORWARDS, BACKWARDS } way; /* of Gram-Schmidt's last pass */
	unsigned queues;                              /* bit per queue that was used */
	unsigned withheld; /* bit per queue whose last kernel does not release the next one early */
	bool recorded;     /* a mark behind each operation of a queue */
	char lacks[sizeof((struct model *)0)->missing_name]; /* of the cost that is simplified */
	struct charged *charged;
	size_t count, room;
};

static inline struct simulated *model_self(struct executor *e)
{
	return (struct simulated *)e;
}

static inline struct cost_reader *model_reader(struct executor *e)
{
	return model_self(e)->reader;
}

static inline struct matrix model_shape(int64_t m, int64_t n)
{
	return (struct matrix){.m = m, .n = n, .ld = m};
}

/* Runs an operation on the clocks. Returns true, as operations do. */
bool model_charge(struct executor *e, enum phase phase, const char *operation, struct matrix shape,
        int64_t k, struct cost cost);

/* Whether the profile lacked a row of the cost just now. Its cost at level 1, LAWN 202 eq. (2), by
 * the model that replaces *costs, then counts instead, if the profile has the rows of that
 * (model_simplified). The prediction names such operations. */
bool model_simplify(struct executor *e, const struct cost_model **costs);
bool model_simplified(struct executor *e, const char *operation);

/* Seconds of sync, event or stream_wait of the cost model; as at level 1 none where the profile
 * lacks a row of it. */
double model_seconds(struct executor *e, double (*cost)(struct cost_reader *));

/* Into ops: the operations (executor_model_operations.c); queues, events and marks
 * (executor_model_events.c). */
void model_add_operations(struct executor_ops *ops);
void model_add_events(struct executor_ops *ops);

/* Seconds by phase and term of what was charged (executor_model_parts.c). */
void model_account(struct simulated *s, struct model_result *result);
