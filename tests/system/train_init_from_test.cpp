#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// A run to start from: its model has had 20 updates.
class TrainInitFrom : public Train {
 protected:
  static void SetUpTestSuite() {
    Train::SetUpTestSuite();
    train(command("first", {"--max-updates", "20"}));
  }

  /// Fine-tuning: no flag of the architecture or the tokenizer.
  static std::vector<std::string> fine_tuning(const std::string& run_folder,
                                              const std::vector<std::string>& more = {}) {
    return validated_training(
        run_folder,
        "--max-tokens 400 --valid-every 5 --max-updates 10 --threads 1 "
        "--lr-scheduler inverse-sqrt --warmup-updates 2 --ema 0 --init-from " +
            path("first"),
        more);
  }

  static void expect_refusal(const std::vector<std::string>& more, int exit_code,
                             const std::string& message) {
    const auto result = run(fine_tuning("refused", more), "", kLimit);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.errors, Names(message));
  }
};

TEST_F(TrainInitFrom, ARunStartsWithTheWeightsTokenizerAndArchitectureOfTheModel) {
  // At a rate that moves nothing the new run's weights are the old one's.
  const auto still = train(fine_tuning("still", {"--lr", "1e-60"}));
  EXPECT_THAT(still.errors, HasSubstr("starting from the weights"));
  EXPECT_TRUE(weights("still/model.safetensors") == weights("first/model.safetensors"));
  const ModelFileReader before(path("first/model.safetensors"));
  const ModelFileReader after(path("still/model.safetensors"));
  EXPECT_EQ(after.tokenizer_source(), before.tokenizer_source());
  EXPECT_EQ(after.provenance().data.at("init-from"), before.checksum());
  ASSERT_TRUE(after.provenance().characters);
  EXPECT_EQ(after.provenance().characters, before.provenance().characters) << "of the same text";

  train(fine_tuning("tuned", {"--ema", "0.9", "--dropout", "0.3"}));
  EXPECT_FALSE(weights("tuned/model.safetensors") == weights("first/model.safetensors"));
  EXPECT_EQ(ModelFileReader(path("tuned/model.safetensors")).config().dropout, 0.3);
}

/// Writes the model of the first run, as if it had learned to write numbers in words.
void write_model_of_numbers(const std::string& first, const std::string& path) {
  const ModelFileReader file(first);
  ModelContents contents{
      .config = file.config(),
      .tokenizer_source = file.tokenizer_source(),
      .tokenizer_target = file.has_two_tokenizers() ? file.tokenizer_target() : "",
      .provenance = file.provenance()};
  contents.provenance.copied_fractions = {{"number", 0.0}};
  for (const std::string& name : file.names()) contents.parameters.push_back(file.tensor(name));
  write_model_file(path, contents);
}

TEST_F(TrainInitFrom, ValidationCopiesWhatTheNewModelCopies) {
  write_model_of_numbers(path("first/model.safetensors"), path("numbers.safetensors"));
  write_file(path("numbers.en"), "42\n" + read_file(sample("valid.en")));
  write_file(path("numbers.de"), "42\n" + read_file(sample("valid.de")));
  const auto tune = [](const char* folder, const std::string& model) {
    auto words = fine_tuning(folder, {"--init-from", model, "--max-updates", "1"});
    replace_part(words, "valid", "numbers");
    train(words);
    return read_file(path(join_text(folder, "/log.jsonl")));
  };
  const std::string copied = R"("source":"42","translation":"42")";
  const std::string other = R"("source":"42","translation":)";
  EXPECT_THAT(tune("copies-numbers", path("first")), HasSubstr(copied));
  EXPECT_THAT(tune("writes-numbers", path("numbers.safetensors")),
              AllOf(HasSubstr(other), Not(HasSubstr(copied))));
  const Provenance written = ModelFileReader(path("writes-numbers/model.safetensors")).provenance();
  EXPECT_EQ(written.copied_fractions.at("number"), 0);
}

TEST_F(TrainInitFrom, AModelThatTrainingOnlyMakesWorseIsKept) {
  const auto ruined = train(
      fine_tuning("ruined", {"--lr", "10", "--max-rollbacks", "50", "--best-metric", "loss"}));
  EXPECT_THAT(ruined.errors, Names("validation before the first update"));
  EXPECT_THAT(ruined.errors, Names("--init-from ... no update"));
  EXPECT_TRUE(weights("ruined/model.safetensors") == weights("first/model.safetensors"));
}

/// Taught to say the same to everything, it forgets the rest.
TEST_F(TrainInitFrom, TextThatIsToBeKeptMustNotGetWorse) {
  const auto repeated = [](int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += "Quark.\n";
    return text;
  };
  write_file(path("same-train.de"), repeated(1500));
  write_file(path("same-valid.de"), repeated(30));
  const auto teaching_one_word = [](const char* folder, const std::vector<std::string>& more) {
    auto words = fine_tuning(folder, {"--lr", "1e-2", "--best-metric", "loss", "--max-updates",
                                      "30", "--valid-every", "30"});
    std::ranges::replace(words, sample("train.de"), path("same-train.de"));
    std::ranges::replace(words, sample("valid.de"), path("same-valid.de"));
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto free = train(teaching_one_word("free", {}));
  EXPECT_FALSE(weights("free/model.safetensors") == weights("first/model.safetensors"));

  const std::vector<std::string> keep = {"--keep-valid-src", sample("valid.en"), "--keep-valid-tgt",
                                         sample("valid.de"), "--keep-tolerance", "0"};
  const auto kept = train(teaching_one_word("kept", keep));
  EXPECT_THAT(kept.errors, HasSubstr(", has fallen"));
  EXPECT_TRUE(weights("kept/model.safetensors") == weights("first/model.safetensors"));
  EXPECT_THAT(free.errors,
              ContainsRegex("validation text: nll [0-9.]+ before, nll [0-9.]+ after \\(-"));
  EXPECT_THAT(kept.errors, Names("validation text: nll ... before, nll ... after (+0.000)"));
  EXPECT_THAT(kept.errors, Names("text of --keep-valid-src: nll ... before ... after (+0.000)"));
  EXPECT_THAT(read_file(path("kept/log.jsonl")), HasSubstr("\"keep_has_fallen\":true"));

  const auto without = run(command("alone", keep), "", kLimit);
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.errors, HasSubstr("give --init-from too"));
}

TEST_F(TrainInitFrom, ATermModelIsTunedWithItsTermsOrWithoutButNotResumedSo) {
  write_file(path("terms.tsv"), "and\tund\n");
  write_file(path("without.toml"), "train-terms = ''\n");
  const auto with_terms = [](const char* folder, const char* updates) {
    return command(folder, {"--train-terms", path("terms.tsv"), "--vocab-size", "310",
                            "--max-updates", updates});
  };
  const auto first = train(with_terms("terms", "4"));
  EXPECT_THAT(first.errors, Names("% of the pairs ... --train-terms"));
  expect_failure(run(command("terms", {"--config", path("without.toml"), "--vocab-size", "310",
                                       "--max-updates", "8"}),
                     "", kLimit),
                 2, "--train-terms ... this run");
  write_file(path("terms.tsv"), "or\toder\n");
  expect_failure(run(with_terms("terms", "8"), "", kLimit), 1, "terms.tsv ... changed");

  train(fine_tuning("tuned-terms", {"--init-from", path("terms")}));
  expect_refusal({"--train-terms", path("terms.tsv")}, 2, "<term>");
}

TEST_F(TrainInitFrom, ARunResumesFromItsOwnCheckpointWithoutTheModel) {
  std::filesystem::copy(path("first/model.safetensors"), path("moved.safetensors"));
  const DecodeDefaults search = {{"beam-size", "3"}, {"stop", "marian"}};
  write_decode_defaults(path("moved.safetensors"), search);
  const auto command = [](const char* folder, const char* updates) {
    return fine_tuning(folder,
                       {"--init-from", path("moved.safetensors"), "--max-updates", updates});
  };
  train(command("straight", "10"));
  train(command("resumed", "5"));
  std::filesystem::remove(path("moved.safetensors"));
  train(command("resumed", "10"));
  const std::string last = "/checkpoints/update-00000010.safetensors";
  EXPECT_TRUE(weights("straight" + last) == weights("resumed" + last));
  const auto checksum = [](const std::string& file) {
    return ModelFileReader(path(file)).provenance().data.at("init-from");
  };
  EXPECT_EQ(checksum("straight" + last), checksum("resumed" + last));
  for (const char* folder : {"straight", "resumed"})
    EXPECT_EQ(ModelFileReader(path(join_text(folder, "/model.safetensors"))).decode_defaults(),
              search);

  expect_failure(run(fine_tuning("resumed"), "", kLimit), 2, "--init-from ... this run");
}

TEST_F(TrainInitFrom, ThePresetIsThatOfTheModelsRunIfNoneIsGiven) {
  std::filesystem::copy(path("first/model.safetensors"), path("gone.safetensors"));
  const auto command = [](const char* updates) {
    auto words = fine_tuning("inherits",
                             {"--init-from", path("gone.safetensors"), "--max-updates", updates});
    std::erase(words, "--preset");
    std::erase(words, "tiny");
    return words;
  };
  train(command("5"));
  const auto settings = read_file(path("inherits/config.toml"));
  EXPECT_THAT(settings, HasSubstr("\n# preset = \"tiny\""));
  EXPECT_THAT(settings, HasSubstr("\n# update-freq = 1  # --preset tiny\n"));
  EXPECT_THAT(settings, HasSubstr("\n# lr = 6e-04  # 1,496 pairs\n"));  // that of fine-tuning

  std::filesystem::remove(path("gone.safetensors"));
  train(command("10"));
}

TEST_F(TrainInitFrom, ARunThatHasBegunWithoutAModelIsNotStartedFromOne) {
  expect_failure(run(command("first", {"--init-from", path("first")}), "", kLimit), 2,
                 "--init-from ... without it");
}

TEST_F(TrainInitFrom, AGivenTokenizerStaysThatOfTheRunAndIsNotMadeDifferent) {
  const ModelFileReader first(path("first/model.safetensors"));
  write_file(path("spm.model"), first.tokenizer_source());
  auto words = command("given", {"--tokenizer", path("spm.model"), "--max-updates", "2"});
  train(words);
  train(command("other", {"--vocab-size", "310", "--max-updates", "1"}));
  const ModelFileReader other(path("other/model.safetensors"));
  std::filesystem::rename(path("spm.model"), path("renamed.model"));
  write_file(path("spm.model"), other.tokenizer_source());
  words.insert(words.end(), {"--vocab-size", "auto", "--max-updates", "4"});
  expect_failure(run(words, "", kLimit), 1, "spm.model ... 310 pieces ... checkpoint");
  words.insert(words.end(), {"--tokenizer", path("renamed.model")});
  train(words);
  std::filesystem::remove(path("renamed.model"));
  words.insert(words.end(), {"--max-updates", "6"});
  const auto lost = train(words);
  EXPECT_THAT(lost.errors, Names("renamed.model ... missing"));

  expect_failure(run(command("ignored", {"--tokenizer", path("spm.model"), "--vocab-size", "500"}),
                     "", kLimit),
                 2, "--vocab-size 500 ... --tokenizer ... 310");
}

TEST_F(TrainInitFrom, AnotherArchitectureOrTokenizerIsRefused) {
  expect_refusal({"--d-model", "64"}, 2, "--d-model 64 ... --init-from");
  expect_refusal({"--init-from", path("none")}, 1, "none ... no such model");
  train(command("other", {"--vocab-size", "310", "--max-updates", "1"}));
  const ModelFileReader other(path("other/model.safetensors"));
  write_file(path("other.model"), other.tokenizer_source());
  expect_refusal({"--tokenizer", path("other.model")}, 1, "other.model ... 310 pieces");
  const ModelFileReader first(path("first/model.safetensors"));
  write_file(path("first.model"), first.tokenizer_source());
  write_file(path("first.target.model"), first.tokenizer_target());
  expect_refusal({"--vocab-size", "310"}, 2, "--vocab-size 310 ... --init-from ... 300");
  expect_refusal({"--lowercase"}, 2, "--lowercase true ... --init-from");
  expect_refusal({"--target-normalization", "nmt_nfkc"}, 2,
                 "--target-normalization nmt_nfkc ... --init-from ... none");
  expect_refusal({"--character-coverage", "0.99"}, 2, "--character-coverage 0.99 ... tokenizer");
  train(fine_tuning("same", {"--tokenizer", path("first.model"), "--target-tokenizer",
                             path("first.target.model"), "--d-model", "32"}));
}

}  // namespace
}  // namespace dragoman
