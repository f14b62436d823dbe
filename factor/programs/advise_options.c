/* SPDX-License-Identifier: MIT */
/* Which options belong to which question of `advise`. */
#include "advise.h"

enum {
	MATRIX = ASK_PANEL | ASK_UPDATE | ASK_OPERATIONS,
	PLACED = ASK_PANEL | ASK_UPDATE | ASK_OPERATION(WAY_GETRF) | ASK_OPERATION(WAY_GEQRF) |
	         ASK_OPERATION(WAY_POTRF)
};

static const struct cli_use uses[] = {{"m", MATRIX, "operations, panel and update"},
        {"n", MATRIX & ~ASK_PANEL, "operations and update"}, {"nb", ASK_PANEL, "panel"},
        {"k", ASK_UPDATE | ASK_OPERATION(WAY_GEMM), "gemm and update"}, {"p", ASK_UPDATE, "update"},
        {"q", ASK_UPDATE, "update"}, {"change", ASK_UPDATE, "update"},
        {"transposed", ASK_OPERATION(WAY_GEMV), "gemv"},
        {"precision", MATRIX, "operations, panel and update"},
        {"from", PLACED, "factorizations, panels and updates"}, {"file", ASK_KERNEL, "kernel"},
        {"ncu", ASK_KERNEL, "kernel"}};

void advise_check_options(unsigned question, const char *name)
{
	struct kernel_texts texts;
	struct cli_option kernel[KERNEL_KEYS];
	char asked[64];

	snprintf(asked, sizeof asked, "advise %s", name);
	cli_refuse_sms(true);
	cli_check_uses(uses, ARRAY_LEN(uses), question, asked);
	kernel_options(kernel, &texts);
	for (size_t i = 0; i < KERNEL_KEYS; i++)
		cli_check_uses(&(struct cli_use){kernel[i].name, ASK_KERNEL, "kernel"}, 1, question,
		        asked);
}
