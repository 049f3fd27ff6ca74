#include "training/scores.h"

namespace dragoman {

double Scores::seconds() const { return valid.seconds + (keep ? keep->seconds : 0); }

bool Scores::beat(const BestModel& best, const ScoreOrder& order) const {
  if (keep_has_fallen) return false;
  return !best.is_there() || is_better(order, valid.score(order.metric), {best.value, best.loss});
}

PatienceScore Scores::for_patience(const ScoreOrder& order) const {
  const bool by_loss = order.metric == BestMetric::Loss;
  return {.score = by_loss ? -valid.loss : order.value_to_compare(valid.value(order.metric)),
          .standard_error = valid.standard_error(order.metric),
          .loss = by_loss ? 0 : valid.loss,
          .counts = !keep_has_fallen};
}

}  // namespace dragoman
