#!/bin/sh
# Processes of this machine let heat spread through a 3-D field that is divided among them; the
# result is compared with that of one process. Makes the field, and builds halo3d if need be.
#
# usage: run.sh [--shape XxYxZ] [options of halo3d]      (run.sh --help lists them)
#
# Environment: BUILD   the build directory (build, if it has halo3d; else build-halo3d is made)
#              PYTHON  a python3 with numpy
#              OUTPUT  the directory for field.npy and out.npy (a temporary one, removed afterwards)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

find_python() {
    for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
        if "$candidate" -c 'import numpy' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    fail "needs a python3 with numpy (Debian: apt-get install python3-numpy)"
}

# Sets halo3d, to a program that is up to date.
find_halo3d() {
    build=${BUILD:-$root/build}
    if [ -z "${BUILD:-}" ] && [ ! -e "$build/examples/halo3d/halo3d" ]; then
        build=$root/build-halo3d
    fi
    if [ ! -e "$build/build.ninja" ]; then
        echo "building in $build ..."
        meson setup "$build" "$root" -Dtool=disabled -Ducx=enabled -Dexamples=enabled >&2 ||
            fail "cannot set up $build (Debian: apt-get install g++ meson pkg-config" \
                "python3-jinja2 libucx-dev libsodium-dev)"
    fi
    meson compile -C "$build" halo3d >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        fail "cannot build halo3d in $build"
    }
    halo3d=$build/examples/halo3d/halo3d
}

shape=256x256x256
if [ "${1:-}" = --shape ]; then
    [ $# -ge 2 ] || fail "--shape needs a value, such as 256x256x256"
    shape=$2
    shift 2
fi

python=$(find_python) || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
find_halo3d

case " $* " in
*" --help "*)
    "$halo3d" --help
    exit
    ;;
esac

output=${OUTPUT:-$work}
mkdir -p "$output"
echo "making a field of $shape cells: $output/field.npy"
"$python" "$here/make_field.py" --shape "$shape" "$output/field.npy"
"$halo3d" "$@" "$output/field.npy" "$output/out.npy"
