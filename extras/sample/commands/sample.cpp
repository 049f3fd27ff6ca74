// dragoman sample: writes the English-German sample corpus.
#include <memory>
#include <string>

#include "app/commands/commands.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "extras/sample/sample_corpus.h"

namespace dragoman {

namespace {

struct SampleOptions {
  std::string output;
  SampleConfig sample;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Sample", visit);
    field("output", output,
          "folder for train, valid and test (.en, .de); in it only the files of an earlier sample "
          "are replaced",
          {.placeholder = "FOLDER"});
    sample.for_each_field(visit);
  }
};

int run(const SampleOptions& options) {
  if (options.output.empty()) throw UsageError("--output: name the folder to write in");
  options.sample.check();
  create_folders(options.output);
  write_sample_corpus(make_sample_corpus(options.sample), options.output);
  log_info(join_text(options.output, ": ", with_separators(options.sample.train_pairs),
                     " training, ", with_separators(options.sample.valid_pairs), " validation and ",
                     with_separators(options.sample.test_pairs),
                     " test pairs (train.en, train.de, valid.*, test.*)"));
  return 0;
}

Command sample_command() {
  auto options = std::make_shared<SampleOptions>();
  return {.name = "sample",
          .summary = "write a sample corpus, English and German, to try everything on",
          .fields = fields_of(*options),
          .short_flags = {{"o", "output"}},
          .run = [options](const Invocation&) { return run(*options); },
          .examples = {"sample -o sample/", "sample -o sample/ --train-size 20k --seed 7"}};
}

}  // namespace

Extra sample_extra(const MakeDeviceEngine&) { return {.commands = {sample_command()}}; }

}  // namespace dragoman
