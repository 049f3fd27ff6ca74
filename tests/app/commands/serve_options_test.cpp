#include "app/commands/serve_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/scratch_folder.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fault(const ServeConfig& config) {
  try {
    config.check();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

ServeConfig with_models(std::vector<std::string> models) {
  ServeConfig config;
  config.flags.models = std::move(models);
  return config;
}

TEST(ServeConfig, CodesOfTwoLanguagesMayBeInUpperCase) {
  for (const char* model : {"en-de=run/", "EN-DE=run/", "En-De=run/", "en-DE=run/"}) {
    const std::vector<NamedModel> models = with_models({model}).models();
    ASSERT_EQ(models.size(), 1u) << model;
    EXPECT_EQ(models[0].languages, (LanguagePair{"en", "de"})) << model;
    EXPECT_EQ(models[0].path, "run/") << model;
  }
  EXPECT_EQ(with_models({"en-pt-BR=run/"}).models()[0].languages, (LanguagePair{"en", "pt-BR"}));
  EXPECT_THAT(fault(with_models({"en-de=a", "EN-DE=b"})), HasSubstr("en-de is given twice"));
}

TEST(ServeConfig, WhatIsNoPairOfLanguagesIsNamed) {
  for (const std::string pair : {"ende", "en_de", "EN-PT-BR", "english-german", ""})
    EXPECT_THAT(fault(with_models({pair + "=run/"})),
                AllOf(HasSubstr("'" + pair + "' is no pair of languages"), HasSubstr("en-de=run/"),
                      HasSubstr("en-pt-BR=run/"), Not(HasSubstr("=" + pair + "="))));
  EXPECT_THAT(fault(with_models({"run/"})),
              AllOf(HasSubstr("does not say its languages"), HasSubstr("as en-de=run/,")));
}

TEST(ServeConfig, APathWithASignOfEqualityIsAPath) {
  const ScratchFolder folder(testing::TempDir() + "lr=3-");
  const std::string path = folder.path().string();
  ServeConfig config = with_models({path});
  EXPECT_THAT(fault(config), HasSubstr("as en-de=" + path + ","));
  config.flags.source_lang = "en";
  config.flags.target_lang = "de";
  EXPECT_EQ(config.models().at(0).path, path);
}

}  // namespace
}  // namespace dragoman
