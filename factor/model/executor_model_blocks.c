/* SPDX-License-Identifier: MIT */
/* The model executor's operations of blocked factorizations. */
#include "executor_model_parts.h"

#include "../../lib/msg.h"

static struct price_reader *reader(struct executor *e)
{
	return &model_self(e)->reader;
}

static const struct block_tariff *tariff(struct executor *e)
{
	return model_self(e)->blocks;
}

static struct matrix shape(int64_t m, int64_t n)
{
	return (struct matrix){.m = m, .n = n, .ld = m};
}

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
	s->host += tariff(e)->event(reader(e));
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
	s->host += tariff(e)->event(reader(e));
	struct work work = {.queue = e->queue,
	        .engine = ENGINE_HOST,
	        .tag = s->device.operation[done].work.tag,
	        .issue = s->host,
	        .seconds = tariff(e)->hop(reader(e)),
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
		s->host += tariff(e)->event(reader(e));
		return true;
	}
	struct price answer = {
	        .term[TERM_SYNC] = s->tariff->sync(reader(e)), .engine = ENGINE_HOST};
	s->host = s->device.operation[done].end;
	return model_charge(e, s->charged[s->device.operation[done].work.tag].phase, "wait",
	        shape(0, 0), 0, answer);
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
	reader(e)->host_wrote = false;
	return model_charge(
	        e, PHASE_TRANSFER, "to_host", from, 0, tariff(e)->to_host(reader(e), from));
}

static bool model_to_device(struct executor *e, struct matrix host, struct matrix to)
{
	(void)host;
	return model_charge(
	        e, PHASE_TRANSFER, "to_device", to, 0, tariff(e)->to_device(reader(e), to));
}

/* ---- panels on the host ---- */

/* A few values that follow the panel into executor memory. */
static bool send(struct executor *e, int64_t count, enum precision precision)
{
	struct matrix values = {NULL, 0, count, 1, count, precision};

	return model_charge(
	        e, PHASE_PANEL, "send", values, 0, tariff(e)->to_device(reader(e), values));
}

static bool model_host_panel_getrf(struct executor *e, struct matrix host, struct pivots p)
{
	reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_getrf", host, 0,
	               tariff(e)->host_getrf(reader(e), host)) &&
	       model_charge(e, PHASE_PANEL, "send", shape(p.n + 1, 1), 0,
	               model_self(e)->tariff->store_pivots(reader(e), p.n));
}

static bool model_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_geqrf", host, 0,
	               tariff(e)->host_geqrf(reader(e), host)) &&
	       send(e, tau.m, tau.precision);
}

static bool model_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	(void)uplo;
	(void)first;
	(void)info;
	reader(e)->host_wrote = true;
	return model_charge(e, PHASE_PANEL, "host_potrf", host, 0,
	               tariff(e)->host_potrf(reader(e), host)) &&
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
	reader(e)->blas_only = e->blas_only;
	reader(e)->shares = e->shares;
	return k == 0 || model_charge(e, PHASE_UPDATE, "gemm", c, k,
	                         tariff(e)->gemm(reader(e), ta, tb, c, k));
}

static bool model_split(struct executor *e, struct matrix a, enum trans trans,
        enum tf32_stack stack, struct matrix to)
{
	(void)trans;
	(void)stack;
	return model_charge(e, PHASE_UPDATE, "split", a, 0, tariff(e)->split(reader(e), a, to));
}

/* Several are as one with as many columns. */
static bool model_gemm_tf32(struct executor *e, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c, struct products products)
{
	(void)alpha;
	(void)b;
	(void)beta;
	c.n *= products.count;
	return model_charge(
	        e, PHASE_UPDATE, "gemm_tf32", c, a.m, tariff(e)->gemm_tf32(reader(e), c, a.m));
}

static bool model_add_triangles(
        struct executor *e, enum uplo uplo, struct matrix blocks, struct matrix c)
{
	(void)uplo;
	return model_charge(
	        e, PHASE_UPDATE, "add_triangles", c, 0, tariff(e)->add(reader(e), blocks));
}

static bool model_syrk(struct executor *e, enum uplo uplo, enum trans trans, double alpha,
        struct matrix a, double beta, struct matrix c)
{
	int64_t k = trans == PLAIN ? a.n : a.m;

	(void)uplo;
	(void)alpha;
	(void)beta;
	reader(e)->shares = e->shares;
	return k == 0 ||
	       model_charge(e, PHASE_UPDATE, "syrk", c, k, tariff(e)->syrk(reader(e), c, k));
}

static bool model_trsm(struct executor *e, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, double alpha, struct matrix a, struct matrix b)
{
	(void)uplo;
	(void)trans;
	(void)diag;
	(void)alpha;
	return model_charge(e, PHASE_SOLVE, "trsm", b, 0,
	        tariff(e)->trsm(reader(e), side, a.n, side == LEFT ? b.n : b.m, b.precision));
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
	return model_charge(
	        e, PHASE_SOLVE, "trsm_guard", b, 0, tariff(e)->trsm_guard(reader(e), a, columns));
}

static bool model_gemv(struct executor *e, enum trans trans, double alpha, struct matrix a,
        struct matrix x, double beta, struct matrix y)
{
	(void)alpha;
	(void)x;
	(void)beta;
	(void)y;
	reader(e)->blas_only = e->blas_only;
	return model_charge(e, PHASE_UPDATE, "gemv", a, 0, tariff(e)->gemv(reader(e), trans, a));
}

static bool model_make_rotations(struct executor *e, int64_t row, struct matrix x, struct matrix g)
{
	(void)row;
	(void)g;
	return model_charge(
	        e, PHASE_PANEL, "make_rotations", x, 0, tariff(e)->make_rotations(reader(e), x));
}

static bool model_rotate(struct executor *e, struct matrix g, struct matrix x)
{
	(void)g;
	return model_charge(e, PHASE_UPDATE, "rotate", x, 0, tariff(e)->rotate(reader(e), x));
}

/* ---- our own kernels ---- */

static bool model_trtri(
        struct executor *e, enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse)
{
	(void)uplo;
	(void)diag;
	(void)inverse;
	return model_charge(e, PHASE_SOLVE, "trtri", a, 0, tariff(e)->trtri(reader(e), a));
}

static bool model_laswp(struct executor *e, struct matrix a, struct pivots p, bool backwards)
{
	(void)backwards;
	return p.n == 0 ||
	       model_charge(e, PHASE_SWAP, "laswp", a, p.n, tariff(e)->laswp(reader(e), a, p.n));
}

static bool model_lu_columns(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	(void)a;
	return model_charge(
	        e, PHASE_UPDATE, "lu_columns", c, p.n, tariff(e)->lu_columns(reader(e), c, p.n));
}

static bool model_lu_rows(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	return model_charge(e, a.n > 0 ? PHASE_SOLVE : PHASE_SWAP, "lu_rows", c, p.n,
	        tariff(e)->lu_rows(reader(e), c, p.n, a.n > 0));
}

static bool model_lu_top(struct executor *e, struct matrix a, struct pivots p, struct matrix c)
{
	(void)a;
	return model_charge(e, PHASE_SOLVE, "lu_top", c, p.n, tariff(e)->lu_top(reader(e), c, p.n));
}

static bool model_adopt_pivots(
        struct executor *e, struct pivots panel, int64_t first, struct pivots all)
{
	(void)first;
	(void)all;
	return model_charge(e, PHASE_SWAP, "adopt_pivots", shape(panel.n, 1), 0,
	        tariff(e)->integers(reader(e), panel.n + 1));
}

static bool model_join_pivots(
        struct executor *e, struct pivots half, int64_t first, struct pivots all)
{
	(void)first;
	(void)all;
	return model_charge(e, PHASE_SWAP, "join_pivots", shape(half.n, 1), 0,
	        tariff(e)->integers(reader(e), half.n + 1));
}

static bool model_clear_info(struct executor *e, int *info)
{
	(void)info;
	return model_charge(
	        e, PHASE_FETCH, "clear_info", shape(1, 1), 0, tariff(e)->clear(reader(e)));
}

static bool model_zero_diagonal(struct executor *e, struct matrix a, int *info)
{
	(void)info;
	return model_charge(
	        e, PHASE_FETCH, "zero_diagonal", a, 0, tariff(e)->integers(reader(e), a.n));
}

static bool model_potrf_block(
        struct executor *e, enum uplo uplo, struct matrix a, int64_t first, int *info)
{
	(void)uplo;
	(void)first;
	(void)info;
	return model_charge(e, PHASE_PANEL, "potrf_block", a, 0,
	        tariff(e)->potrf_block(reader(e), a, e->queue == QUEUE_PANEL));
}

static int64_t model_geqrf_work(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return 0;
}

static bool model_panel_geqrf(struct executor *e, struct matrix a, struct matrix tau, void *work)
{
	(void)tau;
	(void)work;
	return model_charge(e, PHASE_PANEL, "panel_geqrf", a, 0,
	        tariff(e)->panel_geqrf(reader(e), a, e->queue == QUEUE_PANEL));
}

static bool model_explicit_v(struct executor *e, struct matrix a, struct matrix v)
{
	(void)v;
	return model_charge(
	        e, PHASE_LAYOUT, "explicit_v", a, 0, tariff(e)->explicit_v(reader(e), a));
}

static bool model_larft(struct executor *e, struct matrix v, struct matrix tau, struct matrix t)
{
	(void)tau;
	(void)t;
	return model_charge(e, PHASE_SOLVE, "larft", v, 0, tariff(e)->larft(reader(e), v));
}

static bool model_panel_reflects(struct executor *e, struct matrix a)
{
	return tariff(e)->panel_reflects && tariff(e)->panel_reflects(reader(e), a);
}

static bool model_panel_reflectors(struct executor *e, struct matrix a, struct matrix tau,
        struct matrix v, struct matrix t, void *work)
{
	(void)tau;
	(void)v;
	(void)t;
	(void)work;
	return model_charge(e, PHASE_PANEL, "panel_reflectors", a, 0,
	        tariff(e)->panel_reflectors(reader(e), a));
}

static bool model_band_fits(struct executor *e, enum precision precision, int64_t p)
{
	return tariff(e)->band_fits && tariff(e)->band_fits(reader(e), precision, p);
}

static int64_t model_band_work(struct executor *e, const struct band *band)
{
	(void)e;
	(void)band;
	return 0;
}

static bool model_band_sweep(struct executor *e, const struct band *band, void *work)
{
	(void)work;
	return model_charge(e, PHASE_PANEL, "band_sweep", band->of.r, band->p,
	        tariff(e)->band_sweep(reader(e), band));
}

static bool model_reflects_columns(struct executor *e, struct matrix v, struct matrix c)
{
	return tariff(e)->reflects_columns && tariff(e)->reflects_columns(reader(e), v, c);
}

static bool model_reflect_columns(
        struct executor *e, struct matrix v, struct matrix t, struct matrix c)
{
	(void)t;
	return model_charge(e, PHASE_UPDATE, "reflect_columns", c, v.n,
	        tariff(e)->reflect_columns(reader(e), v, c));
}

static bool model_transpose(struct executor *e, struct matrix a, struct matrix b)
{
	(void)b;
	return model_charge(e, PHASE_LAYOUT, "transpose", a, 0, tariff(e)->transpose(reader(e), a));
}

static bool model_copy(struct executor *e, struct matrix from, struct matrix to)
{
	(void)to;
	return model_charge(e, PHASE_LAYOUT, "copy", from, 0, tariff(e)->copy(reader(e), from));
}

static bool model_fill(struct executor *e, enum uplo uplo, double off, double on, struct matrix a)
{
	(void)off;
	(void)on;
	return model_charge(e, PHASE_LAYOUT, "fill", a, 0, tariff(e)->fill(reader(e), uplo, a));
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
	ops->add_triangles = model_add_triangles;
	ops->syrk = model_syrk;
	ops->trsm = model_trsm;
	ops->trsm_guard = model_trsm_guard;
	ops->gemv = model_gemv;
	ops->make_rotations = model_make_rotations;
	ops->rotate = model_rotate;
	ops->trtri = model_trtri;
	ops->laswp = model_laswp;
	ops->lu_columns = model_lu_columns;
	ops->lu_rows = model_lu_rows;
	ops->lu_top = model_lu_top;
	ops->adopt_pivots = model_adopt_pivots;
	ops->join_pivots = model_join_pivots;
	ops->clear_info = model_clear_info;
	ops->zero_diagonal = model_zero_diagonal;
	ops->potrf_block = model_potrf_block;
	ops->geqrf_work = model_geqrf_work;
	ops->panel_geqrf = model_panel_geqrf;
	ops->explicit_v = model_explicit_v;
	ops->larft = model_larft;
	ops->panel_reflects = model_panel_reflects;
	ops->panel_reflectors = model_panel_reflectors;
	ops->band_fits = model_band_fits;
	ops->band_work = model_band_work;
	ops->band_sweep = model_band_sweep;
	ops->reflects_columns = model_reflects_columns;
	ops->reflect_columns = model_reflect_columns;
	ops->transpose = model_transpose;
	ops->copy = model_copy;
	ops->fill = model_fill;
}
