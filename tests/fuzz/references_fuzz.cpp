// The files of dragoman evaluate: translations, then after lines of "==" one or two files of
// references, plain or compressed. What is read is scored, line by line.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/commands/evaluate.h"
#include "evaluation/evaluate.h"
#include "tests/fuzz/read_or_refused.h"

namespace {

/// The parts of a text between lines of "==", three at most.
std::vector<std::string_view> parts_of(std::string_view text) {
  constexpr std::string_view kBorder = "\n==\n";
  std::vector<std::string_view> parts;
  for (std::size_t border; parts.size() < 2 && (border = text.find(kBorder)) != text.npos;) {
    parts.push_back(text.substr(0, border + 1));
    text.remove_prefix(border + kBorder.size());
  }
  parts.push_back(text);
  return parts;
}

/// The size of the input chooses BLEU's tokenizer.
dragoman::EvaluateConfig metrics(std::size_t size) {
  using dragoman::BleuTokenizer;
  constexpr std::array kTokenizers = {BleuTokenizer::V13a, BleuTokenizer::Intl, BleuTokenizer::Zh,
                                      BleuTokenizer::Char};
  dragoman::EvaluateConfig config;
  config.metrics = {"bleu", "chrf++", "ter", "bleu-tokenized"};
  config.sentence_level = true;
  config.tokenize = kTokenizers[size % kTokenizers.size()];
  config.ter.normalized = config.ter.asian_support = size % 2 == 1;
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::vector<std::string_view> parts =
      parts_of({reinterpret_cast<const char*>(bytes), size});
  if (parts.size() < 2) return 0;
  const dragoman::MemoryFile hypotheses(parts[0]), first(parts[1]), last(parts.back());
  dragoman::EvaluateFiles files;
  files.hypotheses = {hypotheses.path()};
  files.references = {first.path()};
  if (parts.size() > 2) files.references.push_back(last.path());
  files.force = true;  // no warnings
  dragoman::read_or_refused([&] {
    const dragoman::EvaluatedTexts texts = dragoman::read_texts(files, {});
    for (const auto& score : dragoman::evaluate_lines(texts.hypotheses.front(), texts.references,
                                                      metrics(size), "fuzz"))
      if (!std::isfinite(score.score)) std::abort();
  });
  return 0;
}
