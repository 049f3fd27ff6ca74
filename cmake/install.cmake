# cmake --install: a program with its manual pages and its completion in bash, zsh and fish, in the folders of the
# Filesystem Hierarchy Standard. Each program is a component: cmake --install build/release --component dragoman-lite
include(GNUInstallDirs)

set(ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
if(DRAGOMAN_DEB)
  set(ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()

function(dragoman_install PROGRAM)
  install(TARGETS ${PROGRAM} ${ARGN} RUNTIME COMPONENT ${PROGRAM})
  # The program prints its pages and scripts from its own lists of flags.
  set(PRINTED ${CMAKE_BINARY_DIR}/printed/${PROGRAM})
  install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND \"${CMAKE_COMMAND}\" -D PROGRAM=$<TARGET_FILE:${PROGRAM}> -D EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR} -D FOLDER=${PRINTED}
      -P \"${CMAKE_SOURCE_DIR}/cmake/printed.cmake\")"
    COMPONENT ${PROGRAM})
  install(DIRECTORY ${PRINTED}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT ${PROGRAM})
  install(FILES ${PRINTED}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${PROGRAM}
    COMPONENT ${PROGRAM})
  install(FILES ${PRINTED}/zsh DESTINATION ${ZSH_COMPLETIONS} RENAME _${PROGRAM} COMPONENT ${PROGRAM})
  install(FILES ${PRINTED}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME ${PROGRAM}.fish
    COMPONENT ${PROGRAM})
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${PROGRAM} RENAME copyright
    COMPONENT ${PROGRAM})
endfunction()

if(NOT DRAGOMAN_DEB OR NOT TARGET dragoman)  # which have a package each
  dragoman_install(dragoman-lite)
endif()
if(TARGET dragoman)
  # dragoman-torch and LibTorch have a folder of their own, so that no other program finds them.
  set(PRIVATE_LIBRARIES ${CMAKE_INSTALL_LIBDIR}/dragoman)
  file(RELATIVE_PATH FROM_PROGRAM /${CMAKE_INSTALL_BINDIR} /${PRIVATE_LIBRARIES})
  target_compile_definitions(dragoman PRIVATE DRAGOMAN_LIBRARIES="${FROM_PROGRAM}")
  set_target_properties(dragoman-torch PROPERTIES INSTALL_RPATH $ORIGIN)
  if(DRAGOMAN_DEB)
    # With a path for a chroot without /proc, in which the loader knows no $ORIGIN. The linker writes it: a path of the
    # folder of the build, which CMake would replace, leaves its length and the build's number in the file.
    set_target_properties(dragoman-torch PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      INSTALL_RPATH "$ORIGIN;${CMAKE_INSTALL_FULL_LIBDIR}/dragoman")
  endif()
  dragoman_install(dragoman)
  install(TARGETS dragoman-torch RUNTIME_DEPENDENCY_SET libraries_of_dragoman
    RUNTIME DESTINATION ${PRIVATE_LIBRARIES} COMPONENT dragoman)
  get_filename_component(LIBTORCH_LIBRARIES ${LIBTORCH_INCLUDE_DIR}/../lib ABSOLUTE)
  install(RUNTIME_DEPENDENCY_SET libraries_of_dragoman DIRECTORIES ${LIBTORCH_LIBRARIES}
    POST_INCLUDE_REGEXES "/torch/lib/" "/nvidia/" POST_EXCLUDE_REGEXES ".*"
    LIBRARY DESTINATION ${PRIVATE_LIBRARIES} COMPONENT dragoman)
endif()
