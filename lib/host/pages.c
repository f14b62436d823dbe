/* SPDX-License-Identifier: MIT */
#include "pages.h"
#include "small_file.h"
#include "lib/base/msg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

size_t pages_small(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t pages_rounded(size_t bytes)
{
	const size_t page = pages_small();

	return (bytes + page - 1) / page * page;
}

size_t pages_available(void)
{
	double kilobytes;

	return small_file_number("/proc/meminfo", "MemAvailable:", &kilobytes)
	               ? (size_t)kilobytes * 1024
	               : 0;
}

static size_t huge_page(void)
{
	double bytes;

	return small_file_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "", &bytes)
	               ? (size_t)bytes
	               : 0;
}

/* The exponent of a power of two. */
static int log2_of(size_t power)
{
	int exponent = 0;

	while (power >>= 1)
		exponent++;
	return exponent;
}

/* Pages of the pool are asked for by size: its default size need not be the transparent pages'. */
bool pages_map(struct pages *pages, size_t bytes, bool huge, struct fault *fault)
{
	enum { KIND = MAP_PRIVATE | MAP_ANONYMOUS, ACCESS = PROT_READ | PROT_WRITE };
	size_t page = huge ? huge_page() : pages_small();

	if (page == 0)
		return fault_set(fault, "this kernel has no huge pages");
	*pages = (struct pages){.bytes = (bytes + page - 1) / page * page, .page = page};
	pages->mapped = pages->bytes;
	pages->mapping = MAP_FAILED;
	if (huge)
		pages->mapping = mmap(NULL, pages->mapped, ACCESS,
		        KIND | MAP_HUGETLB | log2_of(page) << MAP_HUGE_SHIFT, -1, 0);
	pages->reserved = pages->mapping != MAP_FAILED;
	if (!pages->reserved) {
		pages->mapped += page; /* room for alignment */
		pages->mapping = mmap(NULL, pages->mapped, ACCESS, KIND | MAP_NORESERVE, -1, 0);
	}
	if (pages->mapping == MAP_FAILED)
		return fault_set(fault, "no room for %zu bytes: %s", bytes, strerror(errno));
	uintptr_t start = ((uintptr_t)pages->mapping + page - 1) / page * page;
	pages->base = (char *)start;
	if (!pages->reserved)
		madvise(pages->base, pages->bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return true;
}

void pages_unmap(struct pages *pages)
{
	if (pages->mapped)
		munmap(pages->mapping, pages->mapped);
	*pages = (struct pages){0};
}

void pages_touch(struct pages *pages, size_t bytes)
{
	const size_t step = pages_small();

	bytes = (bytes + pages->page - 1) / pages->page * pages->page;
	bytes = bytes < pages->bytes ? bytes : pages->bytes;
#ifdef MADV_POPULATE_WRITE
	if (bytes > pages->touched && madvise(pages->base + pages->touched, bytes - pages->touched,
	                                      MADV_POPULATE_WRITE) == 0)
		pages->touched = bytes;
#endif
	for (; pages->touched < bytes; pages->touched += step)
		*(volatile char *)(pages->base + pages->touched) = 1;
}

/* Bytes of the mapping around an address that transparent huge pages hold. */
static size_t huge_bytes(const void *address)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	uintptr_t first, end, at = (uintptr_t)address;
	size_t bytes = 0, kilobytes;
	bool inside = false;
	char line[512];

	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2)
			inside = at >= first && at < end;
		else if (inside && sscanf(line, "AnonHugePages: %zu", &kilobytes) == 1)
			bytes += kilobytes * 1024;
	}
	if (file)
		fclose(file);
	return bytes;
}

bool pages_verified(const struct pages *pages)
{
	bool huge = pages->page > pages_small();

	if (pages->reserved)
		return true;
	return huge ? huge_bytes(pages->base) >= pages->touched / 100 * 99
	            : huge_bytes(pages->base) == 0;
}
