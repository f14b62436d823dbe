/* SPDX-License-Identifier: MIT */
/* What a query of a workspace promised never grows: a program may keep the workspace of its first
 * query. */
#include "tests/tap.h"

#include "factor/library/cusolver/promises.c"

enum { OTHERS = 200000 };

int main(void)
{
	ok(promise_bytes(SINGLE, 5, 4, 5) == -1, "sizes that no query had");
	promise_note(SINGLE, 5, 4, 5, 100);
	ok(promise_bytes(SINGLE, 5, 4, 5) == 100, "sizes of a query");
	ok(promise_bytes(DOUBLE, 5, 4, 5) == -1, "in the other precision there was none");
	promise_note(SINGLE, 5, 4, 5, 60);
	promise_note(SINGLE, 5, 4, 5, 1000);
	ok(promise_bytes(SINGLE, 5, 4, 5) == 60, "the smallest answer counts");

	bool same = true, known = true;
	for (int i = 1; i <= OTHERS; i++)
		promise_note(DOUBLE, i, i, i, i);
	for (int i = 1; i <= OTHERS; i++) {
		const int64_t bytes = promise_bytes(DOUBLE, i, i, i);
		promise_note(DOUBLE, i, i, i, 2 * (int64_t)i);
		same = same && (bytes == -1 || bytes == i) &&
		       promise_bytes(DOUBLE, i, i, i) == bytes;
		known = known && (i > 1000 || bytes == i);
	}
	ok(same && known,
	        "among many sizes those of the first queries keep theirs, and none grows");
	ok(promise_bytes(SINGLE, 5, 4, 5) == 60, "others push none out");
	return finish();
}
