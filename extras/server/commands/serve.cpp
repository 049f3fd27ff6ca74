// dragoman serve: translates over HTTP, with the interfaces of LibreTranslate, DeepL and others.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/open_model.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/mutex.h"
#include "extras/explanation/explanation_json.h"
#include "extras/server/commands/serve_options.h"
#include "extras/server/http_server.h"
#include "extras/server/served_models.h"
#include "extras/server/translation_server.h"

namespace dragoman {

namespace {

using Clock = std::chrono::steady_clock;

std::string milliseconds_since(Clock::time_point begin) {
  return fixed_text(std::chrono::duration<double, std::milli>(Clock::now() - begin).count(), 0) +
         " ms";
}

/// A loaded model and its translation service.
struct ResidentModel {
  ResidentModel(OpenedTranslator model, const Workers::Limits& limits, std::int64_t cache_bytes)
      : opened(std::move(model)), service(opened.service(limits, cache_bytes)) {}

  const OpenedTranslator opened;
  TranslationService service;
};

/// The model files that --model names, and the models that are loaded from them.
class ModelFiles {
 public:
  ModelFiles(const ServeConfig& config, const Invocation& call, MakeDeviceEngine device_engine)
      : config_(config),
        call_(call),
        device_engine_(std::move(device_engine)),
        models_(config.models()) {
    for (const NamedModel& model : models_) {
      if (config.flags.load_on_demand)
        load_later(model);
      else
        load_once(model);
    }
  }

  const ServedModels& served() const { return served_; }

  /// Loads the models whose files have changed. One that cannot be loaded stays as it was.
  void reload() {
    for (const NamedModel& model : models_) reload(model);
  }

 private:
  /// Loads the model when a request needs it. Its file must be there now, with a sound header.
  void load_later(const NamedModel& model) {
    const ModelFileReader reader(resolve_model_path(model.path), Verify::Header);
    served_.set(
        std::make_shared<ServedModel>(model.languages, [this, model] { load_once(model); }));
    log_info(join_text(model.languages.name(), ": is loaded when it is first needed"));
  }

  /// Several requests may have asked for it.
  void load_once(const NamedModel& model) {
    const MutexLock lock(loading_);
    const auto known = served_.find(model.languages);
    if (!known || !known->is_loaded()) load(model);
  }

  void reload(const NamedModel& model) {
    const MutexLock lock(loading_);
    const auto known = served_.find(model.languages);
    if (!known->is_loaded()) return;
    try {
      if (stamp_of(resolve_model_path(model.path)) != known->facts().stamp) load(model);
    } catch (const std::exception& error) {
      log_error(join_text(model.languages.name(), " stays as it was: ", error.what()));
    }
  }

  void load(const NamedModel& model) REQUIRES(loading_) {
    const Clock::time_point begin = Clock::now();
    const std::filesystem::path file = resolve_model_path(model.path);
    const FileStamp stamp = stamp_of(file);  // first: a file that comes later differs from it
    OpenedTranslator opened = open_translator({file.string()}, config_.hardware, device_engine_);
    DecodeConfig search = opened.search_with(config_.decode, call_.origins);
    const auto resident =
        std::make_shared<ResidentModel>(std::move(opened),
                                        Workers::Limits{.rows = search.batch_size,
                                                        .waiting = config_.limits.waiting_limit,
                                                        .order = QueueOrder::Turns},
                                        config_.limits.cache_limit);
    ExplainText explain = explanations_of(model, file, resident->opened, search);
    served_.set(std::make_shared<ServedModel>(
        model.languages, std::shared_ptr<TranslationService>(resident, &resident->service),
        std::move(search),
        ServedModel::Facts{.checksum = resident->opened.checksum,
                           .updates = resident->opened.updates,
                           .stamp = stamp},
        std::move(explain)));
    log_info(join_text(model.languages.name(), ": ", file.string(), " is loaded, ",
                       milliseconds_since(begin)));
  }

  /// A GPU's engine does not report its activations: then the same weights explain on the CPU.
  ExplainText explanations_of(const NamedModel& model, const std::filesystem::path& file,
                              const OpenedTranslator& opened, const DecodeConfig& search) const {
    if (config_.limits.explain_limit == 0) return nullptr;
    std::shared_ptr<const CpuModel> weights = opened.weights;
    if (!weights)
      weights = std::make_shared<const CpuModel>(ModelFileReader(file, Verify::Header),
                                                 ComputeType::Float32);
    const ExplainedModel translator{.program_version = DRAGOMAN_VERSION,
                                    .name = model.languages.name(),
                                    .tokenizers = opened.tokenizers,
                                    .weights = std::move(weights),
                                    .search = search,
                                    .several_sentences = opened.record.several_sentences,
                                    .characters = opened.record.characters};
    return [translator](const std::string& text, ExplanationUse use, const OnStep& on_step) {
      const ExplanationForm form =
          use == ExplanationUse::Page ? ExplanationForm::Page : ExplanationForm::Packed;
      try {
        auto [json, target_tokens] = explain_text(translator, text, form, on_step);
        return TextExplanation{.json = std::move(json), .target_tokens = target_tokens};
      } catch (const UnfitText& unfit) {
        throw HttpError(400, join_text("Invalid request: ", unfit.what()));
      }
    };
  }

  const ServeConfig& config_;
  const Invocation& call_;
  const MakeDeviceEngine device_engine_;
  const std::vector<NamedModel> models_;
  Mutex loading_;  ///< one model after the other, so that a SIGHUP finds each loaded or not begun
  ServedModels served_;
};

/// Freed when an allocation fails: what is given up then may need a little memory (a destructor of
/// nlohmann::json does), and would otherwise end the process.
std::atomic<void*> memory_reserve = nullptr;

void free_memory_reserve() {
  void* reserve = memory_reserve.exchange(nullptr);
  if (reserve == nullptr) throw std::bad_alloc();
  std::free(reserve);
}

void fill_memory_reserve() {
  constexpr std::size_t kBytes = 4 << 20;
  if (memory_reserve != nullptr) return;
  void* none = nullptr;
  void* fresh = std::malloc(kBytes);
  if (!memory_reserve.compare_exchange_strong(none, fresh)) std::free(fresh);
}

/// A line for each request, without its text.
void log_request(const AnsweredRequest& request) {
  fill_memory_reserve();
  const double milliseconds = request.seconds * 1000;
  std::string text = join_text(request.client, ' ', request.method, ' ', request.path, ' ',
                               request.status, ' ', fixed_text(milliseconds, 1), " ms");
  nlohmann::ordered_json facts = {{"client", request.client},
                                  {"method", request.method},
                                  {"path", request.path},
                                  {"status", request.status},
                                  {"milliseconds", milliseconds}};
  if (!request.languages.empty()) {
    text += join_text(' ', request.languages, ", ", counted(request.texts, "text"), ", ",
                      counted(request.characters, "character"), ", ",
                      counted(request.target_tokens, "piece"));
    facts["languages"] = request.languages;
    facts["texts"] = request.texts;
    facts["characters"] = request.characters;
    facts["pieces"] = request.target_tokens;
  }
  if (!request.fault.empty()) {
    log_error(join_text("a fault of the server: ", request.fault));
    facts["fault"] = request.fault;
  }
  log_facts(text, facts);
}

/// Allows as many open files as the system permits: each connection is one.
void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Waits for SIGHUP, which the thread for signals reports. That thread may run until the process
/// ends, so it shares the state.
class Hangups {
 public:
  Hangups() {
    on_hangup([state = state_] {
      const MutexLock lock(state->mutex);
      state->has_arrived = true;
      state->changed.notify_all();
    });
  }

  /// Waits for the next one; false when a stop is requested.
  bool wait(const std::stop_token& stop) {
    MutexLock lock(state_->mutex);
    state_->changed.wait(lock, stop,
                         [this]() REQUIRES(state_->mutex) { return state_->has_arrived; });
    return std::exchange(state_->has_arrived, false) && !stop.stop_requested();
  }

 private:
  struct State {
    Mutex mutex;
    std::condition_variable_any changed;
    bool has_arrived GUARDED_BY(mutex) = false;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Keys that cannot be read stay as they were.
void reload(ApiKeys& keys) {
  try {
    keys.reload();
  } catch (const std::exception& error) {
    log_error(join_text("the API keys stay as they were: ", error.what()));
  }
}

int run_serve(const ServeConfig& config, const Invocation& call,
              const MakeDeviceEngine& device_engine) {
  const Clock::time_point begin = Clock::now();
  config.check();
  refuse_flags_without_draws(config.decode, call.origins, ScoreUse::Shown);
  raise_open_files();
  fill_memory_reserve();
  std::set_new_handler(free_memory_reserve);
  Hangups hangups;
  const ServerConfig settings = config.server();  // finds its faults before models are loaded
  ModelFiles files(config, call, device_engine);
  // Before anyone can know that it serves: a signal that comes right after must not kill it.
  const std::stop_token stop = listen_for_stop();
  TranslationServer server(files.served(), settings, log_request);
  HttpServer http(config.http(), std::bind_front(&TranslationServer::handle, &server),
                  std::bind_front(&TranslationServer::refuse, &server));
  const bool is_v6 = config.flags.host.find(':') != std::string::npos;
  log_info(join_text("serving at http://", is_v6 ? "[" : "", config.flags.host, is_v6 ? "]" : "",
                     ':', http.port(), ", ready after ", milliseconds_since(begin)));
  while (hangups.wait(stop)) {
    log_info("SIGHUP: the API keys are read again, and models whose files have changed are loaded");
    if (settings.api_keys) reload(*settings.api_keys);  // first: models may take long
    files.reload();
  }
  const auto limit = config.http().timeout + settings.request_timeout;
  if (const std::int64_t left = http.drain(limit); left > 0)
    log_warning(join_text(counted(left, "request"), " not finished"));
  return 0;
}

Command serve_command(MakeDeviceEngine device_engine) {
  const auto config = std::make_shared<ServeConfig>();
  return {
      .name = "serve",
      .summary = "translate over HTTP: the interfaces of LibreTranslate, DeepL and Google",
      .fields = config->fields(),
      .short_flags = {{"m", "model"}, {"p", "port"}, {"b", "beam-size"}},
      .run = [config, device_engine = std::move(device_engine)](
                 const Invocation& call) { return run_serve(*config, call, device_engine); },
      .ends_by_signal = true,
      .examples = {"serve -m en-de=run/", "serve -m en-de=run/ de-en=other.safetensors --port 5000",
                   "serve -m en-de=run/ --host 0.0.0.0 --api-keys keys.txt --req-limit 60"}};
}

}  // namespace

Extra server_extra(const MakeDeviceEngine& device_engine) {
  return {.commands = {serve_command(device_engine)}};
}

}  // namespace dragoman
