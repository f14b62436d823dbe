/* SPDX-License-Identifier: MIT */
/* Made-up machines for tests of the host_chase probe's fit, their curves, and comparisons of fitted
 * rows. */
#pragma once

#include "tests/fit_test.h"

static const char *const columns[] = {"bytes", "nodes", "stride", "node"};
static const double kink_step = 0.3; /* of a load */
static const double line_bytes = 64, small_page = 4096, huge_page = 2 << 20;

struct made_up {
	double seconds;                        /* of the first cache; the rest in proportion */
	double l1, l2, l3;                     /* bytes */
	double tlb1, tlb2, tlb1_huge, far_way; /* entries; seconds of the far node in addition */
	bool huge;
	bool small_below; /* the hypervisor's pages: the TLBs of small ones show in huge ones */
	double kink;      /* bytes, where a load begins to take a little longer; 0: nowhere */
	double noise;     /* of each process's values, a part of them */
	double l4;        /* bytes; 0: none */
	double largest;   /* bytes of the longest chain */
	double stated[4]; /* of each cache, bytes; 0: nothing */
};
static const struct made_up usual = {.seconds = 1.25e-9,
        .l1 = 48 << 10,
        .l2 = 2 << 20,
        .l3 = 32 << 20,
        .tlb1 = 96,
        .tlb2 = 2048,
        .tlb1_huge = 32,
        .far_way = 60e-9,
        .huge = true,
        .largest = 512 << 20,
        .stated = {48 << 10, 2 << 20, 32 << 20}};

/* Of independent uniform accesses. */
static inline double miss(double size, double set)
{
	return set > size ? 1 - size / set : 0;
}

static inline double chain(const struct made_up *m, double bytes, double far_way)
{
	const double last = m->l4 > 0 ? m->l4 : m->l3;

	return m->seconds * (1 + 2.2 * miss(m->l1, bytes) + 12 * miss(m->l2, bytes) +
	                            20 * miss(m->l3, bytes) + 50 * miss(last, bytes)) +
	       far_way * miss(last, bytes);
}

static inline double pages(const struct made_up *m, double n)
{
	return m->seconds * (1.5 * miss(m->tlb1, n) + 7 * miss(m->tlb2, n));
}

/* What a set of so many bytes has besides its caches. */
static inline double besides(const struct made_up *m, double bytes)
{
	return (m->small_below ? pages(m, bytes / small_page) : 0) +
	       (m->kink > 0 ? kink_step * m->seconds * miss(m->kink, bytes) : 0);
}

static double noise; /* of each process's values, a part of them; 0: they agree within a percent */

static inline double any(double low, double high)
{
	static uint64_t state = 1;

	return low * pow(high / low, random_unit(&state));
}

/* By three processes. */
PRINTF_LIKE(3, 4) static void add(struct table *curve, double seconds, const char *format, ...)
{
	char point[64];
	va_list args;

	va_start(args, format);
	vsnprintf(point, sizeof point, format, args);
	va_end(args);
	for (int process = 0; process < FIT_PROCESSES; process++) {
		const double off =
		        noise > 0 ? noise * log(any(1, M_E * M_E) / M_E) : 0.001 * (process - 1);
		add_process(curve, point, process, seconds * (1 + off), fmax(0.001, noise), 4e9);
	}
}

static inline void add_pages(struct table *curve, const struct made_up *m)
{
	for (double n = 8; n <= 16384; n = ceil(n * 1.19)) {
		const double lines = chain(m, n * line_bytes, 0);
		const double huge =
		        m->small_below ? pages(m, n) : m->seconds * 1.5 * miss(m->tlb1_huge, n);
		add(curve, lines, "packed[nodes=%.0f,stride=%.0f]", n, line_bytes);
		add(curve, lines + pages(m, n), "pages_small[nodes=%.0f,stride=%.0f]", n,
		        small_page);
		if (m->huge && n <= 300)
			add(curve, lines + huge, "pages_huge[nodes=%.0f,stride=%.0f]", n,
			        huge_page);
	}
}

static inline struct table *make(const struct made_up *m)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	noise = m->noise;
	for (size_t i = 0; i < ARRAY_LEN(m->stated); i++) {
		char key[] = "stated_l1";
		key[sizeof key - 2] = (char)('1' + i);
		if (m->stated[i] > 0)
			table_meta_set(curve, key, "%.0f", m->stated[i]);
	}
	for (double bytes = 4096; bytes <= m->largest; bytes = ceil(bytes / 64 * 1.19) * 64)
		if (m->huge)
			add(curve, chain(m, bytes, 0) + besides(m, bytes), "chain_huge[bytes=%.0f]",
			        bytes);
	for (double bytes = 4096; bytes <= m->largest; bytes *= m->huge ? M_SQRT2 : 1.19) {
		const double whole = 64 * round(bytes / 64);
		struct made_up small = *m;
		small.small_below = true;
		if (!m->huge || bytes <= 128 << 20)
			add(curve, chain(m, whole, 0) + besides(&small, whole),
			        "chain_small[bytes=%.0f]", whole);
	}
	for (int node = 0; node < 2; node++)
		add(curve, chain(m, m->largest, node * m->far_way) + besides(m, m->largest),
		        "chain_node[bytes=%.0f,node=%d]", m->largest, node);
	for (double apart = 0; apart <= 256; apart = apart > 0 ? 2 * apart : 16)
		add(curve, m->seconds * (apart < line_bytes ? 2.1 : 3.2), "line[stride=%.0f]",
		        apart);
	add_pages(curve, m);
	return curve;
}

static inline struct profile *fit(const struct made_up *m)
{
	return profile_of(host_chase_fit, make(m));
}

/* A row that is expected: within `within` of its value, its interval around that but for a percent.
 * within < 0: the row is absent. */
struct near {
	const char *name;
	double want, within;
};

static inline void is_near(const struct profile *profile, const struct near *near, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct parameter *row = row_of(profile, near[i].name);
		if (near[i].within < 0) {
			is_status(profile, near[i].name, "absent");
			continue;
		}
		is_real(row->estimate.value, near[i].want, near[i].within, near[i].name);
		ok(row->estimate.low <= 1.01 * near[i].want &&
		                row->estimate.high >= 0.99 * near[i].want,
		        "%s: its interval holds the value", near[i].name);
	}
}

static inline void holds(const struct profile *profile, const char *name, double value)
{
	const struct estimate e = row_of(profile, name)->estimate;

	ok(e.low < value && e.high > value, "%s: its interval holds the value", name);
}

/* Fits a machine and compares the rows; the profile is the caller's. */
static inline struct profile *fit_near(
        const struct made_up *m, const struct near *near, size_t count)
{
	struct profile *profile = fit(m);

	is_near(profile, near, count);
	return profile;
}
#define FIT_NEAR(m, ...)                                                                           \
	fit_near(m, (const struct near[]){__VA_ARGS__},                                            \
	        ARRAY_LEN(((const struct near[]){__VA_ARGS__})))
