#include "training/training_observer.h"

#include <cmath>

#include "base/error.h"

namespace dragoman {

bool LeftOutFacts::is_finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }

bool try_to_save(std::string_view what, std::string_view consequence, TrainingObserver& observer,
                 const std::function<void()>& save) {
  try {
    save();
    return true;
  } catch (const Error& problem) {
    observer.warned(join_text(what, " not saved, ", consequence, ": ", problem.what()));
    return false;
  }
}

}  // namespace dragoman
