#include "extras/server/served_models.h"

#include <set>
#include <utility>

#include "base/error.h"
#include "extras/server/http.h"
#include "inference/model_settings.h"

namespace dragoman {

ServedModel::ServedModel(LanguagePair languages, std::shared_ptr<TranslationService> service,
                         DecodeConfig config, Facts facts, ExplainText explain)
    : languages_(std::move(languages)),
      service_(std::move(service)),
      config_(std::move(config)),
      facts_(std::move(facts)),
      explain_(std::move(explain)) {}

ServedModel::ServedModel(LanguagePair languages, std::function<void()> load)
    : languages_(std::move(languages)), load_(std::move(load)) {}

void ServedModel::load() const {
  try {
    load_();
  } catch (const std::exception& error) {
    throw ServerFault(join_text("the model of ", languages_.name(),
                                " cannot be loaded now; the server's log says why"),
                      error.what());
  }
}

std::shared_ptr<const PreparedRequest> ServedModel::prepare(
    const RequestedTranslations& wanted) const {
  TranslationRequest request{.config = config_,
                             .reports_words = wanted.reports_words,
                             .reports_attention = wanted.reports_attention,
                             .words_of_best_alone = wanted.words_of_best_alone};
  request.config.n_best = wanted.n_best;
  request.config.beam_size = open_beam_size(request.config, wanted.n_best);
  if (wanted.split) request.config.split_sentences = *wanted.split;
  return service_->prepare(request);
}

std::shared_ptr<const PreparedRequest> ServedModel::request(
    const RequestedTranslations& wanted) const {
  const auto plain = request_without_demands(wanted);
  return wanted.demands ? service_->with_demands(*plain, wanted.demands) : plain;
}

std::shared_ptr<const PreparedRequest> ServedModel::request_without_demands(
    const RequestedTranslations& wanted) const {
  const MutexLock lock(mutex_);
  // There are few: one for each number of alternatives and each way to split and to report.
  auto& prepared =
      prepared_[{wanted.n_best, wanted.split ? static_cast<int>(*wanted.split) : -1,
                 wanted.reports_words, wanted.reports_attention, wanted.words_of_best_alone}];
  if (!prepared) prepared = prepare(wanted);
  return prepared;
}

void ServedModels::set(std::shared_ptr<const ServedModel> model) {
  const MutexLock lock(mutex_);
  if (models_.empty()) first_target_ = model->languages().target;
  models_[model->languages()].swap(model);
}

std::vector<std::shared_ptr<const ServedModel>> ServedModels::all() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<const ServedModel>> models;
  for (const auto& [languages, model] : models_) models.push_back(model);
  return models;
}

std::vector<std::shared_ptr<const ServedModel>> ServedModels::loaded() const {
  std::vector<std::shared_ptr<const ServedModel>> models = all();
  std::erase_if(models, [](const auto& model) { return !model->is_loaded(); });
  return models;
}

std::shared_ptr<const ServedModel> ServedModels::find(const LanguagePair& languages) const {
  const MutexLock lock(mutex_);
  const auto found = models_.find(languages);
  return found == models_.end() ? nullptr : found->second;
}

std::string ServedModels::first_target() const {
  const MutexLock lock(mutex_);
  return first_target_;
}

std::vector<std::string> ServedModels::languages() const {
  std::set<std::string> found;
  for (const auto& model : all())
    found.insert({model->languages().source, model->languages().target});
  return {found.begin(), found.end()};
}

std::vector<std::string> ServedModels::targets_of(const std::string& source) const {
  std::vector<std::string> targets = languages();
  std::erase_if(targets, [&](const std::string& target) { return !has_route({source, target}); });
  return targets;
}

std::vector<std::string> ServedModels::sources_of(const std::string& target) const {
  std::vector<std::string> sources = languages();
  std::erase_if(sources, [&](const std::string& source) { return !has_route({source, target}); });
  return sources;
}

std::optional<Route> ServedModels::route(const LanguagePair& languages) const {
  const MutexLock lock(mutex_);
  if (languages.source == languages.target) return Route();
  if (const auto direct = models_.find(languages); direct != models_.end())
    return Route{direct->second};
  std::optional<Route> route;
  for (const auto& [first, model] : models_) {
    if (first.source != languages.source) continue;
    const auto second = models_.find({first.target, languages.target});
    if (second == models_.end()) continue;
    if (!route || first.target == "en") route = Route{model, second->second};
  }
  return route;
}

}  // namespace dragoman
