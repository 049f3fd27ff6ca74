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
  /// `asked` and `to` must outlive it.
  PairFormat(std::string file, const PairFileOptions& asked, const PairSink& to)
      : name(std::move(file)), options(asked), sink_(to) {}
  virtual ~PairFormat() = default;

  virtual void add(std::string_view bytes) = 0;
  /// To be called after the last bytes.
  virtual void finish() = 0;

  PairFileFacts facts;

 protected:
  void give(std::string_view source, std::string_view target);
  /// Counts a unit that is not given, and keeps where and why if it is the first.
  void leave_out(std::int64_t line, const std::string& fault);

  const std::string name;  ///< of the file, for messages
  const PairFileOptions& options;

 private:
  const PairSink& sink_;
};

/// The text of a segment on one line: white space with a line end in it becomes a blank, and white
/// space at the ends is dropped.
std::string segment_text(std::string_view text);

/// Cuts text that comes in parts into lines, as text files are read: a "\r" belongs to the end.
class LineCutter {
 public:
  template <class Visit>
  void add(std::string_view text, Visit&& visit) {
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
      rest_.append(text.substr(0, end));
      give(visit);
    }
    rest_.append(text);
  }
  template <class Visit>
  void finish(Visit&& visit) {
    if (!rest_.empty()) give(visit);
  }

 private:
  template <class Visit>
  void give(Visit& visit) {
    if (rest_.ends_with('\r')) rest_.pop_back();
    visit(std::string_view(rest_));
    rest_.clear();
  }

  std::string rest_;
};

/// A form that is read line by line.
class LinePairs : public PairFormat {
 public:
  void add(std::string_view text) override {
    lines_.add(text, [this](std::string_view line) { take_numbered(line); });
  }
  void finish() override {
    lines_.finish([this](std::string_view line) { take_numbered(line); });
  }

 protected:
  using PairFormat::PairFormat;

  /// A line without its end, and its number from 1.
  virtual void take(std::string_view line, std::int64_t number) = 0;

 private:
  void take_numbered(std::string_view line) { take(line, ++lines_read_); }

  LineCutter lines_;
  std::int64_t lines_read_ = 0;
};

/// Whether the code of a language is the one that is asked for: "en" takes "en-GB" and "EN_gb", and
/// "" takes all.
bool is_language(std::string_view code, std::string_view asked);

/// Reads TMX and XLIFF in any encoding that the file declares and expat knows.
std::unique_ptr<PairFormat> bilingual_xml(const std::string& name, const PairFileOptions& options,
                                          const PairSink& sink);

/// Columns with tabs between. Quotes mean nothing.
std::unique_ptr<PairFormat> table_of_pairs(const std::string& name, const PairFileOptions& options,
                                           const PairSink& sink);

/// An object on each line. Its fields may stand in an object "translation", as Hugging Face has it.
std::unique_ptr<PairFormat> json_lines(const std::string& name, const PairFileOptions& options,
                                       const PairSink& sink);

/// Whether a text begins like a catalogue of messages in gettext's format (PO).
bool begins_as_po(std::string_view first);

/// The messages of a catalogue and their finished translations, singular and plural.
std::unique_ptr<PairFormat> po_messages(const std::string& name, const PairFileOptions& options,
                                        const PairSink& sink);

}  // namespace dragoman
