/* SPDX-License-Identifier: MIT */
/* Eight threads, each with a handle and a stream of its own, call all of libfathom at mixed sizes
 * for some seconds, on two devices where there are two. Every result has the bits of the same call
 * by one thread alone. (qr_update_auto makes the calls that are here.) */
#include "fathom_test.h"

#include "lib/host/clock.h"

#include <pthread.h>

enum { THREADS = 8, DEVICES = 2, RHS = 4, SIZES = 4, ARENA = 96 << 20 };

static const int64_t sizes[SIZES] = {33, 100, 257, 600};

/* ---- a thread's memory ---- */

static _Thread_local struct {
	char *device, *host;
	int64_t used;
	cudaStream_t stream;
	uint64_t bits; /* of the results of a call */
	bool good;
} arena;

static void *take(int64_t bytes)
{
	void *data = arena.device + arena.used;

	arena.used += (bytes + 255) / 256 * 256;
	arena.good = arena.good && bytes >= 0 && arena.used <= ARENA;
	return arena.good ? data : arena.device;
}

/* rows x columns random elements, the diagonal larger by `shift`. */
static void *given(int64_t rows, int64_t columns, enum precision p, double shift)
{
	const int64_t bytes = rows * columns * precision_bytes(p);
	void *data = take(bytes);

	if (!arena.good)
		return data;
	for (int64_t i = 0; i < rows * columns; i++)
		put(arena.host, i, p,
		        test_random(7, i) + (i / rows == i % rows && shift > 0 ? shift : 0));
	GPU(cudaMemcpyAsync(data, arena.host, (size_t)bytes, cudaMemcpyHostToDevice, arena.stream));
	GPU(cudaStreamSynchronize(arena.stream)); /* the host's memory is used again */
	return data;
}

/* Mixes a result into the call's bits. */
static void result(const void *data, int64_t count, int64_t word)
{
	GPU(cudaMemcpyAsync(
	        arena.host, data, (size_t)(count * word), cudaMemcpyDeviceToHost, arena.stream));
	GPU(cudaStreamSynchronize(arena.stream));
	for (int64_t i = 0; i < count * word; i++)
		arena.bits = (arena.bits ^ (unsigned char)arena.host[i]) * 0x100000001b3;
}

#define TRY(p, name, ...) (arena.good = arena.good && CALL(p, name, __VA_ARGS__) == FATHOM_OK)
#define ROOM(p, name, ...)                                                                         \
	const int64_t bytes = CALL(p, name##_work, __VA_ARGS__);                                   \
	void *const work = take(bytes)

/* ---- the calls, on matrices of about n columns ---- */

static void call_lu(enum precision p, int64_t n)
{
	void *a = given(n, n, p, 0), *b = given(n, RHS, p, 0);
	int *ipiv = take((n + 1) * (int64_t)sizeof *ipiv);
	ROOM(p, getrf, n, n, n);

	TRY(p, getrf, n, n, a, n, ipiv, work, bytes, ipiv + n);
	TRY(p, getrs, 'N', n, RHS, a, n, ipiv, b, n);
	TRY(p, getrs, 'T', n, RHS, a, n, ipiv, b, n);
	result(a, n * n, precision_bytes(p));
	result(b, n * RHS, precision_bytes(p));
	result(ipiv, n + 1, (int64_t)sizeof *ipiv);
}

static void call_lu_rows(enum precision p, int64_t n)
{
	void *a = given(n, n, p, 0), *b = given(n, RHS, p, 0);
	int *ipiv = take((n + 1) * (int64_t)sizeof *ipiv);
	ROOM(p, getrf_rows, n, n, n);

	TRY(p, getrf_rows, n, n, a, n, ipiv, work, bytes, ipiv + n);
	TRY(p, getrs_rows, 'N', n, RHS, a, n, ipiv, b, n);
	result(a, n * n, precision_bytes(p));
	result(b, n * RHS, precision_bytes(p));
}

static void call_cholesky(enum precision p, int64_t n)
{
	void *a = given(n, n, p, (double)n), *b = given(n, RHS, p, 0);
	int *info = take((int64_t)sizeof *info);
	ROOM(p, potrf, 'L', n, n);

	TRY(p, potrf, 'L', n, a, n, work, bytes, info);
	TRY(p, potrs, 'L', n, RHS, a, n, b, n);
	result(a, n * n, precision_bytes(p));
	result(b, n * RHS, precision_bytes(p));
	result(info, 1, (int64_t)sizeof *info);
}

static void call_qr(enum precision p, int64_t n)
{
	const int64_t m = n + n / 3;
	void *a = given(m, n, p, 0), *c = given(m, RHS, p, 0), *tau = given(n, 1, p, 0);
	ROOM(p, geqrf, m, n, m);

	TRY(p, geqrf, m, n, a, m, tau, work, bytes);
	const int64_t more = CALL(p, ormqr_work, 'L', 'T', m, RHS, n, m, m),
	              most = CALL(p, orgqr_work, m, n, n, m);
	void *other = take(more > most ? more : most);
	TRY(p, ormqr, 'L', 'T', m, RHS, n, a, m, tau, c, m, other, more);
	result(a, m * n, precision_bytes(p));
	TRY(p, orgqr, m, n, n, a, m, tau, other, most);
	result(a, m * n, precision_bytes(p));
	result(c, m * RHS, precision_bytes(p));
}

static void call_gels(enum precision p, int64_t n)
{
	const int64_t m = n + n / 3;
	void *a = given(m, n, p, 0), *b = given(m, RHS, p, 0);
	int *info = take((int64_t)sizeof *info);
	ROOM(p, gels, 'N', m, n, RHS, m, m);

	TRY(p, gels, 'N', m, n, RHS, a, m, b, m, work, bytes, info);
	result(b, m * RHS, precision_bytes(p));
	result(info, 1, (int64_t)sizeof *info);
}

/* All changes of a thin factorization, and what mends and judges it. */
static void call_updates(enum precision p, int64_t n)
{
	enum { P = 5 };
	const int64_t m = 2 * n, ld = m + P, wide = n + P;
	void *a = given(ld, n, p, 0), *b = given(ld, RHS, p, 0), *u = given(ld, wide, p, 0);
	void *v = given(wide, P, p, 0), *x = given(wide, 1, p, 0), *sums = given(4, 1, p, 0);
	void *q = given(ld, wide + P, p, 0), *r = given(wide + P, wide + P, p, 0);
	void *d = given(wide + P, RHS, p, 0), *c = given(P, RHS, p, 0);
	const int64_t ldr = wide + P;
	int *info = take((int64_t)sizeof *info);
	int64_t bytes = CALL(p, qr_factorize_work, 'S', m, n, RHS);

	for (int change = FATHOM_QR_REMOVE_COLUMNS; change <= FATHOM_QR_MODIFY; change++) {
		const int64_t needed = CALL(
		        p, qr_update_work, (enum fathom_qr_change)change, 'S', m + P, wide, RHS, P);
		bytes = needed > bytes ? needed : bytes;
	}
	const int64_t mends = CALL(p, qr_reorthogonalize_work, m, n, RHS),
	              judges = CALL(p, qr_drift_work, 'S', m, n);
	bytes = mends > bytes ? mends : bytes;
	void *work = take(judges > bytes ? judges : bytes);
	TRY(p, qr_factorize, 'S', m, n, RHS, a, ld, b, ld, q, ld, r, ldr, d, ldr, work, bytes);
	TRY(p, qr_add_columns, 'S', m, n, RHS, n / 2, P, u, ld, b, ld, q, ld, r, ldr, d, ldr, work,
	        bytes, info);
	TRY(p, qr_remove_columns, 'S', m, n + P, RHS, 1, P, q, ld, r, ldr, d, ldr, work, bytes);
	TRY(p, qr_add_rows, 'S', m, n, RHS, 3, P, u, ld, c, P, q, ld, r, ldr, d, ldr, work, bytes);
	TRY(p, qr_remove_rows, 'S', m + P, n, RHS, 0, P, u, ld, b, ld, q, ld, r, ldr, d, ldr, work,
	        bytes, info);
	TRY(p, qr_modify, 'S', m, n, RHS, P, u, ld, v, wide, b, ld, q, ld, r, ldr, d, ldr, work,
	        bytes, info);
	TRY(p, qr_reorthogonalize, m, n, RHS, b, ld, q, ld, r, ldr, d, ldr, work, bytes, info);
	TRY(p, qr_drift, 'S', m, n, a, ld, q, ld, r, ldr, x, sums, work, judges);
	for (int64_t j = 0; j < n; j++)
		result((char *)q + j * ld * precision_bytes(p), m, precision_bytes(p));
	result(sums, 4, precision_bytes(p));
}

static void call_gram_schmidt(enum precision p, int64_t n)
{
	const int64_t m = 2 * n;
	void *a = given(m, n + RHS, p, 0), *r = given(n + RHS, n + RHS, p, 0);
	int *info = take((int64_t)sizeof *info);
	const int64_t more = CALL(p, orthogonalize_work, m, n, RHS, m, n + RHS);
	ROOM(p, gramschmidt, 'R', m, n, m, n + RHS);
	void *other = take(more);

	TRY(p, gramschmidt, 'R', m, n, a, m, r, n + RHS, work, bytes, info);
	TRY(p, orthogonalize, m, n, RHS, a, m, r, n + RHS, other, more, info);
	result(a, m * (n + RHS), precision_bytes(p));
	result(info, 1, (int64_t)sizeof *info);
}

static void call_products(enum precision p, int64_t n)
{
	void *a = given(n, n, p, 0), *b = given(n, n, p, 0), *c = given(n, n, p, 0);

	TRY(p, gemm, 'N', 'T', n, n, n, 1, a, n, b, n, -1, c, n);
	TRY(p, gemv, 'T', n, n, 1, c, n, a, 1, 0, b, 1);
	result(c, n * n, precision_bytes(p));
	result(b, n, precision_bytes(p));
}

static void (*const calls[])(enum precision p, int64_t n) = {call_lu, call_lu_rows, call_cholesky,
        call_qr, call_gels, call_updates, call_gram_schmidt, call_products};
enum { CALLS = ARRAY_LEN(calls), CASES = CALLS * SIZES * 2 };

/* A small run has half of the sizes. */
static int cases(void)
{
	return test_small() ? CASES / 2 : CASES;
}

/* ---- threads ---- */

/* The bits of a case; false when a call failed. */
static bool run_case(int number, uint64_t *bits)
{
	arena.used = 0;
	arena.bits = 0xcbf29ce484222325;
	arena.good = true;
	calls[number % CALLS](number / CALLS % 2 ? DOUBLE : SINGLE, sizes[number / CALLS / 2]);
	arena.good = fathom_finish(handle) == FATHOM_OK && arena.good;
	*bits = arena.bits;
	return arena.good;
}

static bool open_thread(int device)
{
	GPU(cudaSetDevice(device));
	GPU(cudaStreamCreateWithFlags(&arena.stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&arena.device, ARENA));
	arena.host = xmalloc(ARENA);
	return fathom_create(&handle) == FATHOM_OK &&
	       fathom_set_stream(handle, arena.stream) == FATHOM_OK;
}

static void close_thread(void)
{
	fathom_destroy(handle);
	GPU(cudaFree(arena.device));
	GPU(cudaStreamDestroy(arena.stream));
	free(arena.host);
}

struct worker {
	pthread_t thread;
	int number, device;
	double until;
	const uint64_t *want;
	int done, failed, other;
};

static void *work_on(void *argument)
{
	struct worker *w = argument;
	uint64_t bits;

	if (!open_thread(w->device)) {
		w->failed++;
		return NULL;
	}
	for (int i = 0; i == 0 || clock_now() < w->until; i++, w->done++) {
		const double drawn = (test_random((uint64_t)w->number + 1, i) + 1) / 2;
		const int number = (int)(drawn * cases());
		if (!run_case(number, &bits))
			w->failed++;
		else
			w->other += bits != w->want[number];
	}
	close_thread();
	return NULL;
}

static bool alone(int device, uint64_t *want)
{
	bool good = open_thread(device);

	for (int i = 0; i < cases() && good; i++) {
		good = run_case(i, &want[i]);
		if (!good)
			diag("call %d: %s", i, fathom_error(handle));
	}
	close_thread();
	return good;
}

int main(void)
{
	static uint64_t want[DEVICES][CASES];
	static struct worker workers[THREADS];
	int devices = 0, done = 0, failed = 0, other = 0;

	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	if (!qr_possible())
		skip_all(fathom_error(handle));
	fathom_destroy(handle);
	GPU(cudaGetDeviceCount(&devices));
	devices = devices < DEVICES ? devices : DEVICES;
	for (int d = 0; d < devices; d++)
		ok(alone(d, want[d]), "one thread alone, device %d: %d calls of a kind and size", d,
		        cases());
	const double seconds = test_full() ? 60 : 3, until = clock_now() + seconds;
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.number = i,
		        .device = i % devices,
		        .until = until,
		        .want = want[i % devices]};
		if (pthread_create(&workers[i].thread, NULL, work_on, &workers[i]) != 0)
			msg_die(EXIT_MEASURE_FAILED, "cannot start a thread");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		done += workers[i].done;
		failed += workers[i].failed;
		other += workers[i].other;
	}
	ok(failed == 0, "%d threads on %d devices: %d of %d calls failed", THREADS, devices, failed,
	        done);
	ok(done >= THREADS && other == 0, "%d of %d results with other bits than alone", other,
	        done);
	return finish();
}
