#include "data/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/batch_stream.h"
#include "tests/data/prepare_fixture.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"
#include "tokenizer/translatable.h"

namespace dragoman {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using TextSizeTest = PrepareTest;

TEST_F(TextSizeTest, PairsAndTheCharactersOfTheTargetSideAreCounted) {
  set_text({"one", "two words"}, {"Über", "東京"});
  const TextSize size = measure_text(preparation());
  EXPECT_EQ(size.pairs, 2);
  EXPECT_EQ(size.target_characters, 6);
}

TEST_F(TextSizeTest, TextThatCannotBeTrainedOnIsRefused) {
  set_text({"one", "two"}, {"eins", "zwei"});
  data.train_target = {write("short.de", "eins\n")};
  EXPECT_THROW(measure_text(preparation()), Error);
}

TEST_F(PrepareTest, TheCorpusIsTheTextEncoded) {
  const auto lines = sample_text(3000);
  set_text(lines);
  data.keep_duplicates = true;
  const PreparedData prepared = prepare();
  ASSERT_EQ(prepared.train.pairs(), 3000);
  EXPECT_TRUE(prepared.tokenizers.joint());
  EXPECT_EQ(prepared.cache, CacheUse::Built);
  std::int64_t tokens = 0;
  for (std::int64_t i = 0; i < 3000; ++i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    EXPECT_EQ(prepared.train.line(i), i);
    EXPECT_EQ(prepared.train.source(i), prepared.tokenizers.source->encode(line));
    EXPECT_EQ(prepared.train.target(i), prepared.tokenizers.target->encode("das " + line));
    tokens += prepared.train.lengths(i).source;
  }
  EXPECT_EQ(prepared.report.source_tokens, tokens);
  expect_adds_up(prepared.report);
}

TEST_F(PrepareTest, FilesWithBothSidesAreTrainedAndValidatedOn) {
  give_tokenizer();
  const auto lines = sample_text(3000);
  std::string table;
  for (const std::string& line : lines) table += line + "\tdas " + line + "\n";
  set_text(lines);
  data.keep_duplicates = true;
  data.valid_fraction = 0;
  const PreparedData from_texts = prepare();
  data.train_source.clear();
  data.train_target.clear();
  data.train = {write("pairs.tsv", table + "no pair\n")};
  data.valid = {write("valid.tsv", "one\teins\n")};
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.text_hash, from_texts.text_hash);
  EXPECT_EQ(prepared.train.pairs(), 3000);
  EXPECT_EQ(prepared.valid.target_lines, std::vector<std::string>{"eins"});
  ASSERT_EQ(prepared.pair_files.size(), 2U);
  EXPECT_THAT(prepared.pair_files[0], Names("pairs.tsv ... 3,000 pairs ... line 3001"));
  data.corpus_weights = {"1", "2"};
  EXPECT_THAT(message_of<UsageError>([&] { prepare(); }),
              Names("--corpus-weights ... 2 values ... 1 training file"));
}

TEST_F(PrepareTest, PairsWithSeveralSentencesOnASideAreCounted) {
  give_tokenizer();
  std::vector<std::string> source = sample_text(400), target = source;
  for (std::size_t i = 0; i < 400; ++i) source[i] = target[i] = "It is No. " + source[i] + ".";
  for (std::size_t i = 0; i < 30; ++i) source[i] += " It rains.";
  for (std::size_t i = 20; i < 40; ++i) target[i] += " It rains.";
  set_text(source, target);
  data.keep_duplicates = true;
  const PreparedData built = prepare();
  EXPECT_EQ(built.report.several_sentences, 40);
  EXPECT_EQ(built.report.several_sentences_fraction(), 0.1);
  EXPECT_EQ(prepare().report.several_sentences, 40) << "from the cache";
}

TEST_F(PrepareTest, PairsWithNothingToTranslateAreCountedWithTheirCopies) {
  give_tokenizer();
  std::vector<std::string> source = sample_text(400), target = source;
  for (std::size_t i = 0; i < 20; ++i) source[i] = std::to_string(i + 1);
  for (std::size_t i = 15; i < 20; ++i) target[i] = " " + source[i];
  for (std::size_t i = 20; i < 31; ++i) source[i] = target[i] = std::string(i, '-');
  source[31] = target[31] = "https://example.org";
  set_text(source, target);
  data.keep_duplicates = true;
  data.max_ratio = 0;
  const CopiedFractions fractions = {{"number", 0.25}, {"signs", 1.0}};
  EXPECT_EQ(copied_fractions(prepare().report.copy_counts), fractions);
  const CorpusReport cached = prepare().report;
  EXPECT_EQ(copied_fractions(cached.copy_counts), fractions) << "from the cache";
  EXPECT_EQ(cached.copy_counts[static_cast<std::size_t>(CopiedKind::Url)], (CopyCount{1, 1}));
}

TEST_F(PrepareTest, TheCharactersOfThePairsAreRecorded) {
  std::vector<std::string> source = sample_text(200), target = source;
  source[7] += " \uFF28\u2713";  // a full-width H, whose plain form the model reads, too
  target[7] += " \U0001F355";
  source[8] = "\u732B";  // this pair is left out
  target[8] = "";
  source[9] += std::string(300, '-') + "\u72AC";
  set_text(source, target);
  data.max_length = 100;
  for (const PreparedData& prepared : {prepare(), prepare()}) {
    const auto& [ours, theirs] = prepared.characters;
    EXPECT_TRUE(ours.contains_all("a e\uFF28H\u2713"));
    EXPECT_TRUE(theirs.contains_all("a e\U0001F355"));
    EXPECT_FALSE(theirs.contains(U'\u2713') || ours.contains(U'\U0001F355'));
    EXPECT_FALSE(ours.contains(U'\u732B') || ours.contains(U'\u72AC')) << "of no kept pair";
  }
  EXPECT_EQ(prepare().cache, CacheUse::Reused);
}

TEST_F(PrepareTest, EachStageNamesTheUnitThatItCounts) {
  set_text(sample_text(500));
  std::map<std::string, std::int64_t> totals;
  std::map<std::string, std::string> units;
  Preparation asked = preparation();
  asked.observer = [&](const DataStage& stage, auto, std::int64_t total) {
    totals[std::string(stage.name)] = total;
    units[std::string(stage.name)] = stage.unit;
  };
  prepare_data(asked);
  const auto bytes = std::filesystem::file_size(data.train_source[0]) +
                     std::filesystem::file_size(data.train_target[0]);
  EXPECT_EQ(totals["reading"], static_cast<std::int64_t>(bytes));
  EXPECT_EQ(units["reading"], "bytes");
  EXPECT_EQ(totals["training the tokenizer"], 1);
  EXPECT_EQ(units["training the tokenizer"], "");
  EXPECT_EQ(totals["encoding"], 500);
  EXPECT_EQ(units["encoding"], "pairs");
}

TEST_F(PrepareTest, TheBytesThatAreReadAreCountedOverAllFiles) {
  give_tokenizer();
  set_text(sample_text(500));
  data.train = {write("first.tsv", "one\teins\n"),
                write("second.tsv", "two horses\tzwei Pferde\n")};
  std::vector<std::int64_t> read;
  std::int64_t all = 0;
  Preparation asked = preparation();
  asked.observer = [&](const DataStage& stage, std::int64_t done, std::int64_t total) {
    if (stage.name != "reading") return;
    read.push_back(done);
    all = total;
  };
  prepare_data(asked);
  EXPECT_THAT(read, testing::SizeIs(8)) << "two files with both sides, and six with one";
  EXPECT_EQ(std::ranges::adjacent_find(read, std::greater_equal{}), read.end());
  EXPECT_EQ(read.back(), all);
}

TEST_F(PrepareTest, ASecondStartFindsItsWorkDone) {
  set_text(sample_text(500));
  data.valid_fraction = 0.01;
  const PreparedData first = prepare();
  std::vector<std::string> stages;
  Preparation again = preparation();
  again.observer = [&](const DataStage& stage, auto, auto) { stages.emplace_back(stage.name); };
  const PreparedData second = prepare_data(again);
  EXPECT_EQ(second.cache, CacheUse::Reused);
  EXPECT_THAT(stages, Contains("reading"));
  EXPECT_THAT(stages, Not(Contains("encoding")));
  EXPECT_THAT(stages, Not(Contains("training the tokenizer")));
  EXPECT_EQ(second.report, first.report);
  EXPECT_EQ(second.valid.source_lines, first.valid.source_lines);
  EXPECT_EQ(second.valid.target_lines, first.valid.target_lines);
  EXPECT_EQ(second.text_hash, first.text_hash);
  ASSERT_EQ(second.train.pairs(), first.train.pairs());
  for (std::int64_t i = 0; i < first.train.pairs(); ++i)
    EXPECT_EQ(second.train.source(i), first.train.source(i));
}

TEST_F(PrepareTest, TheFilesAreTheSameForAnyNumberOfThreads) {
  auto lines = sample_text(9000);
  lines[3] = lines[4] = "";
  set_text(lines);
  data.valid_fraction = 0.01;
  for (const auto& [cache, threads] : {std::pair("one", 1), std::pair("three", 3)}) {
    Preparation with_threads = preparation(threads);
    with_threads.cache_folder = folder / cache;
    prepare_data(with_threads);
  }
  for (const std::string prefix : {"corpus-", "tokenizer-source-", "tokenizer-target-"}) {
    const auto one = cache_file(prefix, "one"), three = cache_file(prefix, "three");
    EXPECT_EQ(one.filename(), three.filename());
    EXPECT_TRUE(read_file(one) == read_file(three)) << prefix;
  }
}

TEST_F(PrepareTest, ADamagedCacheIsMadeAgainAndReported) {
  set_text(sample_text(200));
  prepare();
  const auto path = cache_file("corpus-");
  const std::string bytes = read_file(path);
  for (const std::size_t at :
       {std::size_t{0}, bytes.size() / 3, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] ^= 0x20;
    for (const std::string& text : {damaged, bytes.substr(0, at)}) {
      write_file(path, text);
      const PreparedData again = prepare();
      EXPECT_EQ(again.cache, CacheUse::Rebuilt);
      EXPECT_THAT(again.cache_problem, HasSubstr(path.filename().string()));
      EXPECT_TRUE(read_file(path) == bytes);
    }
  }
  EXPECT_EQ(prepare().cache, CacheUse::Reused);
}

TEST_F(PrepareTest, ADamagedTokenizerIsTrainedAgain) {
  set_text(sample_text(200));
  prepare();
  const auto path = cache_file("tokenizer-source-");
  const std::string bytes = read_file(path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, bytes.size() - 1}) {
    write_file(path, bytes.substr(0, size));
    EXPECT_EQ(prepare().cache, CacheUse::Reused);
    EXPECT_TRUE(read_file(path) == bytes);
  }
}

TEST_F(PrepareTest, ChangedTextFiltersOrTokenizersMakeAnotherCache) {
  auto lines = sample_text(300);
  set_text(lines);
  prepare();
  const auto is_new = [&](auto change) {
    const DataConfig before = data;
    const TokenizerConfig tokenizer_before = tokenizer;
    change();
    const bool built = prepare().cache == CacheUse::Built;
    data = before;
    tokenizer = tokenizer_before;
    return built;
  };
  EXPECT_FALSE(is_new([] {}));
  EXPECT_TRUE(is_new([&] { data.max_length = 20; }));
  EXPECT_TRUE(is_new([&] { data.max_ratio = 3; }));
  EXPECT_TRUE(is_new([&] { data.keep_duplicates = true; }));
  EXPECT_TRUE(is_new([&] { data.keep_empty = true; }));
  EXPECT_TRUE(is_new([&] { data.valid_fraction = 0.01; }));
  EXPECT_TRUE(is_new([&] { tokenizer.vocab_size = 300; }));
  EXPECT_TRUE(is_new([&] { tokenizer.type = TokenizerType::Bpe; }));
  EXPECT_TRUE(is_new([&] { tokenizer.joint = false; }));
  EXPECT_TRUE(is_new([&] { tokenizer.target_normalization = Normalization::NmtNfkc; }));
  lines[7] += " x";
  EXPECT_TRUE(is_new([&] { set_text(lines); }));
}

TEST_F(PrepareTest, EachFilterDropsItsPairsAndCountsThem) {
  std::vector<std::string> source = {"the blue dog", "",   "the house",    "the blue dog",
                                     "\xFFthe",      "  ", "the old river"};
  std::vector<std::string> target = {"der Hund", "leer", "", "der Hund", "das", "x", "der Fluss"};
  std::string words;
  for (int i = 0; i < 40; ++i) words += "dog ";
  source.insert(source.end(), {words, words, words + words});
  target.insert(target.end(), {"a b c d e f g h i j", "a", words + words});
  set_text(source, target);
  data.invalid = InvalidLines::Skip;
  data.max_length = 60;
  data.max_ratio = 5;
  const PreparedData prepared = prepare();
  const CorpusReport& r = prepared.report;
  EXPECT_EQ(r.read, 10);
  EXPECT_EQ(r.invalid, 1);
  EXPECT_EQ(r.empty, 3);
  EXPECT_EQ(r.duplicates, 1);
  EXPECT_EQ(r.too_long, 1);
  EXPECT_EQ(r.ratio, 1);
  EXPECT_EQ(lines_of(prepared.train), (std::set<std::int64_t>{0, 6, 7}));
  expect_adds_up(r);

  data.max_length = 0;
  data.max_ratio = 0;
  data.keep_empty = data.keep_duplicates = true;
  EXPECT_EQ(prepare().report.kept, 9);
}

TEST_F(PrepareTest, OnlyTheFirstOfEqualPairsStays) {
  give_tokenizer();
  RandomStream random(5);
  std::vector<std::string> source, target;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::int64_t> first;
  for (int i = 0; i < 6000; ++i) {
    source.push_back("dog " + std::to_string(random.below(60)));
    target.push_back("Hund " + std::to_string(random.below(60)));
    if (seen.insert({source.back(), target.back()}).second) first.insert(i);
  }
  set_text(source, target);
  const PreparedData prepared = prepare();
  EXPECT_EQ(lines_of(prepared.train), first);
  EXPECT_EQ(prepared.report.duplicates, 6000 - static_cast<std::int64_t>(first.size()));
}

TEST_F(PrepareTest, HeldOutPairsAreNeverTrainedOn) {
  give_tokenizer();
  std::vector<std::string> lines;
  for (int i = 0; i < 12'000; ++i) lines.push_back("line number " + std::to_string(i % 11'000));
  set_text(lines);
  data.valid_fraction = 0.05;
  for (const bool keep_duplicates : {false, true}) {
    data.keep_duplicates = keep_duplicates;
    const PreparedData prepared = prepare();
    const ValidSet& valid = prepared.valid;
    EXPECT_TRUE(valid.held_out);
    EXPECT_EQ(valid.source_lines.size(), 550u);
    EXPECT_EQ(prepared.report.held_out, 550);
    expect_adds_up(prepared.report);
    const std::set<std::string> held_out(valid.source_lines.begin(), valid.source_lines.end());
    EXPECT_EQ(held_out.size(), 550u);
    for (const std::int64_t line : lines_of(prepared.train))
      EXPECT_FALSE(held_out.contains(lines[static_cast<std::size_t>(line)]));
    for (std::size_t i = 0; i < valid.source_lines.size(); ++i) {
      EXPECT_EQ(valid.target_lines[i], "das " + valid.source_lines[i]);
      EXPECT_EQ(valid.tokens.source(static_cast<std::int64_t>(i)),
                prepared.tokenizers.source->encode(valid.source_lines[i]));
    }
  }
}

TEST_F(PrepareTest, OnePercentOfThePairsIsHeldOutWithinBounds) {
  give_tokenizer();
  const auto held_out = [&](int pairs, double fraction = 0.01) {
    std::vector<std::string> lines;
    for (int i = 0; i < pairs; ++i) lines.push_back("word " + std::to_string(i));
    set_text(lines);
    data.valid_fraction = fraction;
    const PreparedData prepared = prepare();
    EXPECT_EQ(prepared.report.held_out + prepared.report.kept, pairs);
    return prepared.report.held_out;
  };
  EXPECT_EQ(held_out(1), 0);
  EXPECT_EQ(held_out(30), 3);
  EXPECT_EQ(held_out(30, 0.3), 9);
  EXPECT_EQ(held_out(500), 50);
  EXPECT_EQ(held_out(1500), 100);
  EXPECT_EQ(held_out(15'000), 150);
}

TEST_F(PrepareTest, TheSeedChoosesOtherPairsToHoldOut) {
  give_tokenizer();
  set_text(sample_text(1000));
  data.valid_fraction = 0.01;
  const auto lines = [&](std::uint64_t seed) {
    Preparation seeded = preparation();
    seeded.seed = seed;
    return prepare_data(seeded).valid.source_lines;
  };
  EXPECT_EQ(lines(1), lines(1));
  EXPECT_NE(lines(1), lines(2));
}

TEST_F(PrepareTest, ValidationFilesKeepAllTheirLines) {
  set_text(sample_text(300));
  data.valid_fraction = 0.01;
  data.max_length = 30;
  std::string long_line;
  for (int i = 0; i < 50; ++i) long_line += "dog ";
  data.valid_source = {write("v.en", "the dog\n\n" + long_line + "\nthe dog\n")};
  data.valid_target = {write("v.de", "der Hund\nx\ny\nder Hund\n")};
  const PreparedData prepared = prepare();
  EXPECT_FALSE(prepared.valid.held_out);
  EXPECT_EQ(prepared.report.held_out, 0);
  EXPECT_EQ(prepared.valid.source_lines.size(), 4u);
  EXPECT_EQ(prepared.valid.too_long, 1);
  EXPECT_EQ(lines_of(prepared.valid.tokens), (std::set<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(prepared.valid.tokens.source(2), prepared.tokenizers.source->encode("the dog"));
}

TEST_F(PrepareTest, SeveralValidationTextsArePartsOfOneSet) {
  give_tokenizer();
  const std::vector<std::string> text = sample_text(300);
  set_text(text);
  data.invalid = InvalidLines::Skip;
  data.valid_source = {write("v.en", "the dog\n\xFF\n" + text[5] + "\nthe cat\n"),
                       write("w.en", text[7] + "\n")};
  data.valid_target = {write("v.de", "der Hund\nx\ndas " + text[5] + "\ndie Katze\n"),
                       write("w.de", "das " + text[7] + "\n")};
  data.valid = {write("x.tsv", "a horse\tein Pferd\n")};
  const auto parts = prepare().valid.parts;
  ASSERT_EQ(parts.size(), 2u) << "nothing is left of w.en, as it is trained on";
  EXPECT_EQ(parts[0].name, data.valid_source[0]);
  EXPECT_EQ(parts[0].first, 0u);
  EXPECT_EQ(parts[0].end, 2u);
  EXPECT_EQ(parts[1].name, data.valid[0]);
  EXPECT_EQ(parts[1].first, 2u);
  EXPECT_EQ(parts[1].end, 3u);
  data.valid_source.clear();
  data.valid_target.clear();
  EXPECT_TRUE(prepare().valid.parts.empty()) << "a single text";
}

TEST_F(PrepareTest, FlagsOrAllFilesSayTheLanguages) {
  give_tokenizer();
  set_text(sample_text(300));
  EXPECT_EQ(prepare().languages, (LanguagePair{"en", "de"}));
  data.train = {write("x.tsv", "a horse\tein Pferd\n")};
  EXPECT_EQ(prepare().languages, LanguagePair()) << "the table says none";
  data.source_lang = "EN_gb";
  data.target_lang = "de";
  EXPECT_EQ(prepare().languages, (LanguagePair{"en-GB", "de"}));
  data.target_lang = "en-gb";
  EXPECT_EQ(prepare().languages, LanguagePair()) << "no translation";
}

TEST_F(PrepareTest, AValidationTextNeedsAPairForTheLoss) {
  set_text(sample_text(300));
  data.max_length = 30;
  std::string long_line;
  for (int i = 0; i < 50; ++i) long_line += "dog ";
  data.valid_source = {write("v.en", long_line + "\n")};
  data.valid_target = {write("v.de", "y\n")};
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), Names("v.en ... no pair"));
}

TEST_F(PrepareTest, TheTextOfKeepValidSrcIsASetOfItsOwn) {
  give_tokenizer();
  set_text(sample_text(300));
  EXPECT_TRUE(prepare().keep_valid.source_lines.empty());
  data.keep_valid_source = {write("k.en", "the dog\nthe cat\n")};
  data.keep_valid_target = {write("k.de", "der Hund\ndie Katze\n")};
  const PreparedData prepared = prepare();
  EXPECT_TRUE(prepared.valid.held_out);
  EXPECT_EQ(prepared.keep_valid.source_lines.size(), 2u);
  EXPECT_EQ(prepared.keep_valid.tokens.pairs(), 2);
  EXPECT_TRUE(prepared.file_hashes.contains(data.keep_valid_target[0]));
  data.invalid = InvalidLines::Skip;
  data.keep_valid_source = {write("k.en", "\xFF\n\xFF\n")};
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), Names("no pair"));
}

TEST_F(PrepareTest, AGlossaryToTrainWithIsCheckedBeforeTheWork) {
  set_text(sample_text(300));
  data.train_terms = write("terms.tsv", "# none\n");
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), Names("terms.tsv ... no terms"));
  EXPECT_FALSE(std::filesystem::exists(folder / "corpus"));
  data.train_terms = "/dev/null";
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), Names("/dev/null ... regular file"));
  data.train_terms = write("terms.tsv", "zebra\tZebra\n");
  EXPECT_EQ(prepare().pairs_with_terms, 0.0);
  data.train_terms = write("terms.tsv", "the\tdas\n");
  EXPECT_EQ(prepare().pairs_with_terms, 1.0);
}

TEST_F(PrepareTest, EachSideMayHaveATokenizerOfItsOwn) {
  set_text(sample_text(300));
  tokenizer.joint = false;
  const PreparedData prepared = prepare();
  EXPECT_FALSE(prepared.tokenizers.joint());
  EXPECT_TRUE(prepared.tokenizers_trained);
  EXPECT_EQ(prepared.train.target(0),
            prepared.tokenizers.target->encode("das " + sample_text(1)[0]));
}

TEST_F(PrepareTest, TheTargetIsLearnedAsItIsAndTheSourceNormalised) {
  std::vector<std::string> lines = sample_text(300);
  for (std::string& line : lines) line += "  10⁴ m²";
  set_text(lines, lines);
  const PreparedData prepared = prepare();
  const TokenizerPair& tokenizers = prepared.tokenizers;
  EXPECT_TRUE(tokenizers.joint());
  EXPECT_NE(tokenizers.source, tokenizers.target);
  EXPECT_EQ(tokenizers.target->decode(prepared.train.target(0)), lines[0]);
  EXPECT_EQ(tokenizers.source->decode(prepared.train.source(0)), sample_text(1)[0] + " 104 m2");
  EXPECT_EQ(prepared.report.changed_targets, 0);
  tokenizer.target_normalization = Normalization::NmtNfkc;
  const PreparedData normalised = prepare();
  EXPECT_EQ(normalised.tokenizers.source, normalised.tokenizers.target);
}

TEST_F(PrepareTest, ALineOfWhiteSpaceAloneIsAnEmptySide) {
  std::vector<std::string> lines = sample_text(300), target = lines;
  data.keep_duplicates = true;
  target[3] = "  ";
  target[5] = "\u00A0\t";
  lines[8] = " ";
  set_text(lines, target);
  EXPECT_EQ(prepare().report.empty, 3);
  EXPECT_EQ(prepare().report.kept, 297);
}

TEST_F(PrepareTest, TargetLinesThatAGivenTokenizerChangesAreCountedAndOneIsShown) {
  std::vector<std::string> lines = sample_text(300), target = lines;
  data.keep_duplicates = true;
  target[4] += " ";
  target[7] = "it is 10⁴ m long";
  target[9] = "½ of it";
  target[11] = "";
  set_text(lines, target);
  tokenizer.source_model = write("given.model", train_on(lines, {.vocab_size = 300}).model_bytes());
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.report.changed_targets, 3);
  EXPECT_THAT(prepared.changed_target, Names("a.de:8 ... \"10⁴\" ... \"104\""));
  EXPECT_EQ(prepare().changed_target, prepared.changed_target) << "from the cache";
}

TEST_F(PrepareTest, GivenTokenizersAreUsed) {
  set_text(sample_text(300));
  const Tokenizer given = train_on({"another text than that"}, {.vocab_size = 290});
  tokenizer.source_model = write("given.model", given.model_bytes());
  PreparedData prepared = prepare();
  EXPECT_FALSE(prepared.tokenizers_trained);
  EXPECT_TRUE(prepared.tokenizers.joint());
  EXPECT_EQ(prepared.tokenizers.source->model_bytes(), given.model_bytes());
  tokenizer.target_model = write("copy.model", given.model_bytes());
  EXPECT_TRUE(prepare().tokenizers.joint()) << "the same tokenizer under two names";
  tokenizer.target_model =
      write("target.model", train_on({"noch ein Text"}, {.vocab_size = 290}).model_bytes());
  EXPECT_FALSE(prepare().tokenizers.joint());
}

TEST_F(PrepareTest, ProblemsOfTheTextComeBeforeAnyWork) {
  set_text(sample_text(300));
  data.valid_source = {write("v.en", "a\nb\xFF\n")};
  data.valid_target = {write("v.de", "a\nb\n")};
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), HasSubstr("v.en:2: invalid UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(folder / "corpus"));
}

TEST_F(PrepareTest, TextWithoutAUsablePairSaysWhy) {
  set_text({"the dog", "the dog"}, {"", ""});
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), Names("2 ... empty side"));
  set_text({"", ""}, {"", " "});
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), HasSubstr("no characters"));
  for (const auto& entry : std::filesystem::directory_iterator(folder / "corpus"))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("corpus-"))) << "nothing half-made stays";
}

TEST_F(PrepareTest, VeryLongLinesAreLeftOutWithoutBeingEncoded) {
  auto lines = sample_text(300);
  tokenizer.source_model = write("given.model", train_on(lines, {.vocab_size = 300}).model_bytes());
  lines[5] = "the" + std::string(std::size_t{3} << 20, ' ') + "dog";
  set_text(lines);
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.report.too_long, 1);
  EXPECT_EQ(prepared.report.empty, 0);
}

TEST_F(PrepareTest, AStoppedPreparationLeavesNothingBehind) {
  set_text(sample_text(20'000));
  data.keep_duplicates = true;
  tokenizer.sample_lines = 200;
  std::stop_source stop;
  Preparation stopped = preparation(1);
  stopped.stop = stop.get_token();
  stopped.observer = [&](const DataStage& stage, auto, auto) {
    if (stage.name == "encoding") stop.request_stop();
  };
  EXPECT_THROW(prepare_data(stopped), PreparationStopped);
  cache_file("tokenizer-source-");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "corpus"))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("corpus-")));
}

TEST_F(PrepareTest, FilesThatAnotherProcessIsWritingStay) {
  set_text(sample_text(100));
  prepare();
  const auto written = cache_file("corpus-").string() + ".tmp.12345";
  write_file(written, "half of it");
  prepare();
  EXPECT_EQ(read_file(written), "half of it");
}

TEST_F(PrepareTest, AChangedFileUnderARunIsNamed) {
  give_tokenizer();
  set_text(sample_text(200));
  data.valid_source = {write("v.en", "the dog\n")};
  data.valid_target = {write("v.de", "der Hund\n")};
  const auto expected_hashes = prepare().file_hashes;
  EXPECT_EQ(expected_hashes.size(), 4u);
  Preparation resumed = preparation();
  resumed.expected_hashes = expected_hashes;
  EXPECT_EQ(prepare_data(resumed).cache, CacheUse::Reused);
  for (const auto& [path, hash] : expected_hashes) {
    const std::string before = read_file(path);
    write_file(path, "X" + before.substr(1));
    EXPECT_THAT(message_of<Error>([&] { prepare_data(resumed); }), Names(path + " ... changed"));
    write_file(path, before);
  }
}

TEST_F(PrepareTest, PairsThatAreEqualAfterNormalisationInAnyCaseAreOne) {
  set_text({"The dog", "the  dog ", "THE DOG", "the \uFF44og", "the dog.", "the cat"},
           {"der Hund", "Der Hund", "der\u00A0hund", "der Hund", "der Hund.", "die Katze"});
  const PreparedData prepared = prepare();
  EXPECT_EQ(lines_of(prepared.train), (std::set<std::int64_t>{0, 4, 5}));
  EXPECT_EQ(prepared.report.duplicates, 3);
}

TEST_F(PrepareTest, NoPairIsTrainedOnThatIsHeldOutInAnotherCase) {
  give_tokenizer();
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) lines.push_back("line number " + std::to_string(i));
  for (int i = 0; i < 1000; ++i) lines.push_back(" Line NUMBER  " + std::to_string(i));
  set_text(lines);
  data.valid_fraction = 0.1;
  data.keep_duplicates = true;
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.report.held_out, 100);
  EXPECT_EQ(prepared.report.duplicates, 100);
  EXPECT_EQ(prepared.report.kept, 1800);
  EXPECT_EQ(prepared.valid.trained.pairs, 0);
}

}  // namespace

}  // namespace dragoman
