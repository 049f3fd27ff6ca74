# dragoman_kernels_cuda: the kernels of kernels/cuda, compiled to PTX, as a string of the program (kernels/cuda/image.h).
# CUDA's driver translates PTX for the GPU that it finds, from compute capability 8.0 on. The compiler is NVRTC, a
# library that LibTorch for CUDA brings along, or else nvcc. A driver refuses PTX of a newer CUDA than its own, and
# LibTorch's NVRTC is as old as LibTorch.

set(CUDA_FOLDER ${CMAKE_BINARY_DIR}/kernels/cuda)
set(CUDA_PTX ${CUDA_FOLDER}/kernels.ptx)
if(LIBTORCH_HAS_CUDA)
  file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS kernels/cuda/*.cu)
  file(GLOB CUDA_HEADERS CONFIGURE_DEPENDS kernels/cuda/*.h kernels/cuda/*.cuh)
  set(CUDA_UNIT "")
  foreach(SOURCE ${CUDA_SOURCES})
    string(APPEND CUDA_UNIT "#include \"${SOURCE}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/kernels/kernels.cu CONTENT "${CUDA_UNIT}")
  file(GLOB LIBTORCH_NVRTC ${LIBTORCH_INCLUDE_DIR}/../../nvidia/*/lib/libnvrtc.so.*)
  find_program(NVCC nvcc)
  set(CUDA_OPTIONS --std=c++17 -I${CMAKE_SOURCE_DIR})
  if(LIBTORCH_NVRTC)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(CUDA_COMPILE Python3::Interpreter ${CMAKE_SOURCE_DIR}/cmake/nvrtc.py ${LIBTORCH_NVRTC}
      ${CMAKE_BINARY_DIR}/kernels/kernels.cu ${CUDA_PTX} --gpu-architecture=compute_80 ${CUDA_OPTIONS})
  elseif(NVCC)
    set(CUDA_COMPILE ${NVCC} --ptx --gpu-architecture=compute_80 ${CUDA_OPTIONS}
      ${CMAKE_BINARY_DIR}/kernels/kernels.cu -o ${CUDA_PTX})
  endif()
endif()
if(CUDA_COMPILE)
  file(MAKE_DIRECTORY ${CUDA_FOLDER})
  add_custom_command(OUTPUT ${CUDA_PTX} COMMAND ${CUDA_COMPILE}
    DEPENDS ${CMAKE_BINARY_DIR}/kernels/kernels.cu ${CUDA_SOURCES} ${CUDA_HEADERS} ${CMAKE_SOURCE_DIR}/cmake/nvrtc.py
    VERBATIM)
elseif(LIBTORCH_HAS_CUDA)
  message(WARNING "neither NVRTC nor nvcc: on a GPU, LibTorch's operations take the place of our kernels, which is slower")
  file(CONFIGURE OUTPUT ${CUDA_PTX} CONTENT "")
else()
  file(CONFIGURE OUTPUT ${CUDA_PTX} CONTENT "no PTX: this build has a LibTorch for the CPU\n")
endif()

set(CUDA_IMAGE ${CMAKE_BINARY_DIR}/cuda_image.cpp)
add_custom_command(OUTPUT ${CUDA_IMAGE}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${CUDA_FOLDER} -DOUTPUT=${CUDA_IMAGE} -DHEADER=kernels/cuda/image.h
    -DFUNCTION=cuda_image -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CUDA_PTX} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
add_library(dragoman_kernels_cuda STATIC ${CUDA_IMAGE})
dragoman_warnings(dragoman_kernels_cuda)
target_link_libraries(dragoman_kernels_cuda PUBLIC dragoman_base)
