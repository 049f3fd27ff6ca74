// The models of a server, by the languages that they translate. A model may be replaced while
// requests are under way: those end with the model that they began with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/files.h"
#include "base/language_codes.h"
#include "base/mutex.h"
#include "inference/translation_service.h"

namespace dragoman {

/// What a request asks of a model.
struct RequestedTranslations {
  std::int64_t n_best = 1;                             ///< translations of each line
  std::optional<SplitSentences> split = std::nullopt;  ///< none: the model's own setting
  std::shared_ptr<const Demands> demands = nullptr;    ///< null: none
  bool reports_words = false;
  bool reports_attention = false;  ///< to the source's words; words are then reported, too
  bool words_of_best_alone = true;
};

/// What an explanation is for.
enum class ExplanationUse { Page, Program };

struct TextExplanation {
  std::string json;                ///< of `dragoman explain`, for the use that was named
  std::int64_t target_tokens = 0;  ///< that were written
};

/// Explains a text, sentence by sentence. Calls `on_step` often; if that throws, the work ends.
/// Throws HttpError (400) if a text cannot be explained.
using ExplainText = std::function<TextExplanation(const std::string& text, ExplanationUse use,
                                                  const std::function<void()>& on_step)>;

class ServedModel {
 public:
  struct Facts {
    std::string checksum;      ///< of its file
    std::int64_t updates = 0;  ///< that made its weights
    FileStamp stamp = {};      ///< of its file
  };
  /// `config` is that of requests that ask for nothing else. The service may own what it needs.
  ServedModel(LanguagePair languages, std::shared_ptr<TranslationService> service,
              DecodeConfig config, Facts facts, ExplainText explain = nullptr);

  /// A model that is loaded when a request first needs it: `load` puts the loaded one into its
  /// place (ServedModels::set), or throws Error. It has nothing but its languages.
  ServedModel(LanguagePair languages, std::function<void()> load);

  const LanguagePair& languages() const { return languages_; }
  bool is_loaded() const { return service_ != nullptr; }
  /// Throws ServerFault naming the languages.
  void load() const;
  const Facts& facts() const { return facts_; }
  TranslationService& service() const { return *service_; }
  const ExplainText& explain() const { return explain_; }  ///< null: it cannot

  /// Throws UsageError if the model's settings do not allow it (draws with terms).
  std::shared_ptr<const PreparedRequest> request(const RequestedTranslations& wanted) const;

 private:
  const LanguagePair languages_;
  const std::shared_ptr<TranslationService> service_;
  const DecodeConfig config_;
  const Facts facts_;
  const ExplainText explain_;
  const std::function<void()> load_;
  /// The same settings for the same wishes, so that sentences are found in the cache.
  std::shared_ptr<const PreparedRequest> request_without_demands(
      const RequestedTranslations& wanted) const;
  std::shared_ptr<const PreparedRequest> prepare(const RequestedTranslations& wanted) const;

  mutable Mutex mutex_;
  mutable std::map<std::tuple<std::int64_t, int, bool, bool, bool>,
                   std::shared_ptr<const PreparedRequest>>
      prepared_ GUARDED_BY(mutex_);
};

/// The models that translate one after the other: none if source and target are the same, two if a
/// third language stands between them.
using Route = std::vector<std::shared_ptr<const ServedModel>>;

class ServedModels {
 public:
  /// Adds a model, or replaces that of the same languages.
  void set(std::shared_ptr<const ServedModel> model);

  /// In the order of the codes of their languages.
  std::vector<std::shared_ptr<const ServedModel>> all() const;
  std::vector<std::shared_ptr<const ServedModel>> loaded() const;
  /// Null for languages without a model.
  std::shared_ptr<const ServedModel> find(const LanguagePair& languages) const;
  /// The target of the model that was added first; there must be one.
  std::string first_target() const;
  std::vector<std::string> languages() const;  ///< sources and targets, sorted
  /// What `source` can be translated to, sorted; itself included.
  std::vector<std::string> targets_of(const std::string& source) const;
  /// What can be translated to `target`, sorted; itself included.
  std::vector<std::string> sources_of(const std::string& target) const;
  /// Whether a language can be translated to another one, and whether another one to it.
  bool is_source(const std::string& code) const { return targets_of(code).size() > 1; }
  bool is_target(const std::string& code) const { return sources_of(code).size() > 1; }
  /// One model, or else two: with English between them, or else the first language that joins two.
  /// Nothing if there are none.
  std::optional<Route> route(const LanguagePair& languages) const;

 private:
  bool has_route(const LanguagePair& languages) const { return route(languages).has_value(); }

  mutable Mutex mutex_;
  std::map<LanguagePair, std::shared_ptr<const ServedModel>> models_ GUARDED_BY(mutex_);
  std::string first_target_ GUARDED_BY(mutex_);
};

}  // namespace dragoman
