// Training as a user sees it: from text to a scored translation, killed and resumed, stopped by
// signals, refused if it would be another run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "model/file/model_file.h"
#include "tests/log_entries.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

TEST_F(Train, TextBecomesAModelThatTranslatesAndIsScored) {
  const auto trained = train(command("whole"));
  EXPECT_EQ(trained.output, "");
  EXPECT_THAT(trained.errors, Names("--max-updates ... 60 updates"));
  for (const char* file :
       {"model.safetensors", "config.toml", "log.jsonl", "checkpoints/best.safetensors",
        "checkpoints/update-00000060.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(path("whole/" + std::string(file)))) << file;

  // The files of the start are not needed any more.
  for (const char* file : {"start", "latest"})
    EXPECT_FALSE(
        std::filesystem::exists(path(join_text("whole/checkpoints/", file, ".safetensors"))));

  EXPECT_EQ(
      ModelFileReader(path("whole/checkpoints/update-00000060.safetensors")).provenance().updates,
      60);

  const auto share =
      ModelFileReader(path("whole/model.safetensors")).provenance().several_sentences;
  ASSERT_TRUE(share.has_value());
  EXPECT_LT(*share, 0.1) << "so lines are translated sentence by sentence";

  const auto translated = run({"translate", "-m", path("whole"), "-b", "2"},
                              "The old man sings. She dances.\n\nHello.\n", kLimit);
  EXPECT_EQ(translated.exit_code, 0) << translated.errors;
  EXPECT_EQ(std::count(translated.output.begin(), translated.output.end(), '\n'), 3);
  EXPECT_THAT(translated.errors, HasSubstr("1 line split"));

  // A name in letters that the training text did not have, and an emoji.
  const auto copied =
      run({"translate", "-m", path("whole"), "--json"},
          "{\"text\": \"The old \u041C\u043E\u0441\u043A\u0432\u0430 sings \U0001F355 loudly.\"}\n",
          kLimit);
  EXPECT_EQ(copied.exit_code, 0) << copied.errors;
  const auto answer = parse_json(copied.output);
  for (const char* text : {"\u041C\u043E\u0441\u043A\u0432\u0430", "\U0001F355"})
    EXPECT_THAT(answer["translation"].get<std::string>(), HasSubstr(text));
  EXPECT_THAT(copied.errors, Names("1 line ... copied"));

  const auto scored = run({"evaluate", "-m", path("whole"), "--src", sample("test.en"), "--ref",
                           sample("test.de"), "-b", "1"},
                          "", kLimit);
  EXPECT_EQ(scored.exit_code, 0) << scored.errors;
  EXPECT_THAT(scored.output, HasSubstr("chrF2"));

  const auto again = train(command("whole"));
  EXPECT_THAT(again.errors, HasSubstr("resumed from"));
}

TEST_F(Train, ARunKeepsTheCharactersOfItsCheckpoint) {
  const auto characters_in = [](const std::string& file) {
    return ModelFileReader(path(file)).provenance().characters;
  };
  train(command("recorded", {"--max-updates", "10"}));
  const auto recorded = characters_in("recorded/model.safetensors");
  ASSERT_TRUE(recorded);
  EXPECT_TRUE(recorded->source.contains_all("The old man."));
  EXPECT_TRUE(recorded->target.contains_all("\u00E4\u00FC\u00DF"));
  EXPECT_FALSE(recorded->source.contains(U'\u00FC'));
  const std::string checkpoint = "recorded/checkpoints/update-00000010.safetensors";
  EXPECT_EQ(characters_in(checkpoint), recorded);
  train(command("recorded", {"--max-updates", "20"}));
  EXPECT_EQ(characters_in("recorded/model.safetensors"), recorded);
}

TEST_F(Train, ARunThatIsKilledAtAnyMomentEndsWithTheSameWeights) {
  train(command("straight"));
  int kills = 0;
  milliseconds delay(300);  // LibTorch takes longer to start
  for (int attempt = 0; attempt < 40; ++attempt) {
    Process process(command("killed"));
    // At any time from the preparation of the data to the last updates; sometimes while a
    // checkpoint is being written.
    const bool in_a_save = attempt % 3 == 2;
    const auto deadline = std::chrono::steady_clock::now() + delay;
    delay += delay / 10;
    bool saving = false;
    while (std::chrono::steady_clock::now() < deadline && !saving) {
      std::this_thread::sleep_for(milliseconds(in_a_save ? 1 : 20));
      if (!in_a_save || !std::filesystem::exists(path("killed/checkpoints"))) continue;
      for (const auto& entry : std::filesystem::directory_iterator(path("killed/checkpoints")))
        saving |= entry.path().string().find(".tmp.") != std::string::npos;
    }
    if (std::filesystem::exists(path("killed/checkpoints/update-00000060.safetensors"))) {
      process.wait(kLimit);
      break;
    }
    process.send_signal(SIGKILL);
    process.wait(kLimit);
    ++kills;
  }
  train(command("killed"));
  EXPECT_GE(kills, 3);
  for (const char* file : {"/checkpoints/update-00000060.safetensors", "/model.safetensors"})
    EXPECT_TRUE(weights("straight" + std::string(file)) == weights("killed" + std::string(file)))
        << file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("killed")))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".tmp."))) << "left by a killed process";
}

// Names as other file systems have them.
TEST_F(Train, NamesOfFilesNeedNotBeUtf8) {
  const std::string folder = path("\xE9t\xE9"), source = folder + "/\xFF.en";
  std::filesystem::create_directory(folder);
  std::filesystem::copy(sample("train.en"), source);
  std::vector<std::string> words = command("\xE9t\xE9/run", {"--max-updates", "10"});
  std::ranges::replace(words, sample("train.en"), source);
  train(words);
  std::filesystem::remove(folder + "/run/model.safetensors");
  const auto again =
      train({"train", "--config", folder + "/run/config.toml", "-o", folder + "/run"});
  EXPECT_THAT(again.errors, HasSubstr("resumed from"));
  for (const char* format : {"text", "json"}) {
    const auto shown = run({"inspect", "-m", folder + "/run", "--format", format});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    const auto scored = run({"evaluate", "--hyp", source, "--ref", source, "--format", format});
    EXPECT_EQ(scored.exit_code, 0) << scored.errors;
  }
}

TEST_F(Train, ASignalStopsARunCleanlyAndItCanBeResumed) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string name = "signal" + std::to_string(signal);
    Process process(command(name, {"--max-updates", "100000", "--log-every", "1"}));
    ASSERT_TRUE(process.wait_for_errors("update 3", kLimit)) << process.errors();
    process.send_signal(signal);
    const auto stopped = process.wait(kLimit);
    EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.errors;
    EXPECT_THAT(stopped.errors, Names("same command"));
    EXPECT_TRUE(std::filesystem::exists(path(name + "/checkpoints/latest.safetensors")));
    const auto resumed = train(command(name));
    EXPECT_THAT(resumed.errors, Names("--max-updates ... 100000 -> 60"));
  }
}

TEST_F(Train, ARunIsNotResumedAsAnotherRun) {
  train(command("refuses", {"--max-updates", "10"}));
  expect_failure(run(command("refuses", {"--lr", "0.1"}), "", kLimit), 2,
                 "--lr ... with 0.004, not with");
  expect_failure(run(command("refuses", {"--ema", "0.5"}), "", kLimit), 2,
                 "--ema ... with 0, not with");
}

TEST_F(Train, ALongerRunMustSayHowItContinuesAfterTheEndOfItsRate) {
  const std::vector<std::string> cosine = {"--lr-scheduler", "cosine", "--max-updates"};
  const auto with = [&](const std::string& updates, std::vector<std::string> more = {}) {
    auto words = cosine;
    words.push_back(updates);
    words.insert(words.end(), more.begin(), more.end());
    return run(command("cosine", words), "", kLimit);
  };
  ASSERT_EQ(with("30").exit_code, 0);
  const auto longer = with("35");
  EXPECT_EQ(longer.exit_code, 2);
  EXPECT_THAT(longer.errors, HasSubstr("give --lr-end 30"));
  EXPECT_EQ(with("35", {"--lr-end", "30"}).exit_code, 0);
}

TEST_F(Train, ALastStateThatCannotBeSavedIsAFailure) {
  train(command("blocked", {"--max-updates", "10"}));
  // A folder stands where the checkpoint should go.
  std::filesystem::create_directory(path("blocked/checkpoints/update-00000020.safetensors"));
  const auto result = run(command("blocked", {"--max-updates", "20"}), "", kLimit);
  expect_failure(result, 1, "checkpoint not saved");
  EXPECT_THAT(result.errors, Not(HasSubstr("finished")));
}

TEST_F(Train, AModelOrALogWithoutACheckpointIsNotWrittenOver) {
  for (const std::string file : {"model.safetensors", "log.jsonl"}) {
    std::filesystem::create_directories(path("others-" + file));
    write_file(path("others-" + file + "/" + file), "precious");
    expect_failure(run(command("others-" + file), "", kLimit), 1, file + " ... no checkpoint");
    EXPECT_EQ(read_file(path("others-" + file + "/" + file)), "precious");
  }
}

TEST_F(Train, ABestModelThatCannotBeSavedDoesNotEndTheRun) {
  // A folder stands where it should go.
  std::filesystem::create_directories(path("unsaved/checkpoints/best.safetensors"));
  const auto result = train(
      command("unsaved", {"--patience", "1", "--best-metric", "loss", "--average-last", "0"}));
  EXPECT_THAT(result.errors, Names("best model not saved"));
  EXPECT_THAT(result.errors, Names("--max-updates ... 60 updates"));
  EXPECT_THAT(result.errors, HasSubstr("made again from "));
  EXPECT_TRUE(weights("unsaved/model.safetensors") ==
              weights("unsaved/checkpoints/update-00000060.safetensors"));
}

TEST_F(Train, ADamagedCheckpointIsLeftOutOfTheAverageAtTheEnd) {
  train(command("averages", {"--max-updates", "50", "--average-last", "3"}));
  write_file(path("averages/checkpoints/update-00000040.safetensors"), "damaged");
  const auto result = train(command("averages", {"--average-last", "3"}));
  EXPECT_THAT(result.errors, Names("left out ... average"));
  EXPECT_THAT(result.errors, Names("average ... 3 checkpoints"));
}

TEST_F(Train, AnAverageThatIsKeptIsTheScoreToBeat) {
  std::vector<std::string> more = {"--best-metric",  "loss", "--ema",          "0",
                                   "--average-last", "10",   "--lr-scheduler", "wsd",
                                   "--cooldown",     "0.01", "--precision",    "fp32"};
  // Small batches at a high rate: the weights circle around the optimum, and their mean is nearer.
  more.insert(more.end(), {"--lr", "0.03", "--max-tokens", "60", "--max-updates", "900",
                           "--valid-every", "300", "--save-every", "20"});
  train(command("kept", more));
  const auto averages = [] { return log_entries(path("kept/log.jsonl"), "average"); };
  ASSERT_FALSE(averages().empty());
  const auto kept = averages().back();
  ASSERT_TRUE(kept.at("kept").get<bool>()) << kept;
  const auto progress = [] {
    const ModelFileReader last(path("kept/checkpoints/update-00000900.safetensors"));
    return parse_json(last.progress());
  };
  EXPECT_EQ(progress()["best_value"], kept["loss"]);
  EXPECT_TRUE(weights("kept/checkpoints/best.safetensors") == weights("kept/model.safetensors"));
  // A run that has ended is not averaged again.
  train(command("kept", more));
  EXPECT_EQ(averages().back(), kept);
  EXPECT_EQ(progress()["best_value"], kept["loss"]);
}

TEST_F(Train, ALostModelIsMadeAgainFromTheBest) {
  train(command("lost"));
  const std::string before = weights("lost/model.safetensors");
  for (const bool damaged : {false, true}) {
    std::filesystem::remove(path("lost/model.safetensors"));
    if (damaged) write_file(path("lost/model.safetensors"), "not a model");
    train(command("lost", {"--average-last", "5"}));
    EXPECT_EQ(weights("lost/model.safetensors"), before);
  }
  std::filesystem::remove(path("lost/model.safetensors"));
  std::filesystem::remove(path("lost/checkpoints/best.safetensors"));
  const auto without = train(command("lost"));
  EXPECT_THAT(without.errors, HasSubstr("made again from "));
  EXPECT_EQ(ModelFileReader(path("lost/model.safetensors")).config().d_model, 32);
}

TEST_F(Train, AFolderTakesOneRunAtATime) {
  Process first(command("shared", {"--max-updates", "100000", "--log-every", "1"}));
  ASSERT_TRUE(first.wait_for_errors("update 3", kLimit)) << first.errors();
  expect_failure(run(command("shared"), "", kLimit), 1, "another training");
  first.send_signal(SIGINT);
  EXPECT_EQ(first.wait(kLimit).exit_code, 128 + SIGINT);
}

/// A rate that grows until the loss explodes.
const std::vector<std::string> kExplodes = {"--lr",          "30",  "--warmup-updates", "3000",
                                            "--max-updates", "300", "--save-every",     "20",
                                            "--patience",    "0"};

TEST_F(Train, ADivergedRunGoesBackToASoundCheckpointAndOn) {
  const auto result = train(command("rolled", kExplodes));
  EXPECT_THAT(result.errors, Names("0.5 ... learning rate"));
  const auto rollbacks = log_entries(path("rolled/log.jsonl"), "rollback");
  EXPECT_FALSE(rollbacks.empty());
  for (const auto& entry : rollbacks) {
    EXPECT_GT(entry.at("to_update"), 0);
    EXPECT_LE(entry.at("to_update").get<int>() + 50, entry.at("update").get<int>());
  }

  // Killed after it has rolled back, it ends with the same weights.
  {
    Process process(command("rolled-killed", kExplodes));
    ASSERT_TRUE(process.wait_for_errors("rolled back", kLimit)) << process.errors();
    process.send_signal(SIGKILL);
    process.wait(kLimit);
  }
  train(command("rolled-killed", kExplodes));
  EXPECT_TRUE(same_weights("rolled", "rolled-killed", 300));
}

TEST_F(Train, ARunThatKeepsOneCheckpointHasAnEarlierOneToGoBackTo) {
  auto words = command("few", kExplodes);
  words.insert(words.end(), {"--keep-last", "1", "--average-last", "0"});
  const auto result = train(words);
  EXPECT_THAT(result.errors, Names("0.5 ... learning rate"));
  EXPECT_THAT(result.errors, Not(HasSubstr("start.safetensors")));
}

TEST_F(Train, ARunThatAlwaysDivergesEndsAndSaysSo) {
  const auto result =
      run(command("diverged", {"--lr", "1e30", "--max-rollbacks", "2"}), "", kLimit);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("training has diverged"));
  EXPECT_THAT(result.errors, Names("2 rollbacks ... lower --lr"));
  // The lines of updates that were left out are those of the text.
  const auto left_out = log_entries(path("diverged/log.jsonl"), "left_out");
  EXPECT_FALSE(left_out.empty());
  for (const auto& entry : left_out) {
    const auto& lines = entry.at("lines");
    ASSERT_FALSE(lines.empty());
    EXPECT_GE(lines.front(), 1);
    EXPECT_LE(lines.back(), 1500);
  }
}

TEST_F(Train, LearnedPositionsMustReachTheLongestPair) {
  const auto result = run(command("places", {"--positions", "learned", "--max-positions", "60"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--max-length 256"));
}

TEST_F(Train, AWrongTextOrDeviceIsNamedBeforeAnyTraining) {
  write_file(path("short.de"), "Hallo.\n");
  const auto unequal = run({"train", "-o", path("bad"), "--preset", "tiny", "--train-src",
                            sample("train.en"), "--train-tgt", path("short.de")});
  EXPECT_EQ(unequal.exit_code, 1);
  EXPECT_THAT(unequal.errors, HasSubstr("1,500 lines"));
  EXPECT_EQ(std::count(unequal.errors.begin(), unequal.errors.end(), '\n'), 1) << unequal.errors;
  const auto missing = run({"train", "-o", path("bad"), "--preset", "tiny", "--train-src",
                            path("none.en"), "--train-tgt", path("none.de")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.errors, HasSubstr("none.en"));
  const auto cuda = run(command("bad", {"--device", "cuda:77"}));
  EXPECT_EQ(cuda.exit_code, 1);
  EXPECT_THAT(cuda.errors, HasSubstr("--device cuda:77"));
}

TEST_F(Train, AFlagWithoutEffectIsRefusedBeforeTheTextIsRead) {
  const auto refused = [](const std::vector<std::string>& flags, const std::string& named) {
    for (const std::string mode : {"--no-plan", "--plan"}) {
      auto words = command("idle", flags);
      words.push_back(mode);
      expect_one_error(run(words, "", kLimit), 2, named);
    }
    EXPECT_FALSE(std::filesystem::exists(path("idle")));
  };
  refused({"--cooldown", "0.3"}, "--cooldown ... --lr-scheduler wsd");
  refused({"--decay-share", "0.3"}, "--decay-share ... --cooldown ... --lr-scheduler wsd");
  refused({"--device", "cpu", "--device-graph"}, "--device-graph ... GPU");
  refused({"--source-lang", "german"}, "--source-lang ... german ... code");
  refused({"--init-from", ""}, "--init-from ... empty");
  refused({"--tokenizer", ""}, "--tokenizer ... empty");
  write_file(path("idle.toml"), "guided-alignment-weight = 3\n");
  refused({"--config", path("idle.toml")}, "--guided-alignment-weight ... --guided-alignment");
}

TEST_F(Train, WithoutRandomNumbersOfTheSystemTheMessageNamesTheDevice) {
  if (!can_hide_proc()) GTEST_SKIP() << "unshare may not make a mount namespace here";
  std::vector<std::string> words = {
      "unshare", "--map-root-user",
      "--mount", "sh",
      "-c",      "mount --bind /dev/null /dev/urandom && exec \"$0\" \"$@\"",
      kProgram};
  for (const std::string& word : command("random")) words.push_back(word);
  Process process(CommandWords{words});
  expect_failure(process.wait(kLimit), 1, "error: /dev/urandom ... cannot be read");
}

}  // namespace
}  // namespace dragoman
