#include "training/run_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <ctime>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "training/checkpoint.h"

namespace dragoman {

void LogInterval::begin(double now, double waited) {
  *this = LogInterval{};
  start_ = now;
  waited_ = waited;
}

void LogInterval::add(const BatchLoss& sums, double gradient_norm) {
  sums_ += sums;
  gradient_norm_ += gradient_norm;
  ++updates_;
}

IntervalMeans LogInterval::means(double now, double waited) const {
  const double seconds = std::max(1e-9, now - start_);
  const auto tokens = static_cast<double>(sums_.target_tokens);
  return {.loss = sums_.smoothed / tokens,
          .perplexity = std::exp(sums_.negative_log_likelihood / tokens),
          .alignment_loss = sums_.linked_tokens > 0
                                ? std::optional(sums_.alignment / sums_.linked_tokens)
                                : std::nullopt,
          .gradient_norm = gradient_norm_ / static_cast<double>(updates_),
          .source_tokens_per_second = static_cast<double>(sums_.source_tokens) / seconds,
          .target_tokens_per_second = tokens / seconds,
          .data_wait = (waited - waited_) / seconds};
}

// ---- TensorBoard --------------------------------------------------------------------------------

namespace {

/// One field of a message: a number, a real number, or bytes.
template <class Value>
std::string field(std::uint64_t number, const Value& value) {
  WireWriter writer;
  if constexpr (std::integral<Value>)
    writer.number(number, static_cast<std::uint64_t>(value));
  else if constexpr (std::floating_point<Value>)
    writer.real(number, value);
  else
    writer.bytes(number, value);
  return writer.message();
}

// TensorFlow's messages.

/// Event { wall_time = 1, step = 2, and `content` }.
std::string event(std::int64_t step, const std::string& content) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return field(1, now) + field(2, step) + content;
}

/// Event.file_version = 3: readers of version 2 obey session_start.
std::string file_version() { return field(3, "brain.Event:2"); }

/// Event.session_log = 7 { status = 1: START }.
std::string session_start() { return field(7, field(1, 1)); }

/// Summary.value = 1 { tag = 1, simple_value = 2 }.
std::string scalar(const std::string& tag, double value) {
  return field(1, field(1, tag) + field(2, static_cast<float>(value)));
}

/// Summary.value = 1 { tag = 1, tensor = 8 { dtype = 1: DT_STRING, tensor_shape = 2: no dimension,
/// string_val = 8 }, metadata = 9 { plugin_data = 1 { plugin_name = 1 }, data_class = 4: TENSOR }
/// }.
std::string text(const std::string& tag, const std::string& markdown) {
  constexpr std::int64_t kString = 7, kTensor = 2;
  return field(1, field(1, tag) + field(8, field(1, kString) + field(2, "") + field(8, markdown)) +
                      field(9, field(1, field(1, "text")) + field(4, kTensor)));
}

/// TFRecord: length, its checksum, payload, its checksum.
std::string record(const std::string& payload) {
  const auto masked = [](std::string_view bytes) {
    return little_endian(std::rotr(crc32c(bytes), 15) + 0xa282ead8u);
  };
  const std::string length = little_endian(static_cast<std::uint64_t>(payload.size()));
  return length + masked(length) + payload + masked(payload);
}

// The log's lines.

std::string group_of(const std::string& type) {
  if (type == "update") return "train";
  if (type == "validation") return "valid";
  return type;
}

/// "source: ...", "translation: ...", "reference: ..." as a block of code, in which Markdown leaves
/// every character as it is.
std::string sample_text(const nlohmann::ordered_json& sample) {
  std::string markdown;
  for (const auto& [name, line] : sample.items())
    markdown += "    " + name + ": " + line.get<std::string>() + "\n";
  return markdown;
}

/// Makes the folder. Readers take the files with "tfevents" in their names, in the order of the
/// names.
std::filesystem::path next_path(const std::filesystem::path& folder) {
  create_folders(folder);
  long long number = static_cast<long long>(std::time(nullptr));
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
    long long other = 0;
    if (std::sscanf(entry.path().filename().c_str(), "events.out.tfevents.%lld", &other) == 1)
      number = std::max(number, other + 1);
  }
  if (fault) throw Error(folder.string(), ": cannot list the folder: ", fault.message());
  return folder / join_text("events.out.tfevents.", number, ".dragoman");
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      entries[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        entries[i] = entries[i] >> 1 ^ ((entries[i] & 1) != 0 ? 0x82f63b78u : 0u);
    }
    return entries;
  }();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_update)
    : file_(next_path(folder), 0) {
  if (!file_.append(record(event(0, file_version())) +
                    record(event(first_update, session_start()))))
    throw Error(folder.string(), ": cannot write an event file");
}

bool EventFile::append(const nlohmann::ordered_json& line) {
  const auto update = line.find("update");
  if (update == line.end()) return true;
  const std::string group = group_of(line.at("type").get<std::string>());
  std::string values;
  for (const auto& [name, value] : line.items()) {
    if (value.is_number() && name != "update")
      values += scalar(join_text(group, "/", name), value.get<double>());
    if (name == "texts")
      for (const auto& part : value)
        for (const char* metric : {"bleu", "chrf"})
          values += scalar(join_text(group, "/", metric, "/", part.at("name").get<std::string>()),
                           part.at(metric).get<double>());
    if (name == "corpora")
      for (const auto& corpus : value)
        values += scalar(join_text(group, "/loss/", corpus.at("name").get<std::string>()),
                         corpus.at("loss").get<double>());
    if (name == "samples")
      for (std::size_t i = 0; i < value.size(); ++i)
        values += text(join_text("samples/", i + 1), sample_text(value[i]));
  }
  return file_.append(record(event(update->get<std::int64_t>(), field(5, values))));
}

// ---- the log ------------------------------------------------------------------------------------

namespace {

using Json = nlohmann::ordered_json;

/// Weights have three digits, which is enough for a picture.
Json to_json(const RecordedAttention& attention) {
  Json rows = Json::array();
  const std::size_t keys = attention.source.size();
  for (std::size_t i = 0; i < attention.weights.size(); ++i) {
    if (i % keys == 0) rows.push_back(Json::array());
    rows.back().push_back(std::round(static_cast<double>(attention.weights[i]) * 1e3) / 1e3);
  }
  return {{"source", attention.source}, {"target", attention.target}, {"weights", rows}};
}

Json to_json(const ValidationFacts& facts) {
  const ValidationResult& result = facts.scores.valid;
  Json json{{"type", "validation"},
            {"update", facts.update},
            {"loss", result.loss},
            {"perplexity", result.perplexity},
            {"bleu", result.bleu},
            {"bleu_error", result.bleu_error},
            {"chrf", result.chrf},
            {"chrf_error", result.chrf_error},
            {"seconds", facts.scores.seconds()},
            {"best", facts.new_best},
            {"target_tokens", facts.target_tokens},
            {"elapsed", facts.elapsed}};
  if (const auto& keep = facts.scores.keep) {
    json["keep_loss"] = keep->loss;
    json["keep_bleu"] = keep->bleu;
    json["keep_chrf"] = keep->chrf;
    json["keep_has_fallen"] = facts.scores.keep_has_fallen;
  }
  if (!result.parts.empty()) {
    const TextScores mean = mean_of(result.parts);
    json["mean_bleu"] = mean.bleu;
    json["mean_chrf"] = mean.chrf;
  }
  for (const CorpusLoss& corpus : facts.scores.corpora)
    json["corpora"].push_back({{"name", utf8_of_bytes(corpus.name)}, {"loss", corpus.loss}});
  for (const TextScores& part : result.parts)
    json["texts"].push_back({{"name", utf8_of_bytes(part.name)},
                             {"bleu", part.bleu},
                             {"bleu_error", part.bleu_error},
                             {"chrf", part.chrf},
                             {"chrf_error", part.chrf_error}});
  if (!result.attention.empty()) json["attention"] = to_json(result.attention);
  for (const TranslatedSample& sample : facts.samples)
    json["samples"].push_back({{"source", sample.source},
                               {"translation", sample.translation},
                               {"reference", sample.reference}});
  return json;
}

}  // namespace

Json to_json(const UpdateFacts& facts) {
  const IntervalMeans& means = facts.means;
  Json json{{"type", "update"},
            {"epoch", facts.epoch},
            {"update", facts.update},
            {"loss", means.loss},
            {"negative_log_likelihood", std::log(means.perplexity)},
            {"perplexity", means.perplexity},
            {"gradient_norm", means.gradient_norm},
            {"learning_rate", facts.learning_rate},
            {"source_tokens_per_second", means.source_tokens_per_second},
            {"target_tokens_per_second", means.target_tokens_per_second},
            {"data_wait", means.data_wait},
            {"target_tokens", facts.target_tokens},
            {"elapsed", facts.elapsed}};
  if (facts.stage > 0) json["stage"] = facts.stage;
  if (means.alignment_loss) json["alignment_loss"] = *means.alignment_loss;
  return json;
}

RunLog::RunLog(RunFolder folder, TrainingObserver& observer)
    : folder_(std::move(folder)), observer_(observer) {}

void RunLog::open(const ProgressRecord& progress, std::int64_t parameters) {
  lines_.emplace(folder_.log(), progress.log_bytes);
  open_events(progress.update + 1);
  const MachineFacts& machine = progress.start.machine;
  auto settings = Json::object();
  for (const auto& [name, text] : progress.start.values) settings[name] = utf8_of_bytes(text);
  append({{"type", "start"},
          {"after_update", progress.update},
          {"parameters", parameters},
          {"ranks", machine.ranks},
          {"precision", machine.precision},
          {"threads", machine.threads},
          {"processor", machine.processor},
          {"settings", settings}});
}

void RunLog::logged(const UpdateFacts& facts) { append(to_json(facts)); }

void RunLog::validated(const ValidationFacts& facts) { append(to_json(facts)); }

void RunLog::began_stage(StageEnd reason, const ProgressRecord& progress) {
  append({{"type", "stage"},
          {"update", progress.update},
          {"stage", progress.stage.number + 1},
          {"epoch", progress.stage.first_epoch + 1},
          {"reason", name_of(reason)}});
}

void RunLog::averaged(const AverageFacts& facts) {
  append({{"type", "average"},
          {"checkpoints", facts.checkpoints},
          {"loss", facts.result.loss},
          {"bleu", facts.result.bleu},
          {"chrf", facts.result.chrf},
          {"kept", facts.kept}});
}

void RunLog::left_out(const LeftOutFacts& facts) {
  append({{"type", "left_out"},
          {"update", facts.update},
          {"reason", facts.is_finite() ? "spike" : "not finite"},
          {"loss", facts.loss},
          {"gradient_norm", facts.gradient_norm},
          {"lines", facts.lines}});
}

void RunLog::rolled_back(std::int64_t from, const ProgressRecord& progress) {
  append({{"type", "rollback"},
          {"update", from},
          {"to_update", progress.update},
          {"rate_factor", progress.rate_factor}});
  if (lines_) open_events(progress.update + 1);
}

std::optional<std::int64_t> RunLog::sync() {
  if (!lines_) return std::nullopt;
  lines_->sync();
  return lines_->bytes();
}

void RunLog::open_events(std::int64_t first_update) {
  try_to_save("TensorBoard's events", "training continues", observer_,
              [&] { events_.emplace(folder_.tensorboard(), first_update); });
}

void RunLog::append(const Json& line) {
  if (!lines_) return;
  const auto check = [this](bool written, const std::filesystem::path& path) {
    if (!written) observer_.warned(path.string() + ": cannot write; training continues");
  };
  check(lines_->append(json_text(line) + "\n"), folder_.log());
  check(!events_ || events_->append(line), folder_.tensorboard());
}

}  // namespace dragoman
