# A room is a folder of sources that becomes one static library: base -> dragoman_base,
# model/file -> dragoman_model_file. Every .cpp in the folder itself belongs to it.

function(dragoman_warnings TARGET)
  target_compile_options(${TARGET} PRIVATE -Wall -Wextra)
  # Included sources look like headers to the first warning. The second is wrong for std::string::replace (GCC 12).
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage -Wno-restrict)
  endif()
  target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR})
endfunction()

# dragoman_room(FOLDER [ROOMS room...] [LINKS public libraries...] [PRIVATE private libraries...])
function(dragoman_room FOLDER)
  cmake_parse_arguments(ROOM "" "" "ROOMS;LINKS;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" NAME ${FOLDER})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${FOLDER}/*.cpp)
  if(NOT SOURCES)
    add_library(dragoman_${NAME} INTERFACE)
    return()
  endif()
  add_library(dragoman_${NAME} STATIC ${SOURCES})
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
