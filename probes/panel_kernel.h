/* SPDX-License-Identifier: MIT */
#ifndef FATHOM_PROBE_PANEL_KERNEL_H
#define FATHOM_PROBE_PANEL_KERNEL_H

/* Curve to gpu.panel.{step,pivot}.{s,d} and gpu.panel.column.{s,d},
 * gpu.panel.twice.{s,d}. */
struct table;
struct profile;
void panel_kernel_fit(const struct table *curve, struct profile *profile);

#endif
