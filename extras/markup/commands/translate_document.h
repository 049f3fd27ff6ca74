// dragoman translate --markup: a document in, the same document in another language out.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "inference/translation_service.h"

namespace dragoman {

/// The values of --markup: the name of the input decides, or one of MarkupFormat.
enum class MarkupChoice { ByName, None, Html, Xml, Srt, Vtt, Po, Markdown };
constexpr std::array<std::string_view, 8> names_of(MarkupChoice) {
  return {"by-name", "none", "html", "xml", "srt", "vtt", "po", "markdown"};
}

/// The format of a file whose name is never that of plain text: page.html. None for other names,
/// also for .md: its text may be lines.
MarkupFormat format_of_name(std::string_view name);

/// The flags of documents with markup.
struct MarkupFiles {
  MarkupChoice choice = MarkupChoice::ByName;
  MarkupFormat markup = MarkupFormat::None;  ///< the chosen one
  std::vector<std::string> ignore_tags = {}, splitting_tags = {}, non_splitting_tags = {};
  std::vector<std::string> translate_attributes = {};

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Markup", visit);
    field("markup", choice,
          "the input is one document: a page (html), XML, subtitles (srt, vtt), messages (po) or "
          "Markdown; its texts are translated, and its tags stay with their words; by-name: if the "
          "name of --input ends in .html, .htm, .xml, .xlf, .xliff, .tmx, .srt, .vtt, .po or .pot");
    field(
        "ignore-tags", ignore_tags,
        "elements that are kept as they are, besides scripts, code and those with translate=\"no\"",
        {.placeholder = "NAME"});
    field("splitting-tags", splitting_tags, "elements that end sentences", {.placeholder = "NAME"});
    field("non-splitting-tags", non_splitting_tags, "elements that stand within sentences",
          {.placeholder = "NAME"});
    field("translate-attributes", translate_attributes,
          "attributes of HTML that are translated besides title, alt and placeholder: aria-label, "
          "value (of buttons), content (of descriptions)",
          {.placeholder = "NAME"});
  }

  bool names_tags() const {
    return !ignore_tags.empty() || !splitting_tags.empty() || !non_splitting_tags.empty();
  }
  MarkupOptions options() const;
};

/// Reads the whole document from a descriptor; `name` is for messages. Throws Error, with the place
/// in the document, if it cannot be read as the markup that --markup names.
MarkupDocument read_document(int input, const std::string& name, const MarkupFiles& files);

/// Translates a document and writes it to `output`, which is a file that appears when it is whole,
/// a stream, or "-". After a stop nothing is written.
void translate_document(const MarkupDocument& document, TranslationService& service,
                        const TranslationRequest& request, const std::string& output);

}  // namespace dragoman
