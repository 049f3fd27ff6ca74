// A model that stays in memory and translates on the CPU, with options by their names. The C++
// library (extras/library/translator.h) and the Python package are built on it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "inference/cpu/cpu_model.h"
#include "inference/search/decode_config.h"
#include "inference/search/engine.h"
#include "inference/translation_service.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Options as another program gives them: the name of a field ("beam-size") -> one text, or any
/// number of texts for a list.
using NamedOptions = std::map<std::string, std::vector<std::string>>;

/// Throws UsageError that names an option that is not a field, or whose text cannot be parsed.
void assign_options(const std::vector<Field>& fields, const NamedOptions& options);

/// A model or an ensemble in memory: its tokenizers, an engine for each thread, and the
/// TranslationService on them. Threads may share one.
class CpuTranslator {
 public:
  /// Source terms and their target terms.
  using TermPairs = std::vector<std::pair<std::string, std::string>>;

  /// Options: "model" (run folders or model files; several are an ensemble), "threads",
  /// "compute-type" and "batch-size", as `dragoman translate` has them. Throws Error if a file is
  /// missing or damaged, or if the models' tokenizers differ; UsageError for an option.
  explicit CpuTranslator(const NamedOptions& options);
  CpuTranslator(const CpuTranslator&) = delete;
  CpuTranslator& operator=(const CpuTranslator&) = delete;
  ~CpuTranslator();

  /// Checks the options of a translation, which then serve any number of lines: those of the
  /// search, "terms" (a glossary's file, if `terms` is empty), "terms-force", "protect",
  /// "number-format", "avoid", "word-scores" and "alignment". The model decides about those that
  /// are left out. Throws UsageError.
  std::shared_ptr<const PreparedRequest> prepare(const NamedOptions& options,
                                                 const TermPairs& terms = {}) const;
  /// Begins the translation of lines. Line ends within a line count as spaces. The answers must not
  /// outlive this object.
  TranslationAnswers submit(Submission submission) const;
  /// The number of sentences that can be in translation at once.
  std::int64_t capacity(const PreparedRequest& request) const;
  /// Log-probabilities of the tokens of each translation, </s> last, as `dragoman score` gives
  /// them. After a stop the lists are incomplete.
  std::vector<std::vector<float>> score(const std::vector<std::string>& sources,
                                        const std::vector<std::string>& targets,
                                        SplitSentences split, const std::stop_token& stop) const;

 private:
  /// Throws Error in a process that was forked after the model was opened.
  TranslationService& service() const;
  std::vector<std::unique_ptr<HostEngine>> make_engines() const;

  int threads_ = 0;
  const pid_t process_;
  TokenizerPair tokenizers_;
  DecodeDefaults decode_defaults_;
  TextRecord record_;
  std::vector<std::shared_ptr<const CpuModel>> members_;
  std::vector<std::unique_ptr<HostEngine>> engines_;
  std::unique_ptr<TranslationService> service_;  ///< last: its threads use all above
};

}  // namespace dragoman
