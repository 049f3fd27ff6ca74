#include "extras/markup/document.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "extras/markup/charset.h"
#include "extras/markup/format_directives.h"
#include "extras/markup/icu_messages.h"
#include "extras/markup/markup_formats.h"
#include "extras/markup/place_tags.h"
#include "extras/markup/writing.h"

namespace dragoman {

// ---- reading ------------------------------------------------------------------------------------

MarkupDocument parse_document(MarkupFormat format, std::string text, const MarkupOptions& options) {
  if (format == MarkupFormat::Xml) return parse_xml(std::move(text), options);
  if (format == MarkupFormat::Srt) return parse_srt(std::move(text));
  if (format == MarkupFormat::Vtt) return parse_vtt(std::move(text));
  if (format == MarkupFormat::Po) return parse_po(text);
  if (format == MarkupFormat::Markdown) return parse_markdown(text);
  return parse_html(std::move(text), options);
}

std::size_t count_characters_of(const MarkupDocument& document) {
  std::size_t characters = 0;
  for (const Passage& passage : document.passages) characters += count_code_points(passage.text);
  return characters;
}

// ---- translations with the alignment of their words ---------------------------------------------

namespace {

constexpr double kLeastWeight = 0.05;

std::vector<SourceLink> links_of(const std::vector<float>& attention) {
  std::vector<SourceLink> links;
  double sum = 0;
  for (const float weight : attention) sum += static_cast<double>(weight) * weight;
  for (std::size_t word = 0; word < attention.size(); ++word) {
    const double weight = static_cast<double>(attention[word]) * attention[word] / sum;
    if (weight >= kLeastWeight) links.push_back({word, weight});  // never if sum is 0
  }
  return links;
}

bool overlap(const ByteRange& a, const ByteRange& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

bool needs_alignment(const Passage& passage) {
  return !passage.tags.empty() && words_between_spaces(passage.text).size() <= kMostAlignedWords;
}

std::vector<ByteRange> kept_texts(const Passage& passage) {
  std::vector<ByteRange> texts;
  for (const InlineTag& tag : passage.tags)
    if (!tag.text.empty()) texts.push_back(tag.text);
  return texts;
}

AlignedText aligned_text(const TranslatedText& translation) {
  AlignedText aligned{.text = translation.text};
  std::size_t from = 0;
  for (const TranslatedWord& word : translation.words) {
    const std::size_t begin = aligned.text.find(word.text, from);
    if (begin == std::string::npos || word.attention.empty()) continue;
    from = begin + word.text.size();
    aligned.words.push_back({.place = {begin, from}, .links = links_of(word.attention)});
  }
  return aligned;
}

AlignedText through_pivot(const AlignedText& first, AlignedText second) {
  const std::vector<ByteRange> pivots = words_between_spaces(first.text);
  for (AlignedWord& word : second.words) {
    std::map<std::size_t, double> weights;
    for (const SourceLink& link : word.links) {
      if (link.source_word >= pivots.size()) continue;
      for (const AlignedWord& pivot : first.words)
        if (overlap(pivot.place, pivots[link.source_word]))
          for (const SourceLink& origin : pivot.links)
            weights[origin.source_word] += link.weight * origin.weight;
    }
    word.links.clear();
    for (const auto& [source_word, weight] : weights)
      if (weight >= kLeastWeight) word.links.push_back({source_word, weight});
  }
  return second;
}

// ---- writing ------------------------------------------------------------------------------------

namespace {

/// Whether a word ends at `place`, so that a tag after it needs a blank in front.
bool follows_word(std::string_view text, std::size_t place) {
  constexpr std::string_view kOpening = " ([{";
  return place > 0 && kOpening.find(text[place - 1]) == std::string_view::npos;
}

/// Whether a word begins at `place`, so that a tag in front of it needs a blank after it.
bool leads_word(std::string_view text, std::size_t place) {
  constexpr std::u32string_view kClosing =
      U" .,;:!?)]}\u2026\u060C\u061B\u061F\u0964\u3001\u3002\uFF01\uFF0C\uFF1A\uFF1B\uFF1F";
  return place < text.size() &&
         kClosing.find(next_code_point(text, place)) == std::u32string_view::npos;
}

/// Whether the placeholders of a passage are to be written with their numbers, because their order
/// has changed. If not all take numbers, they get their own order among their places instead.
bool are_numbered(const Passage& passage, std::vector<PlacedTag>& tags) {
  std::vector<PlacedTag*> places;
  std::vector<std::size_t> in_order;  // tags
  bool all_take_numbers = true;
  for (PlacedTag& placed : tags) {
    const InlineTag& tag = passage.tags[placed.tag];
    if (tag.argument == 0) continue;
    places.push_back(&placed);
    in_order.push_back(placed.tag);
    all_take_numbers = all_take_numbers && tag.takes_number;
  }
  if (std::ranges::is_sorted(in_order)) return false;
  if (all_take_numbers) return true;
  std::ranges::sort(in_order);
  for (std::size_t i = 0; i < places.size(); ++i) places[i]->tag = in_order[i];
  return false;
}

// ---- elements that have no word of the translation ----------------------------------------------

/// The text of a passage between a tag and its partner.
ByteRange text_between(const Passage& passage, std::size_t tag) {
  return {passage.tags[tag].text.begin, passage.tags[passage.tags[tag].partner].text.begin};
}

/// The innermost elements that have text: the tags that begin them. Markdown has none: it leaves
/// out marks without text.
std::vector<std::size_t> innermost_elements(const Passage& passage) {
  std::vector<std::size_t> innermost;
  const bool has_elements =
      !is_markdown_text(passage.writing) && passage.writing != Writing::HtmlQuoted;
  for (std::size_t t = 0; has_elements && t < passage.tags.size(); ++t) {
    const std::size_t partner = passage.tags[t].partner;
    if (partner == InlineTag::kNone || partner > t) continue;
    const bool is_outer = !innermost.empty() && innermost.back() > partner;
    if (!is_outer && !strip(text_between(passage, partner).of(passage.text)).empty())
      innermost.push_back(partner);
  }
  return innermost;
}

/// Whether an element has no text, and nothing that stands for text. `tags[begin]` is
/// its first tag.
bool is_lost(const Passage& passage, const std::vector<PlacedTag>& tags, std::size_t begin) {
  const std::size_t partner = passage.tags[tags[begin].tag].partner;
  for (std::size_t t = begin + 1; t < tags.size(); ++t) {
    if (tags[t].tag == partner) return tags[t].text.begin == tags[begin].text.begin;
    if (!passage.tags[tags[t].tag].text.empty()) return false;
  }
  return false;
}

/// Puts their own texts into the lost elements of a passage.
class OwnTexts {
 public:
  OwnTexts(const Passage& passage, std::string& text, std::vector<PlacedTag>& tags)
      : passage_(passage), text_(text), tags_(tags) {}

  /// `number`: of the passage.
  void insert(const ElementTexts& elements, std::size_t number) {
    std::size_t place = 0;
    for (std::size_t t = 0; t < tags_.size(); ++t) {
      if (tags_[t].text.begin > place) shift_ += std::exchange(blanks_after_, 0);
      place = tags_[t].text.begin;
      const auto own = elements.find({number, tags_[t].tag});
      const bool takes_own = own != elements.end() && is_lost(passage_, tags_, t);
      tags_[t].text = {place + shift_, tags_[t].text.end + shift_};
      if (takes_own) insert_at(t, own->second);
    }
  }

 private:
  /// With blanks around, if the source has some. Tags at the same place stand between the blanks.
  void insert_at(std::size_t t, const std::string& translation) {
    const std::size_t place = tags_[t].text.begin;
    const ByteRange source = text_between(passage_, tags_[t].tag);
    const std::string_view translated = strip(translation);
    const std::string own(translated.empty() ? strip(source.of(passage_.text)) : translated);
    const bool is_apart = is_blank_beside(source.begin) && follows_word(text_, place);
    const bool is_apart_after = is_blank_beside(source.end) && leads_word(text_, place);
    const std::string before(is_apart ? 1 : 0, ' '), after(is_apart_after ? 1 : 0, ' ');
    text_.insert(place, join_text(before, own, after));
    for (std::size_t b = t + 1; b-- > 0 && tags_[b].text.begin == place && begins(tags_[b].tag);)
      tags_[b].text = {place + before.size(), place + before.size()};
    shift_ += before.size() + own.size();
    blanks_after_ += after.size();
  }

  bool begins(std::size_t tag) const {
    const std::size_t partner = passage_.tags[tag].partner;
    return partner != InlineTag::kNone && partner > tag;
  }

  bool is_blank_beside(std::size_t place) const {
    const std::string& text = passage_.text;
    return (place > 0 && text[place - 1] == ' ') || (place < text.size() && text[place] == ' ');
  }

  const Passage& passage_;
  std::string& text_;
  std::vector<PlacedTag>& tags_;
  std::size_t shift_ = 0,
              blanks_after_ = 0;  // blanks after texts, which follow the tags at their place
};

class DocumentWriter {
 public:
  /// `kept`: whether each passage stays untranslated.
  DocumentWriter(const MarkupDocument& document, std::span<const AlignedText> translations,
                 const ElementTexts& elements, const std::vector<bool>& kept)
      : document_(document), translations_(translations), elements_(elements), kept_(kept) {}

  TranslatedDocument translated() {
    std::size_t place = 0, untranslated = 0;
    for (const CheckedStretch& checked : document_.checked) {
      write({place, checked.source.begin}, next_passage(place));
      const std::size_t begin = text_.size();
      lacks_words_ = false;
      write(checked.source, next_passage(checked.source.begin));
      place = checked.source.end;
      if (!lacks_words_ && checked.is_sound(std::string_view(text_).substr(begin))) continue;
      text_.replace(begin, std::string::npos, checked.untranslated);
      ++untranslated;
    }
    write({place, document_.bytes.size()}, next_passage(place));
    return {.bytes = std::move(text_), .untranslated = untranslated};
  }

 private:
  /// The first passage that begins at a place or after it.
  std::size_t next_passage(std::size_t place) const {
    const auto next = std::ranges::lower_bound(
        document_.passages, place, {}, [](const Passage& passage) { return passage.source.begin; });
    return static_cast<std::size_t>(next - document_.passages.begin());
  }

  /// Appends the bytes of a range of the document. Passages from number `next` on that lie in it
  /// are written as their translations.
  void write(const ByteRange& range, std::size_t next) {
    std::size_t place = range.begin;
    const std::vector<Passage>& passages = document_.passages;
    for (; next < passages.size() && passages[next].source.begin < range.end; ++next) {
      if (passages[next].source.begin < place) continue;  // inside of a tag of the one before
      write_between({place, passages[next].source.begin});
      write_passage(next);
      place = passages[next].source.end;
    }
    write_between({place, range.end});
  }

  /// A blank line would end a caption, so a line that has lost its text is left out.
  void write_between(const ByteRange& range) {
    std::string_view bytes = range.of(document_.bytes);
    if (has_captions_ && text_.ends_with('\n'))
      bytes.remove_prefix(bytes.starts_with("\r\n") ? 2 : bytes.starts_with('\n') ? 1 : 0);
    text_ += bytes;
  }

  /// A tag and the attributes that are translated in it; or a placeholder with its number.
  void write_tag(const InlineTag& tag, bool numbered) {
    if (numbered && tag.argument > 0) {
      text_ += numbered_placeholder(tag.source.of(document_.bytes), tag.argument);
      return;
    }
    write(tag.source, next_passage(tag.source.begin + 1));
  }

  void write_passage(std::size_t number) {
    const Passage& passage = document_.passages[number];
    const AlignedText& translation = translations_[number];
    const bool is_empty = strip(translation.text).empty();  // without words it is none
    lacks_words_ = lacks_words_ || is_empty;
    if (is_empty || kept_[number]) return write(passage.source, number + 1);
    // For all of the passage: it may have very many tags.
    const BareSigns bare = bare_signs(passage.source.of(document_.bytes));
    if (passage.tags.empty()) return write_text(translation.text, passage, bare, 0);
    write_text(passage.space_before, passage, bare, 0);
    std::string text = translation.text;
    std::vector<PlacedTag> tags = place_tags(passage, translation);
    if (is_markdown_text(passage.writing)) tags = readable_marks(document_, passage, text, tags);
    OwnTexts(passage, text, tags).insert(elements_, number);
    write_with_tags(text, tags, passage, bare);
    write_text(passage.space_after, passage, bare, 0);
  }

  void write_with_tags(std::string_view text, std::vector<PlacedTag>& tags, const Passage& passage,
                       const BareSigns& bare) {
    const bool numbered = are_numbered(passage, tags);
    std::size_t place = 0, last_tag = 0, last_end = 0;
    for (const PlacedTag& tag : tags) {
      const InlineTag& known = passage.tags[tag.tag];
      const std::string_view between = ByteRange{place, tag.text.begin}.of(text);
      const std::string_view bytes = known.source.of(document_.bytes);
      const bool is_link = is_markdown_text(passage.writing) && is_bare_link(bytes);
      // Text that the translation has itself has the blanks of the translation.
      const bool is_apart =
          (known.blank_before && !tag.is_same && follows_word(text, tag.text.begin)) ||
          (is_link && !may_precede_link(between.empty() ? text_ : between, bytes));
      write_text(between, passage, bare, is_apart ? ' ' : bytes.front());
      // Blanks before a line end would break the line.
      while (is_markdown_text(passage.writing) && known.divides && text_.ends_with(' '))
        text_.pop_back();
      const bool touches = &tag != &tags.front() && text_.size() == last_end;
      if (is_apart || (touches && are_read_as_one(document_, passage, last_tag, tag.tag)))
        text_ += ' ';
      write_tag(known, numbered);
      last_tag = tag.tag;
      last_end = text_.size();
      const std::string_view rest = text.substr(tag.text.end);
      const bool is_apart_after =
          known.blank_after && !tag.is_same && leads_word(text, tag.text.end);
      if (is_apart_after || (is_link && continues_link(rest, bytes))) text_ += ' ';
      place = tag.text.end;
    }
    write_text(text.substr(place), passage, bare, 0);
  }

  /// `after` is the byte that follows; 0: the passage ends.
  void write_text(std::string_view text, const Passage& passage, const BareSigns& bare,
                  char after) {
    const std::string apostrophes = with_apostrophes(text, passage.apostrophes);
    const std::string written = written_text(apostrophes, passage.writing,
                                             {.source = passage.source.of(document_.bytes),
                                              .bare = bare,
                                              .before = text_,
                                              .after = after});
    text_ += passage.is_escaped ? written_text(written, Writing::XmlText, {}) : written;
  }

  const MarkupDocument& document_;
  const std::span<const AlignedText> translations_;
  const ElementTexts& elements_;
  const std::vector<bool>& kept_;
  const bool has_captions_ =
      !document_.passages.empty() && is_caption(document_.passages.front().writing);
  bool lacks_words_ = false;  // a passage of the checked stretch
  std::string text_;
};

/// Translates all passages but those whose translation would change the document's structure.
class StructureKeeper {
 public:
  StructureKeeper(const MarkupDocument& document, std::span<const AlignedText> translations,
                  const ElementTexts& elements)
      : document_(document),
        translations_(translations),
        elements_(elements),
        kept_(document.passages.size(), false) {}

  TranslatedDocument translated() {
    TranslatedDocument all = written();
    if (!document_.has_structure || document_.has_structure(all.bytes)) return all;
    settle(0, kept_.size());
    all = written();
    all.untranslated += static_cast<std::size_t>(std::ranges::count(kept_, true));
    return all;
  }

 private:
  TranslatedDocument written() const {
    return DocumentWriter(document_, translations_, elements_, kept_).translated();
  }

  void keep(std::size_t first, std::size_t last, bool is_kept) {
    std::fill(kept_.begin() + static_cast<std::ptrdiff_t>(first),
              kept_.begin() + static_cast<std::ptrdiff_t>(last), is_kept);
  }

  /// Passages before `first` are settled, and those from `last` on are kept. The structure is not
  /// that of the document if those between are translated.
  void settle(std::size_t first, std::size_t last) {
    keep(first, last, true);
    if (last - first <= 1) return;
    const std::size_t middle = first + (last - first) / 2;
    try_translations(first, middle);
    try_translations(middle, last);
  }

  void try_translations(std::size_t first, std::size_t last) {
    if (bytes_left_ < document_.bytes.size()) return;
    keep(first, last, false);
    const std::string bytes = written().bytes;
    bytes_left_ -= std::min(bytes_left_, bytes.size());
    if (!document_.has_structure(bytes)) settle(first, last);
  }

  const MarkupDocument& document_;
  const std::span<const AlignedText> translations_;
  const ElementTexts& elements_;
  std::vector<bool> kept_;               // of each passage
  std::size_t bytes_left_ = 50'000'000;  // to check; seconds
};

}  // namespace

std::vector<LostElement> lost_elements(const MarkupDocument& document,
                                       std::span<const AlignedText> translations) {
  std::vector<LostElement> lost;
  for (std::size_t p = 0; p < document.passages.size(); ++p) {
    const Passage& passage = document.passages[p];
    const std::vector<std::size_t> elements = innermost_elements(passage);
    if (elements.empty()) continue;
    const std::vector<PlacedTag> tags = place_tags(passage, translations[p]);
    std::vector<std::size_t> places(passage.tags.size());  // of each tag, in `tags`
    for (std::size_t t = 0; t < tags.size(); ++t) places[tags[t].tag] = t;
    for (const std::size_t element : elements)
      if (is_lost(passage, tags, places[element])) lost.push_back({p, element});
  }
  return lost;
}

std::string_view text_of(const MarkupDocument& document, const LostElement& element) {
  const Passage& passage = document.passages[element.passage];
  return strip(text_between(passage, element.tag).of(passage.text));
}

TranslatedDocument translated_document(const MarkupDocument& document,
                                       std::span<const AlignedText> translations,
                                       const ElementTexts& elements) {
  TranslatedDocument translated = StructureKeeper(document, translations, elements).translated();
  if (!document.charset.empty()) translated.bytes = in_charset(translated.bytes, document.charset);
  return translated;
}

}  // namespace dragoman
