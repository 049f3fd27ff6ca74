#include "markup/document.h"

#include <algorithm>

#include "base/utf8.h"
#include "markup/markdown_writing.h"
#include "markup/place_tags.h"
#include "markup/writing.h"

namespace dragoman {

namespace {

class DocumentWriter {
 public:
  DocumentWriter(const MarkupDocument& document, std::span<const AlignedText> translations)
      : document_(document), translations_(translations) {}

  void write_all() { write({0, document_.bytes.size()}, 0); }

  std::string take() { return std::move(text_); }

 private:
  /// Appends the bytes of a range of the document. Passages from number `next` on that lie in it
  /// are written as their translations.
  void write(const ByteRange& range, std::size_t next) {
    std::size_t place = range.begin;
    const std::vector<Passage>& passages = document_.passages;
    for (; next < passages.size() && passages[next].source.begin < range.end; ++next) {
      if (passages[next].source.begin < place) continue;  // inside of a tag of the one before
      text_ += ByteRange{place, passages[next].source.begin}.of(document_.bytes);
      write_passage(passages[next], translations_[next]);
      place = passages[next].source.end;
    }
    text_ += ByteRange{place, range.end}.of(document_.bytes);
  }

  /// A tag and the attributes that are translated in it.
  void write_tag(const ByteRange& tag) {
    const auto attribute =
        std::ranges::upper_bound(document_.passages, tag.begin, {},
                                 [](const Passage& passage) { return passage.source.begin; });
    write(tag, static_cast<std::size_t>(attribute - document_.passages.begin()));
  }

  void write_passage(const Passage& passage, const AlignedText& translation) {
    const std::string_view text = translation.text;
    // For all of the passage: it may have very many tags.
    const BareSigns bare = bare_signs(passage.source.of(document_.bytes));
    if (passage.tags.empty()) return write_text(text, passage, bare, 0);
    std::vector<PlacedTag> tags = place_tags(passage, translation);
    if (is_markdown_text(passage.writing)) tags = readable_marks(document_, passage, text, tags);
    std::size_t place = 0;
    for (const PlacedTag& tag : tags) {
      const ByteRange& source = passage.tags[tag.tag].source;
      write_text(ByteRange{place, tag.text.begin}.of(text), passage, bare,
                 document_.bytes[source.begin]);
      const bool follows_text = tag.text.begin > 0 && text[tag.text.begin - 1] != ' ';
      const bool leads_text = tag.text.end < text.size() && text[tag.text.end] != ' ';
      if (tag.is_spaced && follows_text) text_ += ' ';
      write_tag(source);
      if (tag.is_spaced && leads_text) text_ += ' ';
      place = tag.text.end;
    }
    write_text(text.substr(place), passage, bare, 0);
  }

  /// `after` is the byte that follows; 0: the passage ends.
  void write_text(std::string_view text, const Passage& passage, const BareSigns& bare,
                  char after) {
    text_ += written_text(text, passage.writing,
                          {.source = passage.source.of(document_.bytes),
                           .bare = bare,
                           .before = text_,
                           .after = after});
  }

  const MarkupDocument& document_;
  const std::span<const AlignedText> translations_;
  std::string text_;
};

}  // namespace

std::string translated_document(const MarkupDocument& document,
                                std::span<const AlignedText> translations) {
  DocumentWriter writer(document, translations);
  writer.write_all();
  return writer.take();
}

bool needs_alignment(const Passage& passage) {
  return !passage.tags.empty() && words_of(passage.text).size() <= kMostAlignedWords;
}

std::size_t count_characters_of(const MarkupDocument& document) {
  std::size_t characters = 0;
  for (const Passage& passage : document.passages) characters += count_code_points(passage.text);
  return characters;
}

}  // namespace dragoman
