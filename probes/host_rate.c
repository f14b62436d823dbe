/* SPDX-License-Identifier: MIT */
/* Question: how fast do the host's BLAS and LAPACK run the calls that a panel is made of, whole
 * panels and gemm, and at which clock? Method: rate surfaces at powers of two, columns
 * lda > m apart (no multiple of a page). Level-1 and level-2 calls, one thread, follow each other
 * through the columns (swap: through random pairs of rows) of one m x n panel, of all lengths
 * around m; getrf and geqrf get the threads of lib/host_panel.h and a panel that was just copied
 * from a master; gemm has all threads; some sizes of both have 1, 2, 4 ... threads. Short calls and
 * dependent adds in long rows. What can fool it: a BLAS that uses fewer threads than meant (its own
 * environment variables), other programs on the cores, caches that other virtual machines share,
 * physical pages that meet in one set of a cache (samples go round several places of memory), an
 * adder that is not one cycle. Operands are in the cache as far as they fit (said, not hidden): in
 * a panel they are, too. Unit: seconds of one call; of one add for the clock. */
#include "../lib/base.h"
#include "../lib/clock.h"
#include "../lib/host_panel.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void host_rate_fit(const struct table *curve, struct profile *profile);

enum {
	LEAST_SAMPLES = 4,
	MOST_SAMPLES = 200,
	LARGEST_N = 128,
	LARGEST_GEMM = 2048,
	QUICK_M = 4096,
	QUICK_GEMM = 1024,
	PLACES = 8,           /* of the panel, at most ... */
	SAMPLES_OF_PLACE = 2, /* ... and samples before it moves on */
	RANDOM = 100003,      /* numbers, over and over: no column repeats another */
	ROWS = 16,            /* lengths over which a tall call is averaged */
	PADDING = 32,         /* elements of lda beyond m ... */
	PAGE_PADDING = 1600,  /* ... or bytes, where all columns would begin alike in their pages */
	QR_BLOCK = 64         /* columns of LAPACK's work space, at most */
};
static const double point_seconds = 0.002, threaded_seconds = 0.005, least_span = 20e-6;
static const double longest_point = 0.25; /* on a choice of threads, which begins ... */
static const double threads_from = 0.85;  /* ... at the latest at this part of the time */

struct rates {
	struct probe_run *run;
	char *a, *master; /* panels and square matrices; master is copied to a */
	char *at;         /* the panel's place in a */
	size_t bytes;     /* of each */
	void *tau, *work;
	lapack_int *ipiv;
	int threads;    /* of the BLAS */
	size_t turn;    /* calls of this point so far */
	uint64_t state; /* of the random numbers */
	double end;     /* clock_now() when the time is spent */
	char dropped[256];
};

/* Calls timed together on an m x n panel. */
struct call {
	struct rates *rates;
	bool (*run)(const struct call *call, size_t turn); /* false: the library reports an error */
	int m, n, ld;
	int threads; /* 0: as the host executor chooses */
	bool is_double, square,
	        restored;    /* restored: the panel is the master's before every sample */
	size_t cycle, turns; /* turns of a sample: several cycles */
	size_t samples;      /* so far */
};

/* ---- random numbers ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13; /* xorshift64 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Random numbers of a precision everywhere. */
static void fill(struct rates *rates, bool is_double)
{
	static const double scale = 0x1p-63;
	size_t used = RANDOM * (is_double ? sizeof(double) : sizeof(float));

	for (size_t i = 0; i < RANDOM; i++) {
		double random = scale * (double)(int64_t)next_random(&rates->state);
		if (is_double)
			((double *)rates->master)[i] = random;
		else
			((float *)rates->master)[i] = (float)random;
	}
	for (size_t left; used < rates->bytes; used += left < used ? left : used) {
		left = rates->bytes - used;
		memcpy(rates->master + used, rates->master, left < used ? left : used);
	}
	memcpy(rates->a, rates->master, rates->bytes);
}

/* Some row below m, another one every turn. */
static int some_row(size_t turn, int m)
{
	uint32_t hash = (uint32_t)turn * 0x9e3779b9u;
	return (int)(((uint64_t)hash * (uint64_t)m) >> 32);
}

/* ---- the calls ---- */

/* Calls the function of the call's precision; S and D are the panel in its type. */
#define EITHER(c, single, twice)                                                                   \
	do {                                                                                       \
		float *S = (float *)(c)->rates->at;                                                \
		double *D = (double *)(c)->rates->at;                                              \
		(void)S;                                                                           \
		(void)D;                                                                           \
		if ((c)->is_double)                                                                \
			twice;                                                                     \
		else                                                                               \
			single;                                                                    \
	} while (0)

/* In a panel every column starts a row lower and is a row shorter than the one before: any
 * alignment, any remainder of the library's unrolled loops. Calls of one length belong to one
 * cycle. */
static int shift(const struct call *c, size_t turn)
{
	return (int)(turn / c->cycle % ROWS);
}

static int length(const struct call *c, size_t turn)
{
	return c->m + ROWS / 2 - shift(c, turn);
}

static size_t column(const struct call *c, size_t turn)
{
	size_t j = turn % (size_t)c->n;
	return j * (size_t)c->ld + (size_t)shift(c, turn);
}

static bool run_iamax(const struct call *c, size_t turn)
{
	size_t x = column(c, turn), found;
	int rows = length(c, turn);
	EITHER(c, found = cblas_isamax(rows, S + x, 1), found = cblas_idamax(rows, D + x, 1));
	__asm__ volatile("" ::"r"(found)); /* it counts */
	return true;
}

/* Doubles every column, then halves it. */
static bool run_scal(const struct call *c, size_t turn)
{
	size_t x = column(c, turn);
	double alpha = turn / (size_t)c->n % 2 ? 0.5 : 2;
	int rows = length(c, turn);
	EITHER(c, cblas_sscal(rows, (float)alpha, S + x, 1), cblas_dscal(rows, alpha, D + x, 1));
	return true;
}

static bool run_swap(const struct call *c, size_t turn)
{
	int i = some_row(2 * turn, c->m), k = some_row(2 * turn + 1, c->m);
	EITHER(c, cblas_sswap(c->n, S + i, c->ld, S + k, c->ld),
	        cblas_dswap(c->n, D + i, c->ld, D + k, c->ld));
	return true;
}

/* Updates what lies right of and below the first column and row by them, then takes it back. */
static bool run_ger(const struct call *c, size_t turn)
{
	double alpha = turn % 2 ? 1 : -1;
	int rows = length(c, turn), ld = c->ld;
	float *s = (float *)c->rates->at + shift(c, turn);
	double *d = (double *)c->rates->at + shift(c, turn);
	if (c->is_double)
		cblas_dger(CblasColMajor, rows, c->n, alpha, d + 1, 1, d + ld, ld, d + ld + 1, ld);
	else
		cblas_sger(CblasColMajor, rows, c->n, (float)alpha, s + 1, 1, s + ld, ld,
		        s + ld + 1, ld);
	return true;
}

static int panel_threads(const struct call *c)
{
	if (c->threads || c->square)
		return c->threads ? c->threads : c->rates->threads;
	return host_panel_threads((int64_t)c->m * c->n * (c->is_double ? 8 : 4), c->rates->threads);
}

static bool run_getrf(const struct call *c, size_t turn)
{
	lapack_int *ipiv = c->rates->ipiv, info;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c, info = LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, c->m, c->n, S, c->ld, ipiv),
	        info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, c->m, c->n, D, c->ld, ipiv));
	openblas_set_num_threads(1);
	return info == 0;
}

static bool run_geqrf(const struct call *c, size_t turn)
{
	void *tau = c->rates->tau, *work = c->rates->work;
	lapack_int info, size = LARGEST_N * QR_BLOCK;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c,
	        info = LAPACKE_sgeqrf_work(LAPACK_COL_MAJOR, c->m, c->n, S, c->ld, tau, work, size),
	        info = LAPACKE_dgeqrf_work(
	                LAPACK_COL_MAJOR, c->m, c->n, D, c->ld, tau, work, size));
	openblas_set_num_threads(1);
	return info == 0;
}

/* The master holds both factors. */
static bool run_gemm(const struct call *c, size_t turn)
{
	int n = c->n, ld = c->ld;
	size_t b = (size_t)ld * (size_t)n;
	const float *s = (const float *)c->rates->master;
	const double *d = (const double *)c->rates->master;
	(void)turn;
	openblas_set_num_threads(panel_threads(c));
	EITHER(c,
	        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, s, ld, s + b,
	                ld, 1, S, ld),
	        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, d, ld, d + b,
	                ld, 1, D, ld));
	openblas_set_num_threads(1);
	return true;
}

static int leading(int m, bool is_double)
{
	int word = is_double ? 8 : 4;
	return m * word % 4096 ? m + PADDING : m + PAGE_PADDING / word;
}

/* One column more than n: ger's vector, and what its last column's shift reaches. */
static size_t panel_bytes(int m, int n, bool is_double)
{
	return (size_t)leading(m, is_double) * (size_t)(n + 2) * (is_double ? 8 : 4);
}

/* Other physical pages. */
static void move_on(struct call *call)
{
	struct rates *rates = call->rates;
	size_t bytes = (panel_bytes(call->m, call->n, call->is_double) + 4095) / 4096 * 4096;
	size_t places = rates->bytes / bytes < PLACES ? rates->bytes / bytes : PLACES;

	rates->at = rates->a + (places > 1 ? call->samples / SAMPLES_OF_PLACE % places * bytes : 0);
	for (size_t i = 0; !call->restored && !call->square && i < call->cycle; i++)
		call->run(call, rates->turn++); /* into the cache */
}

static bool take_call(void *context, struct sample *sample)
{
	struct call *call = context;
	struct rates *rates = call->rates;
	size_t word = call->is_double ? sizeof(double) : sizeof(float);
	bool done = true;

	if (call->samples++ % SAMPLES_OF_PLACE == 0)
		move_on(call);
	if (call->restored)
		memcpy(rates->at, rates->master, (size_t)call->ld * (size_t)call->n * word);
	double start = clock_now();
	for (size_t i = 0; i < call->turns; i++)
		done = call->run(call, rates->turn++) && done;
	sample->span = clock_now() - start;
	sample->seconds = sample->span / (double)call->turns;
	sample->agreed = true;
	return done;
}

/* ---- surfaces ---- */

/* m and n go from first to last by factors; a square has m = n. */
struct surface {
	const char *series[2]; /* single, double */
	bool (*run)(const struct call *call, size_t turn);
	bool restored, square;
	bool columns;   /* a turn takes one of the n columns, or two rows ... */
	unsigned turns; /* ... or all: then this many belong together */
	int first_m, last_m, step_m, first_n, step_n;
};

static const struct surface surfaces[] = {
        {{"iamax_s", "iamax_d"}, run_iamax, false, false, true, 0, 128, 16384, 2, 8, 2},
        {{"scal_s", "scal_d"}, run_scal, false, false, true, 0, 128, 16384, 2, 8, 2},
        {{"swap_s", "swap_d"}, run_swap, false, false, true, 0, 128, 16384, 2, 8, 2},
        {{"ger_s", "ger_d"}, run_ger, false, false, false, 2, 128, 16384, 2, 1, 2},
        {{"gemm_s", "gemm_d"}, run_gemm, false, true, false, 1, 256, LARGEST_GEMM, 2, 256, 2},
        {{"getrf_s", "getrf_d"}, run_getrf, true, false, false, 1, 128, 131072, 2, 16, 2},
        {{"geqrf_s", "geqrf_d"}, run_geqrf, true, false, false, 1, 256, 16384, 4, 32, 4}};

/* Everything fits beside two factors of the largest gemm in double precision. */
static size_t room_bytes(int largest_gemm)
{
	return (2 * panel_bytes(largest_gemm, largest_gemm, true) + 4095) / 4096 * 4096;
}

static void drop(struct rates *rates, const char *series, int m, int n)
{
	size_t used = strlen(rates->dropped);
	snprintf(rates->dropped + used, sizeof rates->dropped - used, "%s%s %dx%d",
	        used ? ", " : "", series, m, n);
}

/* Samples one point. Returns the seconds of a sample, 0 when it failed. */
static double measure_call(struct call call, const char *series)
{
	const struct arg args[] = {{"m", call.m}, {"n", call.n}, {"threads", call.threads}};
	struct sample_plan plan = {
	        .min_samples = LEAST_SAMPLES, .max_samples = MOST_SAMPLES, .target = 0.002};
	struct measurement measurement;
	struct sample first, next;
	double least = panel_threads(&call) > 1 ? threaded_seconds : point_seconds;

	call.rates->turn = 0;
	double start = clock_now();
	bool worked = take_call(&call, &first) && take_call(&call, &next); /* brings in code, pages
	                                                                      and threads */
	double each = (clock_now() - start) / 2;
	if (!call.restored)
		call.turns *= (size_t)fmax(1, ceil(least_span / next.span));
	least /= call.rates->run->common.quick ? 4 : 1;
	plan.max_seconds = fmax(LEAST_SAMPLES * each, least);
	if (!worked || !sample_run(take_call, &call, &plan, 0, &measurement)) {
		msg_warn("%s of %d x %d failed: not recorded", series, call.m, call.n);
		return 0;
	}
	probe_record(call.rates->run, series, args, call.threads ? 3 : 2, &measurement);
	return each;
}

/* Points that would take the rest of the time, judged by the size before, are dropped. */
static void measure_surface(
        struct rates *rates, const struct surface *surface, bool is_double, bool threaded)
{
	const char *series = surface->series[is_double];
	int last_m = surface->last_m;
	double before[16] = {0}; /* seconds of a sample of the last m, by n */

	if (rates->run->common.quick && last_m > QUICK_M)
		last_m = QUICK_M;
	for (int m = surface->first_m; m <= last_m; m *= surface->step_m) {
		int first_n = surface->square ? m : surface->first_n;
		int last_n = surface->square ? m : LARGEST_N;
		for (int n = first_n, i = 0; n <= last_n; n *= surface->step_n, i++) {
			size_t turns = surface->columns ? 2 * (size_t)n : surface->turns;
			struct call call = {.rates = rates,
			        .run = surface->run,
			        .m = m,
			        .n = n,
			        .ld = leading(m, is_double),
			        .is_double = is_double,
			        .square = surface->square,
			        .restored = surface->restored,
			        .cycle = turns,
			        .turns = turns};
			double growth = surface->square ? 8 : surface->step_m;
			double needed = (LEAST_SAMPLES + 2) * growth * before[i];
			bool all =
			        (surface->restored || surface->square) && panel_threads(&call) > 1;
			if (all != threaded || panel_bytes(m, n, is_double) > rates->bytes)
				continue;
			if (before[i] > 0 && clock_now() + needed > rates->end)
				drop(rates, series, m, n);
			else
				before[i] = measure_call(call, series);
		}
	}
}

/* ---- threads ---- */

/* Some sizes in single precision, with 1, 2, 4 ... threads and all. */
static const struct {
	const char *series;
	bool (*run)(const struct call *call, size_t turn);
	bool square;
	int m[3], n[3];
} chosen[] = {{"gemm_threads_s", run_gemm, true, {512, 1024, 2048}, {512, 1024, 2048}},
        {"getrf_threads_s", run_getrf, false, {4096, 16384, 65536}, {64, 64, 64}}};

static void measure_threads(struct rates *rates, size_t c, int threads)
{
	double before = 0;

	for (size_t i = 0; i < ARRAY_LEN(chosen[c].m); i++) {
		int m = chosen[c].m[i], n = chosen[c].n[i];
		struct call call = {.rates = rates,
		        .run = chosen[c].run,
		        .m = m,
		        .n = n,
		        .ld = leading(m, false),
		        .threads = threads,
		        .square = chosen[c].square,
		        .restored = !chosen[c].square,
		        .cycle = 1,
		        .turns = 1};
		double needed = (LEAST_SAMPLES + 2) * before * (call.square ? 8 : 4);
		if (panel_bytes(m, n, false) > rates->bytes / (call.square ? 2 : 1))
			continue;
		if (needed > longest_point || clock_now() + needed > rates->end) {
			drop(rates, chosen[c].series, m, n);
			break;
		}
		before = measure_call(call, chosen[c].series);
	}
}

static void measure_teams(struct rates *rates, bool threaded)
{
	int threads = threaded ? 2 : 1, most = threaded ? rates->threads : 1;

	while (threads <= most) {
		for (size_t c = 0; c < ARRAY_LEN(chosen); c++)
			measure_threads(rates, c, threads);
		threads = threads < most && 2 * threads > most ? most : 2 * threads;
	}
}

/* ---- short calls and the clock ---- */

enum { SHORT_CALLS = 500, SHORT_N = 32 };

static void call_level1(float *a, int turn)
{
	cblas_sscal(SHORT_N, turn % 2 ? 0.5f : 2.0f, a, 1); /* neither grows nor vanishes */
}

static void call_level2(float *a, int turn)
{
	float *x = a + SHORT_N * SHORT_N, *y = x + SHORT_N;
	cblas_sger(
	        CblasColMajor, SHORT_N, SHORT_N, turn % 2 ? 0.5f : -0.5f, x, 1, y, 1, a, SHORT_N);
}

struct short_call {
	float *a;
	void (*call)(float *a, int turn); /* NULL: adds */
};

static bool take_short(void *context, struct sample *sample)
{
	struct short_call *kind = context;
	double start = clock_now();

	for (int i = 0; kind->call && i < SHORT_CALLS; i++)
		kind->call(kind->a, i);
	sample->seconds = kind->call ? (clock_now() - start) / SHORT_CALLS : 1 / clock_core_hz();
	sample->span = clock_now() - start;
	sample->agreed = true;
	return !isnan(sample->seconds);
}

static void measure_short(struct rates *rates)
{
	static const char *const series[] = {"clock", "level1", "level2"};
	float *a = (float *)rates->a;
	struct short_call kind[] = {{a, NULL}, {a, call_level1}, {a, call_level2}};
	struct sample_plan plan = sample_plan_default(rates->run->seconds / 80);
	struct measurement measurement;

	for (size_t k = 0; k < ARRAY_LEN(kind); k++)
		if (sample_run(take_short, &kind[k], &plan, 0, &measurement))
			probe_record(rates->run, series[k], NULL, 0, &measurement);
}

static void measure(struct probe_run *run)
{
	size_t bytes = room_bytes(run->common.quick ? QUICK_GEMM : LARGEST_GEMM);
	struct rates rates = {.run = run,
	        .bytes = bytes,
	        .a = aligned_alloc(4096, bytes),
	        .master = aligned_alloc(4096, bytes),
	        .tau = xmalloc(LARGEST_N * sizeof(double)),
	        .work = xmalloc(LARGEST_N * QR_BLOCK * sizeof(double)),
	        .ipiv = xmalloc(LARGEST_N * sizeof(lapack_int)),
	        .threads = openblas_get_num_threads(),
	        .state = (uint64_t)run->common.seed * 0x9e3779b97f4a7c15u | 1,
	        .end = clock_now() + threads_from * run->seconds};

	if (!rates.a || !rates.master)
		msg_die(EXIT_NOT_POSSIBLE, "not enough memory for 2 x %zu bytes", bytes);
	openblas_set_num_threads(1);
	while (clock_now() < rates.end - threads_from * run->seconds + run->seconds / 30)
		; /* until the processor's clock has risen */
	/* Threads of a BLAS go on spinning when their work is done and slow down what one thread
	 * does then: they come last. */
	for (int threaded = 0; threaded < 2; threaded++) {
		for (int d = 0; d < 2; d++) {
			fill(&rates, d);
			if (!threaded && !d)
				measure_short(&rates);
			for (size_t s = 0; s < ARRAY_LEN(surfaces); s++)
				measure_surface(&rates, &surfaces[s], d, threaded);
		}
		fill(&rates, false);
		rates.end += threaded ? (1 - threads_from) * run->seconds : 0;
		measure_teams(&rates, threaded);
	}
	table_meta_set(run->curve, "blas_threads", "%d", rates.threads);
	if (rates.dropped[0])
		table_meta_set(run->curve, "dropped", "%s: the time was spent", rates.dropped);
	free(rates.ipiv);
	free(rates.work);
	free(rates.tau);
	free(rates.master);
	free(rates.a);
}

static const char *const args[] = {"m", "n", "threads"};
const struct probe host_rate_probe = {
        .name = "host_rate",
        .question = "How fast do the host's BLAS calls, LAPACK panels and gemm run?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 2.6,
        .processes = 5,
        .measure = measure,
        .fit = host_rate_fit,
};
