// DeepL's documents: a client uploads one, polls until it is translated, and fetches it once.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "extras/server/access.h"
#include "extras/server/deepl.h"
#include "extras/server/translated_files.h"

namespace dragoman::deepl {

namespace {

using Json = nlohmann::ordered_json;
using State = TranslatedFile::State;

TranslatedFiles::Time now() { return std::chrono::steady_clock::now(); }

/// 32 hexadecimal digits that nobody can guess.
std::string random_digits() {
  std::string name = random_name();
  std::erase(name, '-');
  return name;
}

/// A document that is being translated. There is room for only a few: each holds its text and more.
class UnderWay {
 public:
  static constexpr int kMost = 64;

  explicit UnderWay(std::atomic<int>& count) : count_(count) {
    if (count_.fetch_add(1) < kMost) return;
    --count_;
    throw HttpError(503, "too many documents are being translated; try again later", 1);
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { --count_; }

 private:
  std::atomic<int>& count_;
};

struct Document {
  std::string name;  ///< of the file
  const FileKind* kind;
  FileToTranslate file;
};

Document parse_document(const RequestFields& fields) {
  std::optional<UploadedFile> uploaded = fields.file("file");
  if (!uploaded) throw HttpError(400, "Invalid file data.", "the file is missing");
  const std::string name = fields.text("filename");
  Document document{.name = name.empty() ? uploaded->name : name, .kind = nullptr, .file = {}};
  document.kind = file_kind_of(document.name);
  if (document.kind == nullptr)
    throw HttpError(400, "Invalid file data.",
                    join_text("this server translates ", known_file_endings(), " files"));
  const std::string format = ascii_lower(fields.text("output_format"));
  if (!format.empty() && document.kind != file_kind_of(join_text('.', format)))
    throw HttpError(400, "Value for 'output_format' not supported.");
  try {
    document.file = file_to_translate(*document.kind, std::move(uploaded->bytes));
  } catch (const Error& error) {
    throw HttpError(400, "Invalid file data.", join_text("the file ", error.what()));
  }
  return document;
}

class Documents : public DeepLInterface {
 public:
  using DeepLInterface::DeepLInterface;

  std::vector<Endpoint> endpoints() override {
    using enum Access;
    using Request = ServerRequest;
    return {
        {"POST", "/v2/document", Admitted, [this](Request& request) { return upload(request); }},
        {"POST", "/v2/document/", Admitted, [this](Request& request) { return fetch(request); }}};
  }

 private:
  /// Where a document is kept: nobody without its key, or with another client's, finds it.
  std::string place_of(const ServerRequest& request, const std::string& id,
                       const std::string& key) const {
    return join_text(id, ' ', key, ' ', owner_of(request, server_.config));
  }

  WantedTexts upload(ServerRequest& request) {
    Document document = parse_document(*request.fields);
    TranslateParameters parameters = parse_languages(request, server_);
    parameters.markup = document.kind->markup;
    parameters.markup_options.charset = document.file.charset;
    parameters.texts = {std::move(document.file.text)};
    document.file.text.clear();
    // Text within markup is counted when the markup has been read.
    if (parameters.markup == MarkupFormat::None)
      check_size(count_characters(parameters.texts), server_.config.limits.characters,
                 "characters");
    request.fields.reset();
    const std::string id = random_digits(), key = random_digits() + random_digits();
    const std::string place = place_of(request, id, key);
    TranslatedFile file{.name = safe_file_name(document.name), .text = {}, .state = State::Waiting};
    const auto under_way = std::make_shared<const UnderWay>(under_way_);
    return {.parameters = std::move(parameters),
            .markup_fault = "Invalid file data",
            .answer =
                [this, place, file, source = document.file, under_way](
                    const TranslateParameters&, const std::vector<TextAnswer>& answers) {
                  const TextAnswer& answer = answers.front();
                  files_.replace(place,
                                 {.name = file.name,
                                  .text = source.byte_order_mark + answer.texts.front(),
                                  .charset = source.charset,
                                  .characters = answer.characters},
                                 now());
                  return HttpResponse();
                },
            .receipt =
                [this, place, file, id, key] {
                  files_.keep(place, file, now());
                  Json receipt;  // its constructor from a list leaks if memory runs out within
                  receipt["document_id"] = id;
                  receipt["document_key"] = key;
                  return json_response(200, receipt);
                },
            .later =
                [this, place, under_way](HttpResponse response) {
                  if (response.status == 200) return;
                  files_.replace(
                      place, {.name = {}, .text = std::move(response.body), .state = State::Failed},
                      now());
                }};
  }

  /// The state of "/v2/document/ID", or the file of "/v2/document/ID/result".
  HttpResponse fetch(const ServerRequest& request) {
    constexpr std::string_view kResult = "/result";
    std::string id = request.rest;
    const bool wants_result = id.ends_with(kResult);
    if (wants_result) id.resize(id.size() - kResult.size());
    const std::string place = place_of(request, id, request.fields->text("document_key"));
    std::optional<TranslatedFile> file = files_.find(place, now());
    if (!file) throw HttpError(404, "Document not found");
    if (!wants_result) return state_of(id, *file);
    if (file->state == State::Failed) throw HttpError(404, "The translation has failed");
    if (file->state == State::Waiting) throw HttpError(503, "Document translation is not done", 1);
    files_.remove(place);
    return attachment(*std::move(file));
  }

  static HttpResponse state_of(const std::string& id, const TranslatedFile& file) {
    Json state = {{"document_id", id}};
    if (file.state == State::Waiting) {
      state["status"] = "translating";
    } else if (file.state == State::Done) {
      state["status"] = "done";
      state["billed_characters"] = file.characters;
    } else {
      const Json answer = parse_json_or_discard<Json>(file.text);  // error_answer() has made it
      state["status"] = "error";
      state["error_message"] =
          answer.is_object() ? answer.value("message", "") : "the server has no memory left";
    }
    return json_response(200, state);
  }

  std::atomic<int> under_way_ = 0;
  TranslatedFiles files_;
};

}  // namespace

}  // namespace dragoman::deepl

namespace dragoman {

std::unique_ptr<Interface> deepl_documents(const ServerParts& server) {
  return std::make_unique<deepl::Documents>(server);
}

}  // namespace dragoman
