/* SPDX-License-Identifier: MIT */
/* How libfathom's calls behave on a GPU: they keep the order of the caller's streams, never wait
 * and never allocate; two handles at once; wrong arguments. */
#include "tests/tap.h"

#include "fathom_test.h"

/* ---- streams ---- */

static void use_stream(struct fathom *h, cudaStream_t stream)
{
	if (fathom_set_stream(h, stream) != FATHOM_OK)
		diag("%s", fathom_error(h));
}

/* Every operation once, put into the handle's stream. */
struct everything {
	struct lu lu;
	struct pair b, spd, c, reflectors, q, tau, gels_a, gels_b;
	void *tau_out, *work[5];
	int64_t bytes[5];
	int *info;
	bool with_qr;
};

static struct everything everything_new(int64_t n, enum precision p, bool with_qr)
{
	struct everything s = {.lu = lu_new(pair_new(n, n, p, MATRIX_RANDOM), false)};

	s.with_qr = with_qr;
	s.b = pair_random(n, 4, p, 71);
	s.spd = definite(n, p, 0);
	s.c = pair_random(n, 9, p, 72);
	s.reflectors = reflectors(n, n / 2, p, &s.tau);
	s.q = pair_random(n, n / 2, p, 73);
	s.gels_a = pair_new(n, n / 2, p, MATRIX_RANDOM);
	s.gels_b = pair_random(n, 2, p, 74);
	s.info = on_device(NULL, sizeof(int));
	s.tau_out = on_device(NULL, n * precision_bytes(p));
	s.bytes[0] = CALL(p, potrf_work, 'L', n, s.spd.ld);
	s.bytes[1] = CALL(p, ormqr_work, 'L', 'T', n, 9, n / 2, s.reflectors.ld, s.c.ld);
	s.bytes[2] = CALL(p, orgqr_work, n, n / 2, n / 2, s.q.ld);
	s.bytes[3] = CALL(p, geqrf_work, n, n / 2, s.q.ld);
	s.bytes[4] = CALL(p, gels_work, 'N', n, n / 2, 2, s.gels_a.ld, s.gels_b.ld);
	for (int i = 0; i < 5; i++)
		s.work[i] = on_device(NULL, s.bytes[i]);
	return s;
}

static bool everything_call(struct everything *s)
{
	struct pair *a = &s->lu.a, *b = &s->b, *spd = &s->spd, *c = &s->c, *q = &s->q;
	struct pair *r = &s->reflectors, *ga = &s->gels_a, *gb = &s->gels_b;
	enum precision p = a->p;
	int64_t n = a->n;
	int failed = 0;

	failed += lu_call(&s->lu, false) != FATHOM_OK;
	failed += CALL(p, getrs, 'N', n, 4, a->device, a->ld, s->lu.ipiv, b->device, b->ld) !=
	          FATHOM_OK;
	failed += CALL(p, potrf, 'L', n, spd->device, spd->ld, s->work[0], s->bytes[0], s->info) !=
	          FATHOM_OK;
	failed += CALL(p, potrs, 'L', n, 4, spd->device, spd->ld, b->device, b->ld) != FATHOM_OK;
	failed += CALL(p, ormqr, 'L', 'T', n, 9, n / 2, r->device, r->ld, s->tau.device, c->device,
	                  c->ld, s->work[1], s->bytes[1]) != FATHOM_OK;
	failed += CALL(p, orgqr, n, n / 2, n / 2, q->device, q->ld, s->tau.device, s->work[2],
	                  s->bytes[2]) != FATHOM_OK;
	failed += CALL(p, gemv, 'N', n, 9, 1, c->device, c->ld, b->device, 1, 1, s->lu.work, 1) !=
	          FATHOM_OK;
	if (s->with_qr) {
		failed += CALL(p, geqrf, n, n / 2, q->device, q->ld, s->tau_out, s->work[3],
		                  s->bytes[3]) != FATHOM_OK;
		failed += CALL(p, gels, 'N', n, n / 2, 2, ga->device, ga->ld, gb->device, gb->ld,
		                  s->work[4], s->bytes[4], s->info) != FATHOM_OK;
	}
	if (failed)
		diag("%d calls failed; %s", failed, fathom_error(handle));
	return failed == 0;
}

static void everything_free(struct everything *s)
{
	lu_free(&s->lu);
	for (int i = 0; i < 5; i++)
		GPU(cudaFree(s->work[i]));
	GPU(cudaFree(s->info));
	GPU(cudaFree(s->tau_out));
	struct pair *pairs[] = {
	        &s->b, &s->spd, &s->c, &s->reflectors, &s->q, &s->tau, &s->gels_a, &s->gels_b};
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		pair_free(pairs[i]);
}

/* Calls with warm kernels return while the stream is held, and leave the free memory as it is.
 * Other processes may change the free memory: one of three tries has to show none. */
static void check_no_waiting(enum precision p, bool with_qr)
{
	struct everything warm = everything_new(200, p, with_qr);
	struct everything held = everything_new(200, p, with_qr);
	struct gpu_hold *hold = gpu_hold_new();
	cudaStream_t stream;
	bool returned = true, steady = false, released = true;

	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	use_stream(handle, stream);
	bool good = everything_call(&warm) && done(FATHOM_OK);
	for (int i = 0; i < 3; i++) {
		size_t before, after, total;
		GPU(cudaMemGetInfo(&before, &total));
		gpu_hold_start(hold, stream);
		good = everything_call(&held) && good;
		returned = returned && cudaStreamQuery(stream) == cudaErrorNotReady;
		GPU(cudaMemGetInfo(&after, &total));
		gpu_hold_release(hold);
		good = done(FATHOM_OK) && good;
		released = released && gpu_hold_ok(hold);
		steady = steady || before == after;
	}
	ok(good && returned && released, "%c: calls return while their stream is held", p);
	/* Sanitizers allocate memory themselves, and other programs run beside them. */
	ok(steady || test_small(), "%c: calls allocate no device memory", p);
	use_stream(handle, NULL);
	GPU(cudaStreamDestroy(stream));
	gpu_hold_free(hold);
	everything_free(&warm);
	everything_free(&held);
}

/* The stream is held while the copy of the matrix, the call and the copy of the result are put into
 * it. */
static void check_order(enum precision p)
{
	enum { N = 400 };
	struct lu s = lu_new(pair_new(N, N, p, MATRIX_RANDOM), false);
	struct gpu_hold *hold = gpu_hold_new();
	cudaStream_t stream;
	void *pinned, *result;
	int ipiv[N];
	struct panel_check check;

	GPU(cudaMallocHost(&pinned, (size_t)s.a.bytes));
	GPU(cudaMallocHost(&result, (size_t)s.a.bytes));
	memcpy(pinned, s.a.host, (size_t)s.a.bytes);
	bool good = done(lu_call(&s, false)); /* loads the kernels */
	GPU(cudaMemset(s.a.device, 0xff, (size_t)s.a.bytes));
	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	use_stream(handle, stream);
	GPU(cudaDeviceSynchronize());
	gpu_hold_start(hold, stream);
	GPU(cudaMemcpyAsync(s.a.device, pinned, (size_t)s.a.bytes, cudaMemcpyHostToDevice, stream));
	good = lu_call(&s, false) == FATHOM_OK && good;
	GPU(cudaMemcpyAsync(result, s.a.device, (size_t)s.a.bytes, cudaMemcpyDeviceToHost, stream));
	GPU(cudaMemsetAsync(s.a.device, 0xff, (size_t)s.a.bytes, stream));
	gpu_hold_release(hold);
	GPU(cudaStreamSynchronize(stream));
	to_host(ipiv, s.ipiv, sizeof ipiv);
	check_panel(s.a.host, s.a.ld, result, s.a.ld, N, N, ipiv, p, &check);
	ok(good && check.passed && gpu_hold_ok(hold), "%c: work stays in the stream's order", p);
	use_stream(handle, NULL);
	GPU(cudaStreamDestroy(stream));
	GPU(cudaFreeHost(pinned));
	GPU(cudaFreeHost(result));
	gpu_hold_free(hold);
	lu_free(&s);
}

/* The stream of a handle changes between two calls: the second still runs after the first. */
static void check_stream_change(enum precision p)
{
	enum { N = 300 };
	struct lu s = lu_new(pair_new(N, N, p, TEST_CONDITION_2), false);
	struct pair b = pair_random(N, 2, p, 81);
	struct gpu_hold *hold = gpu_hold_new();
	cudaStream_t streams[2];

	bool good = done(lu_call(&s, false)) &&
	            done(CALL(p, getrs, 'N', N, 2, s.a.device, s.a.ld, s.ipiv, b.device, b.ld));
	GPU(cudaMemcpy(s.a.device, s.a.host, (size_t)s.a.bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(b.device, b.host, (size_t)b.bytes, cudaMemcpyHostToDevice));
	GPU(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		GPU(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	use_stream(handle, streams[0]);
	gpu_hold_start(hold, streams[0]);
	good = lu_call(&s, false) == FATHOM_OK && good;
	use_stream(handle, streams[1]);
	good = CALL(p, getrs, 'N', N, 2, s.a.device, s.a.ld, s.ipiv, b.device, b.ld) == FATHOM_OK &&
	       good;
	gpu_hold_release(hold);
	good = done(FATHOM_OK) && good;
	double ratio = solve_ratio(&s.a, CblasNoTrans, &b);
	ok(good && ratio < CHECK_THRESHOLD, "%c: order holds when the stream changes (%.3g)", p,
	        ratio);
	use_stream(handle, NULL);
	for (int i = 0; i < 2; i++)
		GPU(cudaStreamDestroy(streams[i]));
	gpu_hold_free(hold);
	pair_free(&b);
	lu_free(&s);
}

/* Two handles at once, each in its own stream, give the bits of one handle alone. */
static void check_two_handles(enum precision p)
{
	enum { N = 900, ROUNDS = 5 };
	const int rounds = (int)test_at_most(ROUNDS, 1);
	struct fathom *handles[2] = {handle, NULL};
	struct lu s[2], alone = lu_new(pair_new(N, N, p, MATRIX_RANDOM), false);
	cudaStream_t streams[2];
	bool good = fathom_create(&handles[1]) == FATHOM_OK && done(lu_call(&alone, false));
	void *want = pair_result(&alone.a);
	int same = 0;

	for (int i = 0; i < 2; i++) {
		s[i] = lu_new(pair_new(N, N, p, MATRIX_RANDOM), false);
		GPU(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		use_stream(handles[i], streams[i]);
	}
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 2; i++) {
			handle = handles[i];
			GPU(cudaMemcpyAsync(s[i].a.device, s[i].a.host, (size_t)s[i].a.bytes,
			        cudaMemcpyHostToDevice, streams[i]));
			good = lu_call(&s[i], false) == FATHOM_OK && good;
		}
		for (int i = 0; i < 2; i++) {
			good = fathom_finish(handles[i]) == FATHOM_OK && good;
			void *got = pair_result(&s[i].a);
			same += memcmp(got, want, (size_t)s[i].a.bytes) == 0;
			free(got);
		}
	}
	handle = handles[0];
	ok(good && same == 2 * rounds,
	        "%c: two handles at once, %d of %d results as those of one alone", p, same,
	        2 * rounds);
	fathom_destroy(handles[1]);
	use_stream(handle, NULL);
	for (int i = 0; i < 2; i++) {
		GPU(cudaStreamDestroy(streams[i]));
		lu_free(&s[i]);
	}
	free(want);
	lu_free(&alone);
}

/* ---- arguments ---- */

static void refused(enum fathom_status status, const char *why, const char *what)
{
	const char *text = fathom_error(handle);

	if (!ok(status == FATHOM_BAD_ARGUMENT && strstr(text, why), "refused: %s", what))
		diag("status %d, \"%s\", want \"%s\"", status, text, why);
}

static void check_arguments(void)
{
	struct lu s = lu_new(pair_new(50, 40, SINGLE, MATRIX_RANDOM), false);
	float *a = s.a.device;
	int *v = s.ipiv, *i = s.info;
	void *w = s.work;
	int64_t size = s.bytes, ld = s.a.ld;
	struct fathom *h = handle;

	refused(fathom_sgetrf(h, -1, 40, a, ld, v, w, size, i), "-1 x 40", "m < 0");
	refused(fathom_sgetrf(h, 50, 40, a, 49, v, w, size, i), "least 50", "lda < m");
	refused(fathom_sgetrf(h, 50, 40, NULL, ld, v, w, size, i), "A is NULL", "A NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, NULL, w, size, i), "ipiv is NULL", "ipiv NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, w, size, NULL), "info is NULL", "info NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, NULL, size, i), "workspace is NULL",
	        "work NULL");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, w, size - 1, i), "asks for", "work too small");
	refused(fathom_sgetrf(h, 50, 40, a, ld, v, (char *)w + 8, size, i), "aligned",
	        "work not aligned");
	refused(fathom_sgetrf(h, INT64_MAX, INT64_MAX, a, INT64_MAX, v, w, size, i), "too large",
	        "sizes that overflow");
	refused(fathom_sgetrs(h, 'X', 40, 1, a, ld, v, a, 40), "trans 'X'", "trans X");
	refused(fathom_sgetrs(h, 'N', 40, 1, a, ld, v, a, 39), "least 40", "ldb < n");
	refused(fathom_sgetrf_rows(h, 50, 40, a, 39, v, w, size, i), "least 40", "rows: lda < n");
	refused(fathom_spotrf(h, 'A', 40, a, ld, w, size, i), "uplo 'A'", "uplo A");
	refused(fathom_spotrs(h, '\0', 40, 1, a, ld, a, 40), "uplo", "uplo 0");
	refused(fathom_sgeqrf(h, 50, 40, a, 4, a, w, size), "least 50", "geqrf: lda < m");
	refused(fathom_sormqr(h, 'L', 'N', 50, 3, 51, a, ld, a, a, 50, w, size), "51 reflectors",
	        "k > m");
	refused(fathom_sormqr(h, 'T', 'N', 50, 3, 5, a, ld, a, a, 50, w, size), "side 'T'",
	        "side T");
	refused(fathom_sorgqr(h, 50, 40, 41, a, ld, a, w, size), "m >= n >= k", "k > n");
	refused(fathom_sgels(h, 'N', 40, 50, 1, a, ld, a, 49, w, size, i), "least 50", "ldb < n");
	int64_t wanted = fathom_sgels_work(h, 'N', 40, 30, 1, ld, ld);
	void *room = on_device(NULL, wanted);
	refused(fathom_sgels(h, 'N', 40, 30, 1, a, ld, a, ld, room, wanted, NULL), "info is NULL",
	        "gels: info NULL");
	GPU(cudaFree(room));
	refused(fathom_sgramschmidt(h, 'Q', 50, 40, a, ld, a, 40, w, size, i), "form 'Q'",
	        "gramschmidt: form Q");
	refused(fathom_sgramschmidt(h, 'M', 50, 0, a, ld, a, 40, w, size, i), "at least one",
	        "gramschmidt: n = 0");
	refused(fathom_sgramschmidt(h, 'M', 30, 40, a, ld, a, 40, w, size, i), "m >= n",
	        "gramschmidt: m < n");
	refused(fathom_sgramschmidt(h, 'M', 50, 40, a, ld, a, 39, w, size, i), "of R",
	        "gramschmidt: ldr < n");
	refused(fathom_sorthogonalize(h, 50, -1, 4, a, ld, a, 40, w, size, i), "not possible",
	        "orthogonalize: k < 0");
	refused(fathom_sorthogonalize(h, 50, 49, 2, a, ld, a, 60, w, size, i), "m >= n",
	        "orthogonalize: more columns than rows");
	refused(fathom_sgemm(h, 'N', 'T', 5, 5, 3, 1, a, 5, a, 4, 0, a, 5), "of B",
	        "gemm: ldb < n");
	refused(fathom_sgemv(h, 'N', 5, 5, 1, a, 5, a, 0, 1, a, 1), "x", "incx 0");
	refused(fathom_sgemv(h, 'N', 5, 5, 1, a, 5, a, 1, 1, a, -1), "y", "incy < 0");
	ok(fathom_sgetrf(NULL, 50, 40, a, ld, v, w, size, i) == FATHOM_BAD_ARGUMENT &&
	                fathom_sgetrf_work(NULL, 50, 40, ld) == -1 &&
	                fathom_set_stream(NULL, NULL) == FATHOM_BAD_ARGUMENT &&
	                fathom_finish(NULL) == FATHOM_BAD_ARGUMENT,
	        "refused: no handle");
	ok(fathom_create(NULL) == FATHOM_BAD_ARGUMENT && strstr(fathom_error(NULL), "NULL"),
	        "refused: no place for a handle");
	ok(fathom_sgetrf_work(h, 5, 5, 4) == -1 && fathom_dpotrf_work(h, 'x', 5, 5) == -1 &&
	                fathom_sorgqr_work(h, 5, 6, 5, 5) == -1,
	        "workspaces of impossible calls are -1");
	void *result = pair_result(&s.a);
	ok(memcmp(result, s.a.host, (size_t)s.a.bytes) == 0, "refused calls change nothing");
	ok(done(lu_call(&s, false)), "a right call works after refused ones");
	free(result);
	lu_free(&s);
}

/* A sum without terms is 0: y is scaled, and overwritten by beta = 0, but for what lies between its
 * elements. */
static void check_no_terms(void)
{
	static const double before[5] = {NAN, 7, 3, 7, NAN}, scaled[5] = {1, 7, 2, 7, -4};
	double *y = on_device(before, sizeof before), after[5];

	ok(fathom_dgemv(handle, 'N', 3, 0, 1, NULL, 3, NULL, 1, 0, y, 2) == FATHOM_OK &&
	                fathom_finish(handle) == FATHOM_OK,
	        "gemv of no columns");
	GPU(cudaMemcpy(after, y, sizeof after, cudaMemcpyDeviceToHost));
	ok(after[0] == 0 && after[2] == 0 && after[4] == 0 && after[1] == 7 && after[3] == 7,
	        "overwrites y with zeros");
	GPU(cudaMemcpy(y, scaled, sizeof scaled, cudaMemcpyHostToDevice));
	ok(fathom_dgemv(handle, 'T', 0, 3, 1, NULL, 1, NULL, 1, 0.5, y, 2) == FATHOM_OK &&
	                fathom_finish(handle) == FATHOM_OK,
	        "transposed, of no rows");
	GPU(cudaMemcpy(after, y, sizeof after, cudaMemcpyDeviceToHost));
	ok(after[0] == 0.5 && after[2] == 1 && after[4] == -2 && after[1] == 7 && after[3] == 7,
	        "scales y");
	GPU(cudaFree(y));
}

/* An error that the program has not read is not of the next call. */
static void check_error_before(void)
{
	float *c = on_device(NULL, 64 * 64 * (int64_t)sizeof *c);

	GPU(cudaMemset(c, 0, 64 * 64 * sizeof *c));
	for (int i = 0; i < 2; i++) {
		const bool failed = cudaSetDevice(9999) != cudaSuccess;
		const enum fathom_status status =
		        fathom_sgemm(handle, 'N', 'N', 64, 64, 64, 1, c, 64, c, 64, 0, c, 64);
		ok(failed && status == FATHOM_OK && fathom_finish(handle) == FATHOM_OK,
		        "an earlier error of CUDA is not the call's");
		cudaGetLastError();
	}
	GPU(cudaFree(c));
}

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	bool with_qr = qr_possible();
	check_arguments();
	check_no_terms();
	check_error_before();
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		check_no_waiting(p, with_qr);
		check_order(p);
		check_stream_change(p);
		check_two_handles(p);
	}
	fathom_destroy(NULL);
	fathom_destroy(handle);
	return finish();
}
