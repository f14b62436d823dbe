/* SPDX-License-Identifier: MIT */
/* The calls of fathom_mg.h on ranks of the host, each a process: arguments, results, messages. */
#include "ranks.h"

#include "factor/library/fathom_mg_group.h"

enum { N = 130, NB = 24, NRHS = 5, LLD = N + PADDING };

struct fixture {
	const struct ranks *r;
	struct fathom_mg *group;
	struct fathom_mg_matrix a, b;
	double *host_a, *host_b; /* on rank 0 */
	double *part_a[1], *part_b[1], *tau[1];
	int ipiv[N], info;
};

/* A group owns its executor and communicator. */
static struct fathom_mg *group_new(const struct ranks *r)
{
	struct mg_member *m = xcalloc(1, sizeof *m);
	struct fault fault = {{0}, false};

	m->e = executor_host_new(&fault);
	m->comm = r->grid.all->ranks == 1 ? comm_self_new(&fault)
	                                  : comm_mpi_new(MPI_COMM_WORLD, COMM_SECONDS, &fault);
	if (!m->e || !m->comm)
		fail_ranks(&fault);
	return mg_group(m, 1, NULL);
}

/* A grid of other ranks than there are is refused, and leaves the group's as it is. */
static void check_grid(const struct fixture *s)
{
	const int rows = grid_rows(&s->r->grid), columns = grid_columns(&s->r->grid);

	all_ok(s->r,
	        fathom_mg_set_grid(s->group, rows, columns + 1) == FATHOM_BAD_ARGUMENT &&
	                strstr(fathom_mg_error(s->group), "is not one of") != NULL &&
	                fathom_mg_set_grid(s->group, 0, columns) == FATHOM_BAD_ARGUMENT &&
	                fathom_mg_set_grid(s->group, rows, columns) == FATHOM_OK,
	        "library: a grid is made, one of other ranks is refused");
}

/* The status, and on failure the message, of which only the first rank's is shown. */
static bool done(const struct fixture *s, enum fathom_status status)
{
	if (status != FATHOM_OK && s->r->rank == 0)
		diag("status %d: %s", (int)status, fathom_mg_error(s->group));
	return status == FATHOM_OK;
}

static double *part_new(const struct fixture *s, const struct fathom_mg_matrix *d)
{
	return xcalloc(
	        (size_t)(fathom_mg_columns(s->group, d, s->r->rank) * d->lld + 1), sizeof(double));
}

/* A, and B = A X with X(i, j) = j + 1; both scattered. */
static void fixture_fill(struct fixture *s, enum elements elements)
{
	struct whole w = {elements, N, N};

	if (s->r->rank == 0) {
		memset(s->host_b, 0, N * NRHS * sizeof *s->host_b);
		for (int64_t j = 0; j < N; j++)
			for (int64_t i = 0; i < N; i++) {
				s->host_a[i + j * N] = element_at(&w, i, j);
				for (int64_t k = 0; k < NRHS; k++)
					s->host_b[i + k * N] +=
					        s->host_a[i + j * N] * (double)(k + 1);
			}
	}
	bool good = done(s, fathom_mg_dscatter(s->group, s->host_a, N, &s->a, s->part_a)) &&
	            done(s, fathom_mg_dscatter(s->group, s->host_b, N, &s->b, s->part_b));
	if (!good)
		fail_ranks(&s->group->fault);
}

/* Whether B on rank 0 is X. */
static bool is_solution(struct fixture *s)
{
	bool good = done(s, fathom_mg_dgather(s->group, &s->b, s->part_b, s->host_b, N));

	for (int64_t k = 0; k < NRHS && s->r->rank == 0; k++)
		for (int64_t i = 0; i < N; i++)
			good = good && fabs(s->host_b[i + k * N] - (double)(k + 1)) < 1e-8;
	return good;
}

static void check_calls(struct fixture *s)
{
	struct fathom_mg *g = s->group;

	fixture_fill(s, RANDOM);
	all_ok(s->r,
	        done(s, fathom_mg_dgetrf(g, &s->a, s->part_a, s->ipiv, &s->info)) && s->info == 0 &&
	                all_same(s->r, s->ipiv, N) &&
	                done(s, fathom_mg_dgetrs(
	                                g, 'N', &s->a, s->part_a, s->ipiv, &s->b, s->part_b)) &&
	                is_solution(s),
	        "library: getrf and getrs solve");
	fixture_fill(s, DEFINITE);
	all_ok(s->r,
	        done(s, fathom_mg_dpotrf(g, 'l', &s->a, s->part_a, &s->info)) && s->info == 0 &&
	                done(s, fathom_mg_dpotrs(g, 'L', &s->a, s->part_a, &s->b, s->part_b)) &&
	                is_solution(s),
	        "library: potrf and potrs solve");
	fixture_fill(s, RANDOM);
	all_ok(s->r,
	        done(s, fathom_mg_dgels(g, 'N', &s->a, s->part_a, &s->b, s->part_b)) &&
	                is_solution(s),
	        "library: gels solves");
	fixture_fill(s, NOT_DEFINITE);
	all_ok(s->r,
	        done(s, fathom_mg_dpotrf(g, 'L', &s->a, s->part_a, &s->info)) &&
	                s->info == N / 2 + 1,
	        "library: info of potrf is the bad minor in all processes");
	fixture_fill(s, ZERO_COLUMN);
	all_ok(s->r,
	        done(s, fathom_mg_dgetrf(g, &s->a, s->part_a, s->ipiv, &s->info)) &&
	                s->info == N / 2 + 1,
	        "library: info of getrf is the zero column in all processes");
}

/* Q (Q^T B) = B. */
static void check_q(struct fixture *s)
{
	struct fathom_mg *g = s->group;
	double *before = xmalloc(N * NRHS * sizeof *before);
	bool same = true;

	fixture_fill(s, RANDOM);
	if (s->r->rank == 0)
		memcpy(before, s->host_b, N * NRHS * sizeof *before);
	bool good = done(s, fathom_mg_dgeqrf(g, &s->a, s->part_a, s->tau)) &&
	            done(s, fathom_mg_dormqr(
	                            g, 'L', 'T', &s->a, s->part_a, s->tau, &s->b, s->part_b)) &&
	            done(s, fathom_mg_dormqr(
	                            g, 'L', 'N', &s->a, s->part_a, s->tau, &s->b, s->part_b)) &&
	            done(s, fathom_mg_dgather(g, &s->b, s->part_b, s->host_b, N));
	for (int64_t i = 0; i < N * NRHS && s->r->rank == 0; i++)
		same = same && fabs(s->host_b[i] - before[i]) < 1e-9 * N;
	all_ok(s->r, good && same, "library: Q Q^T B is B");
	free(before);
}

/* Elements by their numbers: a rank's rows and columns once, in order. */
static void check_places(const struct fixture *s)
{
	const int columns = grid_columns(&s->r->grid), rows = grid_rows(&s->r->grid);
	int64_t rows_of[16] = {0}, columns_of[16] = {0};
	bool good = rows * columns <= 16;

	for (int64_t i = 0; good && i < N; i++) {
		const int row = rows == 1 ? 0 : (int)((s->a.rsrc + i / NB) % rows);
		for (int64_t j = 0; good && j < N; j++) {
			const int column = (int)((s->a.csrc + j / NB) % columns);
			if (j == 0)
				memset(columns_of, 0, sizeof columns_of);
			good = fathom_mg_rank(s->group, &s->a, i, j) == row * columns + column &&
			       fathom_mg_place(s->group, &s->a, i, j) ==
			               rows_of[row] + LLD * columns_of[column]++;
		}
		rows_of[row]++;
	}
	for (int rank = 0; good && rank < rows * columns; rank++)
		good = fathom_mg_columns(s->group, &s->a, rank) == columns_of[rank % columns] &&
		       fathom_mg_rows(s->group, &s->a, rank) == rows_of[rank / columns];
	all_ok(s->r,
	        good && fathom_mg_place(s->group, &s->a, 0, N) == -1 &&
	                fathom_mg_rank(s->group, &s->a, N, 0) == -1 &&
	                fathom_mg_rows(s->group, &s->a, rows * columns) == -1 &&
	                fathom_mg_columns(s->group, &s->a, rows * columns) == -1,
	        "library: every element has its rank and its place there");
}

/* What several process rows ask of layouts. */
static void check_layouts(struct fixture *s)
{
	struct fathom_mg_matrix oblong = s->a, beside = s->b;

	if (grid_rows(&s->r->grid) == 1)
		return;
	oblong.mb = NB + 1;
	beside.rsrc = 0;
	all_ok(s->r,
	        fathom_mg_dgetrf(s->group, &oblong, s->part_a, s->ipiv, &s->info) ==
	                        FATHOM_BAD_ARGUMENT &&
	                strstr(fathom_mg_error(s->group), "need square ones") != NULL &&
	                fathom_mg_dpotrs(s->group, 'L', &s->a, s->part_a, &beside, s->part_b) ==
	                        FATHOM_BAD_ARGUMENT &&
	                strstr(fathom_mg_error(s->group), "both must be equal") != NULL,
	        "library: oblong blocks, and right-hand sides with other rows are refused");
}

static void check_refused(struct fixture *s)
{
	struct fathom_mg *g = s->group;
	struct fathom_mg_matrix narrow = s->a, wide = s->a, short_ld = s->a;
	double *none[1] = {NULL};

	narrow.nb = 0;
	wide.m = N - 1;
	short_ld.lld = fathom_mg_rows(g, &s->a, s->r->rank) - 1;
	all_ok(s->r,
	        fathom_mg_dgetrf(g, &narrow, s->part_a, s->ipiv, &s->info) == FATHOM_BAD_ARGUMENT &&
	                strstr(fathom_mg_error(g), "nb 0") != NULL,
	        "library: blocks of no columns are refused");
	all_ok(s->r,
	        fathom_mg_dpotrf(g, 'L', &wide, s->part_a, &s->info) == FATHOM_BAD_ARGUMENT &&
	                strstr(fathom_mg_error(g), "129 x 130") != NULL,
	        "library: Cholesky of a matrix that is not square is refused");
	all_ok(s->r,
	        fathom_mg_dpotrf(g, 'U', &s->a, s->part_a, &s->info) == FATHOM_BAD_ARGUMENT &&
	                strstr(fathom_mg_error(g), "uplo 'U'") != NULL,
	        "library: the upper triangle is refused");
	all_ok(s->r,
	        fathom_mg_dgetrf(g, &short_ld, s->part_a, s->ipiv, &s->info) ==
	                        FATHOM_BAD_ARGUMENT &&
	                fathom_mg_dgetrf(g, NULL, s->part_a, s->ipiv, &s->info) ==
	                        FATHOM_BAD_ARGUMENT &&
	                fathom_mg_dgetrf(NULL, &s->a, s->part_a, s->ipiv, &s->info) ==
	                        FATHOM_BAD_ARGUMENT &&
	                fathom_mg_dgetrf(g, &s->a, s->part_a, NULL, &s->info) ==
	                        FATHOM_BAD_ARGUMENT &&
	                fathom_mg_dgetrs(g, 'X', &s->a, s->part_a, s->ipiv, &s->b, s->part_b) ==
	                        FATHOM_BAD_ARGUMENT &&
	                (fathom_mg_columns(g, &s->a, s->r->rank) == 0 ||
	                        fathom_mg_dgetrf(g, &s->a, none, s->ipiv, &s->info) ==
	                                FATHOM_BAD_ARGUMENT),
	        "library: other wrong arguments are refused");
}

bool check_library(const struct ranks *r)
{
	static struct fixture s;

	s = (struct fixture){.r = r,
	        .group = group_new(r),
	        .a = {.m = N,
	                .n = N,
	                .nb = NB,
	                .csrc = grid_columns(&r->grid) - 1,
	                .lld = LLD,
	                .mb = NB,
	                .rsrc = grid_rows(&r->grid) - 1},
	        .b = {.m = N,
	                .n = NRHS,
	                .nb = 2,
	                .lld = LLD,
	                .mb = NB,
	                .rsrc = grid_rows(&r->grid) - 1},
	        .host_a = r->rank == 0 ? xmalloc(N * N * sizeof(double)) : NULL,
	        .host_b = r->rank == 0 ? xmalloc(N * NRHS * sizeof(double)) : NULL};
	check_grid(&s);
	s.part_a[0] = part_new(&s, &s.a);
	s.part_b[0] = part_new(&s, &s.b);
	s.tau[0] = xcalloc(N, sizeof(double));
	check_places(&s);
	check_calls(&s);
	check_q(&s);
	check_refused(&s);
	check_layouts(&s);
	fathom_mg_destroy(s.group);
	free(s.host_a);
	free(s.host_b);
	free(s.part_a[0]);
	free(s.part_b[0]);
	free(s.tau[0]);
	return tap_failed == 0;
}
