# Cross-compilation for aarch64 by Debian's gcc-aarch64-linux-gnu, with the libraries that
# cmake/aarch64_root.sh unpacked into WEFT_AARCH64_ROOT; what is built runs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT "${WEFT_AARCH64_ROOT}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
find_program(WEFT_QEMU_AARCH64 qemu-aarch64 REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR "${WEFT_QEMU_AARCH64};-L;${WEFT_AARCH64_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WEFT_AARCH64_ROOT)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${WEFT_AARCH64_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
    "${WEFT_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${WEFT_AARCH64_ROOT}/usr/share/pkgconfig")
