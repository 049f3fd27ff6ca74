#include "data/source_tags.h"

#include <algorithm>

namespace dragoman {

SourceTags::SourceTags(const DataConfig& data, const Tokenizer& tokenizer) : tags_(data.tags()) {
  for (const std::string& tag : tags_) {
    const std::vector<TokenId> pieces = tokenizer.encode(tag);
    pieces_.push_back(pieces.size());
    const auto is_tag = [&](TokenId id) { return tokenizer.piece(id) == tag; };
    if (!tag.empty() && std::none_of(pieces.begin(), pieces.end(), is_tag))
      throw UsageError(
          "--corpus-tags ", tag,
          ": the tokenizer has no such piece; let one be trained, or give one that has "
          "it as a user-defined symbol");
  }
}

std::string SourceTags::tagged(std::size_t file, std::string_view line) const {
  const std::string& tag = tags_[file];
  return tag.empty() ? std::string(line) : join_text(tag, " ", line);
}

}  // namespace dragoman
