/* SPDX-License-Identifier: MIT */
/* Panels that the host factorizes for the cuda executor: the stage has the host executor's result,
 * device memory has pivots, tau and info, also with many panels under way at once. */
#include "executor_memory.h"

enum { M = 200, N = 24, ROUNDS = 20 };

static uint64_t state = 77;

/* A stage of the cuda executor and a copy of it in plain memory. */
struct panel {
	struct matrix staged, plain;
};

static struct panel panel_new(struct executor *e, enum precision p, int64_t m, int64_t n)
{
	struct panel panel;
	size_t bytes = (size_t)(m * n * precision_bytes(p));

	must(e, e->ops->stage(e, 0, m, n, p, &panel.staged));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double value = next_uniform(&state) + (i == j ? (double)(2 * m) : 0);
			put(panel.staged.data, i + j * panel.staged.ld, p, value);
		}
	panel.plain = panel.staged;
	panel.plain.data = xmalloc(bytes);
	memcpy(panel.plain.data, panel.staged.data, bytes);
	return panel;
}

static bool panel_same(const struct panel *panel)
{
	return memcmp(panel->staged.data, panel->plain.data,
	               (size_t)(panel->plain.m * panel->plain.n *
	                        precision_bytes(panel->plain.precision))) == 0;
}

static void check_getrf(struct executor *e, struct executor *host, enum precision p)
{
	int zeros[N + 1] = {0}, want[ROUNDS][N + 1], got[N], info;
	struct pivots pivots[ROUNDS];
	bool same = true;

	for (int r = 0; r < ROUNDS; r++)
		pivots[r] = pivots_new(e, N, zeros, 0);
	for (int r = 0; r < ROUNDS; r++) {
		struct panel panel = panel_new(e, p, M, N);
		must(e, e->ops->host_panel_getrf(e, panel.staged, pivots[r]));
		must(host, host->ops->host_panel_getrf(
		                   host, panel.plain, (struct pivots){want[r], N}));
		same = same && panel_same(&panel);
		free(panel.plain.data);
	}
	for (int r = 0; r < ROUNDS; r++) {
		must(e, e->ops->read_pivots(e, pivots[r], got, &info));
		same = same && memcmp(got, want[r], sizeof got) == 0 && info == want[r][N];
		e->ops->release(e, pivots[r].data);
	}
	ok(same, "host_panel_getrf %c", p);
}

static void check_geqrf(struct executor *e, struct executor *host, enum precision p)
{
	struct block tau = block_poisoned(e, p, N, 1);
	struct panel panel = panel_new(e, p, M, N);
	struct matrix want = {xmalloc(N * sizeof(double)), 0, N, 1, N, p};

	must(e, e->ops->host_panel_geqrf(e, panel.staged, tau.a));
	must(host, host->ops->host_panel_geqrf(host, panel.plain, want));
	for (int64_t i = 0; i < N; i++)
		*element(&tau, i, 0) = get(want.data, i, p);
	ok(panel_same(&panel) && block_holds(e, &tau, 0), "host_panel_geqrf %c", p);
	free(panel.plain.data);
	free(want.data);
	block_free(e, &tau);
}

static void check_potrf(struct executor *e, struct executor *host, enum precision p, enum uplo uplo)
{
	struct pivots info = pivots_new(e, 0, NULL, 0);
	struct panel panel = panel_new(e, p, N, N);
	int want = 0;

	must(e, e->ops->host_panel_potrf(e, uplo, panel.staged, 100, info.data));
	must(host, host->ops->host_panel_potrf(host, uplo, panel.plain, 100, &want));
	ok(panel_same(&panel) && want == 0 && read_info(e, info.data) == 0,
	        "host_panel_potrf %c %d", p, uplo);
	free(panel.plain.data);
	for (int bad = 5; bad < 8; bad += 2) { /* the second failure changes nothing */
		panel = panel_new(e, p, N, N);
		struct matrix pivot = matrix_view(panel.staged, bad, bad, 1, 1);
		put(matrix_address(pivot), 0, p, -1);
		must(e, e->ops->host_panel_potrf(e, uplo, panel.staged, 100, info.data));
		free(panel.plain.data);
	}
	ok(read_info(e, info.data) == 106, "host_panel_potrf %c %d keeps the first info", p, uplo);
	e->ops->release(e, info.data);
}

int main(void)
{
	struct fault fault;
	struct executor *e = cuda_or_skip();
	struct executor *host = executor_host_new(&fault);
	for (int d = 0; d < 2; d++) {
		enum precision p = d ? DOUBLE : SINGLE;
		check_getrf(e, host, p);
		check_geqrf(e, host, p);
		for (enum uplo uplo = LOWER; uplo <= UPPER; uplo++)
			check_potrf(e, host, p, uplo);
	}
	executor_free(e);
	executor_free(host);
	return finish();
}
