# cpack: dragoman or dragoman-lite as a package of Debian (presets deb-dragoman, deb), or dragoman-lite as a tarball (preset
# static), with a list of the software in it or under it (spdx.cmake). scripts/release makes all. Times in them are
# SOURCE_DATE_EPOCH, if it is set.
include(cmake/spdx.cmake)
set(PROGRAM dragoman-lite)
if(DRAGOMAN_TORCH)
  set(PROGRAM dragoman)
endif()
set(MAINTAINER "The Dragoman authors <maintainers@dragoman.invalid>")
set(DOCUMENTATION ${CMAKE_INSTALL_DATADIR}/doc/${PROGRAM})

# ---- the libraries, as "package of Debian:license" --------------------------------------------------------

set(LIBRARIES
  libc6-dev:LGPL-2.1-or-later
  "libstdc++-${CMAKE_CXX_COMPILER_VERSION}:GPL-3.0-or-later WITH GCC-exception-3.1"
  libboost-dev:BSL-1.0 libcld2-dev:Apache-2.0 libcli11-dev:BSD-3-Clause libexpat1-dev:MIT libfmt-dev:MIT libgumbo-dev:Apache-2.0
  libjemalloc-dev:BSD-2-Clause liblzma-dev:0BSD libmd4c-dev:MIT libre2-dev:BSD-3-Clause
  libsentencepiece-dev:Apache-2.0 libspdlog-dev:MIT libtomlplusplus-dev:MIT libutf8proc-dev:MIT
  libxxhash-dev:BSD-2-Clause libyaml-cpp-dev:MIT libzip-dev:BSD-3-Clause libzstd-dev:BSD-3-Clause
  "nettle-dev:LGPL-3.0-or-later OR GPL-2.0-or-later" nlohmann-json3-dev:MIT zlib1g-dev:Zlib)
if(DRAGOMAN_TORCH)
  list(APPEND LIBRARIES libgloo-dev:BSD-3-Clause)
endif()
list(TRANSFORM LIBRARIES REPLACE "^(libstdc[+][+]-[0-9]+)[.0-9]*" "\\1-dev")

spdx_package(${PROGRAM} ${PROJECT_VERSION} MIT "SPDXRef-DOCUMENT DESCRIBES")
if(DRAGOMAN_STATIC)
  spdx_libraries(${PROGRAM} STATIC_LINK ${LIBRARIES})
  spdx_install_licenses(${DOCUMENTATION}/licenses ${LIBRARIES})
else()
  spdx_libraries(${PROGRAM} DEPENDS_ON ${LIBRARIES})
endif()
if(DRAGOMAN_TORCH)
  spdx_package(libtorch ${LIBTORCH_VERSION} BSD-3-Clause "SPDXRef-${PROGRAM} CONTAINS")
  file(GLOB TORCH_LICENSE ${LIBTORCH_INCLUDE_DIR}/../../torch-*.dist-info/licenses/LICENSE)
  install(FILES ${TORCH_LICENSE} DESTINATION ${DOCUMENTATION} RENAME copyright.libtorch)
endif()
if(DRAGOMAN_STATIC)
  spdx_write(${PROGRAM} static)
else()
  spdx_write(${PROGRAM} deb)
endif()

# ---- the packages -----------------------------------------------------------------------------------------

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # cpack does not build the benchmarks
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME ${PROGRAM})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_THREADS 1)

if(DRAGOMAN_STATIC)
  set(CPACK_GENERATOR TGZ)  # bare systems have gzip, but no xz
  set(CPACK_PACKAGE_FILE_NAME dragoman-lite-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
else()
  string(TIMESTAMP CHANGED "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/changelog CONTENT "${PROGRAM} (${PROJECT_VERSION}) unstable; urgency=medium

  * CHANGELOG.md of the sources has the changes.

 -- ${MAINTAINER}  ${CHANGED}
")
  install(CODE "execute_process(COMMAND gzip -9 -n -f -k \"${CMAKE_BINARY_DIR}/changelog\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${DOCUMENTATION})

  set(CPACK_GENERATOR DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${MAINTAINER})
  set(CPACK_DEBIAN_PACKAGE_SECTION text)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libmecab2, mecab-ipadic-utf8")
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  if(DRAGOMAN_TORCH)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LIBTORCH_INCLUDE_DIR}/../lib)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/overrides CONTENT
"# LibTorch is what its authors built, byte for byte. Its libtorch.so is there only to name the other libraries.
dragoman: library-not-linked-against-libc [usr/lib/*/dragoman/libtorch.so]
dragoman: unstripped-binary-or-object [usr/lib/*/dragoman/lib*.so]
")
    install(FILES ${CMAKE_BINARY_DIR}/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME dragoman)
    set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "trains Transformer models for translation, and translates
Dragoman trains the Transformer of \"Attention Is All You Need\" on two text
files, scores it, translates lines and documents with it, and serves it over
HTTP (the interfaces of LibreTranslate and DeepL). This program brings its
LibTorch for the CPU along, in a folder of its own. dragoman-lite is enough for
all but training.")
  else()
    set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "translates with Transformer models on the CPU
Dragoman trains the Transformer of \"Attention Is All You Need\" on two text
files and translates with it. This program is the part that translates: lines,
documents and requests over HTTP (the interfaces of LibreTranslate and DeepL).
It also scores translations (BLEU, chrF, TER), and reads and writes models of
CTranslate2, Hugging Face and Marian. It needs neither LibTorch nor a GPU.")
  endif()
endif()
include(CPack)
