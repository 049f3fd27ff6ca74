#include "extras/corpus/clean_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"

namespace dragoman {

namespace {

std::string without_tabs(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '\t', ' ');
  return plain;
}

PairFault first_of(FaultSet faults) {
  std::size_t first = 0;
  while (!faults.has(static_cast<PairFault>(first))) ++first;
  return static_cast<PairFault>(first);
}

}  // namespace

CleanCounts write_clean_text(const CorpusSurvey& survey, const NamedText& text, FaultSet cut,
                             const CleanFiles& files) {
  CleanCounts counts;
  AtomicFile cuts(files.cuts);
  cuts.write_line("file\tline\tfault\tsource\ttarget");
  const std::vector<std::int64_t>& first_pairs = text.text.first_pairs();
  for (std::size_t file = 0; file < files.sides.size(); ++file) {
    AtomicFile sources(files.sides[file][0]), targets(files.sides[file][1]);
    text.text.for_each_pair(
        first_pairs[file], first_pairs[file + 1],
        [&](std::int64_t pair, std::string_view source, std::string_view target) {
          const FaultSet found = survey.faults[static_cast<std::size_t>(pair)] & cut;
          if (found.empty()) {
            sources.write_line(source);
            targets.write_line(target);
            ++counts.kept;
            return;
          }
          const PairFault fault = first_of(found);
          ++counts.cut[static_cast<std::size_t>(fault)];
          cuts.write_line(join_text(text.files[file], '\t', pair - first_pairs[file] + 1, '\t',
                                    name_of(fault), '\t', without_tabs(source), '\t',
                                    without_tabs(target)));
        });
    sources.commit();
    targets.commit();
  }
  cuts.commit();
  return counts;
}

}  // namespace dragoman
