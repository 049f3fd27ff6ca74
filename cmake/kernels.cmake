# The units of the kernels: for each instruction set of the processor's architecture its header kernels/isa_NAME.h, and
# the tables of the kernels built with it.

get_filename_component(DRAGOMAN_SOURCES ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(ISA_HEADERS ${DRAGOMAN_SOURCES}/kernels/isa_)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(ISA_PATTERNS ${ISA_HEADERS}avx*.h ${ISA_HEADERS}sse*.h)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ISA_PATTERNS ${ISA_HEADERS}neon*.h)
endif()
file(GLOB DRAGOMAN_ISA_HEADERS RELATIVE ${DRAGOMAN_SOURCES} CONFIGURE_DEPENDS
  ${ISA_PATTERNS} ${ISA_HEADERS}portable.h)

# dragoman_kernel_units(TARGET): adds the units to a library, and the options that kernels are compiled with.
function(dragoman_kernel_units TARGET)
  foreach(HEADER ${DRAGOMAN_ISA_HEADERS})
    string(REGEX REPLACE "kernels/isa_(.*)[.]h" "${CMAKE_BINARY_DIR}/kernels/\\1.cpp" UNIT ${HEADER})
    file(CONFIGURE OUTPUT ${UNIT} CONTENT "#include \"${HEADER}\"\n#include \"kernels/tables-inl.h\"\n")
    target_sources(${TARGET} PRIVATE ${UNIT})
  endforeach()
  # Multiply-add may be contracted, and vectors wider than the plain target only pass through inlined functions.
  target_compile_options(${TARGET} PRIVATE -O3 -ffp-contract=fast -Wno-psabi)
endfunction()
