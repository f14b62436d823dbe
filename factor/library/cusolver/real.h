/* SPDX-License-Identifier: MIT */
/* NVIDIA's cuSOLVER, to which calls are passed on. */
#pragma once

/* Its function of that name. Never NULL: where cuSOLVER or the function is missing, a sentence says
 * it, and the returned function returns CUSOLVER_STATUS_INTERNAL_ERROR. */
void *real_function(const char *name);

/* The call `name(...)` of cuSOLVER; the name may be a macro. */
#define REAL_CALL(name, ...) REAL_CALL_OF(name, __VA_ARGS__)
#define REAL_CALL_OF(name, ...) ((__typeof__(&name))real_function(#name))(__VA_ARGS__)
