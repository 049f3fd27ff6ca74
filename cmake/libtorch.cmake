# LibTorch as the library dragoman_torch: LIBTORCH_INCLUDE_DIR, LIBTORCH_VERSION, LIBTORCH_HAS_CUDA.
# Found by its headers and libraries alone: for a CUDA build LibTorch's own TorchConfig.cmake demands
# nvcc and the whole CUDA toolkit, none of which is needed here.

# The wheel that scripts/setup unpacks, unless Torch_DIR or CMAKE_PREFIX_PATH, given to CMake or in the
# environment, names another.
if(NOT Torch_DIR)
  set(Torch_DIR $ENV{Torch_DIR})
endif()
if(Torch_DIR)
  set(LIBTORCH_PLACES ${Torch_DIR}/../../../include NO_DEFAULT_PATH)
else()
  set(LIBTORCH_PLACES ${CMAKE_SOURCE_DIR}/.libtorch/torch/include)
endif()
find_path(LIBTORCH_INCLUDE_DIR torch/headeronly/version.h PATHS ${LIBTORCH_PLACES})
if(NOT LIBTORCH_INCLUDE_DIR)
  message(FATAL_ERROR "no LibTorch: run scripts/setup, or name one (2.11 to 2.13) by Torch_DIR or CMAKE_PREFIX_PATH")
endif()

file(STRINGS ${LIBTORCH_INCLUDE_DIR}/torch/headeronly/version.h LIBTORCH_VERSION
  REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^;]* " "" LIBTORCH_VERSION "${LIBTORCH_VERSION}")
string(REPLACE ";" "." LIBTORCH_VERSION "${LIBTORCH_VERSION}")
if(LIBTORCH_VERSION VERSION_LESS 2.11)
  message(FATAL_ERROR "LibTorch ${LIBTORCH_VERSION} is too old: 2.11 to 2.13 are supported")
endif()

function(libtorch_library NAME)
  find_library(LIBTORCH_${NAME} ${NAME} PATHS ${LIBTORCH_INCLUDE_DIR}/../lib NO_DEFAULT_PATH ${ARGN})
endfunction()
libtorch_library(torch REQUIRED)
libtorch_library(torch_cpu REQUIRED)
libtorch_library(c10 REQUIRED)
libtorch_library(torch_cuda)
libtorch_library(c10_cuda)
set(LIBTORCH_HAS_CUDA OFF)
if(LIBTORCH_torch_cuda)
  set(LIBTORCH_HAS_CUDA ON)
endif()
message(STATUS "LibTorch ${LIBTORCH_VERSION}, CUDA ${LIBTORCH_HAS_CUDA}: ${LIBTORCH_INCLUDE_DIR}")

# Its headers are not ours to mend, so they come in as system headers. CUDA's part registers itself when
# it is loaded, which needs a link that nobody refers to. The C++ library stands first: libtorch.so of 2.11
# has functions of std::filesystem of its own, which crash.
add_library(dragoman_torch INTERFACE)
target_include_directories(dragoman_torch SYSTEM INTERFACE
  ${LIBTORCH_INCLUDE_DIR} ${LIBTORCH_INCLUDE_DIR}/torch/csrc/api/include)
target_compile_definitions(dragoman_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_libraries(dragoman_torch INTERFACE
  -Wl,--no-as-needed stdc++ ${LIBTORCH_torch} -Wl,--as-needed ${LIBTORCH_torch_cpu} ${LIBTORCH_c10} OpenMP::OpenMP_CXX)

# Flash attention on packed batches is not a public interface of LibTorch, so its arguments may change.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${LIBTORCH_INCLUDE_DIR})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
check_cxx_source_compiles("
  #include <ATen/ops/_flash_attention_backward.h>
  #include <ATen/ops/_flash_attention_forward.h>
  void call(const at::Tensor& x) {
    const auto [output, sums, state, unused, weights] =
        at::_flash_attention_forward(x, x, x, x, x, 1, 1, 0.0, true, false);
    const auto [q, k, v] =
        at::_flash_attention_backward(x, x, x, x, output, sums, x, x, 1, 1, 0.0, true, state, unused);
  }" LIBTORCH_${LIBTORCH_VERSION}_HAS_FLASH_ATTENTION)
set(LIBTORCH_HAS_FLASH_ATTENTION ${LIBTORCH_${LIBTORCH_VERSION}_HAS_FLASH_ATTENTION})
if(NOT LIBTORCH_HAS_FLASH_ATTENTION)
  message(WARNING "LibTorch ${LIBTORCH_VERSION} has another flash attention than expected: attention on a GPU will be slower")
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)

# Its headers take half of a compiler's time or more.
dragoman_precompiled(torch_headers LINKS dragoman_torch
  HEADERS <ATen/Parallel.h> <torch/nn/module.h> <torch/nn/pimpl.h> <torch/types.h>)

# Gradients on CUDA go over NCCL if the headers that LibTorch's own header for it includes are there; otherwise by way of
# the CPU. LibTorch's header of graphs includes only CUDA's. All come with LibTorch's wheel (scripts/setup --cuda) or the
# CUDA toolkit.
if(LIBTORCH_HAS_CUDA)
  file(GLOB NVIDIA_INCLUDE_DIRS ${LIBTORCH_INCLUDE_DIR}/../../nvidia/*/include)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NVIDIA_INCLUDE_DIRS})
  foreach(HEADER cuda_runtime_api.h crt/host_config.h nv/target)
    string(MAKE_C_IDENTIFIER ${HEADER} NAME)
    find_path(CUDA_${NAME} ${HEADER}
      HINTS ${NVIDIA_INCLUDE_DIRS} PATHS /usr/local/cuda/include PATH_SUFFIXES cccl)
  endforeach()
  if(CUDA_cuda_runtime_api_h AND CUDA_crt_host_config_h)
    set(CUDA_INCLUDE_DIRS ${CUDA_cuda_runtime_api_h})
  endif()
  if(NCCL_INCLUDE_DIR AND CUDA_INCLUDE_DIRS AND CUDA_nv_target)
    set(NCCL_INCLUDE_DIRS ${NCCL_INCLUDE_DIR} ${CUDA_INCLUDE_DIRS} ${CUDA_nv_target})
  endif()
  message(STATUS "CUDA's headers: ${CUDA_INCLUDE_DIRS}; NCCL: ${NCCL_INCLUDE_DIRS}")
endif()
