/* SPDX-License-Identifier: MIT */
/* Ranks of an MPI program without a GPU: executor memory is host memory. Only programs that call
 * this need MPI. */
#pragma once

#include "comm.h"

#include <mpi.h>

/* A communicator of its own for the ranks of `world`: every rank calls this. MPI must be
 * initialized; destroy before MPI_Finalize. seconds: longest wait without progress; longer than the
 * longest step of one rank. NULL with a fault on failure. */
struct comm *comm_mpi_new(MPI_Comm world, double seconds, struct fault *fault);
