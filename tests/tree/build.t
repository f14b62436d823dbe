#!/bin/sh
# SPDX-License-Identifier: MIT
# What the Makefile would run (make -n) for GPUs, toolkits, flags and folders that are not at hand. Stand-ins take the places of nvcc
# and nvidia-smi.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
make_scratch
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS LDFLAGS GPU_ARCHS CUDA_HOME WERROR OUTPUT MACHINE

mkdir "$scratch/bin"
cat >"$scratch/bin/nvcc" <<'S'
#!/bin/sh
case $1 in
--version) echo "Cuda compilation tools, release $STANDIN_CUDA, V$STANDIN_CUDA.88" ;;
--list-gpu-arch) printf 'compute_%s\n' 75 80 86 87 88 89 90 100 103 110 120 121 ;;
esac
S
cat >"$scratch/bin/nvidia-smi" <<'S'
#!/bin/sh
echo "$STANDIN_GPUS" | tr ' ' '\n'
S
chmod +x "$scratch/bin/nvcc" "$scratch/bin/nvidia-smi"

# would CUDA GPUS ARGUMENTS...: the commands of a build with that toolkit (none: without), where those GPUs are
would() {
	cuda=$1 gpus=$2
	shift 2
	env PATH="$scratch/bin:$PATH" STANDIN_CUDA="$cuda" STANDIN_GPUS="$gpus" make -n V=1 BUILD="$scratch/build" \
		CUDA_HOME="$(test "$cuda" = none && echo /none || echo "$scratch")" "$@"
}

# compiled_for GPUS ARCHITECTURES WHAT [VARIABLE=VALUE]: the code that nvcc would make
compiled_for() {
	would 13.0 "$1" "$scratch/build/lib/device/words.cu.o" "${4-V=1}" |
		grep '/nvcc .* -c ' | grep -o 'code=[a-z0-9_]*' | sed 's/.*=//' | tr '\n' ' ' >"$scratch/code"
	test "$(cat "$scratch/code")" = "$2 "
	result $? "$3: $(cat "$scratch/code")"
}

compiled_for '' 'sm_90a' 'no GPU'
compiled_for '9.0' 'sm_90a' 'an H100'
compiled_for '9.0 7.5' 'sm_75 sm_90a' 'two unlike GPUs'
compiled_for '8.6' 'sm_86 compute_86' 'an older GPU, with PTX'
compiled_for '6.1 9.0' 'sm_90a' 'a GPU that nvcc no longer knows beside another one'
compiled_for '6.1' 'sm_90a' 'such a GPU alone'
compiled_for '13.0' 'sm_121 compute_121' 'a GPU newer than the toolkit'
compiled_for '9.0' 'sm_75 sm_80 sm_86 sm_89 sm_90a sm_100 sm_120 compute_120' 'every generation' GPU_ARCHS=all
compiled_for 'No devices were found' 'sm_90a' 'nvidia-smi without a GPU'
expect 0 'no code for GPUs of architecture 61: built for 90a' 'which GPU is left out is said' would 13.0 '6.1 9.0' all
expect 0 'CUDA 12.0 in .* is too old (12.4 is needed)' 'a toolkit that is too old is said' would 12.0 '9.0' all
expect 0 'no CUDA Toolkit found' 'so is no toolkit' would none '' all

# ---- flags of a packager
would none '' CFLAGS='-O3 -march=native' LDFLAGS=-fsanitize=address "$scratch/build/bin/fit" >"$scratch/plain"
expect 0 . 'CFLAGS reach the compiler' grep -e ' -O3 -march=native .*-c programs/fit.c' "$scratch/plain"
expect 0 . 'CFLAGS and LDFLAGS reach the link' grep -e '-O3 -march=native.* -fsanitize=address.* -o .*/bin/fit' "$scratch/plain"
! grep -qe -Werror "$scratch/plain"
result $? 'warnings are no errors'
expect 0 -Werror 'but for those who ask' would none '' WERROR=1 "$scratch/build/programs/fit.o"

# ---- compilers that are compared: those of compilers.mk that are here and can compile the source
printf '#!/bin/sh\nexec gcc $(echo "$@" | sed "s/-fp-model=[a-z]*//")\n' >"$scratch/bin/icx"
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/nvc"
chmod +x "$scratch/bin/icx" "$scratch/bin/nvc"
would none '' "$scratch/build/parts.a" >"$scratch/plain"
expect 0 . 'a compiler of the list makes its objects' grep -e '^icx .*-DPLAIN=gram_plain_icx .* -c factor/papers/gram_plain.c' "$scratch/plain"
expect 0 . 'and is known to the programs' grep -e '-DC_COMPILERS=.*C_COMPILER(icx)' "$scratch/plain"
! grep -q -e '^nvc\|COMPILER(nvc)' "$scratch/plain"
result $? 'one that cannot compile them is left out'
rm "$scratch/bin/icx" "$scratch/bin/nvc"

# ---- folders
for target in probe fit validate report plots bench record; do
	would none '' OUTPUT='a b' MACHINE='c d' $target | grep -v -e ' -c ' -e ' -o ' | grep -e '[ac] [bd]' >"$scratch/uses"
	test -s "$scratch/uses" && ! sed -e 's/"a b"//g' -e 's/"c d"//g' "$scratch/uses" | grep -q -e 'a b' -e 'c d'
	result $? "OUTPUT with a space: make $target"
done

# ---- several goals: what each waits for
waits() { # GOAL FOR WHAT GOALS...
	goal=$1 for=$2 what=$3
	shift 3
	make -npq BUILD="$scratch/build" CUDA_HOME=/none NVCC= "$@" 2>/dev/null | grep -qe "^$goal:.*|.* $for\( \|\$\)"
	result $? "$what"
}
waits record measure-all 'what was measured is recorded then' record measure-all
waits bench probe 'measurements do not overlap' bench probe
waits probe test-programs 'nothing is compiled beside them' probe test
waits "$scratch/build/flags" setup 'nothing is compiled before setup has ended' setup probe
waits "$scratch/build/flags" clean 'nothing is built before clean has ended' clean all
waits all clean 'nor a goal reached' clean all

# ---- the release
release=$(sh scripts/version.sh --release)
abi=$(sh scripts/version.sh --abi)
for name in "CITATION.cff:^version: $release\$" "CHANGELOG.md:^## $release" "debian/changelog:^fathom ($release-" "debian/control:^Package: libfathom$abi\$"; do
	head -n 60 "${name%%:*}" | grep -qe "${name#*:}"
	result $? "${name%%:*} is of release $release"
done
expect 0 . 'so are the files of the library package' ls "debian/libfathom$abi.install"
echo "1..$number"
