/* SPDX-License-Identifier: MIT */
/* The launch probe: its fit and its kernels. Every launcher but launch_flag runs one kernel whose
 * first thread adds one to *word; the sum proves that all launches ran, in order. Errors stay in
 * cudaGetLastError, as a check after every launch would be timed, too. stream is a cudaStream_t. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

enum { LAUNCH_THREADS = 256 }; /* of every launch */

void launch_null(unsigned *word, int blocks, void *stream);
void launch_cooperative(unsigned *word, int blocks, void *stream);

/* bytes of arguments: 8, 256, 1024 or 4000. */
void launch_argument(unsigned *word, int bytes, void *stream);

/* With programmatic stream serialization, from compute capability 9.0 on. */
void launch_overlapped(unsigned *word, void *stream);

/* Every thread follows a chain of `accesses` (at most LAUNCH_THREADS) accesses through nodes that
 * other blocks of the previous launch wrote, then writes its own node. nodes holds blocks *
 * LAUNCH_THREADS words, written first by launch_access_start. */
void launch_access(unsigned *word, unsigned *nodes, int blocks, int accesses, void *stream);
void launch_access_start(unsigned *nodes, int blocks, void *stream);

/* A multiprocessor holds one of these blocks at a time; each waits for an access to L2 and for its
 * threads. */
enum { LAUNCH_TURNS = 16 };
void launch_turns(unsigned *word, int blocks, int threads, void *stream);

/* Stores value to *flag, which is host memory. */
void launch_flag(volatile unsigned *flag, unsigned value, void *stream);

/* The kernel of launch_null for the runtime; its argument is (unsigned *word). */
const void *launch_null_symbol(void);

C_END
