/* SPDX-License-Identifier: MIT */
/* Options that do not belong to the question are refused. */
#include "cli_uses.h"

#include "cli.h"
#include "msg.h"

#include <string.h>

static const char *given[64];
static size_t given_count;

void cli_given_start(void)
{
	given_count = 0;
}

void cli_given_note(const char *name)
{
	if (!cli_given(name) && given_count < ARRAY_LEN(given))
		given[given_count++] = name;
}

bool cli_given(const char *name)
{
	for (size_t i = 0; i < given_count; i++)
		if (strcmp(given[i], name) == 0)
			return true;
	return false;
}

void cli_check_uses(
        const struct cli_use *use, size_t count, unsigned question, const char *question_name)
{
	for (size_t i = 0; i < count; i++)
		if (!(use[i].questions & question) && cli_given(use[i].option))
			msg_die(EXIT_BAD_USAGE, "--%s is for %s: leave it out of %s", use[i].option,
			        use[i].what, question_name);
}

void cli_refuse_sms(bool what_ifs)
{
	if (cli_given("sms"))
		msg_die(EXIT_BAD_USAGE,
		        "--sms is for measuring: ask a machine such as nvidia-h200-sms-16%s",
		        what_ifs ? ", or --set gpu.sm.count=16" : "");
}
