#!/bin/sh
# SPDX-License-Identifier: MIT
# The front command ./fathom, on stand-in programs; installing it; recording a run.

. "$(dirname "$0")/../tap.sh"

unset FATHOM_HOME
real=$bin
case $real in /*) ;; *) real=$PWD/$real ;; esac
make_scratch

# ---- a checkout with stand-ins for three built programs
FATHOM_BIN=$scratch/bin
export FATHOM_BIN
mkdir "$FATHOM_BIN"
for name in launch transfer advise; do
	cat >"$FATHOM_BIN/$name" <<-PROGRAM
		#!/bin/sh
		if [ "\${1-}" = --help ]; then
			printf 'Usage: fathom-$name [OPTION]...\nThe line about $name.\n\nOptions:\n'
		else
			echo "$name in \$(pwd) home \$FATHOM_HOME with \$# words: \$*"
		fi
		[ "\${1-}" != --fail ] || exit 77
	PROGRAM
	chmod +x "$FATHOM_BIN/$name"
done
front=$root/fathom
cd "$scratch" || exit 1

expect 0 '^  advise *The line about advise\.$' 'alone it lists the programs, each with its own line' "$front"
expect 0 '^  advise *The line about advise\.$' 'help does the same' "$front" help
expect 0 '^  launch transfer$' '--help too, with the probes' "$front" --help
expect 0 '\( \|^\)host_rate\( \|$\)' 'probes of hardware and of libraries that a checkout could build are listed' "$front" help
for name in probe predict measure validate advise compare health report rules trace machine list; do
	expect 0 "^  $name " "$name is among them" "$front" help
done
"$front" help >"$scratch/list"
expect 0 '^[1-9][0-9]*$' 'help has at most 40 lines of at most 100 columns' \
	awk 'length > 100 { exit 1 } END { if (NR > 40) exit 1; print NR }' "$scratch/list"
expect 0 '^  predict *(not built)$' 'what is not built is listed so' "$front" help
expect 0 'with 5 words: panel --m 8192 --nb 64$' 'arguments are passed on' \
	"$front" advise panel --m 8192 --nb 64
expect 0 'with 2 words: a b  \*$' 'also those with spaces and stars' "$front" launch 'a b ' '*'
expect 0 "^launch in $scratch " 'programs run in the current folder' "$front" launch
expect 0 "home $root with" 'and are told where the checkout is' "$front" launch
expect 0 '^launch in ' 'probe NAME runs a probe' "$front" probe launch
expect 1 'probe is not built' 'probes by several names run as a set' "$front" probe launch transfer
expect 77 '^launch in ' 'the exit status is the program'\''s' "$front" launch --fail
expect 2 "no program 'lauch'; did you mean launch?" 'a misspelled name gets the near one' "$front" lauch
expect 2 "did you mean transfer?" 'so does the start of a name' "$front" transf
expect 2 "no program 'xyzzyx' (fathom help" 'a strange name gets none' "$front" xyzzyx
expect 2 "no program '--bogus'" 'an unknown option is refused' "$front" --bogus
expect 2 "no program ''" 'an empty name is refused' "$front" ''
expect 2 "no probe 'advise'" 'probe refuses what is no probe' "$front" probe advise
expect 2 "no probe 'lauch'; did you mean launch?" 'and helps with spelling' "$front" probe lauch
expect 1 'probe is not built' 'probe alone is the whole set, here not built' "$front" probe
expect 1 'predict is not built: run make' 'a program that is not built says so' "$front" predict
ln -s "$front" "$scratch/link"
expect 0 "home $root with" 'it works through a symbolic link' "$scratch/link" launch
if command -v dash >/dev/null; then
	expect 0 '^  advise *The line' 'it works under dash' dash "$front"
else
	report ok 'it works under dash # SKIP no dash here'
fi

# ---- installed
prefix=$scratch/prefix
expect 0 "^install: $prefix/bin/fathom$" 'install says where it is' \
	sh "$root/scripts/install.sh" "$prefix" "$FATHOM_BIN"/*
FRONT_BIN=$FATHOM_BIN
unset FATHOM_BIN
expect 0 '^  advise *The line about advise\.$' 'the installed command lists its programs' "$prefix/bin/fathom"
expect 0 . 'scripts that commands run came along' ls "$prefix/share/fathom/scripts/probe.sh" "$prefix/share/fathom/scripts/health.sh" "$prefix/share/fathom/scripts/validate.sh" \
	"$prefix/share/fathom/plots/report.sh"
expect 0 "home $prefix/share/fathom with" 'and tells them where the data is' "$prefix/bin/fathom" launch
expect 0 . 'data came along' ls "$prefix/share/fathom/data/papers"
expect 0 '^0$' 'everyone may read it, whatever the umask' sh -c "umask 077; sh '$root/scripts/install.sh' '$prefix' '$FRONT_BIN'/* >/dev/null
	find '$prefix' ! -perm -044 | wc -l"
expect 2 usage 'install without programs is refused' sh "$root/scripts/install.sh" "$prefix"
expect 2 usage 'install without a folder is refused' sh "$root/scripts/install.sh" ''
expect 2 usage 'uninstall without a folder is refused' sh "$root/scripts/install.sh" --remove ''
expect 0 '^  launch ' 'refusals removed nothing' "$prefix/bin/fathom"
expect 0 removed 'uninstall' sh "$root/scripts/install.sh" --remove "$prefix"
expect 0 '^0$' 'leaves no file' sh -c "find '$prefix' -type f | wc -l"
mkdir lib
touch lib/libfathom.a lib/libfathom.so lib/libfathom_cusolver.so
echo '-lcublas' >lib/libfathom.needs
expect 0 . 'install into a folder with a space and an apostrophe' env LIBRARY="$scratch/lib" \
	sh "$root/scripts/install.sh" "$scratch/it's here" "$FRONT_BIN"/*
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH="$scratch/it's here/lib/pkgconfig" pkg-config --cflags --libs fathom)
	eval "set -- $flags"
	expect 0 "^-I$scratch/it's here/include -L$scratch/it's here/lib -lfathom\$" 'pkg-config quotes it' echo "$@"
else
	report ok 'pkg-config quotes it # SKIP no pkg-config'
fi

# ---- the version
mkdir -p outer/inner
cp -R "$root/scripts" outer/inner
archived() { # the commit that git archive wrote, or what it replaces
	sed -i "s/^archived='[^']*'/archived='$1'/" outer/inner/scripts/version.sh
}
archived 0123abc
expect 0 '"[0-9.]* (0123abc)"' 'packed sources have their commit' sh outer/inner/scripts/version.sh
# shellcheck disable=SC2016 # as git archive finds it
archived '$Format:%h\$'
if command -v git >/dev/null && git -C outer init -q && git -C outer -c user.name=a -c user.email=a@b commit -q --allow-empty -m a; then
	expect 0 '"[0-9.]*"' 'inside another repository: the own version, not its commit' sh outer/inner/scripts/version.sh
	git -C outer/inner init -q && git -C outer/inner -c user.name=a -c user.email=a@b commit -q --allow-empty -m a
	expect 0 '"[0-9.]* ([0-9a-f]*)"' 'a checkout has its commit' sh outer/inner/scripts/version.sh
	commit() { # FILE: changes it
		mkdir -p "outer/inner/$(dirname "$1")"
		echo changed >>"outer/inner/$1"
		git -C outer/inner add "$1" && git -C outer/inner -c user.name=a -c user.email=a@b commit -q -m "$1"
	}
	commit lib/base/base.c
	version() {
		sh outer/inner/scripts/version.sh | grep 'return "[0-9]*[.]'
	}
	before=$(version)
	commit docs/page.md && commit lib/README.md && commit tests/test.t && echo >>outer/inner/docs/page.md
	[ "$(version)" = "$before" ]
	result $? 'documents and tests leave the version as it is'
	echo >>outer/inner/lib/base/base.c
	expect 0 '+dirty' 'a change of what measures does not' sh outer/inner/scripts/version.sh
else
	report ok 'the version # SKIP no git'
fi

# ---- recording
mkdir -p repo/scripts repo/data run
cp "$root/scripts/record.sh" repo/scripts
curve() { # file, machine
	printf '# fathom: 0.2 (a)\n# machine: %s\ncolumn\n1\n' "$2" >"run/$1"
	case $1 in
	launch* | host_rate*) sed -i '1i # probe: launch' "run/$1" ;;
	esac
}
record() {
	expect "$1" "$2" "$3" sh repo/scripts/record.sh "$4" "$5"
}
record 2 'MACHINE=name' 'record without a name is refused' run ''
record 2 'not a machine' 'so is a name with a slash' run a/b
record 2 'not a machine' 'and one that starts with a dot' run ..
record 2 'another use' 'and data/local itself' run local
record 1 'there is no nowhere' 'a run that is not there' nowhere box
for name in machine profile predictions measurements; do
	curve $name.tsv 01234567-89ab
done
record 1 'validation.tsv is missing' 'an incomplete run' run box
curve validation.tsv 01234567-89ab
record 1 "no probe's curve" 'a run without probes' run box
curve launch.tsv ffffffff-55
record 1 'of host 01234567, other files of ffffffff' 'files of two hosts' run box
curve launch.tsv 01234567-55
record 1 'of machine 01234567-89ab, other files of 01234567-55' 'files of two GPUs' run box
curve launch.tsv 01234567-89ab
curve host_rate.tsv 01234567
printf '# machine: fedcba98\n# profile_machine: 01234567-89ab\ncolumn\n1\n' >run/breakdown.tsv
cp run/breakdown.tsv run/bounds.tsv
printf '# machine: 01234567-89ab\n# profile_sha256: 00\ncolumn\n1\n' >run/decisions.tsv
record 1 'decisions.tsv is of another profile' 'what was made from another profile' run box
rm run/decisions.tsv
mkdir -p repo/data/box
echo stale >repo/data/box/stale.tsv
record 1 'not a whole run by 0.2 (a): bench.tsv is missing; update_paper.tsv is missing; .* (make measure-all' 'a run without studies' run box
for name in bench update_paper gram_host kerr breakdown_measured update; do
	curve $name.tsv 01234567-89ab
done
curve kerr.tsv 01234567-c0de # another machine of the kind
sed -i 's/0.2 (a)/0.1 (b)/' run/bench.tsv
record 1 'by 0.2 (a): bench.tsv is by 0.1 (b) (make' 'a study by another version' run box
curve bench.tsv 01234567-89ab
sed -i '1i # quick: yes' run/update.tsv
record 1 'by 0.2 (a): update.tsv is of a quick run (make' 'a quick study' run box
curve update.tsv 01234567-89ab
for name in probe validate; do
	touch run/$name.unfinished
	record 1 "the last run of $name did not end: run make $name again" "a run of $name that did not end" run box
	rm run/$name.unfinished
done
record 0 'data/box holds machine 01234567-89ab, 2 probes' 'a complete run is recorded, with a prediction made elsewhere' run box
expect 0 '^bench.tsv bounds.tsv breakdown.tsv breakdown_measured.tsv gram_host.tsv host_rate.tsv kerr.tsv launch.tsv machine.tsv measurements.tsv predictions.tsv profile.tsv update.tsv update_paper.tsv validation.tsv $' \
	'its files and nothing stale' sh -c 'LC_ALL=C ls -A repo/data/box | tr "\n" " "'
rm run/bench.tsv run/update_paper.tsv run/gram_host.tsv run/kerr.tsv run/breakdown_measured.tsv run/update.tsv
export PARTS=yes
echo stale >repo/data/box/stale.tsv
record 0 'data/box holds machine 01234567-89ab, 2 probes' 'PARTS=yes: a part is recorded' run box
expect 0 '^bench.tsv bounds.tsv breakdown.tsv breakdown_measured.tsv gram_host.tsv host_rate.tsv kerr.tsv launch.tsv machine.tsv measurements.tsv predictions.tsv profile.tsv update_paper.tsv validation.tsv $' \
	'and studies stay that it lacks' sh -c 'LC_ALL=C ls -A repo/data/box | tr "\n" " "'
rm -r repo/data/box
record 0 'data/box holds machine 01234567-89ab, 2 probes' 'or a new machine' run box
expect 0 '^bounds.tsv breakdown.tsv host_rate.tsv launch.tsv machine.tsv measurements.tsv predictions.tsv profile.tsv validation.tsv $' \
	'its files' sh -c 'LC_ALL=C ls -A repo/data/box | tr "\n" " "'
expect 0 '^box $' 'and no left-overs beside them' sh -c 'LC_ALL=C ls -A repo/data | tr "\n" " "'
export CURVES=no
record 0 'data/box holds machine' 'a run is recorded without curves' run box
expect 0 '^machine.tsv measurements.tsv predictions.tsv profile.tsv validation.tsv $' \
	'its profile and validation alone' sh -c 'LC_ALL=C ls -A repo/data/box | tr "\n" " "'
unset CURVES
{
	printf '# machine: 01234567-89ab\noperation\tlevel\n'
	printf '%s\t%d\n' getrf 2 getrf 1 getrf 0 gemv 2 gemv 1 gemv 0
} >run/errors.tsv
record 0 'data/box holds machine' 'a run with errors is recorded' run box
expect 0 '^# machine operation level getrf 2 getrf 0 gemv 2 $' 'errors of the full model, and bounds of factorizations' \
	sh -c 'cut -d: -f1 repo/data/box/errors.tsv | tr "\t\n" "  "'
rm run/errors.tsv
seeds() { # rows "seed profile model": to the run's log
	{
		printf '# machine: 01234567-89ab\nseed\tdate\tfathom\tprofile_sha256\tmodel\tcases\tmedian_abs_errors\n'
		printf '%s\tnow\tfathom\t%s\t%s\t1\tnan\n' "$@"
	} >run/seeds.tsv
}
seeds 1 a x 2 a x
record 0 'data/box holds machine' 'a run with a log of seeds is recorded' run box
seeds 2 a x 3 b x
export CURVES=no
record 0 'data/box holds machine' 'and a later run, without curves' run box
expect 0 '^1a 2a 3b $' 'whose log keeps the seeds of the earlier one' \
	sh -c 'grep "^[0-9]" repo/data/box/seeds.tsv | cut -f 1,4 | tr -d "\t" | tr "\n" " "'
rm run/seeds.tsv
record 0 'data/box holds machine' 'a run without a log is recorded' run box
expect 0 '^1a 2a 3b $' 'and keeps the log that is there' \
	sh -c 'grep "^[0-9]" repo/data/box/seeds.tsv | cut -f 1,4 | tr -d "\t" | tr "\n" " "'
CURVES=perhaps
record 2 'CURVES is yes or no' 'another word is refused' run box
unset CURVES
PARTS=some record 2 'PARTS is yes or no' 'here, too' run box
rm run/predictions.tsv run/measurements.tsv run/validation.tsv run/bounds.tsv run/breakdown.tsv
record 0 '2 probes, no predictions' 'so is one of the probes alone' run box
unset PARTS

# ---- the benchmarks, with a stand-in that prints its options and fails for those in FAILS
mkdir bench
cat >bench/measure <<'PROGRAM'
#!/bin/sh
shift 2
study=$1
shift 3 # --budget SECONDS
echo "asked $study${1:+ $*}"
set -- "$study"
case " $FAILS " in *" $1=1 "*) exit 1 ;; *" $1=77 "*) exit 77 ;; esac
PROGRAM
chmod +x bench/measure
bench() { # FAILS, BENCH_OPTIONS
	FAILS=$1 BENCH_OPTIONS=$2 sh "$root/scripts/bench.sh" bench run
}
expect 0 '^asked --bench --model-plans --largest 512$' 'bench hands its options on' bench '' '--model-plans --largest 512'
expect 0 '^asked --kerr --quick$' '--quick to all' bench '' --quick
expect 0 '^bench: at most 83 min, with --quick at most 20;' 'it says beforehand how long it takes' bench '' ''
expect 0 '^bench: [0-9]* s$' 'and then how long it took' bench '' ''
expect 1 '^asked --gram-host$' 'what fails keeps nothing from the rest' bench '--bench=1 --paper=1' ''
expect 1 'failed: factorizations, changes of a QR by blocks, for the reason above' 'and is named' bench '--bench=1 --paper=1' ''
expect 0 '^bench: not here: changes of a QR by blocks$' 'what is not possible here is no failure' bench '--paper=77' ''

# ---- all that a recorded machine has, with a stand-in for the front command, which takes TAKES seconds and fails for FAILS
mkdir -p all/scripts all/bin
cp "$root/scripts/measure_all.sh" "$root/scripts/attend.sh" all/scripts
echo 'echo "benchmarks $*"' >all/scripts/bench.sh
cat >all/fathom <<'PROGRAM'
#!/bin/sh
[ "$1 ${2-}" != 'machine --version' ] || { echo "fathom ${VERSION-0.1}" && exit; }
[ "$1" != machine ] || { printf 'gpu.visible\t%d\n' "${GPUS-1}" >"$3/machine.tsv" && exit; }
[ "$1" != "$FAILS" ] || exit 1
sleep "$TAKES"
echo "$*"
PROGRAM
chmod +x all/fathom
all() { # FAILS, TAKES
	FAILS=$1 TAKES=$2 FATHOM_BIN=all/bin sh all/scripts/measure_all.sh all/run
}
expect 1 'failed: report, for the reasons above' 'measure-all: what fails is named' all report 0
expect 0 '^measure-all: 6 steps, 5 done before' 'and tried again' all '' 0
VERSION=0.2 expect 0 '^measure-all: 6 steps, 0 done before' 'another version begins anew' all '' 0
sed -n 's/^measure-all: \([a-z0-9-]*\)$/\1/p' said | tr '\n' ' ' >order
expect 0 '^probe validate-1 validate-2 validate-3 benchmarks report $' 'in this order' cat order
GPUS=2 VERSION=0.2 expect 0 '^measure --several --output all/run$' 'several GPUs, where they are' all '' 0
MINUTES=0 VERSION=0.3 expect 1 '^measure-all: 0 minutes are over, 0 of 6 steps are done' 'it ends in time' all '' 0
MINUTES=08 VERSION=0.3 expect 0 '^report --output' 'minutes with a zero in front' all '' 0
MINUTES=soon expect 2 'whole number' 'which is a number' all '' 0

# ---- the steps of a validation, with stand-ins that print their words
mkdir steps
for name in predict measure validate trace; do
	printf '#!/bin/sh\necho "%s $*"\n' "$name" >steps/$name
	chmod +x steps/$name
done
printf '\tcuda\t\n' >run/measurements.tsv
if [ -x "$real/validate" ]; then
	validate() { FATHOM_BIN=$scratch/steps FATHOM_HOME=$root "$real/validate" --output run --seed 7 "$@"; }
	expect 0 '^predict --seed 7 --output run$' 'validate predicts' validate
	sed -e '/ s$/d' -e 's/ --.*//' said | tr '\n' ' ' >order
	expect 0 '^predict measure validate predict measure validate $' 'measures and compares, and then changes of a QR factorization' cat order
	[ ! -e run/validate.unfinished ]
	result $? 'which leaves nothing to go on with'
	expect 0 '^validate --recorded --device 0 --output run$' 'comparing what was recorded' validate
	expect 0 '^predict --quick --seed 7' '--quick makes fewer predictions' validate --quick
	grep -c -v ' s$' said >order
	expect 0 '^3$' 'and no further step' cat order
	validate --json 2>/dev/null >order
	expect 0 '^validate --recorded .*--json$' '--json: the judgement is on stdout' cat order
	expect 0 '^predict' 'what else is said is not' sh -c '! grep predict order && echo predict'
	expect 2 'goes with --recorded' '--update needs --recorded' validate --update
else
	report ok 'the steps of a validation # SKIP validate is not built'
fi

# ---- the programs that were really built each have their line in the list
if [ -d "$real" ]; then
	FATHOM_BIN=$real "$front" help >"$scratch/list"
	for program in "$real"/*; do
		name=${program##*/}
		[ ! -d "$root/probes/$name" ] && [ ! -d "$root/factor/calibration/$name" ] || continue
		expect 0 . "$name has its line" grep -e "^  $name *[A-Z].*[.?]$" "$scratch/list"
	done
fi
echo "1..$number"
