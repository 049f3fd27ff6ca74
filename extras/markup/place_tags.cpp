#include "extras/markup/place_tags.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "extras/markup/fragment_links.h"
#include "tokenizer/translatable.h"

namespace dragoman {

namespace {

constexpr std::size_t kDeepestElement = 100;

struct TagNode {
  std::size_t first = InlineTag::kNone;  ///< the tag that begins it; none: the passage itself
  std::size_t last = InlineTag::kNone;   ///< the tag that ends it; none: a single tag
  ByteRange text;                        ///< of the passage
  std::vector<std::size_t> children = {};
  bool keeps_order = false;  ///< as InlineTag::keeps_order

  bool is_element() const { return last != InlineTag::kNone; }
};

/// The tags of a passage as a tree. The first node is the passage. Below kDeepestElement tags stand
/// for themselves and keep their order, so that a million nested elements need no deep recursion.
std::vector<TagNode> tag_tree(const Passage& passage) {
  std::vector<TagNode> nodes = {{.text = {0, passage.text.size()}}};
  std::vector<std::size_t> open = {0};  // nodes that are not ended yet
  for (std::size_t t = 0; t < passage.tags.size(); ++t) {
    const InlineTag& tag = passage.tags[t];
    const bool is_paired = tag.partner != InlineTag::kNone;
    if (is_paired && tag.partner < t && nodes[open.back()].first == tag.partner) {
      nodes[open.back()].last = t;
      nodes[open.back()].text.end = tag.text.begin;
      open.pop_back();
      continue;
    }
    const bool begins = is_paired && tag.partner > t && open.size() <= kDeepestElement;
    nodes[open.back()].children.push_back(nodes.size());
    nodes.push_back(
        {.first = t, .text = tag.text, .keeps_order = tag.keeps_order || (is_paired && !begins)});
    if (begins) open.push_back(nodes.size() - 1);
  }
  return nodes;
}

/// The most texts, all different, of a passage that stand for kept elements and touch letters.
constexpr std::size_t kMostTouching = 64;

/// Whether a letter, a mark or a digit ends in front of an offset and another begins there.
bool is_within_word(std::string_view text, std::size_t offset) {
  if (offset == 0 || offset >= text.size()) return false;
  const auto is_of_word = [text](std::size_t place) {
    const char kind = general_category(next_code_point(text, place))[0];
    return kind == 'L' || kind == 'N' || kind == 'M';
  };
  return is_of_word(character_start(text, offset - 1)) && is_of_word(offset);
}

/// Further ends of the fragments of a passage and of its translation: at tags within a word, and
/// around a text that is kept and touches letters ("<code>x</code>s"), if the translation has it in
/// such a place.
FragmentLinks::Cuts cuts_of(const Passage& passage, std::string_view translation) {
  struct Touches {
    bool before = false, after = false;
  };
  FragmentLinks::Cuts cuts;
  std::map<std::string_view, Touches> kept;
  for (const InlineTag& tag : passage.tags) {
    const bool before = is_within_word(passage.text, tag.text.begin);
    const bool after = is_within_word(passage.text, tag.text.end);
    if (before) cuts.source.push_back(tag.text.begin);
    if (after) cuts.source.push_back(tag.text.end);
    if (tag.text.empty() || !(before || after) || kept.size() == kMostTouching) continue;
    Touches& touches = kept[tag.text.of(passage.text)];
    touches.before = touches.before || before;
    touches.after = touches.after || after;
  }
  for (const auto& [text, touches] : kept)
    for (std::size_t begin = translation.find(text); begin != std::string_view::npos;
         begin = translation.find(text, begin + text.size())) {
      const std::size_t end = begin + text.size();
      if ((is_within_word(translation, begin) && !touches.before) ||
          (is_within_word(translation, end) && !touches.after))
        continue;
      cuts.target.insert(cuts.target.end(), {begin, end});
    }
  std::ranges::sort(cuts.source);
  std::ranges::sort(cuts.target);
  return cuts;
}

class TagPlacer {
 public:
  TagPlacer(const Passage& passage, const AlignedText& translation)
      : passage_(passage),
        translation_(translation),
        links_(passage.text, translation, cuts_of(passage, translation.text)),
        nodes_(tag_tree(passage)),
        places_(nodes_.size()),
        owners_(links_.target().size(), 0) {}

  std::vector<PlacedTag> placed() {
    places_[0] = {0, translation_.text.size()};
    place_children(0);
    write(0);
    return std::move(written_);
  }

 private:
  using Stretch = FragmentLinks::Stretch;

  bool has_text(std::size_t node) const {
    return !nodes_[node].text.empty() && !translation_.text.empty();
  }

  /// Children that have text take theirs first, those that fit best before the others.
  void place_children(std::size_t parent) {
    words_left_ = has_own_words(parent) ? count_words_owned_by(parent)
                                        : std::numeric_limits<std::size_t>::max();
    claim_same_texts(parent);
    for (const std::size_t child : by_gain(parent)) claim_stretch(parent, child);
    place_single_tags(parent);
    keep_sides(parent);
    for (const std::size_t child : nodes_[parent].children)
      if (nodes_[child].is_element()) place_children(child);
  }

  /// What stands before or after half an element, whose partner is elsewhere, stays on its side:
  /// otherwise it would come into the element, or out of it.
  void keep_sides(std::size_t parent) {
    const std::vector<std::size_t>& children = nodes_[parent].children;
    std::vector<std::size_t> latest(children.size());
    std::size_t bound = places_[parent]->end;
    for (std::size_t c = children.size(); c-- > 0;) {
      latest[c] = bound;
      if (is_half(children[c])) bound = places_[children[c]]->begin;
    }
    bound = places_[parent]->begin;
    for (std::size_t c = 0; c < children.size(); ++c) {
      ByteRange& place = *places_[children[c]];
      if (is_half(children[c]))
        bound = place.begin;
      else
        place = {std::clamp(place.begin, bound, latest[c]),
                 std::clamp(place.end, bound, latest[c])};
    }
  }

  bool is_half(std::size_t node) const {
    return nodes_[node].keeps_order && !nodes_[node].is_element() && !divides(node);
  }

  /// Whether the source has a word in the node, and in none of its children.
  bool has_own_words(std::size_t node) const {
    std::size_t place = nodes_[node].text.begin;
    const auto has_words_up_to = [&](std::size_t end) {
      return end > place && has_letter_or_digit(ByteRange{place, end}.of(passage_.text));
    };
    for (const std::size_t child : nodes_[node].children) {
      if (has_words_up_to(nodes_[child].text.begin)) return true;
      place = std::max(place, nodes_[child].text.end);
    }
    return has_words_up_to(nodes_[node].text.end);
  }

  std::size_t count_words_owned_by(std::size_t node) const {
    std::size_t words = 0;
    for (const std::size_t fragment : fragments_owned_by(node))
      if (links_.target()[fragment].has_letters) ++words;
    return words;
  }

  std::size_t count_words_in(const Stretch& stretch) const {
    const auto first = links_.target().begin() + static_cast<std::ptrdiff_t>(stretch.begin);
    return static_cast<std::size_t>(
        std::count_if(first, first + static_cast<std::ptrdiff_t>(stretch.end - stretch.begin),
                      [](const WordFragment& fragment) { return fragment.has_letters; }));
  }

  struct LongestFirst {
    bool operator()(std::string_view a, std::string_view b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };

  /// Text that is kept best replaces the same text of the translation.
  void claim_same_texts(std::size_t parent) {
    std::map<std::string_view, std::vector<std::size_t>, LongestFirst> kept;  // children
    for (const std::size_t child : nodes_[parent].children)
      if (!nodes_[child].is_element() && has_text(child))
        kept[nodes_[child].text.of(passage_.text)].push_back(child);
    if (kept.empty()) return;
    const FragmentSearch search(translation_.text, links_.target(), fragments_owned_by(parent));
    for (const auto& [text, children] : kept) {
      auto child = children.begin();
      for (const std::size_t begin : search.places_of(text)) {
        if (child == children.end()) break;
        const auto stretch = stretch_of(parent, begin, text.size());
        if (stretch) claim(*child++, *stretch);
      }
    }
  }

  /// The fragments of the translation that belong to the node.
  std::vector<std::size_t> fragments_owned_by(std::size_t node) const {
    const std::vector<WordFragment>& all = links_.target();
    const auto begin_of = [](const WordFragment& fragment) { return fragment.place.begin; };
    const auto first = std::ranges::lower_bound(all, places_[node]->begin, {}, begin_of);
    std::vector<std::size_t> fragments;
    for (auto at = static_cast<std::size_t>(first - all.begin());
         at < all.size() && all[at].place.begin < places_[node]->end; ++at)
      if (owners_[at] == node) fragments.push_back(at);
    return fragments;
  }

  /// The fragments of `owner` that are the `size` bytes from fragment `begin` on; nothing if
  /// others have some of them, or a fragment does not end there.
  std::optional<Stretch> stretch_of(std::size_t owner, std::size_t begin, std::size_t size) const {
    const std::vector<WordFragment>& fragments = links_.target();
    const std::size_t end_of_text = begin_of(begin) + size;
    std::size_t end = begin;
    while (end < fragments.size() && owners_[end] == owner && end_of(end) <= end_of_text) ++end;
    if (end == begin || end_of(end - 1) != end_of_text) return std::nullopt;
    return Stretch{.begin = begin, .end = end, .gain = 0};
  }

  /// The children that have text and no place yet.
  std::vector<std::size_t> by_gain(std::size_t parent) {
    std::vector<std::pair<double, std::size_t>> gains;
    for (const std::size_t child : nodes_[parent].children)
      if (has_text(child) && !places_[child])
        if (const auto stretch = best_stretch(parent, child))
          gains.emplace_back(-stretch->gain, child);
    std::ranges::stable_sort(gains, {}, [](const auto& gain) { return gain.first; });
    std::vector<std::size_t> sorted;
    for (const auto& [gain, child] : gains) sorted.push_back(child);
    return sorted;
  }

  /// Text that is kept takes the place of other text. So it only takes text that is surely its
  /// translation, and never the last word: the other words of the source have a translation, too.
  std::optional<Stretch> best_stretch(std::size_t parent, std::size_t child) const {
    const auto stretch = links_.best_stretch(nodes_[child].text, owners_, parent);
    if (nodes_[child].is_element() || !stretch) return stretch;
    const bool is_sure = stretch->gain > 0 && !translation_.words.empty();
    return is_sure && count_words_in(*stretch) < words_left_ ? stretch : std::nullopt;
  }

  void claim_stretch(std::size_t parent, std::size_t child) {
    if (const auto stretch = best_stretch(parent, child)) claim(child, *stretch);
  }

  void claim(std::size_t child, const Stretch& stretch) {
    words_left_ -= std::min(words_left_, count_words_in(stretch));
    std::fill(owners_.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
              owners_.begin() + static_cast<std::ptrdiff_t>(stretch.end), child);
    places_[child] = {links_.target()[stretch.begin].place.begin,
                      links_.target()[stretch.end - 1].place.end};
  }

  /// Places all children that have no stretch. Tags that keep their order never go back.
  void place_single_tags(std::size_t parent) {
    std::vector<ByteRange> taken;
    for (const std::size_t child : nodes_[parent].children)
      if (places_[child]) taken.push_back(*places_[child]);
    std::ranges::sort(taken, {}, &ByteRange::begin);
    std::size_t earliest = places_[parent]->begin;
    for (const std::size_t child : nodes_[parent].children) {
      if (places_[child]) continue;
      const bool keeps_order = nodes_[child].keeps_order;
      std::size_t place = std::clamp(place_of(nodes_[child].text.begin), places_[parent]->begin,
                                     places_[parent]->end);
      if (keeps_order) place = std::max(place, earliest);
      place = outside(taken, place);
      places_[child] = {place, place};
      if (divides(child)) places_[child] = gap_for(child, *places_[parent], taken, earliest);
      if (keeps_order) earliest = places_[child]->end;
    }
  }

  bool divides(std::size_t node) const { return passage_.tags[nodes_[node].first].divides; }

  /// The gap between two words of `parent`, outside of what is taken and not before `earliest`,
  /// whose fraction of the text before it is nearest to that in the source; else the end.
  ByteRange gap_for(std::size_t node, const ByteRange& parent, const std::vector<ByteRange>& taken,
                    std::size_t earliest) const {
    const std::string& text = translation_.text;
    const double wanted = static_cast<double>(nodes_[node].text.begin) *
                          static_cast<double>(text.size()) /
                          static_cast<double>(passage_.text.size());
    ByteRange best{parent.end, parent.end};
    double least = std::numeric_limits<double>::max();
    for (std::size_t gap = std::max(parent.begin, earliest); gap < parent.end; ++gap) {
      const double distance = std::abs(static_cast<double>(gap) - wanted);
      if (distance >= least || outside(taken, gap) != gap) continue;
      if (text[gap] != ' ' && !is_gap_without_space(text, gap)) continue;
      least = distance;
      best = {gap, gap + (text[gap] == ' ' ? 1 : 0)};
    }
    return best;
  }

  /// Whether a line may end at an offset though no space stands there: in front of a letter of a
  /// script without spaces.
  static bool is_gap_without_space(std::string_view text, std::size_t offset) {
    if (offset == 0 || character_start(text, offset) != offset) return false;
    const char32_t next = next_code_point(text, offset);
    return is_unspaced(next) && general_category(next).front() == 'L';
  }

  static std::size_t outside(const std::vector<ByteRange>& taken, std::size_t place) {
    auto next = std::ranges::upper_bound(taken, place, {}, &ByteRange::begin);
    if (next == taken.begin()) return place;
    const ByteRange& before = *--next;
    return before.begin < place && place < before.end ? before.end : place;
  }

  /// The place in the translation that belongs to a place in the source.
  std::size_t place_of(std::size_t offset) const {
    const std::vector<WordFragment>& source = links_.source();
    const auto ends_before = [](const WordFragment& fragment, std::size_t place) {
      return fragment.place.end <= place;
    };
    const auto next = std::lower_bound(source.begin(), source.end(), offset, ends_before);
    const auto number = static_cast<std::size_t>(next - source.begin());
    const bool touches_before = number > 0 && source[number - 1].place.end == offset;
    const bool touches_next = next != source.end() && next->place.begin <= offset;
    if (touches_next && !touches_before)
      if (const auto target = links_.best_target(number)) return begin_of(*target);
    for (std::size_t before = number; before-- > 0;)
      if (const auto target = links_.best_target(before)) return end_of(*target);
    return places_[0]->begin;
  }

  std::size_t begin_of(std::size_t fragment) const { return links_.target()[fragment].place.begin; }
  std::size_t end_of(std::size_t fragment) const { return links_.target()[fragment].place.end; }

  void write(std::size_t parent) {
    std::vector<std::size_t> children = nodes_[parent].children;
    std::ranges::stable_sort(children, {}, [this](std::size_t child) {
      return std::pair(places_[child]->begin, !places_[child]->empty());
    });
    for (const std::size_t child : children) {
      const TagNode& node = nodes_[child];
      const ByteRange& place = *places_[child];
      if (!node.is_element()) {
        written_.push_back({.tag = node.first, .text = place, .is_same = is_same(node, place)});
        continue;
      }
      written_.push_back({.tag = node.first, .text = {place.begin, place.begin}});
      write(child);
      written_.push_back({.tag = node.last, .text = {place.end, place.end}});
    }
  }

  /// Whether the translation has the text that the element stands for.
  bool is_same(const TagNode& element, const ByteRange& place) const {
    return !place.empty() && place.of(translation_.text) == element.text.of(passage_.text);
  }

  const Passage& passage_;
  const AlignedText& translation_;
  const FragmentLinks links_;
  const std::vector<TagNode> nodes_;
  std::vector<std::optional<ByteRange>> places_;  // of each node, in the translation
  std::vector<std::size_t> owners_;               // of each fragment of the translation: a node
  std::size_t words_left_ = 0;                    // of the node whose children are being placed
  std::vector<PlacedTag> written_;
};

}  // namespace

std::vector<PlacedTag> place_tags(const Passage& passage, const AlignedText& translation) {
  return TagPlacer(passage, translation).placed();
}

std::vector<ByteRange> kept_texts(const Passage& passage, const AlignedText& translation) {
  std::vector<ByteRange> texts;
  if (kept_texts(passage).empty()) return texts;
  for (const PlacedTag& placed : place_tags(passage, translation))
    if (!passage.tags[placed.tag].text.empty() && !placed.text.empty())
      texts.push_back(placed.text);
  return texts;
}

}  // namespace dragoman
