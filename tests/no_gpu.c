/* SPDX-License-Identifier: MIT */
/* Without the CUDA Toolkit this stands for every test whose name ends with _gpu. */
#include "tests/tap.h"

int main(void)
{
	skip_all("built without the CUDA Toolkit");
}
