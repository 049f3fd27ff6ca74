#include "base/made_files.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"

namespace dragoman {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHash = 16;  // digits

std::string line_of(const std::string& name, std::string_view text) {
  return hex16(xxh3(text)) + ' ' + name;
}

bool is_line(std::string_view line) {
  return line.size() > kHash + 1 && line[kHash] == ' ' &&
         line.find_first_not_of("0123456789abcdef") == kHash;
}

}  // namespace

MadeFiles::MadeFiles(fs::path folder, const std::string& record)
    : folder_(std::move(folder)), record_(folder_ / record) {
  const std::string text = fs::exists(record_) ? read_file(record_) : "";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (end == text.npos || !is_line(line))
      throw Error(record_.string(),
                  ": was not made by this command, which would replace it; name another folder");
    lines_.insert(line);
    begin = end + 1;
  }
}

bool MadeFiles::may_replace(const std::string& name) const {
  const fs::path path = folder_ / name;
  if (!fs::exists(fs::symlink_status(path))) return true;
  return fs::is_regular_file(path) && lines_.contains(line_of(name, MappedFile(path).bytes()));
}

void MadeFiles::add(const std::string& name, std::string_view text) {
  lines_.insert(line_of(name, text));
}

void MadeFiles::take(const std::vector<std::string>& names) {
  std::erase_if(lines_, [&](const std::string& line) {
    return std::ranges::find(names, line.substr(kHash + 1)) != names.end();
  });
  for (const std::string& name : names)
    if (fs::is_regular_file(folder_ / name)) add(name, MappedFile(folder_ / name).bytes());
}

void MadeFiles::write() const {
  std::string text;
  for (const std::string& line : lines_) text += line + '\n';
  write_file(record_, text);
}

}  // namespace dragoman
