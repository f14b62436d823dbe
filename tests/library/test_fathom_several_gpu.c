/* SPDX-License-Identifier: MIT */
/* fathom_mg.h on the GPUs that are here: a group of one, one rank through NCCL, all GPUs in this
 * process, also as a grid, and a process for each GPU. Systems are solved with errors like one
 * GPU's; the same call gives the same bits; pivots are those of exact arithmetic; what is wrong is
 * refused with a reason; beside a process that is killed the others end. */
#include "tests/tap.h"

#include "factor/library/fathom_mg.h"
#include "lib/base/msg.h"
#include "lib/device/gpu.h"
#include "lib/host/clock.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1111, NB = 128, LLD = 1112, MOST = 8 };

enum what { LU, CHOLESKY, LEAST_SQUARES, WHATS };
static const char *const what_name[WHATS] = {"LU", "Cholesky", "QR"};
static const char *const math_name_of[] = {"fp32", "3xTF32", "3xFP16"};

static struct fathom_mg_matrix matrix = {.m = N, .n = N, .nb = NB, .lld = LLD},
                               right = {.m = N, .n = 1, .nb = 1, .lld = LLD};

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

/* ---- groups of this process ---- */

/* errors: of one GPU, which the first group sets. Ends the group. */
static void check_group(
        const char *name, struct fathom_mg *g, int count, double errors[WHATS][3], bool sets)
{
	float *first = xmalloc((size_t)N * N * sizeof *first);
	struct problem p;

	problem_open(&p, count, g);
	for (int math = 0; math < 3; math++)
		for (int what = 0; what < WHATS && test_turn((size_t)math, 2); what++) {
			if (fathom_mg_set_math(g, (enum fathom_math)math) != FATHOM_OK) {
				skip("a math mode", fathom_mg_error(g));
				continue;
			}
			bool good = solve(&p, g, (enum what)what);
			double got = residual(&p);
			memcpy(first, p.factors, (size_t)N * N * sizeof *first);
			if (sets)
				errors[what][math] = got;
			ok(good && got <= fmax(1.5 * errors[what][math], 1) && got < 30,
			        "%s: %s, %s: residual %.3g eps, one GPU %.3g", name,
			        what_name[what], math_name_of[math], got, errors[what][math]);
			ok(solve(&p, g, (enum what)what) &&
			                memcmp(first, p.factors, (size_t)N * N * sizeof *first) ==
			                        0,
			        "%s: %s, %s: bitwise repeatable", name, what_name[what],
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
	ok(good, "%s: LU of a permutation has its pivots", name);
	p.a[(int64_t)(N - 1) * N] = 0;
	solve(&p, g, LU);
	ok(p.info > 0, "%s: info of a singular matrix is set", name);
	problem_close(&p, count);
	fathom_mg_destroy(g);
	free(first);
}

/* On so many process rows; on several with square blocks. */
static void check_devices(int count, int rows, double errors[WHATS][3])
{
	int devices[MOST];
	char name[32];
	struct fathom_mg *g;

	for (int i = 0; i < count; i++)
		devices[i] = i;
	snprintf(name, sizeof name, rows > 1 ? "%d GPUs in %d rows" : "%d GPUs", count, rows);
	if (!ok(done(fathom_mg_create(&g, count, devices), NULL), "%s: a group", name))
		return;
	matrix.mb = right.mb = rows > 1 ? NB : 0;
	if (rows == 1 ||
	        ok(done(fathom_mg_set_grid(g, rows, count / rows), g), "%s: the grid", name))
		check_group(name, g, count, errors, count == 1);
	else
		fathom_mg_destroy(g);
	matrix.mb = right.mb = 0;
}

static void check_nccl(double errors[WHATS][3])
{
	char id[FATHOM_MG_ID_BYTES];
	struct fathom_mg *g;

	if (fathom_mg_id(id) != FATHOM_OK) {
		skip("one rank through NCCL", fathom_mg_error(NULL));
		return;
	}
	GPU(cudaSetDevice(0));
	if (ok(done(fathom_mg_create_rank(&g, 0, 1, id), NULL), "one rank through NCCL: a group"))
		check_group("one rank through NCCL", g, 1, errors, false);
}

/* ---- a process for each GPU ---- */

/* Rank 0 makes the id and renames it into place; the others wait for the file. */
static bool share_id(int rank, const char *path, char id[FATHOM_MG_ID_BYTES])
{
	char made[256];
	FILE *file;

	snprintf(made, sizeof made, "%s.new", path);
	if (rank == 0) {
		file = fopen(made, "w");
		return file && fathom_mg_id(id) == FATHOM_OK &&
		       fwrite(id, FATHOM_MG_ID_BYTES, 1, file) == 1 && fclose(file) == 0 &&
		       rename(made, path) == 0;
	}
	for (int i = 0; i < 200 && access(path, R_OK) != 0; i++)
		usleep(100000);
	file = fopen(path, "r");
	bool good = file && fread(id, FATHOM_MG_ID_BYTES, 1, file) == 1;
	if (file)
		fclose(file);
	return good;
}

/* This program as one of the processes. Only rank 0 has the matrix and judges. */
static bool open_rank(
        struct fathom_mg **g, struct problem *p, int rank, int ranks, const char *path)
{
	char id[FATHOM_MG_ID_BYTES];

	GPU(cudaSetDevice(rank));
	if (!share_id(rank, path, id) || !done(fathom_mg_create_rank(g, rank, ranks, id), NULL))
		return false;
	problem_open(p, 0, *g);
	const int64_t columns = fathom_mg_columns(*g, &matrix, rank);
	GPU(cudaMalloc((void **)&p->part_a[0], (size_t)(columns + 1) * LLD * sizeof(float)));
	GPU(cudaMalloc((void **)&p->part_b[0], LLD * sizeof(float)));
	return true;
}

static int run_rank(int rank, int ranks, const char *path)
{
	struct fathom_mg *g;
	struct problem p;

	if (!open_rank(&g, &p, rank, ranks, path))
		return 1;
	bool good = true;
	for (int what = 0; what < WHATS; what++)
		good = solve(&p, g, (enum what)what) && (rank > 0 || residual(&p) < 30) && good;
	fathom_mg_destroy(g);
	return !good;
}

/* The last rank is killed after a solve. The calls of the others fail, with a reason, in time. */
static int run_beside_killed(int rank, int ranks, const char *path)
{
	struct fathom_mg *g;
	struct problem p;

	if (!open_rank(&g, &p, rank, ranks, path) || !solve(&p, g, LU))
		return 1;
	if (rank == ranks - 1)
		raise(SIGKILL);
	fathom_mg_set_timeout(g, 5);
	const double start = clock_now();
	const bool failed = !solve(&p, g, LU) && fathom_mg_error(g)[0] != '\0';
	fathom_mg_destroy(g);
	return !failed || clock_now() - start > 30;
}

/* All GPUs here, or the only one through NCCL, whose calls may fail (several_faults.t). Status: 0
 * solved, 3 a call failed and said why, 77 not possible here. After a failure another call ends,
 * too. */
static int run_with_faults(int count)
{
	char id[FATHOM_MG_ID_BYTES];
	int devices[MOST];
	struct fathom_mg *g = NULL;
	struct problem p;

	for (int i = 0; i < count; i++)
		devices[i] = i;
	bool good = count > 1 ? fathom_mg_create(&g, count, devices) == FATHOM_OK
	                      : fathom_mg_id(id) == FATHOM_OK &&
	                                fathom_mg_create_rank(&g, 0, 1, id) == FATHOM_OK;
	if (!good) {
		puts(fathom_mg_error(NULL));
		return strstr(fathom_mg_error(NULL), "not installed") ? 77 : 3;
	}
	fathom_mg_set_timeout(g, 5);
	problem_open(&p, count, g);
	good = solve(&p, g, LU) && residual(&p) < 30;
	puts(fathom_mg_error(g));
	const bool told = fathom_mg_error(g)[0] != '\0';
	if (!good)
		solve(&p, g, CHOLESKY);
	fathom_mg_destroy(g);
	return good ? 0 : told ? 3 : 1;
}

/* How many processes did not end with status 0. */
static int run_processes(const char *program, const char *how, int count)
{
	char folder[] = "/tmp/fathom-ranks-XXXXXX", path[64], number[2][16];
	int failed = 0, status;

	if (!mkdtemp(folder))
		return count;
	snprintf(path, sizeof path, "%s/id", folder);
	snprintf(number[1], sizeof number[1], "%d", count);
	for (int rank = 0; rank < count; rank++) {
		snprintf(number[0], sizeof number[0], "%d", rank);
		const pid_t child = fork();
		if (child == 0) {
			alarm(120);
			execl(program, program, how, number[0], number[1], path, (char *)NULL);
			_exit(1);
		}
		failed += child < 0;
	}
	while (wait(&status) > 0)
		failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	unlink(path);
	rmdir(folder);
	return failed;
}

static void check_processes(const char *program, int count)
{
	ok(run_processes(program, "--rank", count) == 0,
	        "%d GPUs, a process for each: systems are solved", count);
	ok(run_processes(program, "--beside-killed", count) == 1,
	        "one of %d processes is killed: the others end within 30 s, with a reason", count);
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

int main(int argc, char **argv)
{
	double errors[WHATS][3] = {{0}};
	int count = 0;

	if (argc == 5 && strcmp(argv[1], "--rank") == 0)
		return run_rank(atoi(argv[2]), atoi(argv[3]), argv[4]);
	if (argc == 5 && strcmp(argv[1], "--beside-killed") == 0)
		return run_beside_killed(atoi(argv[2]), atoi(argv[3]), argv[4]);
	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
		skip_all("no GPU");
	count = count < MOST ? count : MOST;
	if (argc == 2 && strcmp(argv[1], "--with-faults") == 0)
		return run_with_faults(count);
	check_devices(1, 1, errors);
	check_nccl(errors);
	if (count > 1) {
		check_devices(count, 1, errors);
		check_devices(count / 2 * 2, 2, errors);
		check_processes(argv[0], count);
	} else {
		skip("groups of several GPUs", "there is one GPU");
	}
	check_refused();
	return finish();
}
