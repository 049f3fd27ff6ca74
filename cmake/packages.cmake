# cpack: dragoman-lite as a package of Debian (preset deb) or as a tarball (preset static), with a list of the software in it
# or under it (SPDX 2.3, tag-value). scripts/release makes both. Times in them are SOURCE_DATE_EPOCH, if it is set.
set(MAINTAINER "The Dragoman authors <maintainers@dragoman.invalid>")
set(DOCUMENTATION ${CMAKE_INSTALL_DATADIR}/doc/dragoman-lite)

# ---- the libraries, as "package of Debian:license" --------------------------------------------------------

set(LIBRARIES
  libc6-dev:LGPL-2.1-or-later
  "libstdc++-${CMAKE_CXX_COMPILER_VERSION}:GPL-3.0-or-later WITH GCC-exception-3.1"
  libboost-dev:BSL-1.0 libcld2-dev:Apache-2.0 libcli11-dev:BSD-3-Clause libexpat1-dev:MIT libfmt-dev:MIT libgumbo-dev:Apache-2.0
  libjemalloc-dev:BSD-2-Clause libmd4c-dev:MIT libre2-dev:BSD-3-Clause
  libsentencepiece-dev:Apache-2.0 libspdlog-dev:MIT libtomlplusplus-dev:MIT libutf8proc-dev:MIT
  libxxhash-dev:BSD-2-Clause libyaml-cpp-dev:MIT libzip-dev:BSD-3-Clause libzstd-dev:BSD-3-Clause
  "nettle-dev:LGPL-3.0-or-later OR GPL-2.0-or-later" nlohmann-json3-dev:MIT zlib1g-dev:Zlib)
list(TRANSFORM LIBRARIES REPLACE "^(libstdc[+][+]-[0-9]+)[.0-9]*" "\\1-dev")

# spdx_package(NAME VERSION LICENSE RELATION): a package of the document, and what the program has to do with it
set(SPDX "")
function(spdx_package NAME VERSION LICENSE RELATION)
  string(REPLACE "+" "p" ID SPDXRef-${NAME})
  string(APPEND SPDX "
PackageName: ${NAME}
SPDXID: ${ID}
PackageVersion: ${VERSION}
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseConcluded: NOASSERTION
PackageLicenseDeclared: ${LICENSE}
PackageCopyrightText: NOASSERTION
Relationship: ${RELATION} ${ID}
")
  set(SPDX "${SPDX}" PARENT_SCOPE)
endfunction()

spdx_package(dragoman-lite ${PROJECT_VERSION} MIT "SPDXRef-DOCUMENT DESCRIBES")
foreach(LIBRARY ${LIBRARIES})
  string(REGEX REPLACE ":.*" "" NAME ${LIBRARY})
  string(REGEX REPLACE "^[^:]*:" "" LICENSE ${LIBRARY})
  execute_process(COMMAND dpkg-query -W -f "\${Version}" ${NAME} OUTPUT_VARIABLE VERSION ERROR_QUIET)
  if(DRAGOMAN_STATIC)
    set(RELATION STATIC_LINK)
    install(FILES /usr/share/doc/${NAME}/copyright DESTINATION ${DOCUMENTATION}/licenses RENAME ${NAME} OPTIONAL)
  else()
    set(RELATION DEPENDS_ON)
  endif()
  spdx_package(${NAME} "${VERSION}" "${LICENSE}" "SPDXRef-dragoman-lite ${RELATION}")
endforeach()
string(TIMESTAMP CREATED "%Y-%m-%dT%H:%M:%SZ" UTC)
set(KIND deb)
if(DRAGOMAN_STATIC)
  set(KIND static)
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/dragoman-lite.spdx @ONLY CONTENT "SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: dragoman-lite-@PROJECT_VERSION@-@KIND@
DocumentNamespace: urn:dragoman:@PROJECT_VERSION@:@KIND@
Creator: Organization: The Dragoman authors
Created: @CREATED@
@SPDX@")

# ---- the packages -----------------------------------------------------------------------------------------

set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME dragoman-lite)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_THREADS 1)

if(DRAGOMAN_STATIC)
  set(CPACK_GENERATOR TGZ)  # bare systems have gzip, but no xz
  set(CPACK_PACKAGE_FILE_NAME dragoman-lite-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
else()
  string(TIMESTAMP CHANGED "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/changelog CONTENT "dragoman-lite (${PROJECT_VERSION}) unstable; urgency=medium

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
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "translates with Transformer models on the CPU
Dragoman trains the Transformer of \"Attention Is All You Need\" on two text
files and translates with it. This program is the part that translates: lines,
documents and requests over HTTP (the interfaces of LibreTranslate and DeepL).
It also scores translations (BLEU, chrF, TER), and reads and writes models of
CTranslate2, Hugging Face and Marian. It needs neither LibTorch nor a GPU.")
endif()
include(CPack)
