/* SPDX-License-Identifier: MIT */
/* Prices of the cuda executor's operations at level 2. A kernel costs its start-to-start time in a
 * stream plus what its traffic adds to the smallest kernel of the measured copy curve (L2 and DRAM
 * alike, as panels run warm). With w the word, in bytes: swap 4n sectors, scal and scale 2mw, ger
 * (2mn + m + n)w, fused update 2(m-j-1)(n-j-1)w + 2(m-j)w, resident panel: load + store of mnw,
 * then per column exchange + search reduction + columns j and j+1 + what of the remaining update
 * the exchange does not hide. An operation that waits for the host costs its measured round trip,
 * of which the queueing can hide behind earlier work. */
#include "price.h"

enum {
	SECTOR_BYTES = 32,    /* what a strided access moves through L2 */
	REDUCE_THREADS = 256, /* a block of the fused kernels */
	PIVOT_CHAIN = 3 /* dependent L2 accesses of the fused pivot kernel: partial results, rows,
	                   store */
};

static double larger(double a, double b)
{
	return b > a ? b : a;
}

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static double copy_traffic(struct price_reader *r, double bytes)
{
	return price_traffic(r, "gpu.copy.time", bytes);
}

/* A measured round trip whose first part, the call itself, is over when the stream begins. */
static struct price round_trip(double enqueue, double total, enum term term)
{
	struct price price = {.enqueue = enqueue < total ? enqueue : total, .wait = true};

	price.term[term] = total - price.enqueue;
	return price;
}

static struct price transfer(struct price_reader *r, const char *curve, double bytes)
{
	return round_trip(price_scalar(r, "gpu.copy.enqueue"), price_at(r, curve, "bytes", bytes),
	        TERM_TRANSFER);
}

static struct price kernel(struct price_reader *r)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.launch.enqueue"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.dependent")};
}

static struct price iamax(struct price_reader *r, struct matrix x)
{
	struct price price = round_trip(price_scalar(r, "gpu.cublas.level1"),
	        price_at(r, "gpu.cublas.iamax", "bytes", word_of(x)), TERM_SYNC);

	price.term[TERM_MEMORY] = price_traffic(r, "gpu.read.time", price_bytes(x));
	return price;
}

static struct price iamax_host(struct price_reader *r, struct matrix x)
{
	double bytes = price_bytes(x);
	struct price price = transfer(r, "link.d2h.pinned.time", bytes);

	price.term[TERM_HOST] =
	        bytes / price_at2(r, "host.memory.read", "threads", 1, "bytes", bytes);
	return price;
}

static struct price get(struct price_reader *r, struct matrix element)
{
	return transfer(r, "link.d2h.pinned.time", word_of(element));
}

static struct price swap(struct price_reader *r, struct matrix row)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.cublas.swap"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.cublas.swap_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 4 * (double)row.n * SECTOR_BYTES)};
}

static struct price scal(struct price_reader *r, struct matrix x)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.cublas.level1"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.cublas.level1_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 2 * price_bytes(x))};
}

static struct price scale_by(struct price_reader *r, struct matrix x)
{
	struct price price = kernel(r);

	price.term[TERM_MEMORY] = copy_traffic(r, 2 * price_bytes(x));
	return price;
}

static struct price ger(struct price_reader *r, struct matrix a)
{
	double vectors = (double)(a.m + a.n) * word_of(a);

	return (struct price){.enqueue = price_scalar(r, "gpu.cublas.level2"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.cublas.level2_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 2 * price_bytes(a) + vectors)};
}

static struct price zero_pivot(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", (double)a.n * word_of(a));
}

/* Host time from the last kernel's end to the return of a synchronization: what a launch with one
 * leaves of its round trip. */
static double sync(struct price_reader *r)
{
	return larger(0, price_scalar(r, "gpu.launch.sync") -
	                         price_scalar(r, "gpu.launch.enqueue") -
	                         price_scalar(r, "gpu.launch.dependent"));
}

/* The copy of a round trip without the host's call and wait. */
static struct price store_pivots(struct price_reader *r, int64_t n)
{
	double bytes = (double)(n + 1) * sizeof(int), call = price_scalar(r, "gpu.copy.enqueue");
	double whole = price_at(r, "link.h2d.pinned.time", "bytes", bytes);

	return (struct price){
	        .enqueue = call, .term[TERM_TRANSFER] = larger(0, whole - call - sync(r))};
}

static struct price fused_begin(struct price_reader *r, struct matrix a)
{
	struct price price = kernel(r);

	price.term[TERM_MEMORY] = price_traffic(r, "gpu.read.time", (double)a.m * word_of(a));
	price.term[TERM_BARRIER] = price_at(r, "gpu.reduce.max", "threads", REDUCE_THREADS);
	return price;
}

static struct price fused_pivot(struct price_reader *r, struct matrix a, int64_t j)
{
	(void)a;
	(void)j;
	struct price price = kernel(r);

	price.term[TERM_BARRIER] = PIVOT_CHAIN * price_scalar(r, "gpu.l2.latency") +
	                           price_at(r, "gpu.reduce.max", "threads", REDUCE_THREADS);
	return price;
}

static struct price fused_update(struct price_reader *r, struct matrix a, int64_t j)
{
	double rows = (double)(a.m - j - 1), columns = (double)(a.n - j - 1);
	struct price price = kernel(r);

	price.term[TERM_MEMORY] =
	        copy_traffic(r, (2 * rows * columns + 2 * (rows + 1)) * word_of(a));
	price.term[TERM_BARRIER] = price_at(r, "gpu.reduce.max", "threads", REDUCE_THREADS);
	return price;
}

/* The exchange comes before every column; the update of columns j+2 and up runs while the next one
 * is under way. */
static struct price resident_panel(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	double words = (double)a.n * word_of(a) / 4;
	double exchange = price_at2(r, "gpu.exchange.grid", "blocks", g->blocks, "words", words);
	double reduce = price_at(r, "gpu.reduce.max", "threads", g->threads);
	double rate = price_at(r, "gpu.shared.update", "threads", g->threads);
	double column =
	        2 * (double)(a.m < g->rows_per_block ? a.m : g->rows_per_block) * word_of(a);
	struct price price = {.enqueue = price_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = price_traffic(r, "gpu.read.time", price_bytes(a)) +
	                             price_traffic(r, "gpu.write.time", price_bytes(a))};

	for (int64_t j = 0; j < a.n; j++) {
		double ahead = j + 1 < a.n ? 2 * column : column;
		double rest = j + 2 < a.n ? column * (double)(a.n - j - 2) : 0;
		price.term[TERM_BARRIER] += exchange + reduce;
		price.term[TERM_ARITHMETIC] += ahead / rate + larger(0, rest / rate - exchange);
	}
	return price;
}

static struct price copy_out(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", price_bytes(a));
}

static struct price copy_in(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.h2d.pinned.time", price_bytes(a));
}

/* The pivots' copy to the device is queued as well; it is done long before the panel's. */
static struct price host_getrf(struct price_reader *r, struct matrix a)
{
	return (struct price){.wait = true,
	        .term[TERM_HOST] = price_host_getrf(r, a) + price_scalar(r, "gpu.copy.enqueue")};
}

const struct tariff tariff_cuda_full = {iamax, iamax_host, get, swap, scal, scale_by, ger,
        zero_pivot, store_pivots, fused_begin, fused_pivot, fused_update, resident_panel, copy_out,
        host_getrf, copy_in, sync};
