#include "data/alignment/aligner.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"

namespace dragoman {

namespace {

/// Links to words in general that are added to those of each word. They keep the probabilities of
/// rare words from being too certain, and give some to words that never met.
constexpr float kPrior = 0.1F;

constexpr std::int64_t kPairsPerTask = 1024;

std::vector<std::uint32_t> pairs_to_learn(const NumberedPairs& pairs) {
  std::vector<std::uint32_t> chosen;
  const std::size_t every = divide_up(pairs.size(), static_cast<std::size_t>(kMostLearned));
  for (std::size_t pair = 0; pair < pairs.size(); pair += every) {
    const auto [shorter, longer] =
        std::minmax({pairs.source(pair).size(), pairs.target(pair).size()});
    if (shorter > 0 && longer <= kLongestAligned)
      chosen.push_back(static_cast<std::uint32_t>(pair));
  }
  return chosen;
}

}  // namespace

/// The posterior probabilities of a pair in both directions. An object keeps its memory for the
/// next pair.
class Aligner::PairWork {
 public:
  PairWork(const LexicalTable& table, const JumpWeights& forward, const JumpWeights& backward)
      : table_(table), forward_weights_(forward), backward_weights_(backward) {}

  /// Both sides must have words, and must live until the next call.
  void run(std::span<const WordId> source, std::span<const WordId> target) {
    source_ = source;
    target_ = target;
    find_entries();
    fill_emissions();
    forward.run({source.size(), to_target_, target_alone_}, forward_weights_);
    backward.run({target.size(), to_source_, source_alone_}, backward_weights_);
  }

  float forward_link(std::size_t i, std::size_t j) const {
    return forward.links()[j * source_.size() + i];
  }
  float backward_link(std::size_t i, std::size_t j) const {
    return backward.links()[i * target_.size() + j];
  }
  const LexicalEntry* entry(std::size_t i, std::size_t j) const {
    return entries_[i * target_.size() + j];
  }

  double evidence() const;

  HmmPosteriors forward, backward;

 private:
  void find_entries();
  void fill_emissions();

  const LexicalTable& table_;
  const JumpWeights &forward_weights_, &backward_weights_;
  std::span<const WordId> source_, target_;
  std::vector<const LexicalEntry*> entries_;        ///< [I * J], null where there is none
  std::vector<float> to_target_, to_source_;        ///< [J * I], [I * J] emissions
  std::vector<float> target_alone_, source_alone_;  ///< [J], [I]
};

void Aligner::PairWork::find_entries() {
  for (const WordId source : source_)
    for (const WordId target : target_) table_.prefetch(source, target);
  entries_.clear();
  for (const WordId source : source_)
    for (const WordId target : target_) entries_.push_back(table_.find(source, target));
}

void Aligner::PairWork::fill_emissions() {
  const std::size_t sources = source_.size(), targets = target_.size();
  to_target_.resize(sources * targets);
  to_source_.resize(sources * targets);
  target_alone_.clear();
  source_alone_.clear();
  for (const WordId word : target_) target_alone_.push_back(table_.target_frequency(word));
  for (const WordId word : source_) source_alone_.push_back(table_.source_frequency(word));
  for (std::size_t i = 0; i < sources; ++i) {
    const float of_source = 1 / (table_.source_links(source_[i]) + kPrior);
    for (std::size_t j = 0; j < targets; ++j) {
      const LexicalEntry* found = entry(i, j);
      const float links = found == nullptr ? 0 : found->links;
      const float of_target = 1 / (table_.target_links(target_[j]) + kPrior);
      to_target_[j * sources + i] = (links + kPrior * target_alone_[j]) * of_source;
      to_source_[i * targets + j] = (links + kPrior * source_alone_[i]) * of_target;
    }
  }
}

/// By IBM model 1, with one link fewer than is known for each pair of words and for each word. A
/// word that the rest of the text hardly has says little, either way.
double Aligner::PairWork::evidence() const {
  constexpr double kRare = 1;  // links with which a word counts half
  const std::size_t sources = source_.size(), targets = target_.size();
  std::vector<double> for_target(targets, 0), for_source(sources, 0);
  const auto fewer = [](float links) { return std::max(0.0F, links - 1); };
  for (std::size_t i = 0; i < sources; ++i)
    for (std::size_t j = 0; j < targets; ++j) {
      const float links = entry(i, j) == nullptr ? 0 : fewer(entry(i, j)->links);
      const float of_source = fewer(table_.source_links(source_[i])) + kPrior;
      const float of_target = fewer(table_.target_links(target_[j])) + kPrior;
      for_target[j] += (links / target_alone_[j] + kPrior) / of_source;
      for_source[i] += (links / source_alone_[i] + kPrior) / of_target;
    }
  const auto mean = [](const std::vector<double>& ratios, std::size_t others, auto known) {
    double sum = 0;
    for (std::size_t i = 0; i < ratios.size(); ++i)
      sum += known(i) / (known(i) + kRare) *
             std::log(kNullProbability +
                      (1 - kNullProbability) * ratios[i] / static_cast<double>(others));
    return sum / static_cast<double>(ratios.size());
  };
  return (mean(for_target, sources,
               [&](std::size_t j) { return fewer(table_.target_links(target_[j])); }) +
          mean(for_source, targets,
               [&](std::size_t i) { return fewer(table_.source_links(source_[i])); })) /
         2;
}

Aligner::Aligner(const NumberedPairs& pairs, const AlignerTraining& training)
    : Aligner(pairs, pairs_to_learn(pairs), training) {}

Aligner::Aligner(const NumberedPairs& pairs, const std::vector<std::uint32_t>& chosen,
                 const AlignerTraining& training)
    : table_(pairs, chosen, training.threads) {
  const std::int64_t rounds = training.word_rounds + training.rounds;
  for (std::int64_t round = 0; round < rounds && !training.stop.stop_requested(); ++round) {
    const auto report = [&](std::int64_t done) {
      const auto all = std::ssize(chosen);
      if (training.report) training.report(round * all + done, rounds * all);
    };
    const Jumps jumps = count_links(pairs, chosen, training, report);
    if (training.stop.stop_requested()) return;  // an unfinished round does not count
    table_.finish_round(training.threads);
    if (round + 1 < training.word_rounds) continue;
    forward_ = JumpWeights::of(jumps.forward);
    backward_ = JumpWeights::of(jumps.backward);
  }
}

Aligner::Jumps Aligner::count_links(const NumberedPairs& pairs,
                                    const std::vector<std::uint32_t>& chosen,
                                    const AlignerTraining& training,
                                    const std::function<void(std::int64_t)>& report) {
  const std::int64_t all = std::ssize(chosen), tasks = divide_up(all, kPairsPerTask);
  const std::int64_t at_once = std::int64_t{16} * training.threads;
  Jumps jumps;
  std::vector<Jumps> of_tasks(static_cast<std::size_t>(at_once));
  for (std::int64_t begin = 0; begin < tasks && !training.stop.stop_requested(); begin += at_once) {
    const std::int64_t count = std::min(at_once, tasks - begin);
    parallel_for(count, training.threads, [&](std::int64_t task) {
      const std::int64_t first = (begin + task) * kPairsPerTask;
      const std::int64_t end = std::min(first + kPairsPerTask, all);
      Jumps& of_task = of_tasks[static_cast<std::size_t>(task)] = {};
      PairWork work(table_, forward_, backward_);
      for (std::int64_t i = first; i < end; ++i) {
        const std::uint32_t pair = chosen[static_cast<std::size_t>(i)];
        const auto source = pairs.source(pair), target = pairs.target(pair);
        work.run(source, target);
        work.forward.add_jumps(of_task.forward);
        work.backward.add_jumps(of_task.backward);
        for (std::size_t s = 0; s < source.size(); ++s)
          for (std::size_t t = 0; t < target.size(); ++t)
            if (const LexicalEntry* entry = work.entry(s, t))
              table_.count(*entry, work.forward_link(s, t) * work.backward_link(s, t));
      }
    });
    for (std::int64_t task = 0; task < count; ++task) {  // sums in one order
      jumps.forward.add(of_tasks[static_cast<std::size_t>(task)].forward);
      jumps.backward.add(of_tasks[static_cast<std::size_t>(task)].backward);
    }
    report(std::min(all, (begin + count) * kPairsPerTask));
  }
  return jumps;
}

AlignedPair Aligner::align(std::span<const WordId> source, std::span<const WordId> target,
                           Symmetrization how) const {
  const auto [shorter, longer] = std::minmax({source.size(), target.size()});
  if (shorter == 0 || longer > kLongestAligned) return {};
  PairWork work(table_, forward_, backward_);
  work.run(source, target);
  std::vector<WordLink> forward, backward;
  const auto link = [](std::size_t s, std::size_t t) {
    return WordLink{static_cast<std::int64_t>(s), static_cast<std::int64_t>(t)};
  };
  for (std::size_t t = 0; t < target.size(); ++t) {
    const auto row = work.forward.links().subspan(t * source.size(), source.size());
    const auto best = std::ranges::max_element(row);
    if (*best >= work.forward.nulls()[t])
      forward.push_back(link(static_cast<std::size_t>(best - row.begin()), t));
  }
  for (std::size_t s = 0; s < source.size(); ++s) {
    const auto row = work.backward.links().subspan(s * target.size(), target.size());
    const auto best = std::ranges::max_element(row);
    if (*best >= work.backward.nulls()[s])
      backward.push_back(link(s, static_cast<std::size_t>(best - row.begin())));
  }
  AlignedPair aligned;
  for (const WordLink& found : symmetrised(std::move(forward), std::move(backward), how)) {
    const auto s = static_cast<std::size_t>(found.source);
    const auto t = static_cast<std::size_t>(found.target);
    aligned.links.push_back({found, std::sqrt(work.forward_link(s, t) * work.backward_link(s, t))});
  }
  const auto per_word = [](const HmmPosteriors& side) {
    return side.log_likelihood() / static_cast<double>(side.nulls().size());
  };
  aligned.log_probability = (per_word(work.forward) + per_word(work.backward)) / 2;
  aligned.evidence = work.evidence();
  return aligned;
}

}  // namespace dragoman
