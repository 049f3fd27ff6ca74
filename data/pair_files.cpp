#include "data/pair_files.h"

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "data/pair_format.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

/// Whether a byte order mark of UTF-16 begins the text.
bool is_wide(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::unique_ptr<PairFormat> format_of(std::string_view first, const std::string& name,
                                      const PairFileOptions& options, const PairSink& sink) {
  if (is_wide(first)) return bilingual_xml(name, options, sink);  // no other form may be UTF-16
  if (first.starts_with(kByteOrderMark)) first.remove_prefix(kByteOrderMark.size());
  const std::size_t begin = std::min(first.find_first_not_of(" \t\r\n"), first.size());
  if (first.substr(begin).starts_with('<')) return bilingual_xml(name, options, sink);
  if (first.substr(begin).starts_with('{')) return json_lines(name, options, sink);
  if (begins_as_po(first)) return po_messages(name, options, sink);
  return table_of_pairs(name, options, sink);
}

/// Bytes of a file or pipe, decompressed and given to the format that they have.
class PairDecoder {
 public:
  PairDecoder(std::string name, const PairFileOptions& options, const PairSink& sink)
      : name_(std::move(name)), options_(options), sink_(sink) {}

  void add(std::string_view bytes) {
    if (is_decided_) return decompress(bytes);
    first_ += bytes;
    constexpr std::size_t kEnough = 4096;
    if (first_.size() >= kEnough) decide();
  }
  PairFileFacts finish() {
    if (!is_decided_) decide();
    if (decompressor_ != nullptr) decompressor_->finish();
    if (format_ == nullptr) throw Error(name_, ": is empty");
    format_->finish();
    return format_->facts;
  }

 private:
  void decide() {
    is_decided_ = true;
    const bool is_xml = is_wide(first_) && first_.substr(0, 4).find('<') != std::string::npos;
    if (!is_xml) decompressor_ = make_decompressor(coding_of(first_, true, name_), name_);
    decompress(first_);
  }
  void decompress(std::string_view bytes) {
    if (decompressor_ == nullptr) return take(bytes);
    decompressor_->add(bytes, [this](std::string_view text) { take(text); });
  }
  void take(std::string_view text) {
    if (text.empty()) return;
    if (format_ == nullptr) {
      format_ = format_of(text, name_, options_, sink_);
      if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    }
    format_->add(text);
  }

  std::string name_;
  const PairFileOptions& options_;
  const PairSink& sink_;
  bool is_decided_ = false;
  std::string first_;  ///< bytes, until the coding is decided
  std::unique_ptr<Decompressor> decompressor_;
  std::unique_ptr<PairFormat> format_;
};

// ---- archives of OPUS ----

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

/// Two entries of an archive that translate each other: "Books.de-en.de" and "Books.de-en.en".
struct ZippedPair {
  std::string source, target;  ///< names
  LanguagePair languages;
};

/// The part of a name after its last dot; "" if it cannot be the code of a language.
std::string language_suffix(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return "";
  const std::string_view suffix = name.substr(dot + 1);
  const bool fits = suffix.size() >= 2 && suffix.size() <= 12 && suffix != "txt" &&
                    suffix != "xml" && suffix != "ids" && suffix != "tmx";
  return fits ? std::string(suffix) : "";
}

ZippedPair pair_in(const std::vector<std::string>& names, const std::string& path,
                   const PairFileOptions& options) {
  std::map<std::string, std::vector<std::string>, std::less<>> languages;  // by the name before
  for (const std::string& name : names)
    if (const std::string language = language_suffix(name); !language.empty())
      languages[name.substr(0, name.size() - language.size())].push_back(language);
  const bool is_asked = !options.source_lang.empty() || !options.target_lang.empty();
  std::vector<ZippedPair> found;
  for (const auto& [stem, codes] : languages)
    for (const std::string& from : codes)
      for (const std::string& to : codes) {
        const LanguagePair both{from, to};
        const bool fits = is_asked ? is_language(from, options.source_lang) &&
                                         is_language(to, options.target_lang)
                                   : stem.ends_with(join_text('.', both.name(), '.'));
        if (from != to && fits) found.push_back({stem + from, stem + to, both});
      }
  if (found.size() == 1) return found[0];
  throw Error(path, ": is a zip archive with ", found.empty() ? "no" : "more than one",
              " pair of files like NAME.en-de.en and NAME.en-de.de",
              options.source_lang.empty() ? "" : " in these languages", "; unpack it first");
}

/// The lines of an entry, one after the other.
class ZippedLines {
 public:
  ZippedLines(zip_t* archive, const std::string& entry, std::string path)
      : path_(std::move(path)),
        file_(zip_fopen(archive, entry.c_str(), 0)),
        block_(kChunkBytes, '\0') {
    if (file_ == nullptr) throw Error(path_, ": ", entry, ": ", zip_strerror(archive));
  }

  /// The next line; nothing at the end. `bytes` grows by what was read for it.
  std::optional<std::string> next(std::int64_t& bytes) {
    while (place_ == lines_.size() && !at_end_) {
      lines_.clear();
      place_ = 0;
      const zip_int64_t count = zip_fread(file_.get(), block_.data(), block_.size());
      if (count < 0) throw Error(path_, ": is damaged (", zip_file_strerror(file_.get()), ")");
      at_end_ = count == 0;
      bytes += count;
      const auto keep = [this](std::string_view line) { lines_.emplace_back(line); };
      cutter_.add(std::string_view(block_.data(), static_cast<std::size_t>(count)), keep);
      if (at_end_) cutter_.finish(keep);
    }
    if (place_ == lines_.size()) return std::nullopt;
    return std::move(lines_[place_++]);
  }

 private:
  std::string path_;
  std::unique_ptr<zip_file_t, CloseZip> file_;
  std::string block_;
  LineCutter cutter_;
  std::vector<std::string> lines_;
  std::size_t place_ = 0;
  bool at_end_ = false;
};

PairFileFacts read_zip(const std::string& path, const PairFileOptions& options,
                       const PairSink& sink, const std::function<void(std::int64_t)>& report) {
  int error = 0;
  const std::unique_ptr<zip_t, CloseZip> archive(zip_open(path.c_str(), ZIP_RDONLY, &error));
  if (archive == nullptr) throw Error(path, ": is a zip archive that is damaged");
  std::vector<std::string> names;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i)
    names.emplace_back(zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS));
  const ZippedPair pair = pair_in(names, path, options);
  ZippedLines source(archive.get(), pair.source, path), target(archive.get(), pair.target, path);
  PairFileFacts facts;
  facts.languages = pair.languages;
  while (true) {
    std::int64_t bytes = 0;
    const auto from = source.next(bytes), to = target.next(bytes);
    if (bytes > 0) report(0);
    if (from.has_value() != to.has_value())
      throw Error(path, ": ", pair.source, " and ", pair.target,
                  " have different numbers of lines: ", facts.pairs, " and more");
    if (!from) return facts;
    sink(*from, *to);
    ++facts.pairs;
  }
}

bool is_zip(const std::string& path) {
  if (!fs::is_regular_file(path)) return false;
  return MappedFile(path).bytes().starts_with("PK\x03\x04");
}

}  // namespace

bool is_language(std::string_view code, std::string_view asked) {
  if (asked.empty()) return true;
  std::string all = ascii_lower(code), wanted = ascii_lower(asked);
  std::ranges::replace(all, '_', '-');
  std::ranges::replace(all, '@', '-');  // "ca@valencia", as gettext writes it
  std::ranges::replace(wanted, '_', '-');
  return all == wanted || all.starts_with(wanted + "-");
}

std::string segment_text(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(" \t\r\n", i), text.size());
    const std::string_view blanks = text.substr(i, end - i);
    line += blanks.find_first_of("\t\r\n") == blanks.npos ? blanks : " ";
    i = std::min(text.find_first_of(" \t\r\n", end), text.size());
    line += text.substr(end, i - end);
  }
  return std::string(strip(line));
}

void PairFormat::give(std::string_view source, std::string_view target) {
  ++facts.pairs;
  sink_(source, target);
}

void PairFormat::leave_out(std::int64_t line, const std::string& fault) {
  if (facts.left_out++ == 0) facts.first_left_out = join_text("line ", line, ": ", fault);
}

PairFileFacts read_pair_file(const std::string& path, const PairFileOptions& options,
                             const PairSink& sink,
                             const std::function<void(std::int64_t bytes)>& report) {
  const PairSink on_lines = [&sink](std::string_view source, std::string_view target) {
    sink(one_line(std::string(source)), one_line(std::string(target)));
  };
  if (is_zip(path)) return read_zip(path, options, on_lines, report);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(path, ": ", std::strerror(errno));
  const std::unique_ptr<const int, void (*)(const int*)> closing(
      &descriptor, [](const int* open_one) { close(*open_one); });
  PairDecoder decoder(path, options, on_lines);
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(path, ": ", std::strerror(errno));
    if (count == 0) return decoder.finish();
    decoder.add(std::string_view(chunk.data(), static_cast<std::size_t>(count)));
    report(count);
  }
}

namespace {

/// A path that belongs to this file in this state with these options alone.
fs::path stored_path(const std::string& path, const PairFileOptions& options,
                     const fs::path& folder) {
  constexpr int kVersion = 1;
  std::error_code unknown;
  const fs::path absolute = fs::weakly_canonical(path, unknown);
  std::string inputs =
      join_text(kVersion, '\n', unknown ? path : absolute.string(), '\n', options.source_lang, '\n',
                options.target_lang, '\n', joined(options.columns, "\n"));
  if (fs::is_regular_file(path)) {
    const FileStamp stamp = stamp_of(path);
    inputs +=
        join_text('\n', stamp.size, ' ', stamp.inode, ' ', stamp.modified, ' ', stamp.changed);
  }
  return folder / (fs::path(path).filename().string() + "-" + hex16(xxh3(inputs)).substr(0, 8));
}

std::string summary_of(const std::string& path, const PairFileFacts& facts) {
  std::string text = join_text(path, ": ", counted(facts.pairs, "pair"));
  if (!facts.languages.source.empty() && !facts.languages.target.empty())
    text += join_text(" (", facts.languages.source, " to ", facts.languages.target, ")");
  if (facts.left_out > 0)
    text += join_text(", ", with_separators(facts.left_out), " left out (", facts.first_left_out,
                      facts.left_out > 1 ? ", ...)" : ")");
  if (!facts.remark.empty()) text += "; " + facts.remark;
  return text;
}

}  // namespace

void require_pairs(const std::string& path, const PairFileFacts& facts) {
  if (facts.pairs == 0)
    throw Error(path, ": has no pairs",
                facts.left_out == 0 ? ""
                                    : join_text("; ", counted(facts.left_out, "unit"),
                                                " left out, the first: ", facts.first_left_out));
}

PlainTexts plain_texts_of(const std::string& path, const PairFileOptions& options,
                          const fs::path& folder,
                          const std::function<void(std::int64_t bytes)>& report) {
  const std::string stored = stored_path(path, options, folder).string();
  const std::string summary = stored + ".summary";  // written last
  PlainTexts texts{stored + ".source", stored + ".target", "", {}};
  if (fs::exists(summary) && fs::exists(texts.source) && fs::exists(texts.target)) {
    const std::vector<std::string> lines = read_lines(summary);
    if (lines.size() == 3) {
      texts.summary = lines[0];
      texts.languages = {lines[1], lines[2]};
      return texts;
    }
  }
  create_folders(folder);
  PairWriter written(texts.source, texts.target);
  const auto write = [&](std::string_view from, std::string_view to) { written.write(from, to); };
  const PairFileFacts facts = read_pair_file(path, options, write, report);
  require_pairs(path, facts);
  written.commit();
  texts.summary = summary_of(path, facts);
  texts.languages = {normal_code(facts.languages.source), normal_code(facts.languages.target)};
  write_file(summary, join_text(one_line(texts.summary), '\n', texts.languages.source, '\n',
                                texts.languages.target, '\n'));
  return texts;
}

namespace {

/// The languages that the settings name, or else those that all files agree on.
LanguagePair training_languages(const DataConfig& data, const std::vector<LanguagePair>& files) {
  LanguagePair languages;
  const auto settle = [&](std::string LanguagePair::*side, const std::string& asked) {
    std::string& language = languages.*side;
    language = normal_code(asked);
    const auto agrees = [&](const LanguagePair& file) { return file.*side == files[0].*side; };
    if (asked.empty() && !files.empty() && std::ranges::all_of(files, agrees))
      language = files[0].*side;
  };
  settle(&LanguagePair::source, data.source_lang);
  settle(&LanguagePair::target, data.target_lang);
  return languages.source == languages.target ? LanguagePair() : languages;
}

}  // namespace

PlainData plain_data(const DataConfig& data, const fs::path& folder,
                     const std::function<void(std::int64_t bytes)>& report) {
  data.check();
  PlainData plain{data, {}, data.valid_names(), {}};
  std::vector<LanguagePair> languages;  // of the training files
  for (std::size_t i = 0; i < std::min(data.train_source.size(), data.train_target.size()); ++i)
    languages.push_back(
        {language_of_file(data.train_source[i]), language_of_file(data.train_target[i])});
  const auto move_all = [&](std::vector<std::string>& files, std::vector<std::string>& source,
                            std::vector<std::string>& target) {
    for (const std::string& file : files) {
      PlainTexts texts =
          plain_texts_of(file, {data.source_lang, data.target_lang, data.columns}, folder, report);
      source.push_back(std::move(texts.source));
      target.push_back(std::move(texts.target));
      plain.summaries.push_back(std::move(texts.summary));
      languages.push_back(std::move(texts.languages));
    }
    files.clear();
  };
  DataConfig& found = plain.data;
  move_all(found.train, found.train_source, found.train_target);
  plain.languages = training_languages(data, languages);
  move_all(found.valid, found.valid_source, found.valid_target);
  return plain;
}

}  // namespace dragoman
