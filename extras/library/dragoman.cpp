#include "extras/library/dragoman.h"

#include <exception>
#include <string>
#include <vector>

#include "extras/library/translator.h"

struct dragoman_translator {
  dragoman::Translator translator;
};

struct dragoman_translations {
  std::vector<dragoman::Translator::Result> results;
};

namespace {

thread_local std::string last_error;

/// The object that `make` returns; null after an exception, whose text dragoman_error() then gives.
template <class Make>
auto null_after_error(Make&& make) -> decltype(make()) try {
  return make();
} catch (const std::exception& error) {
  last_error = error.what();
  return nullptr;
} catch (...) {
  last_error = "an exception without a text";
  return nullptr;
}

dragoman::Translator::Options options_of(const char* const* options) {
  dragoman::Translator::Options list;
  for (; options != nullptr && *options != nullptr; ++options) list.emplace_back(*options);
  return list;
}

}  // namespace

const char* dragoman_version() { return dragoman::Translator::version(); }

const char* dragoman_error() { return last_error.c_str(); }

dragoman_translator* dragoman_open(const char* model, const char* const* options) {
  return null_after_error(
      [&] { return new dragoman_translator{dragoman::Translator(model, options_of(options))}; });
}

void dragoman_close(dragoman_translator* translator) { delete translator; }

dragoman_translations* dragoman_translate(const dragoman_translator* translator,
                                          const char* const* lines, size_t count,
                                          const char* const* options) {
  return null_after_error([&] {
    return new dragoman_translations{
        translator->translator.translate({lines, lines + count}, options_of(options))};
  });
}

size_t dragoman_candidates(const dragoman_translations* translations, size_t line) {
  return translations->results[line].n_best.size();
}

const char* dragoman_text(const dragoman_translations* translations, size_t line,
                          size_t candidate) {
  return translations->results[line].n_best[candidate].text.c_str();
}

double dragoman_score(const dragoman_translations* translations, size_t line, size_t candidate) {
  return translations->results[line].n_best[candidate].score;
}

void dragoman_free(dragoman_translations* translations) { delete translations; }
