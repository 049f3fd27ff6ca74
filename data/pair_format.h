// The forms of pair files (data/pair_files.h), seen by their readers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/pair_files.h"

namespace dragoman {

/// Takes the plain bytes of a file part by part, and gives the pairs that are in them.
class PairFormat {
 public:
  virtual ~PairFormat() = default;

  virtual void add(std::string_view bytes) = 0;
  /// To be called after the last bytes.
  virtual void finish() = 0;

  PairFileFacts facts;

 protected:
  /// `asked` and `to` must outlive it.
  PairFormat(std::string file, const PairFileOptions& asked, const PairSink& to)
      : name(std::move(file)), options(asked), sink_(to) {}

  void give(std::string_view source, std::string_view target);
  /// Counts a unit that is not given, and keeps where and why if it is the first.
  void leave_out(std::int64_t line, const std::string& fault);

  const std::string name;  ///< of the file, for messages
  const PairFileOptions& options;

 private:
  const PairSink& sink_;
};

/// Whether the code of a language is the one that is asked for: "en" takes "en-GB" and "EN_gb", and
/// "" takes all.
bool is_language(std::string_view code, std::string_view asked);

/// Reads TMX and XLIFF in any encoding that the file declares and expat knows.
std::unique_ptr<PairFormat> bilingual_xml(const std::string& name, const PairFileOptions& options,
                                          const PairSink& sink);

}  // namespace dragoman
