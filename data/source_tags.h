// The tokens that --corpus-tags puts in front of source lines. By its tag a model can tell corpora
// apart (tagged back-translation, Caswell et al. 2019), or learns which language is wanted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/data_config.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

class SourceTags {
 public:
  /// Throws UsageError where the tokenizer would split a tag.
  SourceTags(const DataConfig& data, const Tokenizer& tokenizer);

  const std::string& tag(std::size_t file) const { return tags_[file]; }
  /// The text that is encoded for a source line: the line, behind the tag of its file and a space
  /// where there is a tag. The same text is encoded alike in translation.
  std::string tagged(std::size_t file, std::string_view line) const;
  /// The number of pieces that the tag adds to a line.
  std::size_t pieces(std::size_t file) const { return pieces_[file]; }

 private:
  std::vector<std::string> tags_;    ///< [files]
  std::vector<std::size_t> pieces_;  ///< [files]
};

}  // namespace dragoman
