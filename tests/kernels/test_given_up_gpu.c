/* SPDX-License-Identifier: MIT */
/* Kernels whose blocks wait for each other, when a block gives up. The test sets the error word,
 * which all blocks read, from outside at any moment. The kernel has to end at once and without a
 * fault, it touches nothing beside its matrix, and the next kernel gives the usual bits. */
#include "tests/tap.h"

#include "panel_forms.h"

#include "lib/host/clock.h"

enum { PADDING = 5, MOMENTS = 60 };

/* Seconds within which a kernel has to end, beyond its usual time. Waiting blocks read the error
 * word every 1024 polls; the limit of a wait is a second. */
static const double ENDS = 0.2;

static const struct shape shapes[] = {
        {300, 32, PADDING},
        {1000, 64, PADDING},
        {4001, 33, PADDING},
        {3000, 128, PADDING},
        {8190, 64, PADDING},
        {16000, 64, PADDING},
        {40000, 31, PADDING},
};

static cudaStream_t other;
static uint32_t *one; /* pinned */

/* Sets the error word `delay` seconds after the kernel has been asked for; its longest time till
 * the end in *longest. False when the kernel was gone before that. */
static bool disturb(struct panel_device *d, enum panel_form form, enum precision p,
        const struct shape *s, double delay, double *longest)
{
	panel_start(d, form, p, s, 0);
	const double from = clock_now();
	while (clock_now() - from < delay)
		;
	const bool runs = cudaStreamQuery(d->stream) == cudaErrorNotReady;
	GPU(cudaMemcpyAsync(d->work, one, sizeof *one, cudaMemcpyHostToDevice, other));
	const double set = clock_now();
	GPU(cudaStreamSynchronize(d->stream));
	GPU(cudaStreamSynchronize(other));
	if (clock_now() - set > *longest)
		*longest = clock_now() - set;
	return runs;
}

static void test_shape(
        struct panel_device *d, enum panel_form form, enum precision p, const struct shape *s)
{
	const int moments = (int)test_at_most(MOMENTS, 3);
	const double ends = test_small() ? 10 * ENDS : ENDS; /* sanitizers take their time */
	void *a0 = xmalloc(panel_bytes(p, s));
	double longest = 0;
	int met = 0;
	bool beside = true;

	matrix_fill(a0, panel_lda(s), s->m, s->n, p, MATRIX_RANDOM, 7);
	panel_give(d, form, p, s, a0);
	struct result before = panel_factorize(d, form, p, s, 0);
	const double from = clock_now();
	panel_start(d, form, p, s, 0);
	GPU(cudaStreamSynchronize(d->stream));
	const double alone = clock_now() - from;
	for (int i = 0; i < moments; i++) {
		met += disturb(d, form, p, s, alone * i / moments, &longest);
		if (i % 16 == 0) {
			struct result r = panel_result(d, form, p, s);
			beside = beside && matrix_padding_intact(r.a, panel_lda(s), s->m, s->n, p);
			result_free(&r);
		}
	}
	struct result after = panel_factorize(d, form, p, s, 0);
	const bool same = panel_same(&before, &after);
	if (!ok(longest < alone + ends && beside && same,
	            "%s, %c %" PRId64 " x %" PRId64 ": ends, and the next kernel is right",
	            panel_form_name[form], p, s->m, s->n))
		diag("%.0f ms till the end, %s, the next one %s", longest * 1e3,
		        beside ? "nothing beside it touched" : "something beside it was touched",
		        same ? "is the same" : "differs");
	ok(met > 0, "%d of %d moments were while it ran (%.0f us with copies)", met, moments,
	        alone * 1e6);
	free(a0);
	result_free(&before);
	result_free(&after);
}

int main(void)
{
	struct panel_device d = panel_device_open();

	GPU(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	GPU(cudaMallocHost((void **)&one, sizeof *one));
	*one = 1;
	for (enum panel_form form = LU_CLUSTER; form <= QR_COLUMNS; form++)
		for (size_t i = 0; i < 2 * ARRAY_LEN(shapes); i++) {
			const enum precision p = i % 2 ? DOUBLE : SINGLE;
			const struct shape *s = &shapes[i / 2];
			if (panel_fits(form, p, s->m, s->n) && test_fits(s->m, s->n))
				test_shape(&d, form, p, s);
		}
	return finish();
}
