// Dragoman's translator as a C++ library: a model in memory that translates lines on the CPU. A
// program needs C++17, and the same C++ standard library as the one that libdragoman was built
// with; dragoman.h beside this file is for C and for all other languages.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace dragoman {

class CpuTranslator;

/// A model that stays in memory. Many threads may share one, and each gets the translations that it
/// would get alone. All functions throw std::invalid_argument for an option that is wrong, and
/// std::runtime_error if a file or the machine is at fault. The text says which, and the remedy.
class Translator {
 public:
  /// Flags of `dragoman translate` without their dashes: {"beam-size=4", "protect"}. If an option
  /// has several texts, its name is repeated: {"avoid=this", "avoid=that"}.
  using Options = std::vector<std::string>;

  /// One of the n best translations of a line.
  struct Candidate {
    std::string text;        ///< one line, valid UTF-8
    double score;            ///< log-probability normalized by length: the order of the n best
    double log_probability;  ///< sum over the tokens
  };

  /// The translation of a line.
  struct Result {
    std::vector<Candidate> n_best;   ///< best first, at least one
    std::vector<std::string> unmet;  ///< texts that the best should have (terms, ...) but lacks
    bool is_cut;                     ///< it ends at the maximum length
    bool is_copied;                  ///< the line had nothing to translate
    const std::string& text() const { return n_best.front().text; }
  };

  /// `model`: a run folder or a model file. Options: threads (0, the default: all cores that this
  /// process may use), compute-type (auto, float32, bfloat16, int8), batch-size, and model, once
  /// for each further model of an ensemble.
  explicit Translator(const std::string& model, const Options& options = {});
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;
  ~Translator();

  /// Translates lines of UTF-8: result i is that of line i, whatever the line holds. The options
  /// are those of the search, and also terms (the file of a glossary), terms-force, protect,
  /// number-format and avoid (a text). An option that is left out has the value of the model file,
  /// or else the program's default. Returns when all lines are finished.
  std::vector<Result> translate(const std::vector<std::string>& lines,
                                const Options& options = {}) const;
  /// The best translation of one line.
  std::string translate_line(const std::string& line, const Options& options = {}) const;

  /// That of the library: "0.1.0".
  static const char* version();

 private:
  std::unique_ptr<CpuTranslator> translator_;
};

}  // namespace dragoman
