# A room is a folder of sources that becomes one static library: base -> dragoman_base,
# model/file -> dragoman_model_file. Every .cpp in the folder itself belongs to it.

function(dragoman_warnings TARGET)
  target_compile_options(${TARGET} PRIVATE -Wall -Wextra)
  # Included sources look like headers to the first warning. The second is wrong for std::string::replace (GCC 12).
  if(DRAGOMAN_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage -Wno-restrict)
  endif()
  target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR})
endfunction()

# dragoman_together(UNITS NAME source...): units that include DRAGOMAN_TOGETHER sources each; the sources themselves if
# that is unset. CMake's own unity build names the sources by their whole paths, so the compiler's cache would find
# nothing in a clone at another place.
function(dragoman_together UNITS NAME)
  set(LIST)
  list(LENGTH ARGN COUNT)
  set(FIRST 0)
  while(DRAGOMAN_TOGETHER AND FIRST LESS COUNT)
    list(SUBLIST ARGN ${FIRST} ${DRAGOMAN_TOGETHER} SOURCES)
    list(TRANSFORM SOURCES REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN SOURCES "" CONTENT)
    set(UNIT ${CMAKE_BINARY_DIR}/together/${NAME}_${FIRST}.cpp)
    file(CONFIGURE OUTPUT ${UNIT} CONTENT "${CONTENT}" @ONLY)
    list(APPEND LIST ${UNIT})
    math(EXPR FIRST "${FIRST} + ${DRAGOMAN_TOGETHER}")
  endwhile()
  if(NOT DRAGOMAN_TOGETHER)
    set(LIST ${ARGN})
    list(TRANSFORM LIST PREPEND ${CMAKE_SOURCE_DIR}/)
  endif()
  set(${UNITS} ${LIST} PARENT_SCOPE)
endfunction()

# dragoman_room(FOLDER [ROOMS room...] [LINKS public libraries...] [PRIVATE private libraries...] [ALONE source...])
# The sources in ALONE are units of their own in every build.
function(dragoman_room FOLDER)
  cmake_parse_arguments(ROOM "" "" "ROOMS;LINKS;PRIVATE;ALONE" ${ARGN})
  string(REPLACE "/" "_" NAME ${FOLDER})
  file(GLOB SOURCES RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${FOLDER}/*.cpp)
  if(NOT SOURCES)
    add_library(dragoman_${NAME} INTERFACE)
    return()
  endif()
  list(TRANSFORM ROOM_ALONE PREPEND ${FOLDER}/)
  list(REMOVE_ITEM SOURCES ${ROOM_ALONE})
  list(TRANSFORM ROOM_ALONE PREPEND ${CMAKE_SOURCE_DIR}/)
  dragoman_together(UNITS ${NAME} ${SOURCES})
  add_library(dragoman_${NAME} STATIC ${UNITS} ${ROOM_ALONE})
  dragoman_warnings(dragoman_${NAME})
  foreach(OTHER ${ROOM_ROOMS})
    string(REPLACE "/" "_" OTHER ${OTHER})
    target_link_libraries(dragoman_${NAME} PUBLIC dragoman_${OTHER})
  endforeach()
  target_link_libraries(dragoman_${NAME} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE})
  if(dragoman_torch IN_LIST ROOM_LINKS)
    dragoman_use_precompiled(dragoman_${NAME} torch_headers)
  endif()
endfunction()

# dragoman_embed(FOLDER FILES HEADER FUNCTION): the files of the folder FILES are strings of the room's library, which
# the function gives (cmake/embed.cmake).
function(dragoman_embed FOLDER FILES HEADER FUNCTION)
  string(REPLACE "/" "_" NAME ${FOLDER})
  file(GLOB EMBEDDED CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${FILES}/*)
  set(SOURCE ${CMAKE_BINARY_DIR}/${FUNCTION}.cpp)
  add_custom_command(OUTPUT ${SOURCE}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_SOURCE_DIR}/${FILES} -DOUTPUT=${SOURCE} -DHEADER=${HEADER}
      -DFUNCTION=${FUNCTION} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${EMBEDDED} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  target_sources(dragoman_${NAME} PRIVATE ${SOURCE})
endfunction()
