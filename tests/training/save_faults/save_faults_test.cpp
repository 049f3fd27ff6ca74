// Saving a checkpoint while the machine fails under it: whatever happens, what is found afterwards
// is the whole old checkpoint or the whole new one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "tests/training/save_faults/system_calls.h"
#include "training/checkpoint.h"

namespace dragoman {
namespace {

constexpr std::int64_t kOffsets = 200;

class SaveFaults : public testing::Test {
 protected:
  SaveFaults() : model_(config(), {}, Precision::Fp32, torch::kCPU, 1) {
    std::string name = testing::TempDir() + "dragoman-XXXXXX";
    folder_.root = mkdtemp(name.data());
    create_folders(folder_.checkpoints());
    save(1);
  }
  ~SaveFaults() override { std::filesystem::remove_all(folder_.root); }

  static ModelConfig config() {
    ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
    config.source_vocabulary = config.target_vocabulary = 16;
    config.d_model = 16;
    config.d_ff = 32;
    config.heads = 2;
    config.encoder_layers = config.decoder_layers = 1;
    return config;
  }

  /// Every weight of the checkpoint is the number of its update.
  void save(std::int64_t update) {
    model_.weights().fill_(static_cast<double>(update));
    ProgressRecord progress;
    progress.update = update;
    write_checkpoint(folder_.latest(), model_, {.tokenizer_source = "pieces"}, progress);
  }

  /// The update of the whole checkpoint that is found.
  std::int64_t found() {
    const auto checkpoint = find_checkpoint_to_resume(
        folder_, [](const std::string& damage) { ADD_FAILURE() << damage; });
    if (!checkpoint) return 0;
    TrainingModel model(config(), {}, Precision::Fp32, torch::kCPU, 1);
    load_checkpoint(checkpoint->path, model);
    for (const auto& view : model.layout().views(model.weights()))
      EXPECT_TRUE(view.tensor.eq(checkpoint->progress.update).all().item<bool>()) << view.name;
    return checkpoint->progress.update;
  }

  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_.checkpoints());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  RunFolder folder_;
  TrainingModel model_;
};

TEST_F(SaveFaults, AnErrorOfAnyCallLeavesAWholeCheckpointAndNothingElse) {
  set_fault(Fault::None);
  save(2);
  const std::int64_t count = calls();
  ASSERT_GT(count, 5);
  std::int64_t before = 2;
  for (std::int64_t call = 0; call < count; ++call) {
    const std::int64_t update = 3 + call;
    set_fault(Fault::Error, call);
    try {
      save(update);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("Input/output error")) << "call " << call;
    }
    set_fault(Fault::None);
    const std::int64_t after = found();
    EXPECT_TRUE(after == before || after == update) << "call " << call << ": " << after;
    EXPECT_EQ(files(), 1U) << "call " << call;
    before = after;
  }
  save(1000);
  EXPECT_EQ(found(), 1000);
}

TEST_F(SaveFaults, ADiskThatIsFullAfterAnyNumberOfBytesLeavesTheOldCheckpoint) {
  set_fault(Fault::None);
  save(2);
  const std::int64_t size = bytes_written();
  ASSERT_GT(size, kOffsets);
  for (std::int64_t i = 0; i < kOffsets; ++i) {
    set_fault(Fault::FullDisk, size * i / kOffsets);
    EXPECT_THROW(save(3), Error);
    set_fault(Fault::None);
    EXPECT_EQ(found(), 2) << "after " << size * i / kOffsets << " bytes";
    EXPECT_EQ(files(), 1U);
  }
  set_fault(Fault::FullDisk, size);
  save(3);
  set_fault(Fault::None);
  EXPECT_EQ(found(), 3);
}

TEST_F(SaveFaults, ACrashBeforeAnyCallLeavesAWholeCheckpoint) {
  set_fault(Fault::None);
  save(2);
  const std::int64_t count = calls();
  for (std::int64_t call = 0; call < count; ++call) {
    const pid_t child = fork();
    if (child == 0) {
      set_fault(Fault::Crash, call);
      save(3);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), kCrashed) << "call " << call;
    remove_leftovers(folder_.checkpoints());  // as the next start does
    EXPECT_EQ(files(), 1U);
    const std::int64_t after = found();
    EXPECT_TRUE(after == 2 || after == 3) << "call " << call << ": " << after;
    save(2);
  }
}

TEST_F(SaveFaults, ACheckpointCutAtAnyOffsetIsPassedOver) {
  std::filesystem::copy(folder_.latest(), folder_.at_update(1));
  save(2);
  const std::string whole = read_file(folder_.latest());
  for (std::int64_t i = 0; i < kOffsets; ++i) {
    const auto size = whole.size() * static_cast<std::size_t>(i) / kOffsets;
    write_file(folder_.latest(), std::string_view(whole).substr(0, size));
    int warnings = 0;
    const auto checkpoint =
        find_checkpoint_to_resume(folder_, [&](const std::string&) { ++warnings; });
    ASSERT_TRUE(checkpoint) << size << " bytes";
    EXPECT_EQ(checkpoint->progress.update, 1);
    EXPECT_EQ(warnings, 1);
  }
}

}  // namespace
}  // namespace dragoman
