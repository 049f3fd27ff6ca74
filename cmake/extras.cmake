# The extras that DRAGOMAN_EXTRAS names, and the list in which the programs find them.

# dragoman_extra(NAME): builds an extra, its extra.cmake, once. An extra names those that it needs in the same way.
macro(dragoman_extra NAME)
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/extras/${NAME}/extra.cmake)
    message(FATAL_ERROR "DRAGOMAN_EXTRAS: there is no extra ${NAME}")
  endif()
  if(NOT ${NAME} IN_LIST BUILT_EXTRAS)
    list(APPEND BUILT_EXTRAS ${NAME})
    include(${CMAKE_SOURCE_DIR}/extras/${NAME}/extra.cmake)
  endif()
endmacro()

set(ASKED_EXTRAS ${DRAGOMAN_EXTRAS})
if("${DRAGOMAN_EXTRAS}" STREQUAL ON)
  file(GLOB ASKED_EXTRAS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/extras/*/extra.cmake)
  list(TRANSFORM ASKED_EXTRAS REPLACE ".*/([^/]*)/extra.cmake" "\\1")
elseif("${DRAGOMAN_EXTRAS}" STREQUAL OFF)
  set(ASKED_EXTRAS "")
endif()
set(BUILT_EXTRAS "")
foreach(EXTRA ${ASKED_EXTRAS})
  dragoman_extra(${EXTRA})
endforeach()
list(SORT BUILT_EXTRAS)

# built_extras() of app/commands/commands.h: each extra has one function that registers it.
set(DECLARED "")
set(CALLED "")
foreach(EXTRA ${BUILT_EXTRAS})
  string(APPEND DECLARED "Extra ${EXTRA}_extra(const MakeDeviceEngine& make_device_engine);\n")
  string(APPEND CALLED "\n      ${EXTRA}_extra(make_device_engine),")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/extras.cpp CONTENT "// Made by cmake/extras.cmake.
#include \"app/commands/commands.h\"

namespace dragoman {

${DECLARED}
std::vector<Extra> built_extras([[maybe_unused]] const MakeDeviceEngine& make_device_engine) {
  return {${CALLED}
  };
}

}  // namespace dragoman
")
add_library(dragoman_extras STATIC ${CMAKE_BINARY_DIR}/extras.cpp)
dragoman_warnings(dragoman_extras)
target_link_libraries(dragoman_extras PRIVATE dragoman_app_commands)
foreach(EXTRA ${BUILT_EXTRAS})
  target_link_libraries(dragoman_extras PRIVATE dragoman_extras_${EXTRA}_commands)
endforeach()
