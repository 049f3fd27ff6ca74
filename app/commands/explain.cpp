// dragoman explain: the attention, the search and the sizes of a model, on sentences of its own.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/open_translator.h"
#include "app/commands/output_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text_lines.h"
#include "explanation/explainer.h"
#include "explanation/explanation_json.h"
#include "inference/model_tokenizers.h"
#include "report/attention_figure.h"
#include "report/explanation_page.h"

namespace dragoman {

namespace {

enum class ExplanationFormat { Html, Json, Svg };
constexpr std::array<std::string_view, 3> names_of(ExplanationFormat) {
  return {"html", "json", "svg"};
}

enum class AttentionKind { Encoder, Decoder, Cross };
constexpr std::array<std::string_view, 3> names_of(AttentionKind) {
  return {"encoder", "decoder", "cross"};
}

struct ExplainFlags {
  std::string model, text, input, target, target_file, output;
  ExplanationFormat format = ExplanationFormat::Html;
  AttentionKind kind = AttentionKind::Cross;
  std::int64_t layer = 0, head = 0;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    text_fields(visit);
    figure_fields(visit);
  }

 private:
  template <class Visit>
  void text_fields(Visit& visit) {
    constexpr std::string_view kFiles = "Files";
    visit({.name = "model",
           .help = "run folder or model file",
           .group = kFiles,
           .placeholder = "FILE"},
          model);
    visit({.name = "text", .help = "a sentence", .group = kFiles}, text);
    visit({.name = "input",
           .help = "a file with a sentence a line; - for standard input",
           .group = kFiles,
           .aliases = "src",
           .placeholder = "FILE"},
          input);
    visit({.name = "target",
           .help = "the translation of the sentence to look at, instead of the model's own",
           .group = kFiles},
          target);
    visit({.name = "target-file",
           .help = "the translations of --input to look at, one a line",
           .group = kFiles,
           .aliases = "tgt",
           .placeholder = "FILE"},
          target_file);
    visit({.name = "output",
           .help = "the file to write; - for standard output",
           .group = kFiles,
           .placeholder = "FILE"},
          output);
  }

  template <class Visit>
  void figure_fields(Visit& visit) {
    constexpr std::string_view kFormat = "Format";
    visit({.name = "format",
           .help = "a page that shows everything (html), all numbers (json), or one attention "
                   "matrix of the first sentence as a figure (svg)",
           .group = kFormat},
          format);
    visit({.name = "kind",
           .help = "svg: the attention of the encoder, of the decoder to itself, or of the decoder "
                   "to the encoder (cross)",
           .group = kFormat},
          kind);
    visit({.name = "layer", .help = "svg: the layer, from 1; 0: the last", .group = kFormat},
          layer);
    visit({.name = "head", .help = "svg: the head, from 1; 0: the mean of all", .group = kFormat},
          head);
  }
};

struct ExplainOptions {
  ExplainFlags flags;
  DecodeConfig decode;

  std::vector<Field> fields() {
    std::vector<Field> all = fields_of(flags);
    for (Field& field : fields_of(decode))
      if (is_of_the_search(field.info.name)) all.push_back(std::move(field));
    return all;
  }

 private:
  /// explain draws no samples, splits no sentence, and shows one translation.
  static bool is_of_the_search(std::string_view name) {
    return name != "n-best" && name != "batch-size" && name != "seed" && name != "temperature" &&
           !name.starts_with("sampling") && !name.starts_with("split");
  }
};

/// More would make a page that no browser opens.
constexpr std::size_t kMostSentences = 100;

void validate(const ExplainFlags& flags, const GivenValues& given) {
  if (flags.model.empty()) throw UsageError("--model: name a run folder or a model file");
  if (flags.text.empty() == flags.input.empty())
    throw UsageError(
        flags.text.empty()
            ? "name a sentence (explain -m run/ \"a sentence\" -o page.html) or --input"
            : "--input: there is a sentence already; give one of the two");
  if (!flags.target.empty() && !flags.input.empty())
    throw UsageError("--target: belongs to one sentence; several have --target-file");
  if (!flags.target_file.empty() && flags.input.empty())
    throw UsageError("--target-file: belongs to --input; one sentence has --target");
  if (flags.output.empty())
    throw UsageError("--output: name the file to write, or - for standard output");
  if (flags.layer < 0 || flags.head < 0) throw UsageError("--layer and --head: count from 1");
  for (const std::string name : {"kind", "layer", "head"})
    if (flags.format != ExplanationFormat::Svg && given.contains(name))
      throw UsageError("--", name, ": belongs to --format svg");
}

std::vector<GivenSentence> sentences_of(const ExplainFlags& flags) {
  if (flags.input.empty())
    return {{flags.text,
             flags.target.empty() ? std::nullopt : std::optional<std::string>(flags.target)}};
  const std::vector<std::string> lines = read_lines(flags.input);
  if (lines.empty()) throw Error(flags.input, ": has no line");
  if (lines.size() > kMostSentences)
    throw Error(flags.input, ": has ", counted(static_cast<std::int64_t>(lines.size()), "line"),
                "; explain looks at ", kMostSentences, " at most");
  std::vector<GivenSentence> sentences;
  for (const std::string& line : lines) sentences.push_back({line, std::nullopt});
  if (!flags.target_file.empty()) {
    const std::vector<std::string> targets = read_lines(flags.target_file);
    require_same_lines(flags.input, lines.size(), flags.target_file, targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) sentences[i].target = targets[i];
  }
  return sentences;
}

/// Ends the work when a stop is requested.
OnStep stopping() {
  return [stop = listen_for_stop()] {
    if (stop.stop_requested()) throw Error("stopped; nothing is written");
  };
}

std::vector<std::string> pieces_of(const std::vector<ExplainedToken>& tokens) {
  std::vector<std::string> pieces;
  for (const ExplainedToken& token : tokens) pieces.push_back(token.piece);
  return pieces;
}

/// Of one head, or the mean of all.
std::vector<float> weights_of(const AttentionWeights& weights, std::int64_t head) {
  const std::int64_t first = head == 0 ? 0 : head - 1;
  const std::int64_t last = head == 0 ? weights.heads : head;
  std::vector<float> values;
  for (std::int64_t q = 0; q < weights.queries; ++q)
    for (std::int64_t k = 0; k < weights.keys; ++k) {
      double sum = 0;
      for (std::int64_t h = first; h < last; ++h) sum += static_cast<double>(weights.at(h, q, k));
      values.push_back(static_cast<float>(sum / static_cast<double>(last - first)));
    }
  return values;
}

void check_figure(const ExplainFlags& flags, const ModelConfig& config) {
  const std::int64_t layers =
      flags.kind == AttentionKind::Encoder ? config.encoder_layers : config.decoder_layers;
  if (flags.layer > layers)
    throw UsageError("--layer ", flags.layer, ": there are ", layers, " layers");
  if (flags.head > config.heads)
    throw UsageError("--head ", flags.head, ": there are ", config.heads, " heads");
}

AttentionFigure figure_of(const ExplainFlags& flags, const SentenceExplanation& sentence) {
  const bool is_of_encoder = flags.kind == AttentionKind::Encoder;
  const auto& layers = is_of_encoder                        ? sentence.encoder
                       : flags.kind == AttentionKind::Cross ? sentence.cross
                                                            : sentence.decoder;
  const std::int64_t layer =
      flags.layer == 0 ? static_cast<std::int64_t>(layers.size()) : flags.layer;
  const std::string name = is_of_encoder ? "Encoder self-attention"
                           : flags.kind == AttentionKind::Cross
                               ? "Attention from decoder to encoder"
                               : "Decoder self-attention";
  const std::vector<std::string> source = pieces_of(sentence.source_tokens);
  const std::vector<std::string> written = pieces_of(sentence.target_tokens);
  std::vector<std::string> read = written;  // each token follows the one before
  read.pop_back();
  read.insert(read.begin(), std::string(kBeginPiece));
  return {.title = join_text(name, ", layer ", layer,
                             flags.head == 0 ? std::string(", mean of all heads")
                                             : join_text(", head ", flags.head)),
          .rows_title = is_of_encoder ? "piece that attends" : "piece that is written",
          .keys_title = flags.kind == AttentionKind::Decoder ? "piece that was read"
                                                             : "piece that is attended to",
          .rows = is_of_encoder ? source : written,
          .keys = flags.kind == AttentionKind::Decoder ? read : source,
          .weights = weights_of(layers[static_cast<std::size_t>(layer - 1)], flags.head)};
}

void write(const ExplainFlags& flags, const std::string& text) {
  if (flags.output == "-")
    std::cout << text;
  else
    write_file(flags.output, text);
}

/// Refuses an output that would replace something else than an earlier one.
void check_output(const ExplainFlags& flags, const std::string& model) {
  if (is_stream(flags.output)) return;
  const std::vector<std::string> inputs = {flags.input, flags.target_file, model};
  if (flags.format == ExplanationFormat::Html)
    check_page_output("--output", flags.output, inputs);
  else
    dragoman::check_output("--output", flags.output, inputs);
}

int run_explain(const ExplainOptions& options, const Invocation& call) {
  const ExplainFlags& flags = options.flags;
  validate(flags, call.given);
  const std::string path = resolve_model_path(flags.model).string();
  check_output(flags, path);
  const std::vector<GivenSentence> sentences = sentences_of(flags);
  const ModelFileReader file(path, Verify::Header);
  const TokenizerPair tokenizers = load_tokenizers(file);
  const DecodeConfig search = search_with(options.decode, call.origins, file.decode_defaults());
  if (flags.format == ExplanationFormat::Svg) check_figure(flags, file.config());
  const auto weights = std::make_shared<const CpuModel>(file, ComputeType::Float32);
  if (flags.format == ExplanationFormat::Svg) {
    const auto& [source, target] = sentences.front();
    write(flags,
          to_svg(figure_of(
              flags, Explainer(weights, tokenizers, search, stopping()).explain(source, target))));
    return 0;
  }
  const ExplainedModel model{.program_version = DRAGOMAN_VERSION,
                             .name = flags.model,
                             .weights = weights,
                             .search = search};
  const std::string json = explanation_json(model, tokenizers, sentences, stopping());
  write(flags, flags.format == ExplanationFormat::Json ? json + "\n" : explanation_page(json));
  if (!is_stream(flags.output))
    log_info(join_text(flags.output, ": ",
                       counted(static_cast<std::int64_t>(sentences.size()), "sentence"),
                       flags.format == ExplanationFormat::Html ? "; open it in a browser" : ""));
  return 0;
}

}  // namespace

Command explain_command() {
  const auto options = std::make_shared<ExplainOptions>();
  const auto invocation = std::make_shared<Invocation>();
  return {.name = "explain",
          .summary = "show what a model does with a sentence: attention, search, probabilities",
          .fields = options->fields(),
          .positionals = {"text"},
          .short_flags = {{"m", "model"},
                          {"i", "input"},
                          {"o", "output"},
                          {"b", "beam-size"},
                          {"f", "format"}},
          .run = [options, invocation] { return run_explain(*options, *invocation); },
          .examples = {"explain -m run/ \"The old teacher does not know.\" -o page.html",
                       "explain -m run/ -i sentences.en --target-file sentences.de -o page.html",
                       "explain -m run/ \"A sentence.\" --format svg --kind encoder --layer 2 "
                       "--head 1 -o figure.svg"},
          .invocation = invocation};
}

}  // namespace dragoman
