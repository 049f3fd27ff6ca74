// Two files of a toy language, the second with a tag; each target is "das" and the source, word for
// word.
#pragma once

#include <string>

#include "data/prepare.h"
#include "tests/data/text_files.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

class ToyCorpora : public FolderTest {
 protected:
  explicit ToyCorpora(int lines) {
    for (const std::string name : {"a", "b"}) {
      std::string source, target;
      for (const std::string& line : sample_text(lines)) {
        source += line + "\n";
        target += "das " + line + "\n";
      }
      data.train_source.push_back(write(name + ".en", source));
      data.train_target.push_back(write(name + ".de", target));
    }
    data.corpus_tags = {"", "<bt>"};
    data.keep_duplicates = true;
    data.valid_fraction = 0;
    tokenizer.vocab_size = 400;
    tokenizer.type = TokenizerType::Bpe;
  }
  PreparedData prepare() const {
    return prepare_data({.data = data, .tokenizer = tokenizer, .cache_folder = folder / "corpus"});
  }

  DataConfig data;
  TokenizerConfig tokenizer;
};

}  // namespace dragoman
