/* SPDX-License-Identifier: MIT */
/* The work of a kernel from ncu's counters, and what follows from them, by files that are made up.
 */
#include "tests/tap.h"

#include "factor/programs/kernel_counters.h"

#include <stdlib.h>
#include <unistd.h>

/* A launch of 1000 blocks of 256 threads. NULL: a counter that the file has not. */
struct file {
	const char *dram_read, *dram_written, *sectors_read, *sectors_written, *l2_size,
	        *instructions;
};

static struct kernel_work work_of(struct file f)
{
	char path[] = "/tmp/counters.XXXXXX";
	const int handle = mkstemp(path);
	FILE *file = fdopen(handle, "w");
	struct kernel_counters counters;
	struct kernel_work work = {0};
	struct fault fault;

	fprintf(file,
	        "\"ID\",\"launch__grid_size\",\"launch__block_size\","
	        "\"launch__registers_per_thread\",\"dram__bytes_read.sum\","
	        "\"dram__bytes_write.sum\",\"%s\",\"%s\",\"%s\",\"%s\"\n"
	        "\"\",\"\",\"\",\"\",\"byte\",\"byte\",\"sector\",\"sector\",\"\",\"inst\"\n"
	        "\"0\",\"1,000\",\"256\",\"32\",\"%s\",\"%s\",\"%s\",\"%s\",\"%s\",\"%s\"\n",
	        f.sectors_read ? "lts__t_sectors_srcunit_tex_op_read.sum" : "other",
	        f.sectors_written ? "lts__t_sectors_srcunit_tex_op_write.sum" : "another",
	        f.l2_size ? "device__attribute_l2_cache_size" : "third",
	        f.instructions ? "smsp__inst_executed.sum" : "fourth", f.dram_read, f.dram_written,
	        f.sectors_read ? f.sectors_read : "0", f.sectors_written ? f.sectors_written : "0",
	        f.l2_size ? f.l2_size : "0", f.instructions ? f.instructions : "0");
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
	struct kernel_work w = work_of((struct file){"8192000", "0", "256000", "0", NULL, NULL});
	is_real(w.in_flight, 32, 1e-9, "a thread has no more under way than it reads in all");
	is_real(w.link[LINK_DRAM], 1, 1e-9, "and waits for it once");
	ok(w.link[LINK_L2] == 0, "not for L2");
	w = work_of((struct file){"81920000", "0", "5120000", "0", NULL, NULL});
	is_real(w.in_flight, 64, 1e-9, "640 bytes a thread: 64 at once");
	is_real(w.link[LINK_DRAM], 5, 1e-9, "half of them from DRAM: five waits");
	is_real(w.link[LINK_L2], 5, 1e-9, "and five for L2");
	w = work_of((struct file){"8192000", "0", NULL, NULL, NULL, NULL});
	ok(w.in_flight == 0 && w.link[LINK_DRAM] == 0,
	        "nothing is concluded without counters of L2");
}

static void test_alone(void)
{
	struct kernel_work w = work_of((struct file){"8192000", "0", "256000", "0", NULL, NULL});
	ok(w.pattern == PATTERN_CONTIGUOUS, "all that DRAM read was asked for: contiguous");
	w = work_of((struct file){"16384000", "0", "256000", "0", NULL, NULL});
	ok(w.pattern == PATTERN_RANDOM && w.step == 32, "twice as much: each sector was alone");
	is_real(w.patterned, 1, 1e-9, "all of them");
	is_real(w.dram.read, 8192000, 1e-9, "and what was asked for is to be moved");
	w = work_of((struct file){"12288000", "8192000", "256000", "256000", NULL, NULL});
	is_real(w.patterned, 0.25, 1e-9, "half of the sectors read, and none of those written");
}

static void test_kept(void)
{
	struct kernel_work w =
	        work_of((struct file){"0", "6000000", "0", "256000", "1,000,000", NULL});
	is_real(w.dram.written, 7e6, 1e-9, "L2's lines at the end go to DRAM, too");
	is_real(w.l2.written, 8192000 - 7e6, 1e-9, "the rest was written again in L2");
	w = work_of((struct file){"0", "8000000", "0", "256000", "1,000,000", NULL});
	is_real(w.dram.written, 8192000, 1e-9, "no more than was written");
	w = work_of((struct file){"0", "0", "0", "256000", "10,000,000", NULL});
	ok(w.dram.written == 0, "what L2 holds stays there");
	w = work_of((struct file){"0", "6000000", "0", "256000", NULL, NULL});
	is_real(w.dram.written, 6e6, 1e-9, "a file that does not tell L2's size: as counted");
}

int main(void)
{
	test_waits();
	test_alone();
	test_kept();
	is_real(work_of((struct file){"0", "0", NULL, NULL, NULL, "5,000"}).instructions, 5000,
	        1e-9, "instructions of all kinds");
	return finish();
}
