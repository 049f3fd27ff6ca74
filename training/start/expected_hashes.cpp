#include "training/start/expected_hashes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"

namespace dragoman {

namespace {

constexpr std::array<std::string_view, 8> kTextFiles = {
    "train-src",      "train-tgt",      "valid-src",        "valid-tgt",
    "keep-valid-src", "keep-valid-tgt", "guided-alignment", "train-terms"};

bool names_text(const Field& field) {
  return std::find(kTextFiles.begin(), kTextFiles.end(), field.info.name) != kTextFiles.end();
}

}  // namespace

std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const StartRecord& start_before) {
  std::map<std::string, std::string> expected;
  for (const Field& field : fields) {
    const auto text = start_before.settings.values.find(std::string(field.info.name));
    if (!names_text(field) || text == start_before.settings.values.end()) continue;
    auto before = texts_of(field, text->second), now = field.values();
    for (auto* files : {&before, &now}) std::erase(*files, "");  // no file
    if (before.size() != now.size())
      throw UsageError("--", field.info.name, ": this run was started with '", text->second,
                       "', not '", field.text(),
                       "'; give the same text to go on, or another -o for another run");
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto hash = start_before.file_hashes.find(before[i]);
      if (hash == start_before.file_hashes.end()) continue;
      const auto [known, added] = expected.emplace(now[i], hash->second);
      if (!added && known->second != hash->second)
        throw UsageError("--", field.info.name, ": ", now[i], " is another text of this run, not ",
                         before[i], "; give the same text to go on, or another -o for another run");
    }
  }
  return expected;
}

}  // namespace dragoman
