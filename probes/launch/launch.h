/* SPDX-License-Identifier: MIT */
/* The launch probe: its fit and its kernels. Every launcher but launch_flag runs one kernel whose
 * first thread adds one to *word, so that the count of launches that ran, in order, is there to be
 * checked. Errors stay in cudaGetLastError: a check after every launch would be part of what is
 * timed. */
#ifndef FATHOM_LAUNCH_H
#define FATHOM_LAUNCH_H

#include "lib/base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Curve to gpu.launch.*, gpu.event.*, gpu.flag.*, gpu.copy.enqueue and gpu.cublas.*. */
struct table;
struct profile;
void launch_fit(const struct table *curve, struct profile *profile);

enum { LAUNCH_THREADS = 256 }; /* of every launch here */

/* stream is a cudaStream_t. */
void launch_null(unsigned *word, int blocks, void *stream);
void launch_cooperative(unsigned *word, int blocks, void *stream);

/* The argument block has the given size: 8, 256, 1024 or 4000 bytes. */
void launch_argument(unsigned *word, int bytes, void *stream);

/* With programmatic stream serialization: compute capability 9.0 and newer. */
void launch_overlapped(unsigned *word, void *stream);

/* Every thread of the kernel first follows a chain of that many accesses (at most LAUNCH_THREADS)
 * through nodes that other blocks of the launch before wrote, then writes its own node again. nodes
 * holds blocks * LAUNCH_THREADS words, written first by launch_access_start. */
void launch_access(unsigned *word, unsigned *nodes, int blocks, int accesses, void *stream);
void launch_access_start(unsigned *nodes, int blocks, void *stream);

/* Blocks of which a multiprocessor has one at a time; each waits for an access to L2 and for its
 * threads. */
enum { LAUNCH_TURNS = 16 };
void launch_turns(unsigned *word, int blocks, int threads, void *stream);

/* Stores value to *flag, which is host memory. */
void launch_flag(volatile unsigned *flag, unsigned value, void *stream);

/* The kernel of launch_null as the runtime knows it; it takes (unsigned *word). */
const void *launch_null_symbol(void);

#ifdef __cplusplus
}
#endif
#endif
