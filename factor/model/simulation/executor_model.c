/* SPDX-License-Identifier: MIT */
#include "executor_model_internal.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/law/law_lasting.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

/* ---- memory, and operations outside of the timed part ---- */

static void model_destroy(struct executor *e)
{
	simulation_free(&model_self(e)->device);
	if (!model_self(e)->borrows) {
		efficiency_hardware_free(model_self(e)->hardware);
		free(model_self(e)->reader);
	}
	free(model_self(e)->charged);
	free(model_self(e)->mark);
	free(e);
}

/* Allocated memory counts as the operands of the run. */
static bool model_alloc(struct executor *e, int64_t bytes, void **data)
{
	model_self(e)->reader->working_set += (double)bytes;
	*data = NULL;
	return true;
}

static void model_release(struct executor *e, void *data)
{
}

static bool model_upload(struct executor *e, const void *host, int64_t host_ld, struct matrix a)
{
	return true;
}

static bool no_data(struct executor *e)
{
	return fault_set(
	        &e->fault, "the model executor has no data to read: run cuda or host for that");
}

static bool model_download(struct executor *e, struct matrix a, void *host, int64_t host_ld)
{
	return no_data(e);
}

static bool model_duplicate(struct executor *e, struct matrix from, struct matrix to)
{
	return true;
}

static bool model_read_pivots(struct executor *e, struct pivots p, int *host_ipiv, int *info)
{
	return no_data(e);
}

static const struct executor_ops outside_ops = {.destroy = model_destroy,
        .alloc = model_alloc,
        .release = model_release,
        .upload = model_upload,
        .download = model_download,
        .duplicate = model_duplicate,
        .read_pivots = model_read_pivots};

/* ---- constructor and result ---- */

static const char *const room = "gpu.shared.per_block";

/* Where the profile does not have the size of shared memory, there are no deferred row swaps, and
 * lu_rows takes the most that it ever takes. */
static void set_most(struct simulated *s, enum precision precision)
{
	const bool known = cost_known(s->reader, room), twice = precision == DOUBLE;
	const int64_t bytes = known ? cost_whole(s->reader, room) : 0;

	s->base.deferred_most[twice] = known ? deferred_swaps_most(precision, bytes) : 0;
	s->base.rows_most[twice] = known ? block_lu_rows_most(precision, bytes) : EXECUTOR_LU_ROWS;
}

struct executor *executor_model_new(
        const struct profile *profile, enum model_target target, int level)
{
	static const struct cost_model *const costs[2][2] = {
	        [MODEL_CUDA] = {&cost_cuda_level1, &cost_cuda_level2},
	        [MODEL_HOST] = {&cost_host_level1, &cost_host_level2}};
	struct simulated *s = xcalloc(1, sizeof *s);

	s->ops = outside_ops;
	model_add_operations(&s->ops);
	model_add_events(&s->ops);
	s->base =
	        (struct executor){.ops = &s->ops, .name = "model", .on_host = target == MODEL_HOST};
	s->target = target;
	s->costs = costs[target][level >= 2];
	s->reader = xmalloc(sizeof *s->reader);
	cost_reader_start(s->reader, profile);
	s->reader->hardware = s->hardware = efficiency_hardware_new(profile);
	s->reader->sums = level < 2;
	if (target == MODEL_CUDA)
		executor_tune(&s->base, s->reader->tuning.device,
		        cost_known(s->reader, "gpu.gemm.tf32"),
		        cost_known(s->reader, "gpu.half_gemm.s"));
	else
		s->base.tuning = tuning_hopper;
	set_most(s, SINGLE);
	set_most(s, DOUBLE);
	executor_model_restart(&s->base, false);
	return &s->base;
}

struct executor *executor_model_like(struct executor *executor)
{
	const struct simulated *of = model_self(executor);
	struct simulated *s = xcalloc(1, sizeof *s);

	s->ops = of->ops;
	s->base = of->base;
	s->base.ops = &s->ops;
	s->base.splits = of->base.splits ? &s->base.tuning.split : NULL;
	s->target = of->target;
	s->costs = of->costs;
	s->reader = of->reader;
	s->borrows = true;
	executor_model_restart(&s->base, of->overlap);
	return &s->base;
}

double executor_model_clock(struct executor *executor)
{
	struct simulated *s = model_self(executor);

	executor->ops->sync(executor);
	return s->reader->model.missing ? NAN : s->host;
}

double executor_model_seconds(struct executor *executor)
{
	const struct simulated *s = model_self(executor);
	const double seconds = executor_model_clock(executor);

	return law_lasting_knows(s->reader, s->lasting, seconds)
	               ? executor_model_result(executor).seconds
	               : seconds;
}

/* Under lasting load the arithmetic of updates takes longer. */
static void add_lasting(struct simulated *s, struct model_result *result)
{
	if (!law_lasting_knows(s->reader, s->lasting, result->seconds))
		return;
	const double more = law_lasting(s->reader, s->lasting, result->seconds,
	        s->busiest > 0 ? s->busiest : result->term[TERM_ARITHMETIC]);
	result->seconds += more;
	result->term[TERM_ARITHMETIC] += more;
	result->phase[PHASE_UPDATE] += more;
}

struct model_result executor_model_result(struct executor *executor)
{
	struct simulated *s = model_self(executor);
	struct model_result result = {.seconds = executor_model_clock(executor)};

	model_account(s, &result);
	add_lasting(s, &result);
	for (int t = 0; t < TERM_COUNT; t++)
		if (result.term[t] > result.term[result.limiter])
			result.limiter = (enum term)t;
	return result;
}

void executor_model_lasting(struct executor *executor, enum precision precision, enum math math)
{
	struct simulated *s = model_self(executor);

	s->lasting = s->target == MODEL_CUDA ? law_lasting_row(precision, math) : NULL;
}

void executor_model_restart(struct executor *executor, bool overlap)
{
	struct simulated *s = model_self(executor);

	s->overlap = overlap;
	s->base.fault.text[0] = '\0'; /* of a run without a parameter */
	s->reader->host_wrote = false;
	s->host = s->busiest = 0;
	s->base.queue = QUEUE_MAIN;
	s->base.block = 0;
	s->queues = s->withheld = 0;
	s->way = NO_WAY;
	s->count = 0;
	simulation_start(&s->device);
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		s->event[i] = -1;
	for (int q = 0; q < QUEUE_COUNT; q++)
		s->seen[q] = -1;
}

void executor_model_record(struct executor *executor, bool recorded)
{
	model_self(executor)->recorded = recorded;
}

struct cost_reader *executor_model_reader(struct executor *executor)
{
	return model_self(executor)->reader;
}
