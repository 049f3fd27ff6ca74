# A room is a folder of sources that becomes one static library: base -> dragoman_base,
# model/file -> dragoman_model_file. Every .cpp in the folder itself belongs to it.

# LibTorch's headers are not ours to mend, so they come in as system headers.
add_library(dragoman_torch INTERFACE)
target_include_directories(dragoman_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(dragoman_torch INTERFACE ${TORCH_LIBRARIES} OpenMP::OpenMP_CXX)
separate_arguments(TORCH_FLAGS NATIVE_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(dragoman_torch INTERFACE ${TORCH_FLAGS})

function(dragoman_warnings TARGET)
  target_compile_options(${TARGET} PRIVATE -Wall -Wextra)
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
endfunction()
