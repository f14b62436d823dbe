#!/bin/sh
# SPDX-License-Identifier: MIT
# Factorizations over 1, 2 and 4 ranks of the host, started by mpirun: their results, and their end when a rank dies or hangs.
# Skipped without MPI. With FATHOM_TEST_RANKS set (as in CI) that is a failure.
. "$(dirname "$0")/../tap.sh"
program=${bin%/bin}/tests/distributed/rank_checks
make_scratch

if [ ! -x "$program" ] || ! command -v mpirun >/dev/null; then
	[ -n "${FATHOM_TEST_RANKS-}" ] || skip_all 'no MPI (mpicc, mpirun), or built without it'
	report "not ok" 'MPI is here (mpicc, mpirun): FATHOM_TEST_RANKS asks for it'
	echo 1..1
	exit
fi

# Open MPI refuses root, and more ranks than cores, and looks for ssh, unless told otherwise; containers may forbid reads of another
# process's memory. Other MPIs do not read these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated OMPI_MCA_rmaps_base_oversubscribe=1 \
	OMPI_MCA_btl_vader_single_copy_mechanism=none PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OPENBLAS_NUM_THREADS=1

# ranks COUNT OPTIONS...: the program's output, within the minutes that a busy machine needs
ranks() {
	timeout 300 mpirun -n "$@" </dev/null
}

for count in 1 2 4; do
	ranks $count "$program" >"$scratch/tap" 2>"$scratch/said"
	status=$?
	grep -q '^all checks were made' "$scratch/tap" && [ $status -eq 0 ]
	result $? "$count ranks: all checks were made and passed (status $status)"
	cat "$scratch/said" >&2
	while IFS= read -r line; do
		case $line in
		'grid '*) grid=${line#grid } ;;
		'ok '*) report ok "$grid: ${line#*- }" ;;
		'not ok '*) report "not ok" "$grid: ${line#*- }" ;;
		esac
	done <"$scratch/tap"
done

# ends MODE ROWS WHAT: all processes of a grid end soon, with an error. Their messages are in $scratch/messages, mpirun's in
# $scratch/said.
ends() {
	start=$(date +%s)
	: >"$scratch/messages"
	ranks 4 "$program" "$1" "$2" "$scratch/messages" >"$scratch/said" 2>&1
	status=$?
	[ $status -ne 0 ] && [ $status -ne 124 ] && [ $(($(date +%s) - start)) -lt 30 ]
	result $? "$3: every process ends within 30 s (status $status)"
}
ends --die 2 'a rank of 2 x 2 that was killed'
grep -q 'rank 3 .*signal 9' "$scratch/said"
result $? 'a rank of 2 x 2 that was killed: the message names it'
ends --hang 1 'a rank that hangs'
[ "$(grep -c 'no progress for' "$scratch/messages")" -eq 1 ] &&
	grep -q 'rank 0 of 4: panel 0, broadcast by rank 3: no progress for 2 s' "$scratch/messages"
status=$?
[ $status -eq 0 ] || sed 's/^/# /' "$scratch/messages" "$scratch/said" >&2
result $status 'a rank that hangs: one message, with the rank and the operation'
echo "1..$number"
