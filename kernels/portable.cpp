// The kernels for any x86-64 processor (and the yardstick of the others).
#include <cstdint>

#include "kernels/kernels.h"

namespace dragoman::portable {

namespace {
#define DRAGOMAN_LANES 4
#include "kernels/training_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "portable"
#include "kernels/kernel_table.inc"

}  // namespace dragoman::portable
