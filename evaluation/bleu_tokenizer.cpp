#include "evaluation/bleu_tokenizer.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"
#include "base/mutex.h"
#include "base/utf8.h"
#include "evaluation/line_statistics.h"
#include "evaluation/separate.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

// The part of mecab.h (0.996) that is used. Its library is loaded at the first use.
struct mecab_t;
/// mecab_dictionary_info_t of mecab.h.
struct MecabDictionary {
  const char* filename;
  const char* charset;
  unsigned int size;  ///< words
  int type;
  unsigned int lsize, rsize;
  unsigned short version;
  MecabDictionary* next;
};

void* opened_mecab() {
#if defined(DRAGOMAN_STATIC)
  throw Error(
      "--tokenize ja-mecab and ko-mecab need MeCab's library, and this program is linked "
      "statically: "
      "it loads none; take the one of the Debian package, or build it");
#else
  void* const library = dlopen("libmecab.so.2", RTLD_NOW);
  if (library == nullptr)
    throw Error("--tokenize ja-mecab and ko-mecab need MeCab's library, which cannot be loaded (",
                dlerror(), "); Debian has it in the packages libmecab2 and mecab-ipadic-utf8");
  return library;
#endif
}

/// The functions of libmecab, which stays loaded.
class MecabLibrary {
 public:
  MecabLibrary() : library_(opened_mecab()) {
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

enum class MecabLanguage { Japanese, Korean };

/// Korean needs mecab-ko, a form of MeCab that keeps spaces. `dictionary` is a folder; empty: the
/// dictionary that MeCab is set up with. The name ends in "-IPA" or "-KO", as sacreBLEU's, if the
/// dictionary has as many words as sacreBLEU's; otherwise in the number of words. Errors: no
/// library, no dictionary, a dictionary that is not UTF-8.
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

/// The last part of mteval-v13a.pl, after the language-independent part.
std::string tokenize_western(const std::string& text) {
  return separate_points_and_dashes(separate_each(text, is_mteval_symbol));
}

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_entities(text);
  return tokenize_western(" " + text + " ");
}

/// The ranges of sacreBLEU's tokenizer. Two of them (marked) differ from those that its comments
/// name: its escapes end after four digits, and the remaining digits are compared as text.
bool is_zh_character(char32_t c) {
  constexpr std::array<CodePointRange, 22> kRanges = {{
      {0x3400, 0x4DB5},
      {0x4E00, 0x9FA5},
      {0x9FA6, 0x9FBB},
      {0xF900, 0xFA2D},
      {0xFA30, 0xFA6A},
      {0xFA70, 0xFAD9},
      {0x2001, 0x2A6D} /* for U+20000 to U+2A6D6 */,
      {0x2F81, 0x2FA1} /* for U+2F800 to U+2FA1D */,
      {0xFF00, 0xFFEF},
      {0x2E80, 0x2EFF},
      {0x3000, 0x303F},
      {0x31C0, 0x31EF},
      {0x2F00, 0x2FDF},
      {0x2FF0, 0x2FFF},
      {0x3100, 0x312F},
      {0x31A0, 0x31BF},
      {0xFE10, 0xFE1F},
      {0xFE30, 0xFE4F},
      {0x2600, 0x26FF},
      {0x2700, 0x27BF},
      {0x3200, 0x32FF},
      {0x3300, 0x33FF},
  }};
  return is_in(c, kRanges);
}

std::string tokenize_zh(std::string_view line) {
  return tokenize_western(to_utf8(separate_each(code_points(strip(line)), is_zh_character)));
}

/// The letter of the general category's group: 'P' punctuation, 'N' number, 'S' symbol, ...
char category_group(char32_t c) {
  static const std::array<char, 128> ascii = [] {
    std::array<char, 128> groups;
    for (char32_t a = 0; a < groups.size(); ++a) groups[a] = general_category(a)[0];
    return groups;
  }();
  return c < ascii.size() ? ascii[c] : general_category(c)[0];
}

std::string tokenize_intl(std::string_view line) {
  const auto is_punctuation = [](char32_t c) { return category_group(c) == 'P'; };
  const auto is_not_number = [](char32_t c) { return category_group(c) != 'N'; };
  const auto is_symbol = [](char32_t c) { return category_group(c) == 'S'; };
  std::u32string text = code_points(line);
  text = separate_pairs(text, Separate::Second, is_not_number, is_punctuation);
  text = separate_pairs(text, Separate::First, is_punctuation, is_not_number);
  return to_utf8(separate_each(text, is_symbol));
}

std::string tokenize_char(std::string_view line) {
  return to_utf8(separate_each(code_points(line), [](char32_t) { return true; }));
}

Tokenization spm_tokenization(const std::string& path) {
  const auto model = std::make_shared<Tokenizer>(Tokenizer::from_file(path));
  return {.name = "spm-" + std::filesystem::path(path).stem().string(),
          .apply = [model](std::string_view line) {
            std::string text;
            for (const std::string& piece : model->pieces(line)) text += piece + " ";
            return text;
          }};
}

BleuTokenizer tokenizer_for(const std::string& target_language) {
  const std::string language = language_of(normal_code(target_language));
  if (language == "zh") return BleuTokenizer::Zh;
  if (language == "ja") return BleuTokenizer::JaMecab;
  if (language == "ko") return BleuTokenizer::KoMecab;
  return BleuTokenizer::V13a;
}

Tokenization tokenization_of_whole_lines(BleuTokenizer tokenizer, const TokenizerData& data) {
  switch (tokenizer) {
    case BleuTokenizer::Auto:
      return tokenization_of_whole_lines(tokenizer_for(data.target_language), data);
    case BleuTokenizer::V13a:
      return {"13a", tokenize_13a};
    case BleuTokenizer::Intl:
      return {"intl", tokenize_intl};
    case BleuTokenizer::Zh:
      return {"zh", tokenize_zh};
    case BleuTokenizer::Char:
      return {"char", tokenize_char};
    case BleuTokenizer::Spm:
      return spm_tokenization(data.spm_model);
    case BleuTokenizer::JaMecab:
      return mecab_tokenization(MecabLanguage::Japanese, data.mecab_dictionary);
    case BleuTokenizer::KoMecab:
      return mecab_tokenization(MecabLanguage::Korean, data.mecab_dictionary);
    case BleuTokenizer::None:
      break;
  }
  return {"none", [](std::string_view line) { return std::string(line); }};
}

}  // namespace

Tokenization tokenization_of(BleuTokenizer tokenizer, const TokenizerData& data) {
  Tokenization found = tokenization_of_whole_lines(tokenizer, data);
  found.apply = [apply = std::move(found.apply)](std::string_view line) {
    return apply(strip_right(line));
  };
  return found;
}

namespace {

// The tokenizer of Moses.

/// Stands for a dot of "...", which is one token; it is not a Unicode character.
constexpr char32_t kDotOfMany = 0x110000;

bool is_letter(char32_t c) {
  if (c >= kDotOfMany) return true;  // Moses hides such dots in words
  const std::string_view category = general_category(c);
  return category[0] == 'L' || category == "Nl";
}

bool is_number(char32_t c) { return c < kDotOfMany && general_category(c)[0] == 'N'; }

/// Whether a character belongs to a word: vowel signs of Indian scripts do, diacritics that stand
/// alone do not.
bool is_of_a_word(char32_t c) {
  constexpr std::array<CodePointRange, 5> kDiacritics = {{
      {0x0300, 0x036F},
      {0x1AB0, 0x1AFF},
      {0x1DC0, 0x1DFF},
      {0x20D0, 0x20FF},
      {0xFE20, 0xFE2F},
  }};
  return is_letter(c) || general_category(c) == "Nd" ||
         (general_category(c)[0] == 'M' && !is_in(c, kDiacritics));
}

bool is_apostrophe(char32_t c) { return c == '\''; }

/// The text with single spaces between words, without control characters.
std::u32string clean(std::string_view line) {
  std::u32string text;
  for (const std::string_view word : split_words(line)) {
    if (!text.empty()) text.push_back(' ');
    for (const char32_t c : code_points(word))
      if (c >= ' ') text.push_back(c);
  }
  return text;
}

/// Makes a word of two or more dots.
std::u32string separate_many_dots(const std::u32string& text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(U'.', i), text.size());
    if (end < i + 2) {
      result.push_back(text[i++]);
      continue;
    }
    result.push_back(' ');
    result.append(end - i, kDotOfMany);
    if (end < text.size()) result.push_back(' ');
    i = end;
  }
  return result;
}

std::u32string separate_commas(std::u32string text) {
  const auto is_comma = [](char32_t c) { return c == ','; };
  const auto is_not_number = [](char32_t c) { return !is_number(c); };
  text = separate_pairs(text, Separate::Second, is_not_number, is_comma);
  text = separate_pairs(text, Separate::First, is_comma, is_not_number);
  if (text.size() > 1 && text.back() == ',' && is_number(text[text.size() - 2]))
    text.insert(text.size() - 1, 1, ' ');
  return text;
}

enum class Apostrophe { Alone, BeginsWord, EndsWord };

/// Separates each apostrophe between two characters that fit. Matches are found from the left and
/// do not overlap.
template <class IsLeft, class IsRight>
std::u32string place_apostrophes(const std::u32string& text, Apostrophe place, IsLeft is_left,
                                 IsRight is_right) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    if (i + 2 >= text.size() || !is_left(text[i]) || !is_apostrophe(text[i + 1]) ||
        !is_right(text[i + 2])) {
      result.push_back(text[i++]);
      continue;
    }
    result.push_back(text[i]);
    if (place != Apostrophe::EndsWord) result.push_back(' ');
    result.push_back('\'');
    if (place != Apostrophe::BeginsWord) result.push_back(' ');
    result.push_back(text[i + 2]);
    i += 3;
  }
  return result;
}

std::u32string separate_apostrophes(std::u32string text, std::string_view language) {
  constexpr std::array<std::string_view, 4> kElisions = {"fr", "it", "ca", "ga"};
  const bool english = language == "en";
  if (!english && std::ranges::find(kElisions, language) == kElisions.end())
    return separate_each(text, is_apostrophe);
  const auto is_other = [](char32_t c) { return !is_letter(c); };
  const auto is_neither = [](char32_t c) { return !is_letter(c) && !is_number(c); };
  text = place_apostrophes(text, Apostrophe::Alone, is_other, is_other);
  text = english ? place_apostrophes(text, Apostrophe::Alone, is_neither, is_letter)
                 : place_apostrophes(text, Apostrophe::Alone, is_other, is_letter);
  text = place_apostrophes(text, Apostrophe::Alone, is_letter, is_other);
  if (!english) return place_apostrophes(text, Apostrophe::EndsWord, is_letter, is_letter);
  text = place_apostrophes(text, Apostrophe::BeginsWord, is_letter, is_letter);
  return place_apostrophes(text, Apostrophe::BeginsWord, is_number,
                           [](char32_t c) { return c == 's'; });
}

/// Whether the period at the end of a word is a word of its own.
bool period_is_apart(std::u32string_view word, std::u32string_view next) {
  if (word.size() < 2 || word.back() != '.') return false;
  word.remove_suffix(1);
  const bool is_abbreviation = word.find(U'.') != word.npos && std::ranges::any_of(word, is_letter);
  return !is_abbreviation && (next.empty() || general_category(next.front()) != "Ll");
}

std::vector<std::u32string_view> words_of(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(U' ', begin)) != text.npos;) {
    const std::size_t end = std::min(text.find(U' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

/// The words with single spaces between them, and with separated periods.
std::u32string separate_periods(std::u32string_view text) {
  const auto words = words_of(text);
  std::u32string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result.push_back(' ');
    result += words[i];
    const auto next = i + 1 < words.size() ? words[i + 1] : std::u32string_view();
    if (period_is_apart(words[i], next)) result.insert(result.size() - 1, 1, ' ');
  }
  if (result.ends_with(U".'")) result.replace(result.size() - 2, 2, U" . '");
  return result;
}

}  // namespace

std::string tokenize_moses(std::string_view line, std::string_view language) {
  const auto is_special = [](char32_t c) {
    return !is_of_a_word(c) && std::u32string_view(U" .'`,-").find(c) == std::string::npos;
  };
  std::u32string text = separate_each(clean(line), is_special);
  text = separate_commas(separate_many_dots(text));
  text = separate_periods(separate_apostrophes(std::move(text), language));
  std::replace(text.begin(), text.end(), kDotOfMany, U'.');
  return to_utf8(text);
}

std::string split_compounds(std::string_view tokens) {
  std::string result;
  std::size_t free = 0;  // the next match may begin here
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool inside = tokens[i] == '-' && i > free && i + 1 < tokens.size() &&
                        tokens[i - 1] != ' ' && tokens[i + 1] != ' ';
    if (!inside) {
      result.push_back(tokens[i]);
      continue;
    }
    result += " ##AT##-##AT## ";
    result.push_back(tokens[++i]);
    free = i + 1;
  }
  return result;
}

}  // namespace dragoman
