#include "training/scores.h"

namespace dragoman {

double Scores::seconds() const { return valid.seconds + (keep ? keep->seconds : 0); }

bool Scores::beat(const BestModel& best, BestMetric metric) const {
  if (keep_has_fallen) return false;
  return !best.is_there() || is_better(metric, valid.score(metric), {best.value, best.loss});
}

PatienceScore Scores::for_patience(BestMetric metric) const {
  const bool by_loss = metric == BestMetric::Loss;
  return {.score = by_loss ? -valid.loss : value_to_compare(metric, valid.value(metric)),
          .standard_error = valid.standard_error(metric),
          .loss = by_loss ? 0 : valid.loss,
          .counts = !keep_has_fallen};
}

}  // namespace dragoman
