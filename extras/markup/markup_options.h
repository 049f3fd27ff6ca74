// A caller's wishes about the elements of a document. The names are DeepL's.
#pragma once

#include <set>
#include <string>

#include "extras/markup/markup_token.h"

namespace dragoman {

struct MarkupOptions {
  using Names = std::set<std::string, std::less<>>;

  Names ignore_tags = {};         ///< elements that are kept as they are
  Names splitting_tags = {};      ///< they end sentences
  Names non_splitting_tags = {};  ///< their tags stand within sentences
  /// XML alone. An element splits sentences unless one of its name has text beside it in its
  /// parent. Without it, none does that is not in splitting_tags.
  bool outline_detection = true;
  LineEnds line_ends = LineEnds::ByTags;
};

}  // namespace dragoman
