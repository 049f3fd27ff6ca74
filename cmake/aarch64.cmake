# Builds for 64-bit ARM on another processor (preset static-aarch64), with Debian's cross compiler and the libraries of
# `scripts/static_libraries aarch64`. What the build runs of its own programs runs in QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)

get_filename_component(LIBRARIES ${CMAKE_CURRENT_LIST_DIR}/../build/static_libraries-aarch64 ABSOLUTE)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${LIBRARIES}/debian ${LIBRARIES} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${LIBRARIES}/debian/usr/lib/aarch64-linux-gnu/pkgconfig:${LIBRARIES}/debian/usr/share/pkgconfig)
include_directories(SYSTEM ${LIBRARIES}/debian/usr/include ${LIBRARIES}/debian/usr/include/aarch64-linux-gnu)
link_directories(${LIBRARIES}/debian/usr/lib/aarch64-linux-gnu)
