#include "extras/formats/hf_marian_search.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

/// Settings that change translations and that we do not have, with the number that means "off".
constexpr std::pair<const char*, double> kUnsupportedHfMarian[] = {
    {"begin_suppress_tokens", 0},
    {"constraints", 0},
    {"diversity_penalty", 0},
    {"do_sample", 0},
    {"dola_layers", 0},
    {"encoder_no_repeat_ngram_size", 0},
    {"encoder_repetition_penalty", 1},
    {"exponential_decay_length_penalty", 0},
    {"force_words_ids", 0},
    {"forced_decoder_ids", 0},
    {"guidance_scale", 1},
    {"max_time", -1},
    {"num_beam_groups", 1},
    {"num_return_sequences", 1},
    {"penalty_alpha", 0},
    {"sequence_bias", 0},
    {"stop_strings", 0},
    {"watermarking_config", 0}};

bool is_off(const nlohmann::json& value, double off) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return value.get<bool>() == (off != 0);
  if (value.is_number()) return value.get<double>() == off;
  return value.empty();
}

class GenerationConfigReader {
 public:
  GenerationConfigReader(const JsonFile& file, const HfPieces& pieces)
      : file_(file), pieces_(pieces) {}

  ForeignSearch run() {
    search_.file = file_.path().string();
    whole("beam-size", "num_beams", 1);
    number("length-penalty", "length_penalty");
    if (file_.number("repetition_penalty", 1) != 1)
      number("repetition-penalty", "repetition_penalty");
    if (file_.integer("no_repeat_ngram_size", 0) != 0)
      whole("no-repeat-ngram-size", "no_repeat_ngram_size", 0);
    lengths();
    stop();
    bad_words();
    suppressed_tokens();
    for (const auto& [key, off] : kUnsupportedHfMarian)
      if (file_.has(key) && !is_off(file_.all()[key], off)) leave_out(key);
    if (file_.has("forced_bos_token_id")) leave_out("forced_bos_token_id");
    search_.suppressed.assign(suppressed_.begin(), suppressed_.end());
    return std::move(search_);
  }

 private:
  std::string place(const char* key) const {
    return join_text(file_.path().string(), ": \"", key, "\"");
  }
  void leave_out(const char* key) {
    if (std::ranges::find(search_.left_out, key) == search_.left_out.end())
      search_.left_out.emplace_back(key);
  }
  void whole(const char* flag, const char* key, std::int64_t otherwise, std::int64_t more = 0) {
    search_.defaults[flag] = setting_text(flag, file_.integer(key, otherwise), place(key), more);
  }
  void number(const char* flag, const char* key) {
    search_.defaults[flag] = setting_text(flag, file_.number(key, 1), place(key));
  }

  /// `max_length` and `min_length` count the token that the decoder begins with, too. The number of
  /// new tokens comes before them.
  void lengths() {
    if (file_.has("max_new_tokens"))
      whole("max-length", "max_new_tokens", 0);
    else
      whole("max-length", "max_length", 512, 1);
    const std::int64_t longest = std::stoll(search_.defaults["max-length"]);
    search_.defaults["max-length-ratio"] = std::to_string(std::min<std::int64_t>(longest, 1000));
    const bool is_new = file_.has("min_new_tokens");
    const char* key = is_new ? "min_new_tokens" : "min_length";
    if (const std::int64_t shortest = file_.integer(key, 0); shortest != 0)
      whole("min-length", key, 0, is_new ? 0 : 1);
    if (const auto least = search_.defaults.find("min-length");
        least != search_.defaults.end() && std::stoll(least->second) > longest)
      throw Error(place(key), ": is more than the longest translation may have");
  }

  void stop() {
    search_.defaults["stop"] = "hf";
    if (!file_.has("early_stopping")) return;
    const bool is_text = file_.all()["early_stopping"].is_string();  // "never"
    if (is_text || file_.flag("early_stopping", false))
      search_.defaults["stop"] = is_text ? "exact" : "full";
  }

  std::int64_t token(const nlohmann::json& value, const char* key) const {
    if (!value.is_number_integer()) throw Error(place(key), ": has an id that is no whole number");
    const auto id = value.get<std::int64_t>();  // 2^63 and more become negative
    if (id < 0 || id >= pieces_.all)
      throw Error(place(key), ": has the id ", value.dump(), ", which no piece has");
    return id;
  }
  /// <unk> and padding are never produced anyway.
  void suppress(std::int64_t id) {
    if (id < pieces_.padding && id != pieces_.unk) suppressed_.insert(id);
  }

  const nlohmann::json& list(const char* key) const {
    const nlohmann::json& value = file_.all()[key];
    if (!value.is_array()) throw Error(place(key), ": is not a list");
    return value;
  }
  /// Sequences of tokens. We have a setting for those of one token; transformers leaves </s> out.
  void bad_words() {
    constexpr const char* kKey = "bad_words_ids";
    if (!file_.has(kKey)) return;
    for (const nlohmann::json& sequence : list(kKey)) {
      if (!sequence.is_array() || sequence.empty())
        throw Error(place(kKey), ": has an item that is not a list of ids");
      for (const nlohmann::json& id : sequence) token(id, kKey);
      const std::int64_t first = token(sequence.front(), kKey);
      if (sequence.size() > 1)
        leave_out(kKey);
      else if (first != pieces_.eos)
        suppress(first);
    }
  }
  void suppressed_tokens() {
    constexpr const char* kKey = "suppress_tokens";
    if (!file_.has(kKey)) return;
    for (const nlohmann::json& id : list(kKey)) {
      if (token(id, kKey) == pieces_.eos)
        leave_out(kKey);
      else
        suppress(token(id, kKey));
    }
  }

  const JsonFile& file_;
  HfPieces pieces_;
  ForeignSearch search_;
  std::set<std::int64_t> suppressed_;
};

}  // namespace

ForeignSearch read_hf_search(const JsonFile& file, const HfPieces& pieces) {
  return GenerationConfigReader(file, pieces).run();
}

}  // namespace dragoman
