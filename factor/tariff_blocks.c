/* SPDX-License-Identifier: MIT */
/* Prices of the operations of blocked factorizations at level 2. The calls of the library are in
 * tariff_gemm.c, kernels that factorize in tariff_panels.c; here is what moves data. With w the
 * word in bytes:
 *
 * copy, transpose, explicit_v read and write mnw each, fill writes its part: our kernels' start and
 * what the bytes add on the measured curve. laswp touches, in every column, 2 p.n words of the top
 * rows, which lie together, and 2 p.n words elsewhere, each a sector of its own, after every block
 * has followed p.n exchanges, four dependent integer instructions each. Kernels over a few integers
 * only start.
 *
 * A transfer costs the measured round trip less the call and the wait, which the host clock has
 * already; on the device it holds its direction's copy engine. The host's panels are the rate
 * surfaces of LAPACKE; potrf counts half the operations of getrf of the same block. */
#include "price_blocks.h"

#include <math.h>

/* What a block of our sweeps takes care of. */
static const double sweep_bytes = 16384;

static double larger(double a, double b)
{
	return b > a ? b : a;
}

struct price price_kernel(struct price_reader *r)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.launch.enqueue"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.dependent")};
}

static struct price sweep(struct price_reader *r, const char *curve, double bytes)
{
	struct price price = price_kernel(r);

	price.share = price_share(r, ceil(bytes / sweep_bytes));
	price.term[TERM_MEMORY] = price_surface_traffic(r, curve, bytes);
	return price;
}

static struct price copy(struct price_reader *r, struct matrix a)
{
	return sweep(r, "gpu.copy.time", 2 * price_bytes(a));
}

static struct price fill(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return sweep(r, "gpu.write.time", price_bytes(a) / (uplo == WHOLE ? 1 : 2));
}

static struct price laswp(struct price_reader *r, struct matrix a, int64_t swaps)
{
	double word = (double)precision_bytes(a.precision);
	double elements = (double)swaps * (double)a.n;

	struct price price =
	        sweep(r, "gpu.copy.time", 2 * elements * (word + price_scalar(r, "gpu.l2.sector")));

	price.term[TERM_BARRIER] = 4 * (double)swaps * price_scalar(r, "gpu.int.logic.latency");
	return price;
}

static struct price integers(struct price_reader *r, int64_t count)
{
	struct price price = price_kernel(r);

	(void)count;
	price.share = price_share(r, 1);
	return price;
}

static struct price transfer(
        struct price_reader *r, const char *curve, double bytes, enum engine engine)
{
	double call = price_scalar(r, "gpu.copy.enqueue");
	double whole = price_surface1(r, curve, "bytes", bytes);
	double wait = larger(0, price_scalar(r, "gpu.launch.sync") -
	                                price_scalar(r, "gpu.launch.enqueue") -
	                                price_scalar(r, "gpu.launch.dependent"));

	return (struct price){.enqueue = call,
	        .term[TERM_TRANSFER] = larger(0, whole - call - wait),
	        .engine = engine};
}

static struct price to_host(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", price_bytes(a), ENGINE_OUT);
}

static struct price to_device(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.h2d.pinned.time", price_bytes(a), ENGINE_IN);
}

/* ---- the host's panels ---- */

static struct price by_host(double seconds)
{
	return (struct price){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

double price_host_geqrf(struct price_reader *r, struct matrix a)
{
	const char *name = a.precision == SINGLE ? "host.geqrf.s" : "host.geqrf.d";

	return price_surface2(r, name, "m", (double)a.m, "n", (double)a.n);
}

/* As price_host_getrf, but for often. */
static double lapack_getrf(struct price_reader *r, struct matrix a)
{
	const char *name = a.precision == SINGLE ? "host.getrf.s" : "host.getrf.d";

	return price_surface2(r, name, "m", (double)a.m, "n", (double)a.n);
}

double price_host_potrf(struct price_reader *r, struct matrix a)
{
	return lapack_getrf(r, a) / 2;
}

static struct price host_getrf(struct price_reader *r, struct matrix a)
{
	return by_host(lapack_getrf(r, a));
}

static struct price host_geqrf(struct price_reader *r, struct matrix a)
{
	return by_host(price_host_geqrf(r, a));
}

static struct price host_potrf(struct price_reader *r, struct matrix a)
{
	return by_host(price_host_potrf(r, a));
}

/* ---- events ---- */

static double event(struct price_reader *r)
{
	return price_scalar(r, "gpu.event.record");
}

/* What a kernel behind an event of another queue starts later than behind one of its own. */
static double hop(struct price_reader *r)
{
	return larger(0, price_scalar(r, "gpu.concurrent.hop_idle") -
	                         price_scalar(r, "gpu.concurrent.dependent_idle"));
}

const struct block_tariff blocks_cuda_full = {.gemm = price_gemm,
        .syrk = price_syrk,
        .trsm = price_trsm,
        .trsm_guard = price_trsm_guard,
        .gemv = price_gemv,
        .trtri = price_trtri,
        .laswp = laswp,
        .integers = integers,
        .potrf_block = price_potrf_block,
        .panel_geqrf = price_panel_geqrf,
        .explicit_v = copy,
        .larft = price_larft,
        .transpose = copy,
        .copy = copy,
        .fill = fill,
        .to_host = to_host,
        .to_device = to_device,
        .host_getrf = host_getrf,
        .host_geqrf = host_geqrf,
        .host_potrf = host_potrf,
        .event = event,
        .hop = hop};
