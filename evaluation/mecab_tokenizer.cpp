#include "evaluation/mecab_tokenizer.h"

#include <dlfcn.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

// The part of mecab.h (0.996) that is used.
struct mecab_t;
/// mecab_dictionary_info_t there.
struct MecabDictionary {
  const char* filename;
  const char* charset;
  unsigned int size;  ///< words
  int type;
  unsigned int lsize, rsize;
  unsigned short version;
  MecabDictionary* next;
};

/// The functions of libmecab, which stays loaded.
class MecabLibrary {
 public:
  MecabLibrary() : library_(dlopen("libmecab.so.2", RTLD_NOW)) {
    if (library_ == nullptr)
      throw Error("--tokenize ja-mecab and ko-mecab need MeCab's library, which cannot be loaded (",
                  dlerror(), "); Debian has it in the packages libmecab2 and mecab-ipadic-utf8");
    load(create, "mecab_new");
    load(destroy, "mecab_destroy");
    load(strerror, "mecab_strerror");
    load(version, "mecab_version");
    load(dictionary_info, "mecab_dictionary_info");
    load(parse, "mecab_sparse_tostr2");
  }

  mecab_t* (*create)(int argc, char** argv);
  void (*destroy)(mecab_t*);
  const char* (*strerror)(mecab_t*);
  const char* (*version)();
  const MecabDictionary* (*dictionary_info)(mecab_t*);
  const char* (*parse)(mecab_t*, const char* text, std::size_t length);

 private:
  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw Error("libmecab.so.2 has no function ", name);
  }

  void* library_;
};

const MecabLibrary& mecab_library() {
  static const MecabLibrary library;
  return library;
}

/// One analyser, which works on one line at a time.
class Mecab {
 public:
  explicit Mecab(const std::string& dictionary) {
    std::vector<std::string> arguments = {"mecab", "-Owakati"};
    // With a named dictionary no file of settings is needed.
    if (!dictionary.empty())
      arguments.insert(arguments.end(), {"-r", "/dev/null", "-d", dictionary});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    mecab_ = library_.create(static_cast<int>(pointers.size()), pointers.data());
    if (mecab_ != nullptr) return;
    const std::string reason = library_.strerror(nullptr);
    throw Error("MeCab finds no dictionary",
                dictionary.empty() ? std::string("; name its folder with --mecab-dictionary")
                                   : " in " + dictionary,
                reason.empty() ? reason : " (" + reason + ")");
  }
  Mecab(const Mecab&) = delete;
  Mecab& operator=(const Mecab&) = delete;
  ~Mecab() { library_.destroy(mecab_); }

  const MecabDictionary& dictionary() const { return *library_.dictionary_info(mecab_); }

  std::string words(std::string_view line) {
    const MutexLock lock(mutex_);
    const char* words = library_.parse(mecab_, line.data(), line.size());
    if (words == nullptr) throw Error("MeCab: ", library_.strerror(mecab_));
    return words;
  }

 private:
  const MecabLibrary& library_ = mecab_library();
  mecab_t* mecab_;
  Mutex mutex_;  ///< MeCab parses one line at a time
};

}  // namespace

Tokenization mecab_tokenization(MecabLanguage language, const std::string& dictionary) {
  const bool korean = language == MecabLanguage::Korean;
  const std::string version = mecab_library().version();
  if (korean && version.find("/ko-") == std::string::npos)
    throw Error("--tokenize ko-mecab needs mecab-ko's libmecab; the one here is MeCab ", version);
  const auto mecab = std::make_shared<Mecab>(dictionary);
  const MecabDictionary& words = mecab->dictionary();
  const std::string charset = lower_case(words.charset);
  if (charset != "utf-8" && charset != "utf8")
    throw Error(words.filename, ": a dictionary in ", words.charset, "; MeCab needs one in UTF-8");
  const bool known = words.next == nullptr && words.size == (korean ? 811795u : 392126u);
  return {.name = join_text(korean ? "ko" : "ja", "-mecab-", version, "-",
                            known ? std::string(korean ? "KO" : "IPA") : join_text(words.size)),
          .apply = [mecab](std::string_view line) { return mecab->words(strip(line)); }};
}

}  // namespace dragoman
