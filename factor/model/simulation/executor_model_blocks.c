/* SPDX-License-Identifier: MIT */
/* The model executor's events, copies, panels on the host and BLAS. */
#include "executor_model_internal.h"

#include "factor/kernels/gemm/half_pair.h"
#include "lib/base/msg.h"

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

/* Puts a join into the queue; within one queue the order suffices. */
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

/* The host learns of the end of what it waits for as it does in a synchronization. */
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
	(void)host;
	model_reader(e)->host_wrote = false;
	return model_charge(e, PHASE_TRANSFER, "to_host", from, 0,
	        model_blocks(e)->to_host(model_reader(e), from));
}

static bool model_to_device(struct executor *e, struct matrix host, struct matrix to)
{
	(void)host;
	return model_charge(e, PHASE_TRANSFER, "to_device", to, 0,
	        model_blocks(e)->to_device(model_reader(e), to));
}

/* ---- panels on the host ---- */

/* A few values that follow the panel into executor memory. */
static bool send(struct executor *e, int64_t count, enum precision precision)
{
	struct matrix values = {NULL, 0, count, 1, count, precision};

	return model_charge(e, PHASE_PANEL, "send", values, 0,
	        model_blocks(e)->to_device(model_reader(e), values));
}

static bool model_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p)
{
	model_reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_getrf", host, 0,
	               model_blocks(e)->host_getrf(model_reader(e), host)) &&
	       model_charge(e, PHASE_PANEL, "send", model_shape(p.n + 1, 1), 0,
	               model_self(e)->cost_model->store_pivots(model_reader(e), p.n));
}

static bool model_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	model_reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_geqrf", host, 0,
	               model_blocks(e)->host_geqrf(model_reader(e), host)) &&
	       send(e, tau.m, tau.precision);
}

static bool model_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	(void)uplo;
	(void)first;
	(void)info;
	model_reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_potrf", host, 0,
	               model_blocks(e)->host_potrf(model_reader(e), host)) &&
	       send(e, 1, SINGLE);
}

/* ---- the BLAS ---- */

static bool model_gemm(struct executor *e, enum trans ta, enum trans tb, double alpha,
        struct matrix a, struct matrix b, double beta, struct matrix c)
{
	int64_t k = ta == PLAIN ? a.n : a.m;

	(void)alpha;
	(void)b;
	(void)beta;
	model_reader(e)->blas_only = e->blas_only;
	model_reader(e)->shares = e->shares;
	return k == 0 || model_charge(e, PHASE_UPDATE, "gemm", c, k,
	                         model_blocks(e)->gemm(model_reader(e), ta, tb, c, k));
}

static bool model_split(struct executor *e, struct splits splits)
{
	return splits.count == 0 || model_charge(e, PHASE_UPDATE, "split", splits.of[0].a, 0,
	                                    model_blocks(e)->split(model_reader(e), &splits));
}

static bool model_gemm_tf32(struct executor *e, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c, struct products products)
{
	(void)alpha;
	(void)b;
	(void)beta;
	c.n *= products.count; /* columns of all */
	model_reader(e)->shares = e->shares;
	return model_charge(e, PHASE_UPDATE, "gemm_tf32", c, a.m,
	        model_blocks(e)->gemm_tf32(model_reader(e), c, a.m, products.count > 1));
}

static bool model_half_update(struct executor *e, enum uplo part, double alpha, struct matrix left,
        struct matrix right, struct matrix c)
{
	int64_t k = half_depth(left.m);

	(void)alpha;
	(void)right;
	model_reader(e)->shares = e->shares;
	return model_charge(e, PHASE_UPDATE, "half_update", c, k,
	        model_blocks(e)->half_update(model_reader(e), part, c, k));
}

static bool model_gemm_tall(struct executor *e, struct matrix v, struct matrix c, struct matrix p)
{
	(void)v;
	model_reader(e)->shares = e->shares;
	return model_charge(e, PHASE_UPDATE, "gemm_tall", p, c.m,
	        model_blocks(e)->gemm_tall(model_reader(e), p, c.m));
}

static bool model_add_triangles(
        struct executor *e, enum uplo uplo, struct matrix blocks, struct matrix c)
{
	(void)uplo;
	return model_charge(e, PHASE_UPDATE, "add_triangles", c, 0,
	        model_blocks(e)->add(model_reader(e), blocks));
}

static bool model_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, double beta, struct matrix c)
{
	int64_t k = trans == PLAIN ? a.n : a.m;

	(void)uplo;
	(void)alpha;
	(void)beta;
	model_reader(e)->shares = e->shares;
	return k == 0 || model_charge(e, PHASE_UPDATE, "syrk", c, k,
	                         model_blocks(e)->syrk(model_reader(e), c, k));
}

static bool model_trsm(struct executor *e, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, double alpha, struct matrix a, struct matrix b)
{
	(void)uplo;
	(void)trans;
	(void)alpha;
	return model_charge(e, PHASE_SOLVE, "trsm", b, 0,
	        model_blocks(e)->trsm(
	                model_reader(e), side, diag, a.n, side == LEFT ? b.n : b.m, b.precision));
}

/* The inverse can be trusted. */
static bool model_trsm_guard(struct executor *e, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept, struct matrix b)
{
	int64_t columns = side == LEFT ? b.n : b.m;

	(void)uplo;
	(void)trans;
	(void)diag;
	(void)inverse;
	(void)kept;
	return model_charge(e, PHASE_SOLVE, "trsm_guard", b, 0,
	        model_blocks(e)->trsm_guard(model_reader(e), a, columns));
}

static bool model_gemv(struct executor *e, enum trans trans, double alpha, struct matrix a,
        struct matrix x, double beta, struct matrix y)
{
	(void)alpha;
	(void)x;
	(void)beta;
	(void)y;
	model_reader(e)->blas_only = e->blas_only;
	return model_charge(
	        e, PHASE_UPDATE, "gemv", a, 0, model_blocks(e)->gemv(model_reader(e), trans, a));
}

static bool model_make_rotations(struct executor *e, int64_t row, struct matrix x, struct matrix g)
{
	(void)row;
	(void)g;
	return model_charge(e, PHASE_PANEL, "make_rotations", x, 0,
	        model_blocks(e)->make_rotations(model_reader(e), x));
}

static bool model_rotate(struct executor *e, struct matrix g, struct matrix x)
{
	(void)g;
	return model_charge(
	        e, PHASE_UPDATE, "rotate", x, 0, model_blocks(e)->rotate(model_reader(e), x));
}

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
