/* SPDX-License-Identifier: MIT */
/* The model executor's events, copies, panels on the host and BLAS. */
#include "executor_model_internal.h"

#include "factor/kernels/gemm/half_pair.h"
#include "lib/base/msg.h"

#define COST(name, ...) model_blocks(e)->name(model_reader(e), __VA_ARGS__)
#define SHARED_COST(name, ...) model_blocks(e)->name(model_shared_reader(e), __VA_ARGS__)

/* ---- events ---- */

static bool valid(struct executor *e, int event)
{
	return (event >= 0 && event < EXECUTOR_EVENTS) ||
	       fault_set(&e->fault, "event %d is not below %d", event, EXECUTOR_EVENTS);
}

static bool model_record(struct executor *e, int event)
{
	struct simulated *s = model_self(e);

	if (!valid(e, event))
		return false;
	s->host += model_blocks(e)->event(model_reader(e));
	s->event[event] = s->device.last[e->queue];
	return true;
}

/* Puts a join into the queue, unless the event is of the same queue. */
static bool model_wait(struct executor *e, int event)
{
	struct simulated *s = model_self(e);

	if (!valid(e, event))
		return false;
	int64_t done = s->event[event];
	if (done < 0 || s->device.operation[done].work.queue == e->queue)
		return true;
	s->host += model_blocks(e)->event(model_reader(e));
	struct work work = {.queue = e->queue,
	        .engine = ENGINE_HOST,
	        .tag = s->device.operation[done].work.tag,
	        .issue = s->host,
	        .seconds = model_blocks(e)->stream_wait(model_reader(e)),
	        .share = 1};
	simulation_put(&s->device, work, done);
	s->queues |= 1u << e->queue;
	return true;
}

/* The host learns of the event as in a synchronization. */
static bool model_wait_host(struct executor *e, int event)
{
	struct simulated *s = model_self(e);

	if (!valid(e, event))
		return false;
	int64_t done = s->event[event];
	if (done < 0 || !(simulation_finish(&s->device, done) > s->host)) {
		s->host += model_blocks(e)->event(model_reader(e));
		return true;
	}
	struct cost answer = {
	        .term[TERM_SYNC] = s->cost_model->sync(model_reader(e)), .engine = ENGINE_HOST};
	s->host = s->device.operation[done].end;
	return model_charge(e, s->charged[s->device.operation[done].work.tag].phase, "wait",
	        model_shape(0, 0), 0, answer);
}

/* ---- copies ---- */

static bool model_stage(struct executor *e, int stage, int64_t m, int64_t n,
        enum precision precision, struct matrix *host)
{
	if (stage < 0 || stage >= EXECUTOR_STAGES)
		return fault_set(&e->fault, "stage %d is not below %d", stage, EXECUTOR_STAGES);
	*host = (struct matrix){NULL, 0, m, n, m, precision};
	return true;
}

static bool model_to_host(struct executor *e, struct matrix from, struct matrix host)
{
	model_reader(e)->host_wrote = false;
	return model_charge(e, PHASE_TRANSFER, "to_host", from, 0, COST(to_host, from));
}

static bool model_to_device(struct executor *e, struct matrix host, struct matrix to)
{
	return model_charge(e, PHASE_TRANSFER, "to_device", to, 0, COST(to_device, to));
}

/* ---- panels on the host ---- */

/* The few values that follow a panel into executor memory. */
static bool send(struct executor *e, int64_t count, enum precision precision)
{
	struct matrix values = {NULL, 0, count, 1, count, precision};

	return model_charge(e, PHASE_PANEL, "send", values, 0, COST(to_device, values));
}

static bool model_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p)
{
	model_reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_getrf", host, 0, COST(host_getrf, host)) &&
	       model_charge(e, PHASE_PANEL, "send", model_shape(p.n + 1, 1), 0,
	               model_self(e)->cost_model->store_pivots(model_reader(e), p.n));
}

static bool model_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	model_reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_geqrf", host, 0, COST(host_geqrf, host)) &&
	       send(e, tau.m, tau.precision);
}

static bool model_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	model_reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_potrf", host, 0, COST(host_potrf, host)) &&
	       send(e, 1, SINGLE);
}

/* ---- the BLAS ---- */

static bool model_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha,
        struct matrix a, struct matrix b, double beta, struct matrix c)
{
	int64_t k = ta == PLAIN ? a.n : a.m;

	model_reader(e)->blas_only = e->blas_only;
	return k == 0 ||
	       model_charge(e, PHASE_UPDATE, "gemm", c, k, SHARED_COST(gemm, ta, tb, c, k));
}

static bool model_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, double beta, struct matrix c)
{
	int64_t k = trans == PLAIN ? a.n : a.m;

	return k == 0 || model_charge(e, PHASE_UPDATE, "syrk", c, k, SHARED_COST(syrk, c, k));
}

static bool model_split(struct executor *e, struct splits splits)
{
	return splits.count == 0 ||
	       model_charge(e, PHASE_UPDATE, "split", splits.of[0].a, 0, COST(split, &splits));
}

/* Products of the same size, side by side. */
static struct matrix all_columns(struct matrix c, struct products products)
{
	c.n *= products.count;
	return c;
}

/* clang-format off */

MODEL_OPERATION(gemm_tf32, PHASE_UPDATE, all_columns(c, products), a.m,
	SHARED_COST(gemm_tf32, all_columns(c, products), a.m, products.count > 1),
	double alpha, struct matrix a, struct matrix b, double beta, struct matrix c,
	struct products products)
MODEL_OPERATION(half_update, PHASE_UPDATE, c, half_depth(left.m),
	SHARED_COST(half_update, part, c, half_depth(left.m)),
	enum uplo part, double alpha, struct matrix left, struct matrix right, struct matrix c)
MODEL_OPERATION(gemm_tall, PHASE_UPDATE, p, c.m, SHARED_COST(gemm_tall, p, c.m),
	struct matrix v, struct matrix c, struct matrix p)
MODEL_OPERATION(add_triangles, PHASE_UPDATE, c, 0, COST(add, blocks),
	enum uplo uplo, struct matrix blocks, struct matrix c)
MODEL_OPERATION(trsm, PHASE_SOLVE, b, 0,
	COST(trsm, side, diag, a.n, side == LEFT ? b.n : b.m, b.precision),
	enum side side, enum uplo uplo, enum trans trans, enum diag diag, double alpha,
	struct matrix a, struct matrix b)
/* The model takes the inverse to pass the guard. */
MODEL_OPERATION(trsm_guard, PHASE_SOLVE, b, 0, COST(trsm_guard, a, side == LEFT ? b.n : b.m),
	enum side side, enum uplo uplo, enum trans trans, enum diag diag, struct matrix a,
	struct matrix inverse, struct matrix kept, struct matrix b)
MODEL_OPERATION(gemv, PHASE_UPDATE, a, 0,
	(model_reader(e)->blas_only = e->blas_only, COST(gemv, trans, a)),
	enum trans trans, double alpha, struct matrix a, struct matrix x, double beta,
	struct matrix y)
MODEL_OPERATION(make_rotations, PHASE_PANEL, x, 0, COST(make_rotations, x),
	int64_t row, struct matrix x, struct matrix g)
MODEL_OPERATION(rotate, PHASE_UPDATE, x, 0, COST(rotate, x), struct matrix g, struct matrix x)

/* clang-format on */

void model_add_blocks(struct executor_ops *ops)
{
	ops->record = model_record;
	ops->wait = model_wait;
	ops->wait_host = model_wait_host;
	ops->stage = model_stage;
	ops->to_host = model_to_host;
	ops->to_device = model_to_device;
	ops->host_panel_getrf = model_host_panel_getrf;
	ops->host_panel_geqrf = model_host_panel_geqrf;
	ops->host_panel_potrf = model_host_panel_potrf;
	ops->gemm = model_gemm;
	ops->split = model_split;
	ops->gemm_tf32 = model_gemm_tf32;
	ops->half_update = model_half_update;
	ops->gemm_tall = model_gemm_tall;
	ops->add_triangles = model_add_triangles;
	ops->syrk = model_syrk;
	ops->trsm = model_trsm;
	ops->trsm_guard = model_trsm_guard;
	ops->gemv = model_gemv;
	ops->make_rotations = model_make_rotations;
	ops->rotate = model_rotate;
}
