/* SPDX-License-Identifier: MIT */
/* fathom_mg.h on the GPUs that are here: a group of one, and one of all when there are several.
 * Systems are solved with errors like one GPU's; the same call gives the same bits; pivots are
 * those of exact arithmetic; what is wrong is refused with a reason. */
#include "tests/tap.h"

#include "factor/library/fathom_mg.h"
#include "lib/base/msg.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

enum { N = 1111, NB = 128, LLD = 1112, MOST = 8 };

enum what { LU, CHOLESKY, LEAST_SQUARES, WHATS };
static const char *const what_name[WHATS] = {"LU", "Cholesky", "QR"};
static const char *const math_name_of[] = {"fp32", "3xTF32", "3xFP16"};

static const struct fathom_mg_matrix matrix = {N, N, NB, 0, LLD}, right = {N, 1, 1, 0, LLD};

struct problem {
	float *a, *b, *x, *factors; /* on the host */
	float *part_a[MOST], *part_b[MOST];
	int ipiv[N], info;
};

static float drawn(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (float)((double)(*state >> 40) / (1 << 23) - 1);
}

static void problem_open(struct problem *p, int count, const struct fathom_mg *group)
{
	uint64_t seed = 7;

	p->a = xmalloc((size_t)N * N * sizeof *p->a);
	p->factors = xmalloc((size_t)N * N * sizeof *p->factors);
	p->b = xmalloc(N * sizeof *p->b);
	p->x = xmalloc(N * sizeof *p->x);
	for (int64_t j = 0; j < N; j++) {
		for (int64_t i = j; i < N; i++)
			p->a[i + j * N] = p->a[j + i * N] = drawn(&seed) + (i == j ? N : 0);
		p->b[j] = drawn(&seed);
	}
	for (int i = 0; i < count; i++) {
		const int64_t columns = fathom_mg_columns(group, &matrix, i);
		GPU(cudaSetDevice(i));
		GPU(cudaMalloc(
		        (void **)&p->part_a[i], (size_t)(columns + 1) * LLD * sizeof(float)));
		GPU(cudaMalloc((void **)&p->part_b[i], LLD * sizeof(float)));
	}
}

static void problem_close(struct problem *p, int count)
{
	for (int i = 0; i < count; i++) {
		GPU(cudaSetDevice(i));
		GPU(cudaFree(p->part_a[i]));
		GPU(cudaFree(p->part_b[i]));
	}
	free(p->a);
	free(p->factors);
	free(p->b);
	free(p->x);
}

static bool done(enum fathom_status status, const struct fathom_mg *group)
{
	if (status != FATHOM_OK)
		diag("%s", fathom_mg_error(group));
	return status == FATHOM_OK;
}

static bool solve(struct problem *p, struct fathom_mg *g, enum what what)
{
	bool ok = done(fathom_mg_sscatter(g, p->a, N, &matrix, p->part_a), g) &&
	          done(fathom_mg_sscatter(g, p->b, N, &right, p->part_b), g);

	if (what == LU)
		ok = ok && done(fathom_mg_sgetrf(g, &matrix, p->part_a, p->ipiv, &p->info), g) &&
		     done(fathom_mg_sgetrs(g, 'N', &matrix, p->part_a, p->ipiv, &right, p->part_b),
		             g);
	else if (what == CHOLESKY)
		ok = ok && done(fathom_mg_spotrf(g, 'L', &matrix, p->part_a, &p->info), g) &&
		     done(fathom_mg_spotrs(g, 'L', &matrix, p->part_a, &right, p->part_b), g);
	else
		ok = ok && done(fathom_mg_sgels(g, 'N', &matrix, p->part_a, &right, p->part_b), g);
	return ok && done(fathom_mg_sgather(g, &right, p->part_b, p->x, N), g) &&
	       done(fathom_mg_sgather(g, &matrix, p->part_a, p->factors, N), g);
}

/* norm_max(b - A x) / (norm_1(A) norm_max(x) eps). */
static double residual(const struct problem *p)
{
	double worst = 0, norm = 0, largest = 0;

	for (int64_t i = 0; i < N; i++) {
		double sum = (double)p->b[i], row = 0;
		for (int64_t j = 0; j < N; j++) {
			sum -= (double)p->a[i + j * N] * (double)p->x[j];
			row += fabs((double)p->a[i + j * N]);
		}
		worst = fmax(worst, isnan(sum) ? INFINITY : fabs(sum));
		norm = fmax(norm, row);
		largest = fmax(largest, fabs((double)p->x[i]));
	}
	return worst / (norm * largest * 0x1p-24);
}

/* errors: of one GPU, which the group of one sets. */
static void check_group(int count, double errors[WHATS][3])
{
	float *first = xmalloc((size_t)N * N * sizeof *first);
	int devices[MOST];
	struct fathom_mg *g;
	struct problem p;

	for (int i = 0; i < count; i++)
		devices[i] = i;
	if (!ok(done(fathom_mg_create(&g, count, devices), NULL), "%d GPUs: a group", count))
		return;
	problem_open(&p, count, g);
	for (int math = 0; math < 3; math++)
		for (int what = 0; what < WHATS; what++) {
			if (fathom_mg_set_math(g, (enum fathom_math)math) != FATHOM_OK) {
				skip("a math mode", fathom_mg_error(g));
				continue;
			}
			bool good = solve(&p, g, (enum what)what);
			double got = residual(&p);
			memcpy(first, p.factors, (size_t)N * N * sizeof *first);
			if (count == 1)
				errors[what][math] = got;
			ok(good && got <= fmax(1.5 * errors[what][math], 1) && got < 30,
			        "%d GPUs: %s, %s: residual %.3g eps, one GPU %.3g", count,
			        what_name[what], math_name_of[math], got, errors[what][math]);
			ok(solve(&p, g, (enum what)what) &&
			                memcmp(first, p.factors, (size_t)N * N * sizeof *first) ==
			                        0,
			        "%d GPUs: %s, %s: bitwise repeatable", count, what_name[what],
			        math_name_of[math]);
		}
	/* rows in reverse order: every pivot is known */
	fathom_mg_set_math(g, FATHOM_MATH_FP32);
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < N; i++)
			p.a[i + j * N] = i == N - 1 - j;
	bool good = solve(&p, g, LU) && p.info == 0;
	for (int i = 0; i < N; i++)
		good = good && p.ipiv[i] == (i < N / 2 ? N - i : i + 1);
	ok(good, "%d GPUs: LU of a permutation has its pivots", count);
	p.a[0 + (int64_t)(N - 1) * N] = 0;
	ok(solve(&p, g, LU) && p.info > 0, "%d GPUs: info of a singular matrix is set", count);
	problem_close(&p, count);
	fathom_mg_destroy(g);
	free(first);
}

static void check_refused(void)
{
	const int twice[2] = {0, 0}, none[1] = {1000};
	struct fathom_mg *g;

	ok(fathom_mg_create(&g, 2, twice) == FATHOM_BAD_ARGUMENT && !g &&
	                strstr(fathom_mg_error(NULL), "twice"),
	        "a GPU twice in a group is refused");
	ok(fathom_mg_create(&g, 1, none) == FATHOM_NOT_POSSIBLE && !g &&
	                fathom_mg_error(NULL)[0] != '\0',
	        "so is a GPU that is not there");
}

int main(void)
{
	double errors[WHATS][3] = {{0}};
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
		skip_all("no GPU");
	check_group(1, errors);
	if (count > 1)
		check_group(count < MOST ? count : MOST, errors);
	else
		skip("a group of several GPUs", "there is one GPU");
	check_refused();
	return finish();
}
