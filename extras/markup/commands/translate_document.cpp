#include "extras/markup/commands/translate_document.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/commands/translate.h"
#include "app/commands/written_translations.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/machine.h"
#include "base/utf8.h"
#include "extras/markup/charset.h"
#include "extras/markup/markup_formats.h"

namespace dragoman {

namespace {

/// A text of a document that is translated, and its place for messages.
struct DocumentText {
  std::string_view text;
  bool needs_alignment;
  std::size_t place;  ///< in the document
  std::vector<ByteRange> kept = {};
};

std::vector<DocumentText> texts_of(const std::vector<Passage>& passages) {
  std::vector<DocumentText> texts;
  for (const Passage& passage : passages)
    texts.push_back(
        {passage.text, needs_alignment(passage), passage.source.begin, kept_texts(passage)});
  return texts;
}

std::vector<DocumentText> texts_of(const MarkupDocument& document,
                                   const std::vector<LostElement>& elements) {
  std::vector<DocumentText> texts;
  for (const LostElement& element : elements)
    texts.push_back(
        {text_of(document, element), false, document.passages[element.passage].source.begin});
  return texts;
}

/// Texts are submitted a few hundred at a time: attention takes memory, and the queue is bounded.
class DocumentTranslations {
 public:
  DocumentTranslations(const MarkupDocument& document, TranslationService& service,
                       const TranslationRequest& request)
      : document_(document), service_(service), plain_(service.prepare(request)) {
    TranslationRequest with_attention = request;
    with_attention.reports_attention = true;
    aligned_ = service.prepare(with_attention);
  }

  /// Nothing after a stop.
  std::vector<AlignedText> all(const std::vector<DocumentText>& texts) {
    const std::stop_token stop = listen_for_stop();
    Progress progress("translate", "passages", static_cast<std::int64_t>(texts.size()));
    std::vector<AlignedText> translations;
    std::deque<TranslationAnswers> under_way;
    submitted_ = 0;
    while (translations.size() < texts.size()) {
      while (under_way.size() < 2 && submitted_ < texts.size() &&
             (under_way.empty() || !is_queue_full()))
        under_way.push_back(service_.submit(next_window(texts, stop)));
      const std::optional<Translation> answer = under_way.front().next();
      if (!answer && under_way.front().left() > 0) return {};
      if (answer) {
        facts_ += answer->facts;
        warn_of_unmet(*answer, texts[static_cast<std::size_t>(answer->line)].place);
        translations.push_back(aligned_text(answer->n_best.front()));
        progress.update(static_cast<std::int64_t>(translations.size()));
      }
      if (under_way.front().left() == 0) under_way.pop_front();
    }
    return translations;
  }

  const TranslationFacts& facts() const { return facts_; }

 private:
  void warn_of_unmet(const Translation& translation, std::size_t place) {
    if (translation.unmet.empty() || ++unmet_ > kMostWarnings) return;
    const std::string& text = document_.bytes;
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    log_warning(join_text("line ", line + 1, ": ", unmet_text(translation)));
  }

  /// A window of long passages may fill the queue by itself: the next one would be refused.
  bool is_queue_full() const { return service_.waiting() > service_.most_waiting() / 2; }

  Submission next_window(const std::vector<DocumentText>& texts, const std::stop_token& stop) {
    constexpr std::size_t kWindow = 512;
    Submission window{
        .request = plain_, .first_line = static_cast<std::int64_t>(submitted_), .stop = stop};
    for (; window.lines.size() < kWindow && submitted_ < texts.size(); ++submitted_) {
      const DocumentText& text = texts[submitted_];
      window.lines.push_back({.text = std::string(text.text),
                              .kept = text.kept,
                              .request = text.needs_alignment ? aligned_ : nullptr});
    }
    return window;
  }

  const MarkupDocument& document_;
  TranslationService& service_;
  std::shared_ptr<const PreparedRequest> plain_, aligned_;
  std::size_t submitted_ = 0;
  std::int64_t unmet_ = 0;
  TranslationFacts facts_;
};

/// The end of a message about a document that is not UTF-8.
std::string way_to_utf8(MarkupFormat markup, std::string_view text) {
  if (markup != MarkupFormat::Po)
    return "; convert it, and what it says about its encoding: iconv -f latin1 -t UTF-8";
  const std::string_view charset = declared_charset(text);
  return join_text(charset.empty() ? "" : join_text("; its header says charset=", charset),
                   "; convert it and its header: msgconv -t UTF-8");
}

/// The flag that asks for lines; empty: there is none.
std::string_view flag_of_lines(const TranslateConfig& config) {
  const TranslateFiles& files = config.files;
  if (files.json) return "--json";
  if (files.resume) return "--resume";
  if (!files.prefix_file.empty()) return "--prefix-file";
  if (config.decode.n_best > 1) return "--n-best";
  if (files.with_scores) return "--with-scores";
  if (files.word_scores) return "--word-scores";
  return files.alignment == AlignmentFormat::None ? "" : "--alignment";
}

/// In lower case, with its dot, without that of compressed text: ".html" for "PAGE.HTML.gz".
std::string ending_of(std::string_view path) {
  const std::string name = plain_name(std::string(path));
  return ascii_lower(name.substr(std::min(name.rfind('.'), name.size())));
}

bool is_markdown(std::string_view path) {
  const std::string ending = ending_of(path);
  return ending == ".md" || ending == ".markdown";
}

/// The format that the flags or, without --markup, the name of the input chooses.
MarkupFormat chosen_format(MarkupChoice choice, const TranslateConfig& config) {
  if (choice != MarkupChoice::ByName)
    return static_cast<MarkupFormat>(static_cast<int>(choice) -
                                     static_cast<int>(MarkupChoice::None));
  const std::string& input = config.files.input;
  const MarkupFormat format = format_of_name(input);
  const std::string_view flag = flag_of_lines(config);
  if (flag.empty() && is_markdown(input))
    log_info(input + ": is read as lines; --markup markdown reads it as one document");
  if (format == MarkupFormat::None) return format;
  const std::string_view name = name_of(format);
  std::error_code none;
  if (std::filesystem::exists(input, none))
    log_info(flag.empty()
                 ? join_text(input, ": is read as one document in ", name,
                             "; --markup none reads it as lines")
                 : join_text(input, ": is read as lines, as ", flag, " asks for, not as ", name));
  return flag.empty() ? format : MarkupFormat::None;
}

/// Whether the input is a document; its format is then in `markup`. Throws UsageError if other
/// flags do not go with it.
bool is_asked_for(MarkupFiles& markup, const TranslateConfig& config) {
  markup.markup = chosen_format(markup.choice, config);
  const bool has_elements =
      markup.markup == MarkupFormat::Html || markup.markup == MarkupFormat::Xml;
  if (!has_elements && markup.names_tags())
    throw UsageError(
        "--ignore-tags, --splitting-tags, --non-splitting-tags: need --markup html or "
        "xml");
  if (markup.markup != MarkupFormat::Html && !markup.translate_attributes.empty())
    throw UsageError("--translate-attributes: needs --markup html");
  if (markup.markup == MarkupFormat::None) return false;
  if (const std::string_view flag = flag_of_lines(config); !flag.empty())
    throw UsageError(flag, ": does not go with --markup, which reads one document");
  return true;
}

}  // namespace

MarkupFormat format_of_name(std::string_view name) {
  using enum MarkupFormat;
  static constexpr std::pair<std::string_view, MarkupFormat> kEndings[] = {
      {".html", Html}, {".htm", Html}, {".xml", Xml}, {".xlf", Xml}, {".xliff", Xml},
      {".tmx", Xml},   {".srt", Srt},  {".vtt", Vtt}, {".po", Po},   {".pot", Po}};
  const std::string ending = ending_of(name);
  const auto* const known =
      std::ranges::find(kEndings, ending, [](const auto& each) { return each.first; });
  return known == std::end(kEndings) ? None : known->second;
}

MarkupOptions MarkupFiles::options() const {
  return {.ignore_tags = {ignore_tags.begin(), ignore_tags.end()},
          .splitting_tags = {splitting_tags.begin(), splitting_tags.end()},
          .non_splitting_tags = {non_splitting_tags.begin(), non_splitting_tags.end()},
          .attributes = {translate_attributes.begin(), translate_attributes.end()}};
}

MarkupDocument read_document(int input, const std::string& name, const MarkupFiles& files) {
  std::string bytes = plain_text(read_all(input, name), name);
  return with_place(name, [&] {
    FileText file = file_text(files.markup, std::move(bytes));
    if (const std::size_t bad = find_invalid_utf8(file.text); bad != std::string::npos)
      throw Error("is not UTF-8 at byte ", bad + 1, way_to_utf8(files.markup, file.text));
    MarkupOptions options = files.options();
    options.charset = std::move(file.charset);
    return parse_document(files.markup, std::move(file.text), options);
  });
}

void translate_document(const MarkupDocument& document, TranslationService& service,
                        const TranslationRequest& request, const std::string& output) {
  const Stopwatch watch;
  TextOutput written(output);  // first: if it cannot be opened, no work is lost
  DocumentTranslations translations(document, service, request);
  const std::vector<AlignedText> texts = translations.all(texts_of(document.passages));
  const bool is_whole = texts.size() == document.passages.size();
  const std::vector<LostElement> lost =
      is_whole ? lost_elements(document, texts) : std::vector<LostElement>();
  const std::vector<AlignedText> of_lost = translations.all(texts_of(document, lost));
  if (!is_whole || of_lost.size() < lost.size()) {
    log_warning(join_text(output == "-" ? "the document" : output, " is not written"));
    return;
  }
  ElementTexts elements;
  for (std::size_t l = 0; l < lost.size(); ++l) elements[lost[l]] = of_lost[l].text;
  const TranslatedDocument translated = translated_document(document, texts, elements);
  written.write(translated.bytes);
  written.finish();
  const auto untranslated = static_cast<std::int64_t>(translated.untranslated);
  if (untranslated > 0 && document.has_structure)
    log_warning(
        join_text(counted(untranslated, "text stays untranslated", "texts stay untranslated"),
                  ": a translation would change the blocks or links of the document"));
  else if (untranslated > 0)
    log_warning(join_text(
        counted(untranslated, "message stays untranslated", "messages stay untranslated"),
        ": a translation would lack words or placeholders, the header lacks Plural-Forms, or text "
        "or a tag stands beside a choice ({n, plural, ...})"));
  log_summary(translations.facts(), 0, 0, watch.seconds());
}

Extra markup_extra(const MakeDeviceEngine&) {
  const auto markup = std::make_shared<MarkupFiles>();
  const auto read = [markup](int input, const std::string& name) -> TranslateDocument {
    const auto document =
        std::make_shared<const MarkupDocument>(read_document(input, name, *markup));
    return [document](TranslationService& service, const TranslationRequest& request,
                      const std::string& output) {
      translate_document(*document, service, request, output);
    };
  };
  return {.documents = {{.fields = fields_of(*markup),
                         .is_asked_for =
                             [markup](const TranslateConfig& config) {
                               return is_asked_for(*markup, config);
                             },
                         .read = read,
                         .examples = {"translate -m run/ --markup html -i page.html "
                                      "-o page.de.html"}}}};
}

}  // namespace dragoman
