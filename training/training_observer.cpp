#include "training/training_observer.h"

#include <cmath>

namespace dragoman {

bool LeftOutFacts::is_finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }

}  // namespace dragoman
