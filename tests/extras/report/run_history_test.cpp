#include "extras/report/run_history.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(RunHistory, TheLogThatTrainingWritesIsRead) {
  const auto run = read_history(
      R"log({"type":"start","after_update":0,"parameters":42,"precision":"bf16","threads":"2","processor":"a (b)","settings":{"lr":"0.1"}}
{"type":"update","update":10,"loss":5.5,"learning_rate":1e-3,"data_wait":null}
{"type":"validation","update":10,"loss":4.5,"best":true,"samples":[{"source":"s","translation":"t","reference":"r"}]}
{"type":"average","checkpoints":5,"bleu":30,"kept":true}
{"type":"left_out","update":11,"reason":"spike","loss":null,"lines":[3,5]}
{"type":"left_out","update":12,"reason":"spike","loss":9,"lines":[3,5]}
{"type":"rollback","update":12,"to_update":10}
{"type":"something new"}
)log");
  EXPECT_EQ(run.parameters, 42);
  EXPECT_EQ(run.precision, "bf16");
  EXPECT_EQ(run.settings.at("lr"), "0.1");
  ASSERT_EQ(run.updates.size(), 1u);
  EXPECT_EQ(run.updates[0].number("loss"), 5.5);
  EXPECT_EQ(run.updates[0].number("data_wait"), std::nullopt);
  ASSERT_EQ(run.validations.size(), 1u);
  EXPECT_EQ(run.validations[0].samples.at(0).translation, "t");
  EXPECT_TRUE(run.validations[0].best);
  EXPECT_FALSE(run.updates[0].best);
  EXPECT_EQ(run.average.at("bleu"), 30);
  EXPECT_EQ(run.left_out, 2);
  EXPECT_EQ(run.rollbacks, 1);
  EXPECT_EQ(run.damaged_lines, 0u);
}

TEST(RunHistory, DamagedLinesAreCountedAndTheRestIsRead) {
  const auto run = read_history(
      "{\"type\":\"update\",\"update\":1}\n"
      "{\"type\":\"update\",\"upd\n"
      "\xff\xfe\n"
      "[]\n"
      "7\n"
      "{\"type\":\"update\"}\n"
      "{\"type\":\"update\",\"update\":\"two\"}\n"
      "{\"type\":\"validation\",\"update\":2,\"samples\":[{\"source\":\"s\"}]}\n"
      "\n"
      "{\"type\":\"update\",\"update\":3}\n"
      "{\"type\":\"update\",\"update\":4,\"deep\":" +
      std::string(65, '[') + std::string(65, ']') +
      "}\n"
      "{\"type\":\"update\",\"update\":5");
  EXPECT_EQ(run.damaged_lines, 9u);
  ASSERT_EQ(run.updates.size(), 2u);
  EXPECT_EQ(run.updates[1].update, 3);
  EXPECT_TRUE(run.validations.empty());
  EXPECT_TRUE(read_history("").empty());
}

TEST(RunHistory, LaterUpdatesAreForgottenWhenTheRunGoesBack) {
  const auto run = read_history(
      "{\"type\":\"update\",\"update\":10,\"loss\":1}\n"
      "{\"type\":\"validation\",\"update\":10,\"loss\":1}\n"
      "{\"type\":\"update\",\"update\":20,\"loss\":1}\n"
      "{\"type\":\"validation\",\"update\":20,\"loss\":1}\n"
      "{\"type\":\"update\",\"update\":20,\"loss\":2}\n"
      "{\"type\":\"update\",\"update\":15,\"loss\":3}\n");
  ASSERT_EQ(run.updates.size(), 2u);
  EXPECT_EQ(run.updates[1].update, 15);
  EXPECT_EQ(run.validations.size(), 1u);
}

}  // namespace
}  // namespace dragoman
