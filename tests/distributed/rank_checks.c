/* SPDX-License-Identifier: MIT */
/* Checks of factorizations over ranks, which ranks.t starts by mpirun: TAP by rank 0. With --die
 * the last rank is killed while the others wait for its panels, with --hang it stops there. */
#include "ranks.h"

#include <signal.h>

/* ---- host memory ---- */

static void check_scatter(const struct ranks *r)
{
	const struct whole w = {RANDOM, 41, 29};
	const int root = r->grid.all->ranks - 1;
	struct spread made = spread_new(r, &r->grid, &w, 4, true, DOUBLE);
	struct spread sent = spread_new(r, &r->grid, &w, 4, true, DOUBLE);
	double *whole = r->rank == root ? xmalloc((size_t)(w.m * w.n) * sizeof *whole) : NULL;

	must(r, distributed_gather(r->e, &made.d, root, whole, w.m));
	for (int64_t j = 0; j < sent.d.local.n; j++)
		memset((double *)sent.d.local.data + j * sent.d.local.ld, 0,
		        (size_t)sent.d.local.m * sizeof(double));
	must(r, distributed_scatter(r->e, &sent.d, root, whole, w.m));
	all_ok(r, memcmp(made.d.local.data, sent.d.local.data, (size_t)made.bytes) == 0,
	        "a matrix gathered in one rank's memory and scattered again is the same");
	free(whole);
	free(made.d.local.data);
	free(sent.d.local.data);
}

/* ---- a rank that stops ---- */

/* The last rank stops while the others wait for its panels. */
static void run_stopped(const struct ranks *r, int number)
{
	MPI_Barrier(MPI_COMM_WORLD); /* all begin to wait at the same time */
	if (r->rank == r->grid.all->ranks - 1)
		raise(number);
	lu_stopped(r);
}

/* All checks on one grid. On four process rows swaps are made few at a time. */
static bool check_all(const struct ranks *r)
{
	r->e->rows_most[0] = r->e->rows_most[1] = grid_rows(&r->grid) == 4 ? 15 : EXECUTOR_LU_ROWS;
	check_scatter(r);
	bool good = tap_failed == 0;
	good = check_lu(r) && good;
	good = check_cholesky(r) && good;
	good = check_qr(r) && good;
	good = check_solves(r) && good;
	return check_library(r) && good;
}

static struct comm *all_ranks(double seconds, struct fault *fault)
{
	int count;

	MPI_Comm_size(MPI_COMM_WORLD, &count);
	return count == 1 ? comm_self_new(fault) : comm_mpi_new(MPI_COMM_WORLD, seconds, fault);
}

/* rank_checks [--die|--hang ROWS FILE]: every grid of the ranks, or a rank that stops on one. Then
 * messages go to FILE: mpirun may lose what a process wrote just before it aborts. */
int main(int argc, char **argv)
{
	struct fault fault = {{0}, false};
	const char *mode = argc > 3 ? argv[1] : "";
	const bool hangs = strcmp(mode, "--hang") == 0, dies = strcmp(mode, "--die") == 0;
	const int asked = argc > 3 ? atoi(argv[2]) : 0;
	bool good = true;

	if (argc > 3 && !freopen(argv[3], "a", stderr))
		return 2;
	MPI_Init(&argc, &argv);
	struct comm *all = all_ranks(hangs ? 2 : COMM_SECONDS, &fault);
	struct comm *alone = comm_self_new(&fault);
	struct ranks r = {.e = executor_host_new(&fault)};
	if (!all || !alone || !r.e)
		fail_ranks(&fault);
	r.alone = grid_of_row(alone);
	r.rank = all->rank;
	for (int rows = 1; rows <= all->ranks; rows++) {
		if (all->ranks % rows != 0 || (asked && rows != asked))
			continue;
		if (!grid_open(&r.grid, all, rows, all->ranks / rows, &fault))
			fail_ranks(&fault);
		if (hangs || dies)
			run_stopped(&r, hangs ? SIGSTOP : SIGKILL);
		if (r.rank == 0)
			printf("grid %d x %d\n", rows, all->ranks / rows);
		good = check_all(&r) && good;
		grid_free(&r.grid);
	}
	if (r.rank == 0)
		printf("all checks were made\n");
	executor_free(r.e);
	comm_free(all);
	comm_free(alone);
	MPI_Finalize();
	return !good;
}
