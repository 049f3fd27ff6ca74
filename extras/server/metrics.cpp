#include "extras/server/metrics.h"

#include <new>
#include <sstream>

#include "base/fields.h"
#include "base/machine.h"

namespace dragoman {

namespace {

void describe(std::ostream& text, const char* name, const char* type, const char* help) {
  text << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
}

void single(std::ostream& text, const char* name, const char* type, const char* help,
            std::int64_t value) {
  describe(text, name, type, help);
  text << name << ' ' << value << '\n';
}

struct Label {
  const char *name, *type, *help;
};

/// A value of each model, by its languages.
template <class ValueOf>
void of_each(std::ostream& text, const ServedModels& models, const Label& label,
             ValueOf&& value_of) {
  describe(text, label.name, label.type, label.help);
  for (const auto& model : models.loaded())
    text << label.name << "{languages=\"" << model->languages().name() << "\"} "
         << value_of(model->service()) << '\n';
}

void write_models(std::ostream& text, const ServedModels& models) {
  using Service = const TranslationService&;
  of_each(text, models,
          {"dragoman_waiting_sentences", "gauge", "Sentences that no engine works on yet."},
          [](Service service) { return service.waiting(); });
  of_each(text, models,
          {"dragoman_rows_in_use", "gauge", "Rows of the engines' steps that have a sentence."},
          [](Service service) { return service.rows_in_use(); });
  of_each(text, models,
          {"dragoman_cache_hits_total", "counter", "Sentences whose translation was kept."},
          [](Service service) { return service.cache_counts().found; });
  of_each(text, models,
          {"dragoman_cache_misses_total", "counter", "Sentences whose translation was not kept."},
          [](Service service) { return service.cache_counts().missed; });
  of_each(text, models, {"dragoman_cache_bytes", "gauge", "Memory of the sentences kept, about."},
          [](Service service) { return service.cache_counts().bytes; });
}

}  // namespace

void Metrics::begin() noexcept {
  const MutexLock lock(mutex_);
  ++under_way_;
}

void Metrics::end(const AnsweredRequest& request, const std::string& path) noexcept {
  const MutexLock lock(mutex_);
  --under_way_;
  if (request.refused) ++refused_;
  texts_ += request.texts;
  characters_ += request.characters;
  target_tokens_ += request.target_tokens;
  try {
    count(request, path);
  } catch (const std::bad_alloc&) {
  }
}

void Metrics::count(const AnsweredRequest& request, const std::string& path) {
  ++requests_[{path, request.status}];
  Durations& durations = durations_[path];
  for (std::size_t b = 0; b < kBounds.size(); ++b)
    if (request.seconds <= kBounds[b]) ++durations.counts[b];
  ++durations.count;
  durations.sum += request.seconds;
}

std::int64_t Metrics::characters() const {
  const MutexLock lock(mutex_);
  return characters_;
}

std::string Metrics::text(const ServedModels& models, std::int64_t damaged_glossaries) const {
  std::ostringstream text;
  const MutexLock lock(mutex_);
  describe(text, "dragoman_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_)
    text << "dragoman_requests_total{path=\"" << key.first << "\",status=\"" << key.second << "\"} "
         << count << '\n';
  constexpr const char* kSeconds = "dragoman_request_seconds";
  describe(text, kSeconds, "histogram", "Time from a whole request to its answer.");
  for (const auto& [path, durations] : durations_) {
    for (std::size_t b = 0; b < kBounds.size(); ++b)
      text << kSeconds << "_bucket{path=\"" << path << "\",le=\"" << text_of(kBounds[b]) << "\"} "
           << durations.counts[b] << '\n';
    text << kSeconds << "_bucket{path=\"" << path << "\",le=\"+Inf\"} " << durations.count << '\n'
         << kSeconds << "_sum{path=\"" << path << "\"} " << text_of(durations.sum) << '\n'
         << kSeconds << "_count{path=\"" << path << "\"} " << durations.count << '\n';
  }
  single(text, "dragoman_requests_under_way", "gauge", "Requests that are not answered yet.",
         under_way_);
  single(text, "dragoman_refused_total", "counter",
         "Requests refused by 503: too much waits, or the server stops.", refused_);
  write_models(text, models);
  single(text, "dragoman_texts_total", "counter", "Texts that were translated or explained.",
         texts_);
  single(text, "dragoman_characters_total", "counter",
         "Characters that were translated or explained.", characters_);
  single(text, "dragoman_target_pieces_total", "counter", "Subword pieces of translations.",
         target_tokens_);
  single(text, "dragoman_damaged_glossaries", "gauge", "Files of glossaries that cannot be read.",
         damaged_glossaries);
  single(text, "process_resident_memory_bytes", "gauge", "Memory of the process.",
         resident_memory());
  return text.str();
}

}  // namespace dragoman
