#include "extras/sample/grammar.h"

#include <iterator>
#include <utility>

#include "extras/sample/draw.h"
#include "extras/sample/patterns.h"

namespace dragoman {
namespace {

using Pattern = Phrase (*)(RandomStream&);

struct WeightedPattern {
  int weight;
  Pattern draw;
};

constexpr WeightedPattern kPatterns[] = {
    {24, statement_pattern},      {12, fronted_pattern},  {9, yes_no_pattern},
    {10, question_word_pattern},  {5, request_pattern},   {8, reason_pattern},
    {6, condition_first_pattern}, {7, reported_pattern},  {3, indirect_question_pattern},
    {6, attempt_pattern},         {4, purpose_pattern},   {5, two_clauses_pattern},
    {3, two_predicates_pattern},  {7, relative_pattern},  {7, quality_pattern},
    {5, comparison_pattern},      {2, work_pattern},      {5, position_pattern},
    {2, belonging_pattern},       {2, existence_pattern}, {3, sequence_pattern},
    {24, draw_number_sentence},
};

}  // namespace

Phrase draw_sentence(RandomStream& random) {
  int weights[std::size(kPatterns)];
  for (std::size_t i = 0; i < std::size(kPatterns); ++i) weights[i] = kPatterns[i].weight;
  return kPatterns[draw_weighted(random, weights)].draw(random);
}

}  // namespace dragoman
