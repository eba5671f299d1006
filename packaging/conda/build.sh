#!/usr/bin/env bash
# Run by conda build (meta.yaml).
set -euo pipefail
# Debian's name for HDF5 without MPI, by which CMake and weft.pc ask for it.
mkdir -p "$PREFIX/lib/pkgconfig"
cat >"$PREFIX/lib/pkgconfig/hdf5-serial.pc" <<PC
prefix=\${pcfiledir}/../..
Name: hdf5-serial
Description: HDF5 without MPI
Version: 1
Cflags: -I\${prefix}/include
Libs: -L\${prefix}/lib -lhdf5
PC
export PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig:$PREFIX/share/pkgconfig
read -ra arguments <<<"${CMAKE_ARGS:-}"
cmake -G Ninja -S . -B build-conda "${arguments[@]}" -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF \
    "-DCMAKE_INSTALL_PREFIX=$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_PREFIX_PATH=$PREFIX"
ninja -C build-conda programs
cmake --install build-conda
WEFT_BUILD=/nonexistent "$PYTHON" -m pip install --no-deps --no-build-isolation ./python # libweft.so is in lib
