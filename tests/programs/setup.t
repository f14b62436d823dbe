#!/bin/sh
# SPDX-License-Identifier: MIT
# make setup installs only what users need, make setup-develop the developers' tools, with a stand-in for apt.

. "$(dirname "$0")/../tap.sh"

script=$root/scripts/setup.sh
make_scratch
[ -e /usr/share/i18n/locales/de_DE ] || skip_all "the definitions of locales are missing"
mkdir "$scratch/bin"
for tool in sh env mktemp rm tail cat chmod grep; do
	ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
program() { # name, what it does
	printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
	chmod +x "$scratch/bin/$1"
}
program id 'echo 0'
program localedef :
# Installs a program of the package's name, but for packages in ABSENT.
# shellcheck disable=SC2016 # for the stand-in
program apt-get 'echo "$*" >>"$LOG"
case "$*" in *install*) ;; *) exit 0 ;; esac
for package; do
	case " $ABSENT " in *" $package "*) exit 100 ;; esac
done
for package; do
	case $package in
	man-db) package=man ;;
	musl-tools) package=musl-gcc ;;
	gcc-aarch64-linux-gnu) package=aarch64-linux-gnu-gcc ;;
	qemu-user) package=qemu-aarch64 ;;
	libopenmpi-dev) package=mpicc ;;
	openmpi-bin) package=mpirun ;;
	-* | install | Dpkg*) continue ;;
	esac
	printf "#!/bin/sh\n" >"$BIN/$package"
	chmod +x "$BIN/$package"
done'
setup() { # ABSENT, options
	absent=$1
	shift
	rm -f "$scratch/log"
	env PATH="$scratch/bin" BIN="$scratch/bin" LOG="$scratch/log" ABSENT="$absent" CUDA_HOME=/nowhere sh "$script" "$@"
}

expect 2 usage 'an unknown option is refused' setup '' --all
expect 1 'could not install: clang ' 'a needed tool that is not to be had' setup 'clang gcc-11' --develop
rm -f "$scratch/bin/clang"
expect 0 'without .*python3-jsonschema gcc-11 libqrupdate-dev (' 'optional tools may be missing, and are named' setup 'gcc-11 libqrupdate-dev' --develop
expect 0 . 'clang came' ls "$scratch/bin/clang"
expect 0 . 'so did musl' ls "$scratch/bin/musl-gcc"
expect 0 . 'and the emulator' ls "$scratch/bin/qemu-aarch64"
rm "$scratch/bin/mpicc" "$scratch/bin/mpirun"
setup '' >/dev/null 2>&1
expect 0 'libhwloc-dev' 'users get the libraries' cat "$scratch/log"
for tool in clang cmake man-db zsh shellcheck gawk busybox gfortran musl gcc-11 qrupdate aarch64 qemu openmpi; do
	report "$(grep -q "$tool" "$scratch/log" && echo 'not ok' || echo ok)" "users do not get $tool"
done
program nvidia-smi 'echo "GPU 0: one"; echo "GPU 1: another"'
setup '' >/dev/null 2>&1
expect 0 'libopenmpi-dev openmpi-bin' 'users with two GPUs get MPI' cat "$scratch/log"
echo "1..$number"
