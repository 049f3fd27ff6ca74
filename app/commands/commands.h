// The subcommands that need no LibTorch, each with a file of its own, and what an extra adds to the
// programs. An extra is a folder of extras/ that the core does not know. Its folder commands/ has
// its commands, its flags of the core's commands, and the one function that registers them,
// `Extra NAME_extra(const MakeDeviceEngine&)`. CMake writes built_extras() of the extras that are
// built (cmake/extras.cmake).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commands/open_model.h"
#include "app/frame/command_line.h"
#include "base/fields.h"
#include "inference/translation_service.h"

namespace dragoman {

struct Comparison;
struct DataConfig;
struct EvaluateOptions;
struct EvaluatedTexts;
struct SystemCounts;
struct TranslateConfig;

/// Translates a document that has been read to `output`, which is a file that appears when it is
/// whole, a stream, or "-".
using TranslateDocument = std::function<void(
    TranslationService& service, const TranslationRequest& request, const std::string& output)>;

/// An input of translate that is not a text of lines.
struct DocumentInput {
  std::vector<Field> fields;  ///< flags of translate, which stand after those of files
  /// Whether the flags ask for it. Throws UsageError if other flags do not go with them.
  std::function<bool(const TranslateConfig& config)> is_asked_for;
  /// Reads the whole document from a descriptor; `name` is for messages. Throws Error that names
  /// the place.
  std::function<TranslateDocument(int input, const std::string& name)> read;
  std::vector<std::string> examples = {};  ///< see Command
};

/// The result of evaluate for two systems or more, or for one that has a page.
struct Evaluation {
  const EvaluatedTexts& texts;
  const Comparison& comparison;
  const std::vector<SystemCounts>& counts;  ///< of each metric
  const EvaluateOptions& options;
  const Origins& origins;
};

/// A file that evaluate writes after its report.
struct EvaluationPage {
  std::vector<Field> fields;  ///< flags of evaluate, which stand after those of files
  /// Whether the flags ask for it. `inputs` are the files that are read. Throws UsageError if other
  /// flags do not go with them, or Error if the page cannot be written.
  std::function<bool(const EvaluateOptions& options, const std::vector<std::string>& inputs)>
      is_asked_for;
  std::function<void(const Evaluation& evaluation)> write;  ///< writes nothing after a stop
  std::vector<std::string> examples = {};                   ///< see Command
};

/// The command line, for people, that shows what is wrong with the text of a training.
using TextExamination = std::function<std::string(const DataConfig& data)>;

/// A line for people on what a longer training would gain than the one that was asked for with
/// these values; "" if nobody knows. `seconds`: those of its updates.
using LongerTraining = std::function<std::string(const GivenValues& given, double seconds)>;

struct Extra {
  std::vector<Command> commands = {};
  std::vector<DocumentInput> documents = {};
  std::vector<EvaluationPage> pages = {};
  // Train names these; one extra provides each.
  TextExamination examination = {};
  LongerTraining longer_training = {};
};

/// The extras that are built, in the order of their names.
std::vector<Extra> built_extras(const MakeDeviceEngine& make_device_engine);

Command translate_command(MakeDeviceEngine make_device_engine,
                          std::vector<DocumentInput> documents);
Command evaluate_command(MakeDeviceEngine make_device_engine, std::vector<EvaluationPage> pages);
Command score_command(OpenScorer open_scorer);
Command average_command();
Command quantize_command();
Command inspect_command();

/// The commands that both programs have: those of the core, then those of the extras.
std::vector<Command> common_commands(const MakeDeviceEngine& make_device_engine,
                                     OpenScorer open_scorer, const std::vector<Extra>& extras);

}  // namespace dragoman
