// Translation speed of the CPU's engine, or of the one on a GPU, on sentences of pieces,
// tokenization left out: target pieces per second over whole passes, or milliseconds a sentence.
// The last line of standard output is JSON.
//   translate_speed --model FILE --pieces FILE [--beam N] [--device cpu|cuda|cuda:N]
//                   [--compute-type auto|float32|bfloat16|float16|int8] [--threads N]
//                   [--batch-size N] [--min-length N] [--max-length N] [--repeat N] [--limit N]
//                   [--latency] [--by-part] [--by-kernel] [--device-graph]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/threads.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/model_settings.h"
#include "inference/workers.h"
#ifdef DRAGOMAN_TORCH
#include "bench/device_times.h"
#include "inference/torch/torch_device_model.h"
#include "model/device.h"
#include "model/transformer.h"
#endif

namespace {

using namespace dragoman;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<SourceSentence> read_sentences(const std::string& path, const TokenizerPair& tokenizers,
                                           const DecodeConfig& decode, std::size_t limit) {
  const auto search = std::make_shared<const SearchSettings>(
      SearchSettings{.config = decode, .tokens = {.eos = tokenizers.target->eos_id()}});
  std::istringstream text(read_file(path));
  std::vector<SourceSentence> sentences;
  for (std::string line; std::getline(text, line);) {
    if (limit > 0 && sentences.size() == limit) break;
    SourceSentence sentence{
        .line = static_cast<std::int64_t>(sentences.size()), .part = 0, .settings = search};
    std::istringstream pieces(line);
    std::vector<TokenId> ids;
    for (std::string piece; pieces >> piece;) ids.push_back(tokenizers.source->id(piece));
    sentence.tokens = tokenizers.source_tokens(std::move(ids));
    sentence.has_end = tokenizers.source_eos;
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

/// Counts target pieces of the best translations, without </s>.
class Counting : public SentenceReceiver {
 public:
  explicit Counting(std::size_t sentences) : left_(static_cast<std::ptrdiff_t>(sentences)) {}

  std::optional<SourceSentence> finish(SourceSentence sentence) override {
    pieces_ += static_cast<std::int64_t>(sentence.hypotheses.front().tokens.size());
    left_.count_down();
    return std::nullopt;
  }
  void fail(std::exception_ptr error) noexcept override {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "translate_speed: an engine has failed: %s\n", failure.what());
    }
    std::abort();
  }
  std::int64_t wait() {
    left_.wait();
    return pieces_;
  }

 private:
  std::atomic<std::int64_t> pieces_ = 0;
  std::latch left_;
};

std::int64_t translate(Workers& workers, std::vector<SourceSentence> sentences) {
  const auto counting = std::make_shared<Counting>(sentences.size());
  for (SourceSentence& sentence : sentences) sentence.receiver = counting;
  workers.add(std::move(sentences));
  return counting->wait();
}

/// Seconds that it takes to cut the sentences' text into pieces and to join as many again.
double tokenizer_seconds(const std::vector<SourceSentence>& sentences, const Tokenizer& tokenizer) {
  const auto begin = Clock::now();
  for (const SourceSentence& sentence : sentences) {
    const std::vector<TokenId> pieces(sentence.tokens.begin(),
                                      sentence.tokens.begin() + sentence.pieces());
    tokenizer.encode(tokenizer.decode(pieces));
  }
  return seconds_since(begin);
}

/// The fractions of `total` seconds. The rest is the search, with the choice of its sentences.
nlohmann::ordered_json fractions_of(const EngineTimes& times, double total) {
  nlohmann::ordered_json parts;
  double left = 1;
  for (std::size_t part = 0; part < times.size(); ++part) {
    parts[names_of(EngineWork{})[part]] = times[part] / total;
    left -= times[part] / total;
  }
  parts["search_and_other"] = left;
  return parts;
}

double quantile(const std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

struct Options {
  std::string model, pieces, device = "cpu", type_name = "auto";
  DecodeConfig decode{.beam_size = 1};
  int repeat = 5, threads = available_cores();
  std::size_t limit = 0;
  bool latency = false, by_part = false, by_kernel = false, device_graph = false;

  bool on_cpu() const { return device == "cpu"; }
  ComputeType type() const { return value_named<ComputeType>(type_name).value(); }
};

/// The engine on a GPU, and what is measured there.
#ifdef DRAGOMAN_TORCH
std::unique_ptr<Engine> engine_on_device(const Options& options, const ModelFileReader& file,
                                         const std::vector<TokenId>& never_emitted) {
  return device_engine(
      {load_transformer(file, parse_device(options.device), type_on_gpu(options.type()))},
      never_emitted, {}, options.device_graph ? StepLaunch::Graph : StepLaunch::Operations);
}
nlohmann::ordered_json device_results(const Options& options, const std::function<void()>& work) {
  nlohmann::ordered_json results{
      {"peak_device_memory_gib", peak_device_memory_gib(parse_device(options.device))}};
  if (options.by_kernel) results["time_by_kernel"] = time_by_kernel(work);
  return results;
}
#else
std::unique_ptr<Engine> engine_on_device(const Options& options, const ModelFileReader&,
                                         const std::vector<TokenId>&) {
  throw UsageError("--device ", options.device, ": this program was built without LibTorch");
}
nlohmann::ordered_json device_results(const Options&, const std::function<void()>&) { return {}; }
#endif

/// One engine for each thread, or one of all threads (--latency) or on a GPU. The first engine on
/// the CPU adds to `times` if these are measured.
std::vector<std::unique_ptr<Engine>> make_engines(const Options& options,
                                                  const ModelFileReader& file,
                                                  const std::vector<TokenId>& never_emitted,
                                                  EngineTimes& times) {
  std::vector<std::unique_ptr<Engine>> engines;
  if (!options.on_cpu()) {
    engines.push_back(engine_on_device(options, file, never_emitted));
    return engines;
  }
  const auto weights = std::make_shared<CpuModel>(file, options.type());
  const auto team = std::make_shared<EngineTeam>(static_cast<std::size_t>(options.threads));
  for (int i = 0; i < (options.latency ? 1 : options.threads); ++i) {
    auto engine = std::make_unique<CpuEngine>(weights, never_emitted, team);
    if (i == 0 && options.by_part) engine->measure(&times);
    engines.push_back(std::move(engine));
  }
  return engines;
}

/// Pieces per second of each pass, or milliseconds of each sentence of each pass, ascending.
std::vector<double> measure(const Options& options, Workers& workers,
                            const std::vector<SourceSentence>& sentences, std::int64_t translated) {
  std::vector<double> measured;
  for (int pass = 0; pass < options.repeat; ++pass) {
    if (!options.latency) {
      const auto begin = Clock::now();
      translate(workers, sentences);
      measured.push_back(static_cast<double>(translated) / seconds_since(begin));
      continue;
    }
    for (const SourceSentence& sentence : sentences) {
      const auto begin = Clock::now();
      translate(workers, {sentence});
      measured.push_back(1e3 * seconds_since(begin));
    }
  }
  std::sort(measured.begin(), measured.end());
  return measured;
}

nlohmann::ordered_json statistics(const Options& options, const std::vector<double>& measured,
                                  std::int64_t translated) {
  if (!options.latency)
    return {{"target_tokens_per_second_median", quantile(measured, 0.5)},
            {"target_tokens_per_second_min", measured.front()},
            {"target_tokens_per_second_max", measured.back()}};
  const double total = std::accumulate(measured.begin(), measured.end(), 0.0);
  return {{"latency_ms_p50", quantile(measured, 0.5)},
          {"latency_ms_p90", quantile(measured, 0.9)},
          {"target_tokens_per_second_median",
           1e3 * static_cast<double>(translated * options.repeat) / total}};
}

nlohmann::ordered_json run(const Options& options) {
  const auto start = Clock::now();
  const ModelFileReader file(resolve_model_path(options.model));
  const TokenizerPair tokenizers = load_tokenizers(file);
  EngineTimes times{};  // of the first engine
  const auto engines = make_engines(options, file, tokenizers.target->never_emitted(), times);
  Workers workers(pointers_to(engines), {.rows = options.decode.batch_size, .waiting = 1 << 30});
  const double load_seconds = seconds_since(start);

  const auto sentences = read_sentences(options.pieces, tokenizers, options.decode, options.limit);
  nlohmann::ordered_json result{
      {"processor", cpu_features().model + " (" + cpu_features().instructions + ")"},
      {"device", options.device},
      {"beam", options.decode.beam_size},
      {"rows", options.decode.batch_size},
      {"compute_type", options.type_name},
      {"threads", options.threads},
      {"sentences", sentences.size()}};
  if (options.device_graph) result["device_graph"] = true;
  const std::int64_t translated = translate(workers, sentences);
  times.fill(0);
  const auto measured_from = Clock::now();
  const std::vector<double> measured = measure(options, workers, sentences, translated);
  if (options.by_part) {
    const double seconds = seconds_since(measured_from);
    result["time_by_part"] = fractions_of(times, seconds);
    result["tokenizer_would_add"] = tokenizer_seconds(sentences, *tokenizers.source) *
                                    options.repeat / static_cast<double>(engines.size()) / seconds;
  }
  result["target_tokens"] = translated;
  result.update(statistics(options, measured, translated));
  result["load_s"] = load_seconds;
  result["peak_memory_gib"] = static_cast<double>(peak_resident_memory()) / (1 << 30);
  if (!options.on_cpu())
    result.update(device_results(options, [&] { translate(workers, sentences); }));
  return result;
}

}  // namespace

int main(int count, char** arguments) try {
  CLI::App app("translation speed on sentences of pieces");
  Options options;
  DecodeConfig& decode = options.decode;
  bool json = true;
  app.add_option("--model", options.model)->required();
  app.add_option("--pieces", options.pieces, "one sentence of space-separated pieces per line")
      ->required();
  app.add_option("--beam", decode.beam_size);
  app.add_option("--device", options.device, "cpu, cuda or cuda:N");
  constexpr auto types = names_of(ComputeType{});
  app.add_option("--compute-type", options.type_name)
      ->check(CLI::IsMember(std::set<std::string>(types.begin(), types.end())));
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  app.add_option("--batch-size", decode.batch_size, "rows; 0: as the engine likes");
  app.add_option("--min-length", decode.min_length);
  app.add_option("--max-length", decode.max_length);
  app.add_option("--length-penalty", decode.length_penalty);
  app.add_option("--repeat", options.repeat, "measured passes, after one")
      ->check(CLI::PositiveNumber);
  app.add_option("--limit", options.limit, "sentences, the first ones; 0: all");
  app.add_flag("--latency", options.latency,
               "one sentence at a time, on which the threads work together");
  app.add_flag("--by-part", options.by_part,
               "the fraction of a thread's time that each part takes, on the CPU");
  app.add_flag("--by-kernel", options.by_kernel, "the time of each kernel of a pass on a GPU");
  app.add_flag("--device-graph", options.device_graph, "steps on a GPU as graphs");
  app.add_flag("--json", json, "the result is always JSON");
  CLI11_PARSE(app, count, arguments);
  decode.check();
  if (!options.on_cpu() && (options.by_part || options.type_name == "int8"))
    throw UsageError("--by-part and --compute-type int8 are for the CPU");
  std::puts(json_text(run(options)).c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "translate_speed: %s\n", error.what());
  return 1;
}
