/* SPDX-License-Identifier: MIT */
#include "executor_model_internal.h"

#include "factor/executors/split.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static struct simulated *self(struct executor *e)
{
	return model_self(e);
}

/* ---- memory, and operations outside of the timed part ---- */

static void model_destroy(struct executor *e)
{
	simulation_free(&self(e)->device);
	free(self(e)->charged);
	free(self(e)->mark);
	free(e);
}

/* Allocated memory counts as the operands of the run. */
static bool model_alloc(struct executor *e, int64_t bytes, void **data)
{
	self(e)->reader.working_set += (double)bytes;
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

/* The operation of the queues that ends last; -1 when the host has seen the end of all. */
static int64_t unseen(struct simulated *s)
{
	int64_t found = -1;
	double end = s->host;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		int64_t last = s->device.last[q];
		if (last >= 0 && simulation_finish(&s->device, last) > end) {
			found = last;
			end = s->device.operation[found].end;
		}
	}
	return found;
}

static bool model_sync(struct executor *e)
{
	struct simulated *s = self(e);
	int64_t last = unseen(s);

	if (last < 0)
		return true;
	struct cost answer = {.wait = true,
	        .term[TERM_SYNC] = s->cost_model->sync(&s->reader),
	        .engine = ENGINE_HOST};
	s->host = s->device.operation[last].end;
	return model_charge(e, s->charged[s->device.operation[last].work.tag].phase, "sync",
	        (struct matrix){.m = 0}, 0, answer);
}

/* An event on an idle queue happens when the host asks for it. The profile has no cost of reading
 * the device's clock. */
static bool model_mark(struct executor *e, int64_t index)
{
	struct simulated *s = self(e);

	if (index >= s->mark_count) {
		s->mark_count = 2 * index + 64;
		s->mark = xrealloc(s->mark, (size_t)s->mark_count * sizeof *s->mark);
	}
	s->host += s->blocks->event(&s->reader);
	s->mark[index] = (struct model_mark){s->host, s->device.last[e->queue]};
	return true;
}

static double mark_time(struct simulated *s, const struct model_mark *mark)
{
	return fmax(mark->host, simulation_finish(&s->device, mark->last));
}

static bool model_elapsed(struct executor *e, int64_t from, int64_t to, double *seconds)
{
	struct simulated *s = self(e);

	*seconds = mark_time(s, &s->mark[to]) - mark_time(s, &s->mark[from]);
	if (s->reader.model.missing)
		*seconds = NAN;
	return true;
}

static const struct executor_ops outside_ops = {.destroy = model_destroy,
        .alloc = model_alloc,
        .release = model_release,
        .upload = model_upload,
        .download = model_download,
        .duplicate = model_duplicate,
        .read_pivots = model_read_pivots,
        .sync = model_sync,
        .mark = model_mark,
        .elapsed = model_elapsed};

/* ---- constructor and result ---- */

static const char *const room = "gpu.shared.per_block";

/* Where the profile does not have the size of shared memory, the most that lu_rows ever takes. */
static int64_t rows_most(struct cost_reader *r, enum precision precision)
{
	return cost_known(r, room) ? block_lu_rows_most(precision, (int64_t)cost_scalar(r, room))
	                            : EXECUTOR_LU_ROWS;
}

/* Without that parameter there are no deferred row swaps. */
static int64_t deferred_most(struct cost_reader *r, enum precision precision)
{
	return cost_known(r, room) ? deferred_swaps_most(precision, (int64_t)cost_scalar(r, room))
	                            : 0;
}

struct executor *executor_model_new(
        const struct profile *profile, enum model_target target, int level)
{
	static const struct cost_model *const cost_models[2][2] = {
	        [MODEL_CUDA] = {&cost_cuda_level1, &cost_cuda_level2},
	        [MODEL_HOST] = {&cost_host_level1, &cost_host_level2}};
	static const struct block_cost_model *const blocks[2][2] = {
	        [MODEL_CUDA] = {&blocks_cuda_sums, &blocks_cuda_full},
	        [MODEL_HOST] = {&blocks_host, &blocks_host}};
	struct simulated *s = xcalloc(1, sizeof *s);

	s->ops = outside_ops;
	model_add_panels(&s->ops);
	model_add_blocks(&s->ops);
	model_add_kernels(&s->ops);
	model_add_gram(&s->ops);
	s->base =
	        (struct executor){.ops = &s->ops, .name = "model", .on_host = target == MODEL_HOST};
	s->target = target;
	s->cost_model = cost_models[target][level >= 2];
	s->blocks = blocks[target][level >= 2];
	cost_reader_start(&s->reader, profile);
	s->reader.sums = level < 2;
	if (target == MODEL_CUDA && cost_known(&s->reader, "gpu.gemm.tf32"))
		s->base.splits = cost_known(&s->reader, "gpu.half_gemm.s")
		                         ? &split_limits_cuda_half
		                         : &split_limits_cuda;
	s->base.row_major = target == MODEL_CUDA ? EXECUTOR_ROW_MAJOR : 0;
	s->base.column_major = EXECUTOR_COLUMN_MAJOR;
	s->base.aligned_from = target == MODEL_CUDA ? EXECUTOR_ALIGNED_FROM : 0;
	s->base.deferred_from = target == MODEL_CUDA ? EXECUTOR_DEFERRED_FROM : 0;
	s->base.deferred_most[0] = deferred_most(&s->reader, SINGLE);
	s->base.deferred_most[1] = deferred_most(&s->reader, DOUBLE);
	s->base.rows_most[0] = rows_most(&s->reader, SINGLE);
	s->base.rows_most[1] = rows_most(&s->reader, DOUBLE);
	executor_model_restart(&s->base, false);
	return &s->base;
}

double executor_model_seconds(struct executor *executor)
{
	struct simulated *s = self(executor);

	model_sync(executor);
	return s->reader.model.missing ? NAN : s->host;
}

struct model_result executor_model_result(struct executor *executor)
{
	struct simulated *s = self(executor);
	struct model_result result = {.seconds = executor_model_seconds(executor)};

	model_account(s, &result);
	for (int t = 0; t < TERM_COUNT; t++)
		if (result.term[t] > result.term[result.limiter])
			result.limiter = (enum term)t;
	return result;
}

void executor_model_restart(struct executor *executor, bool overlap)
{
	struct simulated *s = self(executor);

	s->overlap = overlap;
	s->reader.host_wrote = false;
	s->host = 0;
	s->base.queue = QUEUE_MAIN;
	s->base.block = 0;
	s->queues = 0;
	s->way = NO_WAY;
	s->count = 0;
	simulation_start(&s->device);
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		s->event[i] = -1;
}

void executor_model_record(struct executor *executor, bool recorded)
{
	self(executor)->recorded = recorded;
}

struct cost_reader *executor_model_reader(struct executor *executor)
{
	return &self(executor)->reader;
}
