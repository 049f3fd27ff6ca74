#include "extras/server/commands/serve_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/model/file/small_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fault(const ServeConfig& config) {
  return message_of<UsageError>([&] { config.check(); });
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
  EXPECT_THAT(fault(with_models({"en-de=a", "EN-DE=b"})), Names("en-de ... twice"));
}

TEST(ServeConfig, AnythingButAPairOfLanguagesIsNamed) {
  for (const std::string pair : {"ende", "en_de", "EN-PT-BR", "english-german", ""})
    EXPECT_THAT(fault(with_models({pair + "=run/"})),
                AllOf(HasSubstr("'" + pair + "'"), HasSubstr("en-de=run/"),
                      HasSubstr("en-pt-BR=run/"), Not(HasSubstr("=" + pair + "="))));
}

TEST(ServeConfig, AModelFileMaySayItsLanguages) {
  SmallModel model;
  const ScratchFile file("languages.safetensors");
  write_model_file(file.path(), model.contents);
  EXPECT_THAT(fault(with_models({file.path().string()})),
              Names(file.path().string() + " ... languages"));
  model.contents.provenance.source_language = "en";
  model.contents.provenance.target_language = "pt-BR";
  write_model_file(file.path(), model.contents);
  ServeConfig config = with_models({file.path().string()});
  EXPECT_EQ(config.models().at(0).languages, (LanguagePair{"en", "pt-BR"}));
  config.flags.source_lang = "de";
  config.flags.target_lang = "fr";
  EXPECT_EQ(config.models().at(0).languages, (LanguagePair{"de", "fr"})) << "flags go first";
}

TEST(ServeConfig, AModelThatIsNotThereIsMissing) {
  const ServeConfig config = with_models({"no run/"});
  EXPECT_THAT([&] { config.check(); },
              testing::ThrowsMessage<Error>(HasSubstr("no run/: no such model")));
}

TEST(ServeConfig, APathWithAnEqualsSignIsAPath) {
  const ScratchFolder folder(testing::TempDir() + "lr=3-");
  const std::string path = folder.path().string();
  ServeConfig config = with_models({path});
  EXPECT_THAT(fault(config), HasSubstr("as en-de=" + path + ","));
  config.flags.source_lang = "en";
  config.flags.target_lang = "de";
  EXPECT_EQ(config.models().at(0).path, path);
}

TEST(ServeConfig, AtALoopbackAddressOnlyKnownNamesOfHostsAreTaken) {
  using Names = std::vector<std::string>;
  ServeConfig config = with_models({"en-de=run/"});
  EXPECT_EQ(config.hosts(), Names());
  config.flags.public_url = "https://mt.example.org:8443/translate";
  EXPECT_EQ(config.hosts(), Names{"mt.example.org"});
  config.flags.host = "0.0.0.0";
  EXPECT_EQ(config.hosts(), std::nullopt);
  config.flags.allowed_hosts = {"intern"};
  EXPECT_EQ(config.hosts(), (Names{"intern", "mt.example.org"}));
  config.flags.allowed_hosts = {"intern", "*"};
  EXPECT_EQ(config.hosts(), std::nullopt);
  EXPECT_EQ(fault(config), "");
}

TEST(ServeConfig, AnythingButAPublicAddressOrAHostIsRefused) {
  ServeConfig config = with_models({"en-de=run/"});
  for (const char* wrong : {"mt.example.org", "https://mt.example.org/", "ftp://a", "https://",
                            "https://A.org", "https://a.org:443", "https://a.org/?b", "null"}) {
    config.flags.public_url = wrong;
    EXPECT_THAT(fault(config), HasSubstr("--public-url: '" + std::string(wrong) + "'"));
  }
  config.flags.public_url = "";
  for (const char* wrong : {"https://a.org", "a.org:80", "A.org", "", "a b"}) {
    config.flags.allowed_hosts = {wrong};
    EXPECT_THAT(fault(config), HasSubstr("--allowed-hosts: '" + std::string(wrong) + "'"));
  }
}

TEST(ServeConfig, OriginsAreThoseThatBrowsersSend) {
  ServeConfig config = with_models({"en-de=run/"});
  config.flags.cors_origins = {"*",
                               "null",
                               "https://example.org",
                               "http://localhost:3000",
                               "http://127.0.0.1:8080",
                               "http://[::1]:8080",
                               "https://xn--bcher-kva.example",
                               "moz-extension://0a1b-2c"};
  EXPECT_EQ(fault(config), "");
  for (const char* wrong :
       {"https://ex.org/", "https://ex.org/page", "ex.org/", "ex.org", "", "https://", "://ex.org",
        "HTTPS://ex.org", "https://Ex.org", "https://*.ex.org", "https://ex.org:", "https://:80",
        "https://ex.org:port", "https://ex.org:443", "http://ex.org:80", "https://me@ex.org",
        "https://b\u00FCcher.example", "https://ex.org https://ex.com"}) {
    config.flags.cors_origins = {"https://example.org", wrong};
    EXPECT_THAT(fault(config), AllOf(HasSubstr("--cors-origins: '" + std::string(wrong) + "'"),
                                     HasSubstr("https://example.org:8443")))
        << wrong;
  }
}

}  // namespace
}  // namespace dragoman
