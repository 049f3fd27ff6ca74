#include "data/prepare.h"

#include <algorithm>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/corpus_builder.h"
#include "data/pair_files.h"
#include "tokenizer/terms.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr DataStage kReading = {"reading", "bytes"};
constexpr DataStage kTrainingTokenizer = {"training the tokenizer", ""};

std::int64_t total_bytes(const DataConfig& data) {
  std::int64_t total = 0;
  for (const auto* paths :
       {&data.train_source, &data.train_target, &data.valid_source, &data.valid_target,
        &data.keep_valid_source, &data.keep_valid_target, &data.guided_alignment})
    for (const std::string& path : *paths) {
      std::error_code unreadable;  // reported when the file is opened
      const auto size = fs::file_size(path, unreadable);
      if (!unreadable) total += static_cast<std::int64_t>(size);
    }
  return total;
}

/// Puts the plain texts into the cache folder. Returns them, and the number of bytes read for them.
std::pair<PlainData, std::int64_t> plain_texts(const Preparation& preparation) {
  std::int64_t read = 0;
  PlainData plain = plain_data(preparation.data, preparation.cache_folder, [&](std::int64_t more) {
    if (preparation.stop.stop_requested()) throw PreparationStopped();
    if (preparation.observer) preparation.observer(kReading, read += more, 0);
  });
  return {std::move(plain), read};
}

/// A preparation with plain texts alone, and the number of its threads.
struct PreparationWork : Preparation {
  PreparationWork(const Preparation& asked, const DataConfig& plain)
      : Preparation{.data = plain,
                    .tokenizer = asked.tokenizer,
                    .cache_folder = asked.cache_folder,
                    .seed = asked.seed,
                    .expected_hashes = asked.expected_hashes,
                    .observer = asked.observer,
                    .stop = asked.stop,
                    .threads = asked.threads == 0 ? available_cores() : asked.threads} {}

  void observe(const DataStage& stage, std::int64_t done, std::int64_t total) const {
    if (observer) observer(stage, done, total);
  }
  /// For a file whose bytes do not count for the progress.
  TextReading reading() const {
    return {.threads = threads, .stop = stop, .index_folder = cache_folder};
  }
  /// For a stage that counts pairs.
  WorkContext context(std::string_view stage) const {
    return {.threads = threads,
            .stop = stop,
            .report = [this, stage](std::int64_t done, std::int64_t total) {
              observe({stage, "pairs"}, done, total);
            }};
  }
};

/// Reports bytes of the stage "reading", over all files: `before` have been read. `work` must
/// outlive it.
TextReading reading_of(const PreparationWork& work, std::int64_t before) {
  // Each file has a copy of the function, so the copies share the number.
  const auto read = std::make_shared<std::int64_t>(before);
  TextReading reading = work.reading();
  reading.report = [&work, read, total = before + total_bytes(work.data)](std::int64_t more) {
    work.observe(kReading, *read += more, total);
  };
  return reading;
}

/// The files of texts and of an alignment, which may be null.
std::vector<const TextFile*> files_of(std::initializer_list<const ParallelText*> texts,
                                      const AlignmentFiles* alignment = nullptr) {
  std::vector<const TextFile*> files;
  const auto add = [&files](const std::vector<TextFile>& more) {
    for (const TextFile& file : more) files.push_back(&file);
  };
  for (const ParallelText* text : texts) {
    add(text->source_files());
    add(text->target_files());
  }
  if (alignment != nullptr) add(alignment->files());
  return files;
}

/// Writes the new indexes of text files into the cache folder.
void store_indexes(const PreparationWork& work, const std::vector<const TextFile*>& files) {
  create_folders(work.cache_folder);
  for (const TextFile* file : files)
    if (file->new_index())
      write_file(index_path(work.cache_folder, file->path()), *file->new_index(), Links::Replace);
}

/// Part of every file name, so that files of other versions of this code are not found.
constexpr int kCacheVersion = 4;

/// Some lines of a side to train a tokenizer on: about as many as it will look at.
std::vector<std::string_view> sample_of(const ParallelText& text, TextSide side,
                                        const TokenizerConfig& config) {
  const std::int64_t lines = text.pairs() * (config.joint ? 2 : 1);
  const double fraction =
      1.05 * static_cast<double>(config.sample_lines) / static_cast<double>(lines);
  std::vector<std::string_view> sample;
  const auto add = [&](std::string_view line) {
    if (line.empty() || (fraction < 1 && uniform_of(sample_key(line)) >= fraction)) return;
    if (text.is_valid(line)) sample.push_back(line);
  };
  text.for_each_pair(0, text.pairs(),
                     [&](std::int64_t, std::string_view source, std::string_view target) {
                       add(side == TextSide::Source ? source : target);
                     });
  return sample;
}

/// Tags and the marks of terms are pieces of the tokenizer that encodes the source.
TokenizerConfig tokenizer_config(const PreparationWork& work, TextSide side) {
  TokenizerConfig config = work.tokenizer;
  if (side == TextSide::Target && !config.joint) return config;
  auto& symbols = config.user_symbols;
  std::vector<std::string> more = work.data.corpus_tags;
  if (!work.data.train_terms.empty())
    more.insert(more.end(), {std::string(kTermBegins), std::string(kTermEnds)});
  for (const std::string& symbol : more)
    if (!symbol.empty() && std::ranges::find(symbols, symbol) == symbols.end())
      symbols.push_back(symbol);
  return config;
}

/// Everything that the bytes of a trained tokenizer depend on.
std::uint64_t tokenizer_hash(TokenizerConfig config, const ParallelText& text) {
  std::string inputs = join_text(kCacheVersion, ' ', text.hash());
  for (const Field& field : fields_of(config))
    for (const std::string& value : field.values())
      inputs += join_text('\n', value.size(), ' ', value);
  return xxh3(inputs);
}

/// The tokenizer of a side in the cache folder: the SentencePiece model with its checksum.
class StoredTokenizer {
 public:
  StoredTokenizer(const PreparationWork& work, const ParallelText& text, TextSide side)
      : path_(work.cache_folder /
              join_text("tokenizer-", side == TextSide::Source ? "source" : "target", "-",
                        hex16(tokenizer_hash(tokenizer_config(work, side), text)), ".bin")) {}

  /// The bytes of the model; empty if it isn't there, or is damaged.
  std::string read() const {
    if (!fs::exists(path_)) return "";
    return std::string(without_checksum(read_file(path_)).value_or(""));
  }
  void write(const std::string& bytes) const {
    write_file(path_, with_checksum(bytes), Links::Replace);
  }

 private:
  fs::path path_;
};

/// Trained tokenizers: from the cache folder, or trained now and put there.
JointTokenizers trained_models(const PreparationWork& work, const ParallelText& text) {
  const StoredTokenizer source(work, text, TextSide::Source);
  const StoredTokenizer target(work, text, TextSide::Target);
  JointTokenizers models{source.read(), target.read()};
  const auto train = [&](const auto& train_now) {
    if (work.stop.stop_requested()) throw PreparationStopped();
    work.observe(kTrainingTokenizer, 0, 1);
    train_now();
    work.observe(kTrainingTokenizer, 1, 1);
  };
  const auto train_side = [&](TextSide side, std::string& model, const StoredTokenizer& stored) {
    if (!model.empty()) return;
    const TokenizerConfig config = tokenizer_config(work, side);
    train(
        [&] { model = train_tokenizer(sample_of(text, side, config), config, side).model_bytes; });
    stored.write(model);
  };
  if (!work.tokenizer.joint) {
    train_side(TextSide::Source, models.source, source);
    train_side(TextSide::Target, models.target, target);
  } else if (models.source.empty() || models.target.empty()) {
    const TokenizerConfig config = tokenizer_config(work, TextSide::Source);
    train([&] {
      models = train_joint_tokenizers(sample_of(text, TextSide::Source, config),
                                      sample_of(text, TextSide::Target, config), config);
    });
    source.write(models.source);
    target.write(models.target);
  }
  return models;
}

TokenizerPair tokenizers_of(const PreparationWork& work, const ParallelText& text) {
  const TokenizerConfig& config = work.tokenizer;
  std::optional<Tokenizer> source, target;
  if (!config.source_bytes.empty()) {
    source.emplace(config.source_bytes, "the source tokenizer");
    if (!config.target_bytes.empty()) target.emplace(config.target_bytes, "the target tokenizer");
  } else if (!config.source_model.empty()) {
    source = Tokenizer::from_file(config.source_model);
    if (!config.target_model.empty()) target = Tokenizer::from_file(config.target_model);
  } else {
    JointTokenizers models = trained_models(work, text);
    if (models.target != models.source)
      target.emplace(std::move(models.target), "the trained tokenizer");
    source.emplace(std::move(models.source), "the trained tokenizer");
  }
  const bool is_one = !target || target->model_bytes() == source->model_bytes();
  const auto of_source = std::make_shared<const Tokenizer>(std::move(*source));
  return {.source = of_source,
          .target = is_one ? of_source : std::make_shared<const Tokenizer>(std::move(*target)),
          .source_eos = config.source_eos};
}

/// A validation line without the tag in front of it, if it has one of the training text's.
std::string_view without_tag(const DataConfig& data, std::string_view line) {
  for (const std::string& tag : data.corpus_tags)
    if (!tag.empty() && line.starts_with(tag) && line.substr(tag.size()).starts_with(' '))
      return line.substr(tag.size() + 1);
  return line;
}

std::uint64_t hash_of_pair(const DataConfig& data, const ValidSet& valid, std::size_t pair) {
  return likeness_hash(without_tag(data, valid.source_lines[pair]), valid.target_lines[pair]);
}

/// Sorted likeness_hash() of the pairs of --valid-src, if they are not to be trained on.
std::vector<std::uint64_t> hashes_not_to_train(const DataConfig& data, const ValidSet& valid) {
  std::vector<std::uint64_t> hashes;
  if (data.valid_overlap != ValidOverlap::Untrained) return hashes;
  for (std::size_t pair = 0; pair < valid.source_lines.size(); ++pair)
    hashes.push_back(hash_of_pair(data, valid, pair));
  std::ranges::sort(hashes);
  return hashes;
}

fs::path corpus_path(const PreparationWork& work, const ParallelText& text,
                     const TokenizerPair& tokenizers,
                     const std::vector<std::uint64_t>& valid_hashes) {
  const DataConfig& data = work.data;
  const bool held_out = data.valid_source.empty() && data.valid_fraction > 0;
  std::string inputs = join_text(
      kCacheVersion, ' ', text.hash(), ' ', xxh3(tokenizers.source->model_bytes()), ' ',
      xxh3(tokenizers.target->model_bytes()), ' ', data.max_length, ' ', text_of(data.max_ratio),
      ' ', data.keep_empty, ' ', data.keep_duplicates, ' ', static_cast<int>(data.invalid), ' ',
      held_out ? text_of(data.valid_fraction) : "files", ' ', held_out ? work.seed : 0);
  if (!valid_hashes.empty())
    inputs += join_text("\nvalid ",
                        xxh3(valid_hashes.data(), valid_hashes.size() * sizeof valid_hashes[0]));
  if (!data.corpus_tags.empty())
    for (std::size_t file = 0; file + 1 < text.first_pairs().size(); ++file)
      inputs += join_text('\n', text.first_pairs()[file], ' ', data.corpus_tags[file]);
  return work.cache_folder / ("corpus-" + hex16(xxh3(inputs)) + ".bin");
}

/// The training corpus: from the cache folder, or built now and put there.
std::shared_ptr<const Corpus::Storage> corpus_of(const PreparationWork& work,
                                                 const ParallelText& text, const fs::path& path,
                                                 const std::vector<std::uint64_t>& valid_hashes,
                                                 PreparedData& prepared) {
  if (fs::exists(path)) {
    try {
      auto storage = Corpus::Storage::open(path, work.threads);
      prepared.cache = CacheUse::Reused;
      return storage;
    } catch (const Error& error) {  // the cache is made again below
      prepared.cache = CacheUse::Rebuilt;
      prepared.cache_problem = error.what();
    }
  }
  build_corpus(path, text, prepared.tokenizers, {work.data, work.seed, valid_hashes},
               work.context("encoding"));
  return Corpus::Storage::open(path, work.threads);
}

/// The survey of the corpus in this file: from the cache folder, or made now and put there.
std::shared_ptr<const SurveyedText> survey_of(const PreparationWork& work, const ParallelText& text,
                                              const Corpus& corpus, const fs::path& corpus_file) {
  constexpr int kSurveyVersion = 2;
  const std::uint64_t inputs = xxh3(join_text(kSurveyVersion, corpus_file.filename().string()));
  const fs::path path = work.cache_folder / ("survey-" + hex16(inputs) + ".bin");
  if (fs::exists(path)) {
    try {
      return std::make_shared<const SurveyedText>(
          surveyed_from_bytes(read_file(path), path.string()));
    } catch (const Error&) {  // it is made again below
    }
  }
  auto surveyed = std::make_shared<const SurveyedText>(
      survey_text(text, corpus, work.context("looking at the pairs")));
  write_file(path, to_bytes(*surveyed), Links::Replace);
  return surveyed;
}

void add_valid_lines(const ParallelText& text, ValidSet& valid) {
  text.for_each_pair(0, text.pairs(),
                     [&](std::int64_t pair, std::string_view source, std::string_view target) {
                       if (text.is_valid(source, target)) {
                         valid.source_lines.emplace_back(source);
                         valid.target_lines.emplace_back(target);
                         valid.line_numbers.push_back(pair + 1);
                       } else {
                         ++valid.invalid;
                       }
                     });
}

/// Throws Error if `files`, which were given, have no pair for the loss.
void encode_valid(const PreparationWork& work, const TokenizerPair& tokenizers,
                  const std::vector<std::string>& files, ValidSet& valid) {
  valid.tokens = encode_lines(valid.source_lines, valid.target_lines, tokenizers, work.data,
                              work.context("encoding the validation set"));
  valid.too_long = std::ssize(valid.source_lines) - valid.tokens.pairs();
  if (!files.empty() && valid.tokens.pairs() == 0)
    throw Error(files[0],
                ": has no pair to validate with: all are invalid or longer than --max-length");
}

/// Adds the hashes of all files; throws Error if one has changed since the run was started.
void take_hashes(const PreparationWork& work, const std::vector<const TextFile*>& files,
                 PreparedData& prepared) {
  const fs::path run = work.cache_folder.parent_path();
  const auto take = [&](const std::string& path, const std::string& hash) {
    const auto before = work.expected_hashes.find(path);
    if (before != work.expected_hashes.end() && before->second != hash)
      throw Error(path,
                  ": has changed since this run was started, or is another text; restore it, or "
                  "give another -o for another run",
                  fs::exists(run / "model.safetensors")
                      ? join_text(" (with --init-from ", run.string(), " from this one's model)")
                      : "");
    prepared.file_hashes[path] = hash;
  };
  for (const TextFile* file : files) take(file->path(), hex16(file->hash()));
  const std::string& terms = work.data.train_terms;  // its file is read more than once
  refuse_irregular_file(terms);
  if (!terms.empty()) take(terms, hex16(xxh3(read_file(terms))));
}

/// The name of a training file, which no other one has.
std::string name_of_section(const ParallelText& text, std::size_t file) {
  const std::vector<TextFile>& sources = text.source_files();
  const std::string& source = sources[file].path();
  const bool has_name = std::ranges::count(sources, source, &TextFile::path) == 1;
  return has_name ? source : join_text(source, " and ", text.target_files()[file].path());
}

/// Finds the sections, and the weights of each in the stages.
void take_sections(const DataConfig& data, const ParallelText& text, PreparedData& prepared) {
  const Corpus& corpus = prepared.train;
  const std::vector<std::string> tags = data.tags();
  std::int64_t most = 0;
  for (std::size_t file = 0; file < tags.size(); ++file) {
    const std::int64_t first = corpus.first_pair_from(text.first_pairs()[file]);
    const std::int64_t end = corpus.first_pair_from(text.first_pairs()[file + 1]);
    prepared.sections.push_back({.name = name_of_section(text, file),
                                 .tag = tags[file],
                                 .first_pair = first,
                                 .pairs = end - first});
    most = std::max(most, end - first);
  }
  for (const MixStage& stage : data.stages()) {
    std::int64_t shown = 0;
    for (std::size_t file = 0; file < tags.size(); ++file) {
      CorpusSection& section = prepared.sections[file];
      section.weights.push_back(stage.weights[file] *
                                tempered(data.corpus_temperature, section.pairs, most));
      if (section.weights.back() > 0) shown += section.pairs;
    }
    if (shown == 0 && corpus.pairs() > 0)
      throw UsageError("--mix: stage ", prepared.stage_passes.size() + 1,
                       " shows only files that have no pair to train on");
    prepared.stage_passes.push_back(stage.passes);
  }
}

/// The fraction of pairs that have a term. Throws Error if there are no terms.
double fraction_with_terms(const DataConfig& data, const ParallelText& text) {
  const Terms terms{fs::path(data.train_terms)};
  if (terms.empty()) throw Error(data.train_terms, ": has no terms");
  constexpr std::int64_t kSample = 20'000;
  const std::int64_t step = text.pairs() / kSample + 1;
  std::int64_t seen = 0, found = 0;
  for (std::int64_t line = 0; line < text.pairs(); line += step) {
    const auto [source, target] = text.lines(line);
    if (!text.is_valid(source, target)) continue;
    const auto here = terms.find(source);
    ++seen;
    found += unmet_texts(here, target).size() < here.size();
  }
  return static_cast<double>(found) / static_cast<double>(std::max<std::int64_t>(1, seen));
}

/// "train.de:17: "10⁴" becomes "104""; empty if the tokenizer changes no target line.
std::string changed_target(const ParallelText& text, const Tokenizer& target,
                           const CorpusReport& report) {
  if (report.changed_targets == 0) return "";
  const std::string_view line = text.lines(report.changed_target).second;
  const std::size_t file = text.file_of(report.changed_target);
  return join_text(text.target_files()[file].path(), ":",
                   report.changed_target - text.first_pairs()[file] + 1, ": ",
                   described_change(line, target.decode(target.encode(line))));
}

void require_term_marks(const Tokenizer& source) {
  if (!has_term_marks(source))
    throw UsageError(
        "--train-terms: the tokenizer that is given, or that of --init-from, lacks the pieces ",
        kTermBegins, " and ", kTermEnds,
        "; train one, or give one that has them as user-defined symbols");
}

/// Leaves out the pairs that are trained on too, unless fewer than half would remain.
void leave_out_trained(const DataConfig& data, const HashFilter& trained, ValidSet& valid) {
  if (data.valid_overlap == ValidOverlap::Ignored) return;
  ValidSet rest = valid;
  rest.source_lines.clear();
  rest.target_lines.clear();
  rest.line_numbers.clear();
  for (std::size_t pair = 0; pair < valid.source_lines.size(); ++pair) {
    if (trained.contains(hash_of_pair(data, valid, pair))) {
      rest.trained.add(valid.line_numbers[pair]);
      continue;
    }
    rest.source_lines.push_back(valid.source_lines[pair]);
    rest.target_lines.push_back(valid.target_lines[pair]);
    rest.line_numbers.push_back(valid.line_numbers[pair]);
  }
  valid.trained = rest.trained;
  valid.has_trained = 2 * rest.source_lines.size() < valid.source_lines.size();
  if (!valid.has_trained) valid = std::move(rest);
}

/// The pairs of each validation text, after some were left out; `first_pairs` are those of the
/// texts as they were read.
std::vector<ValidPart> parts_of(const ValidSet& valid, const std::vector<std::string>& names,
                                const std::vector<std::int64_t>& first_pairs) {
  std::vector<ValidPart> parts;
  if (names.size() < 2) return parts;
  for (std::size_t text = 0; text < names.size(); ++text) {
    const auto place = [&](std::int64_t pair) {
      return static_cast<std::size_t>(std::ranges::upper_bound(valid.line_numbers, pair) -
                                      valid.line_numbers.begin());
    };
    const ValidPart part{names[text], place(first_pairs[text]), place(first_pairs[text + 1])};
    if (part.first < part.end) parts.push_back(part);
  }
  return parts;
}

/// Takes the pairs of the text that was given, or else those held out of the training text, without
/// the pairs that are trained on.
void take_validation(const PreparationWork& work, const CorpusFacts& facts,
                     PreparedData& prepared) {
  ValidSet& valid = prepared.valid;
  if (valid.held_out) {
    valid.source_lines = facts.held_out_source;
    valid.target_lines = facts.held_out_target;
    valid.line_numbers = facts.held_out_lines;
  }
  leave_out_trained(work.data, prepared.survey->trained, valid);
  encode_valid(work, prepared.tokenizers, work.data.valid_source, valid);
}

}  // namespace

std::vector<WeightStage> PreparedData::stages(std::int64_t number, std::int64_t first_epoch) const {
  std::vector<WeightStage> stages;
  std::int64_t epoch = 0;
  for (std::size_t stage = 0; stage < stage_passes.size(); ++stage) {
    if (static_cast<std::int64_t>(stage) == number) epoch = first_epoch;
    stages.push_back({.first_epoch = epoch});
    const std::int64_t passes = stage_passes[stage];
    epoch = passes == 0 || epoch == kUnknownEpoch ? kUnknownEpoch : epoch + passes;
    for (const CorpusSection& section : sections)
      stages.back().weights.push_back(
          {.first_pair = section.first_pair, .weight = section.weights[stage]});
  }
  return stages;
}

std::vector<double> PreparedData::times_shown(double updates, double updates_per_epoch) const {
  std::vector<double> times(sections.size());
  double of_first = 0;  // pairs that the first epoch shows
  for (std::size_t stage = 0; stage < stage_passes.size(); ++stage) {
    double shown = 0;
    for (const CorpusSection& section : sections)
      shown += section.weights[stage] * static_cast<double>(section.pairs);
    if (stage == 0) of_first = shown;
    double epochs = updates / updates_per_epoch * of_first / shown;
    if (const std::int64_t passes = stage_passes[stage]; passes > 0)
      epochs = std::min(epochs, static_cast<double>(passes));
    for (std::size_t i = 0; i < sections.size(); ++i)
      times[i] += epochs * sections[i].weights[stage];
    updates = std::max(0.0, updates - epochs * updates_per_epoch * shown / of_first);
  }
  return times;
}

PreparedData prepare_data(const Preparation& preparation) {
  auto [plain, bytes_read] = plain_texts(preparation);
  const PreparationWork work(preparation, plain.data);
  work.tokenizer.check();
  tokenizer_config(work, TextSide::Source).check();
  const TextReading reading = reading_of(work, bytes_read);
  const DataConfig& data = work.data;
  const auto shared_text = std::make_shared<const ParallelText>(
      data.train_source, data.train_target, data.invalid, reading);
  const ParallelText& text = *shared_text;
  const ParallelText valid_text(data.valid_source, data.valid_target, data.invalid, reading);
  const ParallelText keep_valid_text(data.keep_valid_source, data.keep_valid_target, data.invalid,
                                     reading);
  std::shared_ptr<const AlignmentFiles> alignment;
  if (!data.guided_alignment.empty() && !data.aligns_text())
    alignment = std::make_shared<const AlignmentFiles>(shared_text, data.guided_alignment,
                                                       LinkedUnits::Words, reading,
                                                       work.context("checking the alignments"));
  const auto files = files_of({&text, &valid_text, &keep_valid_text}, alignment.get());
  PreparedData prepared;
  prepared.pair_files = std::move(plain.summaries);
  prepared.languages = std::move(plain.languages);
  take_hashes(work, files, prepared);

  if (!data.train_terms.empty()) prepared.pairs_with_terms = fraction_with_terms(data, text);
  store_indexes(work, files);
  prepared.text_hash = hex16(text.hash());
  prepared.asked_vocab_size = work.tokenizer.vocab_size;
  prepared.tokenizers_trained = work.tokenizer.trains();
  prepared.tokenizers = tokenizers_of(work, text);
  if (!data.train_terms.empty()) require_term_marks(*prepared.tokenizers.source);
  prepared.valid.held_out = data.valid_source.empty();
  add_valid_lines(valid_text, prepared.valid);
  const auto valid_hashes = hashes_not_to_train(data, prepared.valid);
  const fs::path corpus_file = corpus_path(work, text, prepared.tokenizers, valid_hashes);
  const auto storage = corpus_of(work, text, corpus_file, valid_hashes, prepared);
  prepared.train = Corpus(storage);
  prepared.survey = survey_of(work, text, prepared.train, corpus_file);
  take_sections(data, text, prepared);
  if (FreshEncoder::is_wanted(data))
    prepared.encoder =
        std::make_shared<const FreshEncoder>(shared_text, prepared.tokenizers, data, work.seed);
  if (data.aligns_text()) {
    const WorkContext context = work.context("aligning the pieces");
    alignment = std::make_shared<const AlignmentFiles>(
        shared_text, align_pieces(text, prepared.tokenizers, work.cache_folder, context),
        LinkedUnits::Pieces, work.reading(), context);
  }
  if (alignment)
    prepared.alignments =
        std::make_shared<const PairAlignments>(alignment, prepared.tokenizers, data);
  prepared.characters = storage->facts().characters;
  prepared.report = storage->facts().report;
  prepared.changed_target = changed_target(text, *prepared.tokenizers.target, prepared.report);
  take_validation(work, storage->facts(), prepared);
  prepared.valid.parts = parts_of(prepared.valid, plain.valid_names, valid_text.first_pairs());
  add_valid_lines(keep_valid_text, prepared.keep_valid);
  encode_valid(work, prepared.tokenizers, data.keep_valid_source, prepared.keep_valid);
  return prepared;
}

TextSize measure_text(const Preparation& preparation) {
  const auto [plain, bytes_read] = plain_texts(preparation);
  const PreparationWork work(preparation, plain.data);
  const ParallelText text(work.data.train_source, work.data.train_target, work.data.invalid,
                          reading_of(work, bytes_read));
  store_indexes(work, files_of({&text}));
  TextSize size{.pairs = text.pairs()};
  text.for_each_pair(
      0, text.pairs(), [&size](std::int64_t, std::string_view, std::string_view target) {
        size.target_characters += static_cast<std::int64_t>(count_code_points(target));
      });
  return size;
}

}  // namespace dragoman
