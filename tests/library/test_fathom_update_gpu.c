/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization by libfathom on a GPU, from a factorization made there: residual,
 * orthogonality and right-hand sides of each; the choice by a profile; drift; refused calls. */
#include "fathom_update_scene.h"

/* A change that is ready to be called, then its result. */
struct ready {
	struct fixture s;
	struct given g;
	enum qr_change change;
	int64_t m, n, k, bytes;
	void *work;
	int *info;
	bool good;
	double first; /* ratio before the change */
};

static struct ready ready_new(enum precision p, enum q_kept kept, enum qr_change change, int64_t k)
{
	struct ready r = {.s = fixture_new(p, kept), .change = change, .k = k};

	r.m = r.s.m;
	r.n = r.s.n;
	r.good = factorize(&r.s);
	r.first = r.good ? worst_ratio(&r.s) : INFINITY;
	r.g = change_host(&r.s, change, k);
	r.bytes = CALL(p, qr_update_work, (enum fathom_qr_change)change, letters[kept], r.m, r.n,
	        SIDES, P);
	r.work = on_device(NULL, r.bytes);
	r.info = on_device(NULL, sizeof(int));
	GPU(cudaMemset(r.info, 0, sizeof(int)));
	GPU(cudaDeviceSynchronize());
	return r;
}

static enum fathom_status ready_call(struct ready *r)
{
	return call_change(&r->s, r->change, r->m, r->n, r->k, &r->g, r->work, r->bytes, r->info);
}

/* After the call. */
static double ready_ratio(const struct ready *r, bool good)
{
	return good && r->good && int_on_host(r->info) == 0 ? worst_ratio(&r->s) : INFINITY;
}

static void check_change(enum precision p, enum q_kept kept, enum qr_change change)
{
	struct ready r = ready_new(p, kept, change, change == QR_MODIFY ? 0 : 11);
	const double ratio = ready_ratio(&r, r.good && done(ready_call(&r)));

	ok(r.first < 30 && ratio < 60, "%c, Q %s: %s: %.2g, then %.2g", p, q_kept_name[kept],
	        qr_change_name[change], r.first, ratio);
	fixture_free(&r.s);
}

/* With warm kernels calls return while their stream is held, and leave the free memory as it is.
 * Other processes may change the free memory: one of three tries has to show none. */
static void check_no_waiting(enum precision p, enum qr_change change)
{
	struct gpu_hold *hold = gpu_hold_new();
	bool good = true, returned = true, steady = false;
	cudaStream_t stream;

	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	good = fathom_set_stream(handle, stream) == FATHOM_OK;
	for (int i = 0; i < 4; i++) {
		struct ready r = ready_new(p, Q_THIN, change, 0);
		size_t before, after, total;
		GPU(cudaMemGetInfo(&before, &total));
		if (i > 0)
			gpu_hold_start(hold, stream);
		good = ready_call(&r) == FATHOM_OK && r.good && good;
		if (i > 0)
			returned = returned && cudaStreamQuery(stream) == cudaErrorNotReady;
		GPU(cudaMemGetInfo(&after, &total));
		/* Sanitizers allocate memory themselves, and other programs run beside them. */
		steady = steady || test_small() || (i > 0 && before == after);
		if (i > 0)
			gpu_hold_release(hold);
		good = done(FATHOM_OK) && good && worst_ratio(&r.s) < 60;
		good = good && (i == 0 || gpu_hold_ok(hold));
		fixture_free(&r.s);
	}
	ok(good && returned && steady, "%c, %s: returns while its stream is held, without memory",
	        p, qr_change_name[change]);
	if (!good || !returned || !steady)
		diag("good %d, returned %d, steady %d", good, returned, steady);
	good = fathom_set_stream(handle, NULL) == FATHOM_OK;
	GPU(cudaStreamDestroy(stream));
	gpu_hold_free(hold);
}

/* ---- the choice ---- */

/* Update and refactorization give factorizations of the same matrix. */
static void check_auto(enum precision p, enum q_kept kept, enum qr_change change)
{
	struct ready r = ready_new(p, kept, change, change == QR_MODIFY ? 0 : 11);
	struct fixture *s = &r.s;
	struct given *g = &r.g;
	int64_t bytes = CALL(p, qr_update_auto_work, (enum fathom_qr_change)change, letters[kept],
	        r.m, r.n, SIDES, P);
	void *work = on_device(NULL, bytes), *a = send(s->a, s->m * s->n, p);
	void *b = send(s->b, s->m * SIDES, p);
	int updated = -1;
	const bool good = done(CALL(p, qr_update_auto, (enum fathom_qr_change)change, letters[kept],
	        r.m, r.n, SIDES, r.k, P, a, s->m, b, s->m, g->u, g->ldu, g->v, r.n, g->b, g->ldb,
	        FACTORS(s), work, bytes, r.info, &updated));
	const double ratio = ready_ratio(&r, good);

	ok((updated == 0 || updated == 1) && ratio < 60,
	        "%c, Q %s: %s by the profile's choice: %s, %.2g", p, q_kept_name[kept],
	        qr_change_name[change], updated ? "updated" : "made again", ratio);
	fixture_free(&r.s);
}

/* ---- drift ---- */

static int drifted(struct fixture *s, const void *a)
{
	int64_t bytes = CALL(s->p, qr_drift_work, letters[s->kept], s->m, s->n);
	double *x = own(random_doubles(s, s->n), false), wide[4] = {NAN, NAN, NAN, NAN};
	void *work = on_device(NULL, bytes), *random = send(x, s->n, s->p);
	void *sums = on_device(NULL, 4 * sizeof(double));
	float narrow[4] = {NAN, NAN, NAN, NAN};
	bool good = done(CALL(s->p, qr_drift, letters[s->kept], s->m, s->n, a, s->m, s->q.device,
	        s->q.ld, s->r.device, s->r.ld, random, sums, work, bytes));

	to_host(s->p == SINGLE ? (void *)narrow : wide, sums, 4 * precision_bytes(s->p));
	int result =
	        s->p == SINGLE ? fathom_sqr_drifted(s->m, narrow) : fathom_dqr_drifted(s->m, wide);
	return good ? result : -1;
}

static void check_drift(enum precision p, enum q_kept kept)
{
	struct fixture s = fixture_new(p, kept);
	bool good = factorize(&s);
	void *a = send(s.a, s.m * s.n, p);
	int fresh = drifted(&s, a), alone = drifted(&s, NULL);

	s.a[7] += 1;
	void *other = send(s.a, s.m * s.n, p);
	ok(good && fresh == 0 && alone == 0 && drifted(&s, other) == 1,
	        "%c, Q %s: no drift at first; drift when A changes", p, q_kept_name[kept]);
	fixture_free(&s);
}

static void check_reorthogonalize(enum precision p)
{
	struct fixture s = fixture_new(p, Q_THIN);
	bool good = factorize(&s);
	int64_t bytes = CALL(p, qr_reorthogonalize_work, s.m, s.n, SIDES);
	void *work = on_device(NULL, bytes), *b = send(s.b, s.m * SIDES, p);
	int *info = on_device(NULL, sizeof(int));

	good = good && done(CALL(p, qr_reorthogonalize, s.m, s.n, SIDES, b, s.m, FACTORS(&s), work,
	                       bytes, info));
	double ratio = good ? worst_ratio(&s) : INFINITY;
	ok(good && int_on_host(info) == 0 && ratio < 30, "%c: made orthonormal again: %.2g", p,
	        ratio);
	fixture_free(&s);
}

/* ---- refusals ---- */

static void refused(enum fathom_status status, const char *word)
{
	ok(status == FATHOM_BAD_ARGUMENT && strstr(fathom_error(handle), word), "refused: %s",
	        fathom_error(handle));
}

static void check_arguments(void)
{
	struct fixture s = fixture_new(SINGLE, Q_FULL);
	float *u = s.d.device, *r = s.r.device;
	int64_t bytes =
	        fathom_sqr_update_work(handle, FATHOM_QR_REMOVE_COLUMNS, 'A', M, N, SIDES, P);
	void *work = on_device(NULL, bytes);

	refused(fathom_sqr_remove_columns(handle, 'x', M, N, SIDES, 0, P, FACTORS(&s), work, bytes),
	        "jobq");
	refused(fathom_sqr_remove_columns(handle, 'A', M, N, SIDES, N, P, FACTORS(&s), work, bytes),
	        "k = 120");
	refused(fathom_sqr_remove_columns(handle, 'A', M, N, SIDES, 0, N, FACTORS(&s), work, bytes),
	        "fewer rows");
	refused(fathom_sqr_remove_columns(handle, 'A', M, N, SIDES, 0, P, s.q.device, M - 1, r,
	                s.r.ld, s.d.device, s.d.ld, work, bytes),
	        "of Q");
	refused(fathom_sqr_remove_columns(
	                handle, 'A', M, N, SIDES, 0, P, FACTORS(&s), work, bytes - 1),
	        "workspace");
	refused(fathom_sqr_add_rows(handle, 'N', M, N, 0, 0, P, NULL, P, NULL, 1, NULL, 1, r,
	                s.r.ld, NULL, 1, work, INT64_C(1) << 40),
	        "U is NULL");
	refused(fathom_sqr_add_columns(handle, 'N', M, N, 0, 0, 1, u, M, NULL, 1, NULL, 1, r,
	                s.r.ld, NULL, 1, work, INT64_C(1) << 40, work),
	        "needs Q");
	ok(fathom_sqr_update_work(handle, (enum fathom_qr_change)9, 'A', M, N, 0, 1) == -1 &&
	                fathom_sqr_update_work(handle, FATHOM_QR_ADD_ROWS, 'A', N, M, 0, 1) == -1 &&
	                fathom_read_profile(handle, "/nowhere") == FATHOM_FAILED,
	        "impossible questions, and no profile: %s", fathom_error(handle));
	fixture_free(&s);
}

static const char profile_path[] = RECORDED "/profile.tsv";

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	if (!qr_possible())
		skip_all(fathom_error(handle));
	check_arguments();
	check_reorthogonalize(SINGLE);
	check_reorthogonalize(DOUBLE);
	for (int change = 0; change <= QR_MODIFY; change++) {
		check_no_waiting(SINGLE, (enum qr_change)change);
		check_no_waiting(DOUBLE, (enum qr_change)change);
	}
	bool chosen = fathom_read_profile(handle, profile_path) == FATHOM_OK;
	for (int d = 0; d < 2; d++)
		for (int kept = Q_NONE; kept <= Q_FULL; kept++) {
			enum precision p = d ? DOUBLE : SINGLE;
			check_drift(p, (enum q_kept)kept);
			for (int change = 0; change <= QR_MODIFY; change++) {
				bool needs_q = change == QR_ADD_COLUMNS || change == QR_MODIFY;
				if (needs_q && kept == Q_NONE)
					continue;
				check_change(p, (enum q_kept)kept, (enum qr_change)change);
				if (chosen)
					check_auto(p, (enum q_kept)kept, (enum qr_change)change);
			}
		}
	if (!chosen)
		diag("no choice is tried: %s", fathom_error(handle));
	fathom_destroy(handle);
	return finish();
}
