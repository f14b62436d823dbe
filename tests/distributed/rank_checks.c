/* SPDX-License-Identifier: MIT */
/* Checks of factorizations over ranks, which ranks.t starts by mpirun: TAP by rank 0. With --die
 * the last rank is killed while the others wait for its panels, with --hang it stops there. */
#include "ranks.h"

#include <signal.h>

/* ---- host memory ---- */

static void check_scatter(const struct ranks *r)
{
	const struct whole w = {RANDOM, 41, 29};
	const int root = r->comm->ranks - 1;
	struct spread made = spread_new(r, r->comm, &w, 4, 0, DOUBLE);
	struct spread sent = spread_new(r, r->comm, &w, 4, 0, DOUBLE);
	double *whole = r->comm->rank == root ? xmalloc((size_t)(w.m * w.n) * sizeof *whole) : NULL;

	must(r, distributed_gather(r->e, &made.d, root, whole, w.m));
	for (int64_t j = 0; j < sent.d.local.n; j++)
		memset((double *)sent.d.local.data + j * sent.d.local.ld, 0,
		        (size_t)w.m * sizeof(double));
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
	if (r->comm->rank == r->comm->ranks - 1)
		raise(number);
	lu_stopped(r);
}

int main(int argc, char **argv)
{
	struct fault fault = {{0}, false};
	const char *mode = argc > 1 ? argv[1] : "";
	const bool hangs = strcmp(mode, "--hang") == 0, dies = strcmp(mode, "--die") == 0;

	int count;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &count);
	struct ranks r = {count == 1
	                          ? comm_self_new(&fault)
	                          : comm_mpi_new(MPI_COMM_WORLD, hangs ? 2 : COMM_SECONDS, &fault),
	        comm_self_new(&fault), executor_host_new(&fault)};
	if (!r.comm || !r.alone || !r.e)
		fail_ranks(&fault);
	if (hangs || dies)
		run_stopped(&r, hangs ? SIGSTOP : SIGKILL);
	check_scatter(&r);
	bool good = tap_failed == 0;
	good = check_lu(&r) && good;
	good = check_cholesky(&r) && good;
	good = check_qr(&r) && good;
	good = check_solves(&r) && good;
	good = check_library(&r) && good;
	if (r.comm->rank == 0)
		printf("all checks were made\n");
	executor_free(r.e);
	comm_free(r.comm);
	comm_free(r.alone);
	MPI_Finalize();
	return !good;
}
