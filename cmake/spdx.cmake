# A list of the software in a program or under it (SPDX 2.3, tag-value), written when CMake configures. Its time is
# SOURCE_DATE_EPOCH, if that is set. Libraries are packages of Debian with their licenses, "package:license"; one that is
# not installed has no version.
set(SPDX "")

# spdx_package(NAME VERSION LICENSE RELATION): a package of the document, and what the program has to do with it
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

# spdx_libraries(PROGRAM RELATION LIBRARY...): the program is linked to the libraries.
function(spdx_libraries PROGRAM RELATION)
  foreach(LIBRARY ${ARGN})
    string(REGEX REPLACE ":.*" "" NAME ${LIBRARY})
    string(REGEX REPLACE "^[^:]*:" "" LICENSE ${LIBRARY})
    execute_process(COMMAND dpkg-query -W -f "\${Version}" ${NAME} OUTPUT_VARIABLE VERSION ERROR_QUIET)
    spdx_package(${NAME} "${VERSION}" "${LICENSE}" "SPDXRef-${PROGRAM} ${RELATION}")
  endforeach()
  set(SPDX "${SPDX}" PARENT_SCOPE)
endfunction()

# spdx_install_licenses(FOLDER LIBRARY...): their texts are installed, a file for each package.
function(spdx_install_licenses FOLDER)
  foreach(LIBRARY ${ARGN})
    string(REGEX REPLACE ":.*" "" NAME ${LIBRARY})
    install(FILES /usr/share/doc/${NAME}/copyright DESTINATION ${FOLDER} RENAME ${NAME} OPTIONAL)
  endforeach()
endfunction()

# spdx_write(PROGRAM KIND): PROGRAM.spdx in the build's folder.
function(spdx_write PROGRAM KIND)
  string(TIMESTAMP CREATED "%Y-%m-%dT%H:%M:%SZ" UTC)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${PROGRAM}.spdx @ONLY CONTENT "SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: @PROGRAM@-@PROJECT_VERSION@-@KIND@
DocumentNamespace: urn:dragoman:@PROJECT_VERSION@:@KIND@
Creator: Organization: The Dragoman authors
Created: @CREATED@
@SPDX@")
endfunction()
