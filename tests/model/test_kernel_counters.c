/* SPDX-License-Identifier: MIT */
/* The work of a kernel from ncu's counters, and what follows from them, by files that are made up.
 */
#include "tests/tap.h"

#include "factor/programs/kernel_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A launch of 1000 blocks of 256 threads. NULL: a counter that the file has not. */
struct file {
	const char *dram_read, *dram_written, *sectors_read, *sectors_written, *l2_size,
	        *instructions, *shared, *wavefronts, *arrived;
};

/* Of the last file. */
static struct kernel_counters counters;

static struct kernel_work work_of(struct file f)
{
	const struct column {
		const char *name, *unit, *value;
	} column[] = {{"ID", "", "0"}, {"launch__grid_size", "", "1,000"},
	        {"launch__block_size", "", "256"}, {"launch__registers_per_thread", "", "32"},
	        {"dram__bytes_read.sum", "byte", f.dram_read},
	        {"dram__bytes_write.sum", "byte", f.dram_written},
	        {"lts__t_sectors_srcunit_tex_op_read.sum", "sector", f.sectors_read},
	        {"lts__t_sectors_srcunit_tex_op_write.sum", "sector", f.sectors_written},
	        {"device__attribute_l2_cache_size", "", f.l2_size},
	        {"smsp__inst_executed.sum", "inst", f.instructions},
	        {"launch__shared_mem_per_block_static", "byte/block", f.shared},
	        {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", f.wavefronts},
	        {"l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld.sum", "sector", f.arrived}};
	char path[] = "/tmp/counters.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct kernel_work work = {0};
	struct fault fault;

	for (int line = 0; line < 3; line++)
		for (size_t c = 0; c < ARRAY_LEN(column); c++) {
			const struct column *x = &column[c];
			if (x->value)
				fprintf(file, "%s\"%s\"",
				        c      ? ","
				        : line ? "\n"
				               : "",
				        line == 0   ? x->name
				        : line == 1 ? x->unit
				                    : x->value);
		}
	fputc('\n', file);
	fclose(file);
	if (kernel_counters_read(path, true, &counters, &fault))
		work = counters.work[0];
	else
		diag("%s", fault.text);
	free(counters.work);
	unlink(path);
	return work;
}

static void test_waits(void)
{
	/* 256,000 threads read 8,192,000 bytes: a sector each */
	struct kernel_work w = work_of((struct file){.dram_read = "8192000",
	        .dram_written = "0",
	        .sectors_read = "256000",
	        .sectors_written = "0"});
	is_real(w.in_flight, 32, 1e-9, "a thread has no more under way than it reads in all");
	is_real(w.link[LINK_DRAM], 1, 1e-9, "and waits for it once");
	ok(w.link[LINK_L2] == 0, "not for L2");
	w = work_of((struct file){.dram_read = "81920000",
	        .dram_written = "0",
	        .sectors_read = "5120000",
	        .sectors_written = "0"});
	is_real(w.in_flight, 64, 1e-9, "640 bytes a thread: 64 at once");
	is_real(w.link[LINK_DRAM], 5, 1e-9, "half of them from DRAM: five waits");
	is_real(w.link[LINK_L2], 5, 1e-9, "and five for L2");
	ok(w.apart == 0, "nobody waits for threads that share nothing");
	w = work_of((struct file){.dram_read = "81920000",
	        .dram_written = "0",
	        .sectors_read = "5120000",
	        .shared = "1024",
	        .wavefronts = "8000"});
	is_real(w.apart, 0.1, 1e-9, "a block that shares memory computes after its first loads");
	w = work_of((struct file){.dram_read = "8192000", .dram_written = "0"});
	ok(w.in_flight == 0 && w.link[LINK_DRAM] == 0,
	        "nothing is concluded without counters of L2");
}

static void test_alone(void)
{
	struct kernel_work w = work_of((struct file){.dram_read = "8192000",
	        .dram_written = "0",
	        .sectors_read = "256000",
	        .sectors_written = "0"});
	ok(w.pattern == PATTERN_CONTIGUOUS, "all that DRAM read was asked for: contiguous");
	w = work_of((struct file){.dram_read = "16384000",
	        .dram_written = "0",
	        .sectors_read = "256000",
	        .sectors_written = "0"});
	ok(w.pattern == PATTERN_RANDOM && w.step == 32, "twice as much: each sector was alone");
	is_real(w.patterned, 1, 1e-9, "all of them");
	is_real(counters.asked.read, 256000 * 32., 1e-9, "multiprocessors asked L2 for them");
	is_real(w.dram.read, 8192000, 1e-9, "and what was asked for is to be moved");
	w = work_of((struct file){.dram_read = "12288000",
	        .dram_written = "8192000",
	        .sectors_read = "256000",
	        .sectors_written = "256000"});
	is_real(w.patterned, 0.25, 1e-9, "half of the sectors read, and none of those written");
	w = work_of((struct file){.dram_read = "0",
	        .dram_written = "0",
	        .sectors_read = "256000",
	        .sectors_written = "0",
	        .arrived = "512000"});
	is_real(counters.asked.read, 512000 * 32., 1e-9, "L2 saw a request of two as one");
	is_real(w.l2.read, 256000 * 32., 1e-9, "and gave its bytes once");
	ok(!strstr(counters.lacking, "L1"), "a file without that counter lacks nothing");
}

static void test_kept(void)
{
	struct kernel_work w = work_of((struct file){.dram_read = "0",
	        .dram_written = "6000000",
	        .sectors_read = "0",
	        .sectors_written = "256000",
	        .l2_size = "1,000,000"});
	is_real(w.dram.written, 7e6, 1e-9, "L2's lines at the end go to DRAM, too");
	is_real(w.l2.written, 8192000 - 7e6, 1e-9, "the rest was written again in L2");
	w = work_of((struct file){.dram_read = "0",
	        .dram_written = "8000000",
	        .sectors_read = "0",
	        .sectors_written = "256000",
	        .l2_size = "1,000,000"});
	is_real(w.dram.written, 8192000, 1e-9, "no more than was written");
	w = work_of((struct file){.dram_read = "0",
	        .dram_written = "0",
	        .sectors_read = "0",
	        .sectors_written = "256000",
	        .l2_size = "10,000,000"});
	ok(w.dram.written == 0, "what L2 holds stays there");
	w = work_of((struct file){.dram_read = "0",
	        .dram_written = "6000000",
	        .sectors_read = "0",
	        .sectors_written = "256000"});
	is_real(w.dram.written, 6e6, 1e-9, "a file that does not tell L2's size: as counted");
}

int main(void)
{
	test_waits();
	test_alone();
	test_kept();
	is_real(work_of((struct file){
	                        .dram_read = "0", .dram_written = "0", .instructions = "5,000"})
	                .instructions,
	        5000, 1e-9, "instructions of all kinds");
	return finish();
}
