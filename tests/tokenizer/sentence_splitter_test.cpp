#include "tokenizer/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

/// The texts have "|" at each place to split; white space before it stands between the sentences.
void expect_split(const std::vector<std::string>& marked) {
  for (const std::string& text : marked) {
    std::string found;
    std::string plain = text;
    std::erase(plain, '|');
    std::size_t at = 0;
    for (const std::string_view sentence : split_sentences(plain)) {
      const auto begin = static_cast<std::size_t>(sentence.data() - plain.data());
      found += plain.substr(at, begin - at) + (at > 0 ? "|" : "") + std::string(sentence);
      at = begin + sentence.size();
    }
    EXPECT_EQ(found + plain.substr(at), text);
  }
}

TEST(SentenceSplitter, BlankTextHasNoSentence) {
  EXPECT_THAT(split_sentences(""), ElementsAre());
  EXPECT_THAT(split_sentences(" \t\u3000"), ElementsAre());
  EXPECT_THAT(split_sentences(" . "), ElementsAre("."));
}

TEST(SentenceSplitter, SentencesEndAtStopsWhereAnotherCanBegin) {
  expect_split({"A man sleeps. |A dog runs.", "A man sleeps . |A dog runs .",
                "Did he? |He did! |Really?! |Yes.", "Two  spaces.  |Both are kept.",
                "He came.\u00A0|She left.", "It ended. |12 people left.", "Pay now. |$5 is enough.",
                "no capitals here. |none there? |right. |ok", "HE CAME. |SHE LEFT DR. SMITH.",
                "Yes. |- No. |- Why?", "Es war spät. |Über uns flog er. |Ärger!",
                "¿Qué? |¡Nada! |¿Y tú?", "Он пришёл. |Она ушла.", "Ήρθες; |Ναι.",
                "هل جاء؟ |نعم. |شكرا", "वह आया। |वह गया।", "वह आया।|वह गया।", "Եկավ։ |Գնաց։"});
}

TEST(SentenceSplitter, SmallLettersContinueASentence) {
  expect_split({"\"Really?\" he asked. |She nodded.", "Yahoo! announced it.", "Well... maybe not.",
                "Er kam z. B. gestern an."});
}

TEST(SentenceSplitter, NamesMayBeginASentenceWithASmallLetter) {
  expect_split({"It rained. |@ann went home. |#rain fell.", "He left. |iPads are sold.",
                "He left. |eBay grew.", "He asked a. s. o."});
}

TEST(SentenceSplitter, TagsBelongToTheSentenceTheyStandAt) {
  expect_split({"It rained. |<b>He left.</b> |She stayed.",
                "<p>It rained.</p> |<a href=\"x.y\">He</a> left.",
                "It rained. |<i><b>He</b></i> left.", "If a < b. c > d", "He wrote.</b"});
}

TEST(SentenceSplitter, QuotesAndBracketsAfterTheStopBelongToIt) {
  expect_split({"He said: \"Go.\" |She went.", "He left. |(She stayed.) |They met.",
                "„Komm.“ |Er kam.", "»Komm!« |Er kam.", "« Bonjour. » |Il part.",
                "Er ging. |»Warum?« |Niemand wusste es.", "He left. |\"Why?\" |Nobody knew.",
                "(He came. |She left.) |They met.", "**Bold.** |Then plain."});
}

TEST(SentenceSplitter, NumbersOfSourcesAfterTheStopBelongToIt) {
  expect_split({"The city grew.[1] |It was large.[2][13] |It fell.", "He left.[1]It stayed.",
                "He left. |[1] The list", "He asked why.[note] It stayed."});
}

TEST(SentenceSplitter, ASentenceIsNotSplitWithinItsBrackets) {
  expect_split({"He came (with Ann. She was late) and left. |Then it rained.",
                "Prices [see Table 3. It is long] rose. |They fell."});
}

TEST(SentenceSplitter, AbbreviationsEndNoSentence) {
  expect_split({"Dr. Smith met Mrs. Jones and Prof. Lee. |They left.",
                "See e.g. Smith, i.e. John, cf. Table 3. |It is long.",
                "Das gilt z. B. für Hr. Müller, d. h. Franz. |Er lacht.",
                "Das gilt z.B. Franz, bzw. Anna, vgl. Abb. 3. |Er lacht.",
                "Dipl.-Ing. Meier kam. |Er blieb.", "Mme. Dupont et M. Durand. |Ils partent.",
                "El Sr. García y la Sra. López. |Ella ríe.",
                "Il dott. Rossi e la sig.ra Bianchi. |Lei ride.",
                "O Sr. Silva e a Dra. Costa. |Ela ri.", "Dhr. Jansen en mevr. Smit. |Zij lacht.",
                "Např. Praha a tzv. Brno. |Tam je.", "Np. Warszawa i tzw. Kraków. |Tam jest.",
                "См. т. е. Москва и проф. Иванов. |Он здесь."});
}

TEST(SentenceSplitter, SomeAbbreviationsEndSentencesBeforeWordsThatBeginThem) {
  expect_split({"Acme Inc. Chairman Lee sold pens, paper etc. |The firm grew.",
                "He lives in the U.S. |He likes it.", "The Japan-U.S. Treaty held.",
                "The U. S. Senate met.", "The U.S. Senate met at 5 p.m. |It voted.",
                "Äpfel, Birnen usw. |Die Leute kauften sie.", "Smith et al. |In 1990 it rained.",
                "В 1990 г. |Он уехал.", "Pommes, poires, etc. |C'est bon."});
}

TEST(SentenceSplitter, NumbersAfterAbbreviationsBelongToThem) {
  expect_split({"No. 5 and Nos. 6 lie on p. 7, Fig. 3. |Look.", "He said no. |She left.",
                "Vol. IV is here.", "Siehe S. 12, Nr. 4, Art. 3 Abs. 2. |Das ist alles.",
                "On Jan. 3 it rained.", "J'aime l'art. |Il est beau."});
}

TEST(SentenceSplitter, OrdinalsAndDecimalsEndNoSentence) {
  expect_split({"Er kam am 3. Mai an. |Sie ging.", "Am 3. Oktober ist frei.",
                "Der 2. Weltkrieg begann.", "Im 17. und 18. Jahrhundert. |Danach nicht.",
                "Zu seinem 50. Geburtstag kam er.", "Am 3. 5. 2010 kam er.",
                "It is 3.5 m long. |Good.", "Dne 3. května přišel.", "He was 42. |Maria was 40.",
                "It happened in 1990. |Peter was there.", "Er kam auf Platz 2. |Danach ging er.",
                "und 18. jahrhundert", "bis 3. stock", " oder 2. klasse"});
}

TEST(SentenceSplitter, InitialsEndNoSentence) {
  expect_split({"J. S. Bach and Samuel L. Jackson met. |They sang.", "By J. Doe. |In 1990.",
                "Take vitamin C. |The rest is luck.", "It is Hoy's. |Kenny lost.",
                "А. С. Пушкин родился. |Он писал."});
}

TEST(SentenceSplitter, NumbersOfListsStayWithTheirSentences) {
  expect_split({"1. First item. |2. Second item. |3. Third.", "A. One thing. |B. Another thing.",
                "a) First thing. |b) Second thing.", "i) One thing. |ii) Another. |iii) More.",
                "It ends with e. coli as cited by c. (see d)."});
}

TEST(SentenceSplitter, EllipsesEndSentencesBeforeCapitals) {
  expect_split({"Wait... |What?", "Wait… |What?", "Sold for... 5 dollars.",
                "... And then he came. |Good.", "He left. |…And came back.", "Well . . . |Yes."});
}

TEST(SentenceSplitter, ChineseAndJapaneseNeedNoSpace) {
  expect_split({"彼は走った.|彼女は寝た.", "第3.5章を読む", "三.五"});
  expect_split({"你好。|我是学生。|你呢？|好！", "今日は。|明日は！", "你好?|我很好。",
                "彼は「今日は。明日は。」と言った。|そして去った。", "“你好。”|我走了。",
                "他来了。|“你好。”|‘好！’|她说。", "モデルは３．５です。|次。",
                "それは...違う。|はい。", "「はい。」|「いいえ。」",
                "盆（月遅れ。旧盆とも）です。|次。", "1. 今日は。|2. 明日は。", "一。　|二。"});
}

TEST(SentenceSplitter, EmojiStayWithTheSentenceBeforeThem) {
  expect_split({"Great! 😀 |Next.", "Great!😀 |Next.", "Nice 👍🏽. |Bye 👋"});
}

TEST(SentenceSplitter, OnlySpaceIsLostAndHostileTextTakesNoTime) {
  const std::vector<std::string> units = {"a",  "A",  "B. ", ". ", "!",      "。",
                                          "(",  ")",  "\"",  " ",  "3.",     "z.",
                                          "」", "「", ";",   "😀", "\u0301", "\u00BB "};
  RandomStream random(5);
  for (int trial = 0; trial < 300; ++trial) {
    std::string text;
    for (std::uint64_t n = random.below(40); n > 0; --n) text += random.choice(units);
    std::string without_space, joined;
    for (const char32_t c : code_points(text))
      if (!is_space(c)) append_utf8(without_space, c);
    for (const std::string_view sentence : split_sentences(text)) {
      EXPECT_FALSE(sentence.empty());
      EXPECT_EQ(strip(sentence), sentence);
      for (const char32_t c : code_points(sentence))
        if (!is_space(c)) append_utf8(joined, c);
    }
    EXPECT_EQ(joined, without_space);
  }
  for (const std::string& unit : units) {
    std::string line = "A";
    while (line.size() < 200'000) line += unit;
    EXPECT_FALSE(split_sentences(line).empty());
  }
}

}  // namespace
}  // namespace dragoman
