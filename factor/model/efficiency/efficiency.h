/* SPDX-License-Identifier: MIT */
/* time = start + hardware(work) / efficiency. A surface of the profile times kernels or library
 * calls. The hardware law says what their work (surface_work.h) takes on the machine; the
 * rest is the kernel's efficiency. Efficiencies stay when the machine changes: by a what-if, or
 * because they were measured on another machine. docs/model.md, "Efficiency". */
#pragma once

#include "factor/model/cost/cost.h"

/* A row's parts in seconds, start + body = time; hardware is the law's for the body. NaN where the
 * row has no known work or the profile lacks a hardware row of the law. */
struct efficiency {
	double start, body, hardware;
	double efficiency; /* hardware / body */
};

/* Asks for rows of one profile, which it neither changes nor marks as read. */
struct efficiency_reader;
struct efficiency_reader *efficiency_reader_new(const struct profile *profile);
void efficiency_reader_free(struct efficiency_reader *reader);

/* Whether the row is a timing of a surface: of a kernel or a call, by shape. */
bool efficiency_has(const struct parameter *row);
struct efficiency efficiency_of(struct efficiency_reader *reader, const struct parameter *row);

/* Writes start, hardware seconds and spread into the rows of surfaces, so that a cost_reader with
 * this hardware interpolates efficiencies instead of times. After all changes of the profile. */
void efficiency_prepare(struct profile *profile);
struct cost_hardware *efficiency_hardware_new(const struct profile *profile);
void efficiency_hardware_free(struct cost_hardware *hardware);

/* profile_set and profile_scale (lib/profile/profile.h), after which surfaces follow the hardware
 * rows that the law reads for their works. Rows that the what-if names stay as it says. */
bool what_if_set(struct profile *profile, const char *assignment, struct fault *fault);
bool what_if_scale(struct profile *profile, const char *assignment, struct fault *fault);

/* A view of a prepared profile after such a what-if, itself prepared; only surfaces that have been
 * read follow. efficiency_follow moves one surface of a view whose hardware rows have moved; the
 * law reads that view. */
struct profile efficiency_scaled(const struct profile *profile, const char *pattern, double factor);
void efficiency_follow(struct cost_hardware *law, struct profile *view, const char *surface);

/* Whether the profile has a timing of a surface. */
bool efficiency_any(const struct profile *profile);

/* Replaces the surfaces of a profile by those of another machine's, at the efficiencies there. Rows
 * of which one machine lacks the hardware are left out. Returns the number of rows taken. */
size_t efficiency_take(struct profile *profile, const struct profile *other);

/* The same with all efficiencies 1, calls of a library as launches, and the pipes' highest rates:
 * what the hardware says. */
size_t efficiency_by_hardware(struct profile *profile, const struct profile *other);
