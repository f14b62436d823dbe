/* SPDX-License-Identifier: MIT */
/* The host_chase probe's fit on machines drawn at random: no value that it calls ok is wrong. */
#include "host_chase_machine.h"

static struct made_up draw_machine(void)
{
	struct made_up m = usual;

	m.seconds = any(0.8e-9, 2e-9);
	m.l1 = 1024 * round(any(16, 128));
	m.l2 = 1024 * round(any(256, 4096));
	m.l3 = 1024 * round(any(8192, 131072));
	m.tlb1 = round(any(32, 160));
	m.tlb2 = round(any(512, 4096));
	m.tlb1_huge = round(any(16, 128));
	m.huge = any(1, 16) > 2;
	m.small_below = any(1, 16) < 2;
	m.kink = any(1, 16) < 2 ? m.l1 * any(1.5, 4) : 0;
	m.noise = any(0.0005, 0.02);
	m.stated[0] = m.l1;
	m.stated[1] = m.l2;
	m.stated[2] = any(1, 16) < 4 ? m.l3 * any(2.5, 12) : m.l3;
	m.l4 = m.l3 == m.stated[2] && m.l3 < 32 << 20 && any(1, 16) < 4 ? 5 * m.l3 : 0;
	m.stated[3] = any(1, 16) < 4 ? m.l4 : 0;
	return m;
}

/* A row that is ok, or bounded, and does not hold its true value. */
static bool is_wrong(const struct profile *profile, const char *name, double least, double most)
{
	const struct parameter *row = row_of(profile, name);

	if (strcmp(row->status, "ok") != 0 && strcmp(row->status, "bounded") != 0)
		return false;
	if (!(row->estimate.low > 1.03 * most) && !(row->estimate.high < least / 1.03))
		return false;
	diag("%s is %g .. %g, was made %g .. %g", name, row->estimate.low, row->estimate.high,
	        least, most);
	return true;
}

/* How many of a machine's values are wrong; those that are resolved are counted. */
static int count_wrong(const struct made_up *m, int *resolved)
{
	struct profile *profile = fit(m);
	const double huge = m->small_below ? m->tlb1 : m->tlb1_huge;
	const double l2 = 3.2 * m->seconds, l3 = 15.2 * m->seconds, l4 = 35.2 * m->seconds,
	             dram = 85.2 * m->seconds;
	/* a load on a side of the kink */
	const double more = m->kink > 0 ? kink_step * m->seconds : 0;
	const double first = 1.5 * m->seconds, second = 7 * m->seconds;
	const struct {
		const char *name;
		double least, most;
	} all[] = {{"host.l1.size", m->l1, m->l1}, {"host.l2.size", m->l2, m->l2},
	        {"host.l3.size", m->l3, m->l3}, {"host.l4.size", m->l4, m->l4},
	        {"host.l4.latency", l4, l4 + more}, {"host.l1.latency", m->seconds, m->seconds},
	        {"host.l2.latency", l2, l2 + more}, {"host.l3.latency", l3, l3 + more},
	        {"host.dram.latency[node=0]", dram, dram + more},
	        {"host.tlb.penalty[level=1,page=4096]", first, first},
	        {"host.tlb.penalty[level=2,page=4096]", second, second},
	        {"host.tlb.entries[level=1,page=4096]", m->tlb1, m->tlb1},
	        {"host.tlb.entries[level=2,page=4096]", m->tlb2, m->tlb2},
	        {"host.tlb.entries[level=1,page=2097152]", huge, huge}};
	int wrong = !(m->stated[3] > 0) &&
	            strcmp(row_of(profile, "host.l4.size")->status, "absent") != 0;

	for (size_t k = 0; k < ARRAY_LEN(all); k++) {
		*resolved += strcmp(row_of(profile, all[k].name)->status, "ok") == 0;
		wrong += is_wrong(profile, all[k].name, all[k].least, all[k].most);
	}
	profile_free(profile);
	return wrong;
}

static void test_random(void)
{
	const int machines = test_full() ? 60 : 15;
	int all = 0, resolved = 0;

	for (int i = 0; i < machines; i++) {
		const struct made_up m = draw_machine();
		const int wrong = count_wrong(&m, &resolved);
		all += wrong;
		if (wrong)
			diag("machine %d", i);
	}
	ok(all == 0 && resolved > 10 * machines,
	        "%d machines drawn at random: %d values resolved, %d wrong", machines, resolved,
	        all);
}

int main(void)
{
	test_random();
	return finish();
}
