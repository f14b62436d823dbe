/* SPDX-License-Identifier: MIT */
/* On a GPU every panel variant gives the host executor's answer: LAPACK's residual, the same pivots
 * and info, padding untouched, bit for bit the same when run again; on random, graded,
 * rank-deficient, zero-column, tied, tiny and NaN matrices. */
#include "factor/validation/check.h"
#include "tests/algorithms/matrix_kinds.h"
#include "factor/algorithms/panel_getrf.h"
#include "lib/base/msg.h"
#include "tests/tap.h"

#include <inttypes.h>

struct shape {
	int64_t m, n, padding;
};

static const struct shape shapes[] = {
        {1, 1, 0},
        {2, 2, 1},
        {33, 1, 3},
        {31, 31, 2},
        {64, 64, 0},
        {127, 5, 1},
        {129, 64, 7},
        {300, 96, 5},
        {1000, 32, 24},
        {2049, 64, 31},
        {4096, 64, 32},
        {5000, 128, 3},
        {20000, 48, 1},
};

/* The results of one factorization, on the host. */
struct result {
	char *lu;
	int *ipiv, info;
	bool ran, refused;
};

static struct result factorize(struct executor *e, const char *variant, const void *a0, int64_t lda,
        const struct shape *s, enum precision precision)
{
	size_t bytes = (size_t)(lda * s->n * precision_bytes(precision));
	struct result r = {.lu = xmalloc(bytes), .ipiv = xmalloc((size_t)s->n * sizeof(int))};
	struct matrix a = {NULL, 0, s->m, s->n, lda, precision};
	struct pivots p = {NULL, s->n};
	void *work = NULL, *pivots = NULL;

	memset(r.lu, 0xff, bytes); /* NaN */
	int64_t work_bytes = panel_getrf_work(e, variant, a);
	r.refused = work_bytes < 0;
	/* the padding is transferred, too, so that a kernel's write there is seen */
	struct matrix whole = {NULL, 0, lda, s->n, lda, precision};
	r.ran = !r.refused && e->ops->alloc(e, (int64_t)bytes, &a.data) &&
	        e->ops->alloc(e, work_bytes, &work) &&
	        e->ops->alloc(e, (s->n + 1) * (int64_t)sizeof(int), &pivots);
	whole.data = a.data;
	p.data = pivots;
	r.ran = r.ran && e->ops->upload(e, a0, lda, whole) && panel_getrf(e, variant, a, work, p) &&
	        e->ops->sync(e) && e->ops->download(e, whole, r.lu, lda) &&
	        e->ops->read_pivots(e, p, r.ipiv, &r.info);
	e->ops->release(e, a.data);
	e->ops->release(e, work);
	e->ops->release(e, pivots);
	return r;
}

static void result_free(struct result *r)
{
	free(r->lu);
	free(r->ipiv);
}

static bool any_nan(const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			if (isnan(get(a, i + j * lda, precision)))
				return true;
		}
	return false;
}

/* The kinds whose pivots rounding cannot change: the same on every executor. */
static bool pivots_are_certain(enum matrix_kind kind)
{
	return kind == MATRIX_RANDOM || kind == MATRIX_DIAGONAL || kind == MATRIX_UPPER ||
	       kind == MATRIX_GRADED_COLUMNS;
}

static void check_one(struct executor *gpu, struct executor *host, const char *variant,
        const struct shape *s, enum precision precision, enum matrix_kind kind, uint64_t seed)
{
	int64_t lda = s->m + s->padding;
	void *a0 = xmalloc((size_t)(lda * s->n * precision_bytes(precision)));
	matrix_fill(a0, lda, s->m, s->n, precision, kind, seed);
	struct result r = factorize(gpu, variant, a0, lda, s, precision);
	struct result again = factorize(gpu, variant, a0, lda, s, precision);
	struct result want = factorize(host, "persistent", a0, lda, s, precision);
	char *name = xasprintf("%s %c %" PRId64 " x %" PRId64 " lda %" PRId64 " %s", variant,
	        precision, s->m, s->n, lda, matrix_kind_name[kind]);

	if (!r.ran || !again.ran) {
		ok(r.refused, "%s: runs or is refused with a reason", name);
		diag("%s", gpu->fault.text);
	} else if (matrix_has_nan(kind)) {
		ok(any_nan(r.lu, lda, s->m, s->n, precision) &&
		                matrix_padding_intact(r.lu, lda, s->m, s->n, precision),
		        "%s: ends and the NaN is still seen", name);
	} else {
		struct panel_check check;
		check_panel(a0, lda, r.lu, lda, s->m, s->n, r.ipiv, precision, &check);
		bool same_pivots = memcmp(r.ipiv, want.ipiv, (size_t)s->n * sizeof(int)) == 0;
		bool repeats = memcmp(r.lu, again.lu,
		                       (size_t)(lda * s->n * precision_bytes(precision))) == 0;
		bool intact = matrix_padding_intact(r.lu, lda, s->m, s->n, precision);
		bool pivots_good = !pivots_are_certain(kind) || same_pivots;
		/* whether a repeated column leaves an exact zero or rounding noise is a matter of
		 * summation order */
		bool info_good = kind == MATRIX_RANK_DEFICIENT || r.info == want.info;
		if (!ok(check.passed && info_good && repeats && intact && pivots_good,
		            "%s: residual, pivots, info, padding, repeatable", name))
			diag("ratio %.3g max|l| %.3g pivots %s same %d info %d want %d repeats %d "
			     "intact %d",
			        check.ratio, check.max_l, check.pivots_valid ? "valid" : "invalid",
			        same_pivots, r.info, want.info, repeats, intact);
	}
	free(name);
	result_free(&r);
	result_free(&again);
	result_free(&want);
	free(a0);
}

int main(void)
{
	struct fault fault;
	struct executor *gpu = executor_cuda_new("0", &fault);
	if (!gpu)
		skip_all(fault.text);
	struct executor *host = executor_host_new(&fault);
	uint64_t seed = 20261121;

	for (const char *const *variant = panel_getrf_variants; *variant; variant++)
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			for (int d = 0; d < 2; d++)
				for (int kind = 0; kind < MATRIX_KINDS; kind++) {
					/* every kind on the middle shapes, random ones on all */
					bool small = shapes[i].m <= 2049 && shapes[i].m > 2;
					if (kind == MATRIX_RANDOM || (small && i % 2 == 0))
						check_one(gpu, host, *variant, &shapes[i],
						        d ? DOUBLE : SINGLE, (enum matrix_kind)kind,
						        seed++);
				}

	struct shape tall = {4000000, 64, 0};
	struct matrix a = {NULL, 0, tall.m, tall.n, tall.m, SINGLE};
	ok(panel_getrf_work(gpu, "persistent", a) < 0 && strstr(gpu->fault.text, "does not fit"),
	        "persistent refuses 4000000 x 64 with the reason");
	executor_free(gpu);
	executor_free(host);
	return finish();
}
