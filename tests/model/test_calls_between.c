/* SPDX-License-Identifier: MIT */
/* Calls of the library behind calls of another kind (gpu.cublas.between): which of a sequence are
 * dearer for the host, Gram-Schmidt by BLAS calls on a recorded machine, and profiles without the
 * row. */
#include "tests/tap.h"
#include "model_profile.h"

#include "factor/model/cost/cost_blocks.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/model_gram_schmidt.h"

static const char name[] = "gpu.cublas.between";
static const double more = 1e-6;

/* ---- sequences ---- */

enum { SIDE = 32 };

/* g: gemv, t: transposed, r: ger, s: scal, w: swap, n: nrm2, p: product, P: transposed; k: a kernel
 * of ours. */
static void call(struct executor *e, char what)
{
	const struct matrix a = {NULL, 0, SIDE, SIDE, SIDE, SINGLE},
	                    x = {NULL, 0, SIDE, 1, SIDE, SINGLE}, y = {NULL, 0, 1, SIDE, 1, SINGLE};
	double norm;

	switch (what) {
	case 'g':
	case 't':
		ex_gemv(e, what == 't' ? TRANSPOSED : PLAIN, 1, a, x, 0, x);
		return;
	case 'r':
		ex_ger(e, x, y, a);
		return;
	case 's':
		ex_scal(e, 2, x);
		return;
	case 'w':
		ex_swap(e, y, y);
		return;
	case 'n':
		ex_nrm2(e, x, &norm);
		return;
	case 'k':
		ex_copy(e, WHOLE, x, x);
		return;
	default:
		ex_gemm(e, what == 'P' ? TRANSPOSED : PLAIN, PLAIN, 1, a, a, 1, a);
	}
}

static double seconds_of(const struct profile *p, const char *sequence, int level)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, level);

	e->blas_only = true;
	for (int repeat = 0; repeat < 2; repeat++) { /* the first run is forgotten */
		executor_model_restart(e, false);
		for (const char *c = sequence; *c; c++)
			call(e, *c);
	}
	const double seconds = executor_model_seconds(e);
	executor_free(e);
	return seconds;
}

static struct profile *made(bool with)
{
	struct profile *p = synthetic(0.05);

	add_blocks(p, 0.05);
	if (with)
		add_written(p, name, more, 0.05);
	return p;
}

static void test_sequences(void)
{
	static const struct {
		const char *calls;
		int changes;
		const char *what;
	} sequences[] = {{"ssss", 0, "a repeated call costs what was measured"},
	        {"trs", 2, "the first call follows none, the others another kind"},
	        {"ntrntr", 5, "also where the host waits for a norm"},
	        {"gtgt", 3, "gemv and its transpose are two kinds"},
	        {"pPp", 2, "and so are products"}, {"skks", 0, "our kernels between do not count"},
	        {"skr", 1, "nor hide a change"}, {"kkk", 0, "they pay nothing themselves"},
	        {"wwsw", 2, "there and back"}};
	struct profile *p = made(false), *with = made(true);

	for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
		const char *calls = sequences[i].calls;
		const double added = seconds_of(with, calls, 2) - seconds_of(p, calls, 2);
		if (!ok(fabs(added - sequences[i].changes * more) < 1e-12, "%s: %s", calls,
		            sequences[i].what))
			diag("%g us more", 1e6 * added);
	}
	is_real(seconds_of(with, "ntr", 1), seconds_of(p, "ntr", 1), 0,
	        "level 1 counts each call alone");
	profile_free(p);
	profile_free(with);
}

/* Operations of several calls. */
static void test_both(void)
{
	const struct cost ger = cost_called((struct cost){.enqueue = 1}, CALL_GER),
	                  scal = cost_called((struct cost){.enqueue = 1}, CALL_SCAL),
	                  own = {.enqueue = 1}, two = cost_both(ger, scal),
	                  ours = cost_both(own, cost_both(scal, own)), four = cost_both(two, two);

	ok(two.calls.first == CALL_GER && two.calls.last == CALL_SCAL && two.calls.changes == 1,
	        "two calls in turn: the second follows the first");
	ok(ours.calls.first == CALL_SCAL && ours.calls.last == CALL_SCAL && ours.calls.changes == 0,
	        "kernels of ours around a call");
	ok(four.calls.changes == 3, "each twice");
}

/* ---- a recorded machine ---- */

static double gram(const struct profile *p, const char *form)
{
	enum { ROWS = 256, COLUMNS = 16 };
	const struct gram_question asked = {
	        .form = form, .m = ROWS, .n = COLUMNS, .precision = SINGLE};
	struct prediction out;

	if (!model_gram_schmidt_predict(p, MODEL_CUDA, &asked, 2, false, &out))
		diag("%s", out.fault.text);
	return out.seconds;
}

/* A column takes gemv, transposed, two scal and ger: three changes. The first column has none
 * before it, the last one no ger. */
static void test_gram_schmidt(void)
{
	enum { CHANGES = 3 * 16 - 2 };
	struct profile *p = profile_open(RECORDED), *with = profile_copy(p);

	add_written(with, name, more, 0.05);
	is_real(gram(with, "blas") - gram(p, "blas"), CHANGES * more, 1e-6,
	        "Gram-Schmidt by BLAS calls is dearer by its changes");
	is_real(gram(with, "fused"), gram(p, "fused"), 0, "by our kernels it is not");
	struct profile *alone = profile_copy(with);
	ok(efficiency_by_hardware(alone, with) > 0, "at efficiency 1");
	ok(profile_first(alone, name) == alone->count, "a call of the library is a launch");
	profile_free(alone);
	profile_free(with);
	profile_free(p);
}

int main(void)
{
	test_sequences();
	test_both();
	test_gram_schmidt();
	return finish();
}
