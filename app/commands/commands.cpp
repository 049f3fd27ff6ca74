#include "app/commands/commands.h"

#include <utility>

namespace dragoman {

std::vector<Command> common_commands(const MakeDeviceEngine& make_device_engine,
                                     OpenScorer open_scorer, const std::vector<Extra>& extras) {
  std::vector<DocumentInput> documents;
  std::vector<EvaluationPage> pages;
  for (const Extra& extra : extras) {
    documents.insert(documents.end(), extra.documents.begin(), extra.documents.end());
    pages.insert(pages.end(), extra.pages.begin(), extra.pages.end());
  }
  std::vector<Command> all = {translate_command(make_device_engine, std::move(documents)),
                              evaluate_command(make_device_engine, std::move(pages)),
                              score_command(std::move(open_scorer)),
                              average_command(),
                              quantize_command(),
                              inspect_command()};
  for (const Extra& extra : extras)
    all.insert(all.end(), extra.commands.begin(), extra.commands.end());
  return all;
}

}  // namespace dragoman
