// The hidden Markov model of word alignment (Vogel, Ney and Tillmann 1996): each word of one side,
// the observed one, comes from a word of the other side, its state. The next state depends on the
// jump from the last one. A word may come from no state ("null"); the last state is then kept (Och
// and Ney 2003, section 2.3). With equal weights of all jumps it is IBM model 1 (Brown et al.
// 1993).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace dragoman {

/// Jumps up to this distance have weights of their own; all longer ones in a direction share one
/// (Liang, Taskar and Klein 2006, section 2, do so too).
inline constexpr std::size_t kNearJump = 7;

/// How often jumps were made, and how often they could have been.
struct JumpCounts {
  std::array<double, 2 * kNearJump + 3> made{}, possible{};          ///< see JumpWeights::jumps
  std::array<double, kNearJump + 1> first_made{}, first_possible{};  ///< see JumpWeights::first

  void add(const JumpCounts& other);
};

/// The probability of a state is the weight of the jump to it, divided by the sum of the weights of
/// all jumps that stay within the sentence.
struct JumpWeights {
  /// From the last state backwards by more than kNearJump, by kNearJump, ..., forwards by
  /// kNearJump, and by more than that.
  std::array<float, 2 * kNearJump + 3> jumps;
  std::array<float, kNearJump + 1> first;  ///< of state 0, 1, ... as the first one

  static JumpWeights uniform();
  static JumpWeights of(const JumpCounts& counts);
};

/// The probability that the next word comes from no state.
inline constexpr float kNullProbability = 0.2F;

/// The two sides of a pair, seen from one direction; J observed words, I states, both at least 1.
struct HmmInput {
  std::size_t states;                ///< I
  std::span<const float> emission;   ///< [J * I] probability of word j in state i
  std::span<const float> from_null;  ///< [J] its probability in no state
};

/// The forward-backward algorithm. An object keeps its memory for the next pair.
class HmmPosteriors {
 public:
  void run(const HmmInput& input, const JumpWeights& weights);

  std::span<const float> links() const { return links_; }  ///< [J * I] P(word j is in state i)
  std::span<const float> nulls() const { return nulls_; }  ///< [J] P(word j is in no state)
  double log_likelihood() const { return log_likelihood_; }
  /// Adds the expected jumps of the last pair.
  void add_jumps(JumpCounts& counts) const;

 private:
  void prepare(const HmmInput& input, const JumpWeights& weights);
  void forward(const HmmInput& input, const JumpWeights& weights);
  void backward(const HmmInput& input, const JumpWeights& weights);

  JumpWeights weights_{};
  std::size_t states_ = 0, observed_ = 0;
  std::size_t stride_ = 0;  ///< I and kNearJump zeros on both sides
  std::vector<float> links_, nulls_;
  std::vector<float> leaving_;     ///< [J][stride] mass of the last state before word j, per weight
  std::vector<float> arriving_;    ///< [J][stride] likelihood of word j and the rest in each state
  std::vector<float> unlinked_;    ///< [J] mass of "no word before word j is in a state"
  std::vector<float> scale_;       ///< [J] divisor of the mass of word j
  std::vector<float> first_;       ///< [I] probability of each first state
  std::vector<float> per_weight_;  ///< [I] 1 / sum of the weights of the jumps from each state
  std::vector<float> mass_, jumped_;  ///< [I] of the word under way
  double log_likelihood_ = 0;
};

}  // namespace dragoman
