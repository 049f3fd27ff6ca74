# Headers that many units include are read by the compiler once. The sources include what they use all the same: the
# preset tidy reads them without it.

# A precompiled header serves units that are compiled with the same flags. CMake gives units of programs other flags
# than those of libraries.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "")

# dragoman_precompiled(NAME LINKS library... HEADERS header...)
function(dragoman_precompiled NAME)
  cmake_parse_arguments(THESE "" "" "LINKS;HEADERS" ${ARGN})
  add_library(dragoman_${NAME} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(dragoman_${NAME} PRIVATE ${THESE_LINKS})
  target_precompile_headers(dragoman_${NAME} PRIVATE ${THESE_HEADERS})
endfunction()

function(dragoman_use_precompiled TARGET NAME)
  target_precompile_headers(${TARGET} REUSE_FROM dragoman_${NAME})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${TARGET} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()
