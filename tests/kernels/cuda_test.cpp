// The kernels for NVIDIA GPUs, on the CPU, beside those for the CPU. Dropout has the same bits;
// sums are made in another order, and exponentials are rounded differently.
#include "tests/kernels/cuda_on_cpu.h"
#include "tests/kernels/kernel_test.h"
// Their sources:
#include "kernels/cuda/adam.cu"
#include "kernels/cuda/add_norm.cu"
#include "kernels/cuda/column_sums.cu"
#include "kernels/cuda/dropout.cu"
#include "kernels/cuda/embedding.cu"
#include "kernels/cuda/loss.cu"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/threads.h"

namespace dragoman {
namespace {

constexpr std::int64_t kColumns[] = {1, 3, 7, 8, 9, 64, 65, 130, 200};
constexpr float kEpsilon = 1e-5F;

class CudaKernels : public KernelTest {
 protected:
  static constexpr std::int64_t kHeads = 3, kQueries = 5, kSentences = 2;
  static constexpr std::int64_t kRows = kHeads * kQueries * kSentences;

  DropoutRule rule(std::uint32_t threshold, std::int64_t heads = kHeads) const {
    return {keys_.data(), 9, threshold, heads, kRows / kSentences / heads};
  }

  /// Two thirds of a warp, so that rows begin in the middle of a block.
  template <class Arguments>
  void launch(void (*of_float)(Arguments), void (*of_bfloat)(Arguments), const Arguments& arguments,
              std::int64_t elements) {
    constexpr unsigned threads = 21;
    const auto blocks = static_cast<unsigned>(elements / threads + 1);
    cuda_on_cpu::run(blocks, threads, [&] { (is_float() ? of_float : of_bfloat)(arguments); });
  }
  /// A block for each row, or for some rows.
  template <class Arguments>
  void launch_blocks(void (*of_float)(Arguments), void (*of_bfloat)(Arguments),
                     const Arguments& arguments, std::int64_t blocks) {
    cuda_on_cpu::run(static_cast<unsigned>(blocks), cuda_threads_of_row(arguments.columns),
                     [&] { (is_float() ? of_float : of_bfloat)(arguments); });
  }

  /// Numbers of the element type that are rounded once, after sums in another order.
  void expect_near(const Elements& actual, const Elements& expected) const {
    ASSERT_TRUE(actual.guards_stand());
    for (std::int64_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i],
                  (is_float() ? 1e-5 : 1.0 / 128) * (1 + std::abs(expected[i])))
          << i;
  }
  static void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
  }

  void run_dropout(const void* x, const void* residual, void* y, std::int64_t columns,
                   const DropoutRule& rule, unsigned char* kept = nullptr) {
    const CudaDropout arguments{.x = x,
                                .residual = residual,
                                .y = y,
                                .kept = kept,
                                .rows = kRows,
                                .columns = static_cast<unsigned>(columns),
                                .relu = kept != nullptr,
                                .rule = on_cuda(rule)};
    launch(&cuda_kernels::dropout_float32, &cuda_kernels::dropout_bfloat16, arguments,
           kRows * divide_up<std::int64_t>(columns, kCudaColumns));
  }

  /// One matrix: its sums over `rows_of_sum` rows [sums, parts * columns], and their totals.
  struct ColumnSums {
    std::vector<float> stretches, totals;
  };
  ColumnSums run_column_sums(const std::vector<const void*>& parts, const unsigned char* kept,
                             float scale, void* joined, unsigned columns) {
    constexpr unsigned threads = 32, rows_of_sum = 8;
    constexpr unsigned sums = (kRows + rows_of_sum - 1) / rows_of_sum;
    const auto count = static_cast<unsigned>(parts.size()), width = count * columns;
    ColumnSums result{std::vector<float>(sums * width, 9), std::vector<float>(width)};
    CudaColumnSums arguments{.parts = {},
                             .kept = kept,
                             .joined = joined,
                             .sums = result.stretches.data(),
                             .rows = kRows,
                             .columns = columns,
                             .part_count = count,
                             .rows_per_sum = rows_of_sum,
                             .scale = scale};
    std::ranges::copy(parts, arguments.parts);
    cuda_on_cpu::run(sums * cuda_blocks_of_row(count, columns, threads), threads, [&] {
      (is_float() ? &cuda_kernels::column_sums_float32
                  : &cuda_kernels::column_sums_bfloat16)(arguments);
    });
    for (std::size_t i = 0; i < result.stretches.size(); ++i)
      result.totals[i % width] += result.stretches[i];
    return result;
  }
  /// The sums of the columns of x [kRows, columns].
  static std::vector<float> sums_of_columns(const std::vector<double>& x, std::size_t columns) {
    std::vector<float> sums(columns);
    for (std::size_t i = 0; i < x.size(); ++i) sums[i % columns] += static_cast<float>(x[i]);
    return sums;
  }

  std::vector<std::int32_t> keys_ = random_keys(random_, kRows);
};

TEST_P(CudaKernels, DropoutHasTheBitsOfTheCpu) {
  for (const std::int64_t columns : kColumns)
    for (const std::int64_t heads : {std::int64_t{1}, kHeads}) {
      SCOPED_TRACE(columns);
      Elements x = random_elements(kRows * columns), y(type(), kRows * columns), expected = y;
      table().dropout[index()]({x.data(), nullptr, expected.data(), columns, rule(77, heads)}, 0,
                               kRows);
      run_dropout(x.data(), nullptr, y.data(), columns, rule(77, heads));
      EXPECT_EQ(y, expected);
      table().relu_dropout[index()]({x.data(), expected.data(), columns, rule(26, heads)}, 0,
                                    kRows);
      std::vector<unsigned char> kept(kRows * divide_up<std::int64_t>(columns, 8), 9);
      run_dropout(x.data(), nullptr, y.data(), columns, rule(26, heads), kept.data());
      EXPECT_EQ(y, expected);
    }
}

TEST_P(CudaKernels, DropoutAddsTheResidualAndMayOverwriteIt) {
  for (const std::int64_t columns : kColumns) {
    SCOPED_TRACE(columns);
    Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
    Elements expected(type(), kRows * columns), y = expected;
    // The scale is 2, so that the product is exact: SSE2 rounds it, others only the sum.
    table().dropout[index()]({x.data(), residual.data(), expected.data(), columns, rule(128)}, 0,
                             kRows);
    run_dropout(x.data(), residual.data(), y.data(), columns, rule(128));
    EXPECT_EQ(y, expected);
    run_dropout(x.data(), residual.data(), residual.data(), columns, rule(128));
    EXPECT_EQ(residual, expected);
  }
}

TEST_P(CudaKernels, DropoutTakesAddressesThatAreNotMultiplesOf16) {
  constexpr std::int64_t columns = 64;
  const std::int64_t bytes = is_float() ? 4 : 2;
  const auto moved = [&](Elements& elements) {
    return static_cast<char*>(elements.data()) + bytes;
  };
  Elements x = random_elements(kRows * columns + 1), y(type(), kRows * columns + 1), expected = y;
  table().dropout[index()]({moved(x), nullptr, moved(expected), columns, rule(77)}, 0, kRows);
  run_dropout(moved(x), nullptr, moved(y), columns, rule(77));
  EXPECT_EQ(y, expected);
}

TEST_P(CudaKernels, TheGradientAfterReluHasTheBitsOfTheCpu) {
  for (const std::int64_t columns : kColumns) {
    SCOPED_TRACE(columns);
    Elements x = random_elements(kRows * columns), dy = random_elements(kRows * columns);
    Elements dx(type(), kRows * columns), expected = dx;
    std::vector<unsigned char> kept(kRows * divide_up<std::int64_t>(columns, 8));
    run_dropout(x.data(), nullptr, x.data(), columns, rule(77, 1), kept.data());
    const float scale = rule(77).scale();
    table().relu_dropout_gradient[index()]({x.data(), dy.data(), expected.data(), columns, scale},
                                           0, kRows);
    const auto sums =
        run_column_sums({dy.data()}, kept.data(), scale, dx.data(), static_cast<unsigned>(columns));
    EXPECT_EQ(dx, expected);
    EXPECT_TRUE(dx.guards_stand());
    for (std::int64_t c = 0; c < columns; ++c)
      EXPECT_NEAR(sums.totals[c], sums_of_columns(dx.values(), columns)[c],
                  is_float() ? 1e-4 : 0.1);
  }
}

TEST_P(CudaKernels, NotANumberStaysOneAfterRelu) {
  Elements x(type(), std::vector<double>(kRows, std::numeric_limits<double>::quiet_NaN()));
  unsigned char kept[kRows] = {};
  run_dropout(x.data(), nullptr, x.data(), 1, rule(77), kept);
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_TRUE(std::isnan(x[i]));
}

TEST_P(CudaKernels, MatricesAreJoinedAndTheirColumnsSummed) {
  for (const std::int64_t columns : kColumns)
    for (const std::size_t count : {1, 3}) {
      SCOPED_TRACE(columns);
      std::vector<Elements> parts;
      for (std::size_t part = 0; part < count; ++part)
        parts.push_back(random_elements(kRows * columns));
      std::vector<const void*> addresses;
      for (Elements& part : parts) addresses.push_back(part.data());
      const std::size_t width = count * columns;
      Elements joined(type(), static_cast<std::int64_t>(kRows * width));
      const auto sums =
          run_column_sums(addresses, nullptr, 9, joined.data(), static_cast<unsigned>(columns));
      ASSERT_TRUE(joined.guards_stand());
      for (std::int64_t i = 0; i < joined.size(); ++i) {
        const std::size_t row = i / width, column = i % width;
        ASSERT_EQ(joined[i], parts[column / columns][row * columns + column % columns]) << i;
      }
      expect_near(sums.totals, sums_of_columns(joined.values(), width));
    }
}

TEST_P(CudaKernels, AddNormIsThatOfTheCpu) {
  for (const std::int64_t columns : {1, 8, 65, 256, 264, 512})
    for (const auto& [drops, adds] : {std::pair(false, false), {false, true}, {true, true}}) {
      SCOPED_TRACE(columns);
      Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
      Elements gain = random_elements(columns), bias = random_elements(columns);
      Elements sum(type(), x.size()), y = sum, expected_sum = sum, expected = sum;
      std::vector<float> means(kRows), inverses(kRows), expected_means(kRows),
          expected_inverses(kRows);
      const DropoutRule mask = drops ? rule(128, 1) : DropoutRule{.heads = 1, .queries = kRows};
      const void* added = adds ? residual.data() : nullptr;
      table().add_norm[index()](
          {x.data(), added, gain.data(), bias.data(), adds ? expected_sum.data() : nullptr,
           expected.data(), expected_means.data(), expected_inverses.data(), columns, kEpsilon,
           mask},
          0, kRows);
      const CudaAddNorm arguments{
          x.data(), added,        gain.data(),     bias.data(), adds ? sum.data() : nullptr,
          y.data(), means.data(), inverses.data(), kRows,       static_cast<unsigned>(columns),
          kEpsilon, on_cuda(mask)};
      launch_blocks(&cuda_kernels::add_norm_float32, &cuda_kernels::add_norm_bfloat16, arguments,
                    kRows);
      EXPECT_EQ(sum, expected_sum);  // the scale of dropout is 2, so only the sum is rounded
      expect_near(y, expected);
      expect_near(means, expected_means);
      if (columns > 1) expect_near(inverses, expected_inverses);
    }
}

TEST_P(CudaKernels, TheGradientOfAddNormIsThatOfTheCpu) {
  constexpr std::int64_t rows_of_sum = 8, sums = 4;
  for (const std::int64_t columns : {3, 8, 65, 256, 264, 512})
    for (const auto& [drops, adds] : {std::pair(false, false), {false, true}, {true, true}}) {
      SCOPED_TRACE(columns);
      Elements dy = random_elements(kRows * columns), elsewhere = random_elements(kRows * columns);
      Elements sum = random_elements(kRows * columns), gain = random_elements(columns);
      std::vector<float> means, inverses;
      for (std::int64_t row = 0; row < kRows; ++row) {
        const reference::Numbers all = sum.values();
        const auto of = reference::statistics(reference::row_of(all, row, columns), kEpsilon);
        means.push_back(static_cast<float>(of.mean));
        inverses.push_back(static_cast<float>(of.inverse_deviation));
      }
      Elements d_sum(type(), sum.size()), d_x = d_sum, expected_d_sum = d_sum, expected = d_sum;
      std::vector<float> d_gain(sums * columns, 9), d_bias = d_gain, x_sums = d_gain,
                                                    expected_d_gain(d_gain.size()),
                                                    expected_d_bias(d_gain.size());
      const DropoutRule mask = drops ? rule(77, 1) : DropoutRule{.heads = 1, .queries = kRows};
      const void* other = adds ? elsewhere.data() : nullptr;
      run_rows(table().add_norm_gradient, type(),
               NormGradientArguments{dy.data(), other, sum.data(), gain.data(), means.data(),
                                     inverses.data(), expected_d_sum.data(),
                                     drops ? expected.data() : nullptr, expected_d_gain.data(),
                                     expected_d_bias.data(), rows_of_sum, columns, mask},
               kRows, rows_of_sum);
      // Half of dy comes from each of two uses, which is exact.
      std::vector<double> halves = dy.values();
      for (double& value : halves) value /= 2;
      Elements half(type(), halves);
      const CudaAddNormGradient arguments{.dy = half.data(),
                                          .dy_again = half.data(),
                                          .d_sum_elsewhere = other,
                                          .sum = sum.data(),
                                          .gain = gain.data(),
                                          .means = means.data(),
                                          .inverse_deviations = inverses.data(),
                                          .d_sum = d_sum.data(),
                                          .d_x = drops ? d_x.data() : nullptr,
                                          .d_gain = d_gain.data(),
                                          .d_bias = d_bias.data(),
                                          .x_sums = x_sums.data(),
                                          .rows = kRows,
                                          .columns = static_cast<unsigned>(columns),
                                          .rows_per_sum = rows_of_sum,
                                          .rule = on_cuda(mask)};
      launch_blocks(&cuda_kernels::add_norm_gradient_float32,
                    &cuda_kernels::add_norm_gradient_bfloat16, arguments, sums);
      expect_near(d_sum, expected_d_sum);
      expect_near(d_x, expected);
      expect_near(d_gain, expected_d_gain);
      expect_near(d_bias, expected_d_bias);
      std::vector<float> total(columns);
      for (std::size_t i = 0; i < x_sums.size(); ++i) total[i % columns] += x_sums[i];
      const auto of_rows = sums_of_columns((drops ? d_x : d_sum).values(), columns);
      for (std::int64_t c = 0; c < columns; ++c)
        EXPECT_NEAR(total[c], of_rows[c], is_float() ? 1e-4 : 0.3) << c;
    }
}

TEST_P(CudaKernels, TheSumsOfStretchesAreThoseOfEachColumn) {
  for (const unsigned count : {1U, 31U, 100U})
    for (const unsigned columns : {1U, 20U, 70U}) {
      std::vector<float> stretches;
      std::vector<double> expected(2 * columns);
      for (unsigned i = 0; i < 2 * count * columns; ++i) {
        stretches.push_back(static_cast<float>(random_.below(9)));  // sums are exact in fp32
        expected[i / (count * columns) * columns + i % columns] += stretches.back();
      }
      Elements sums(type(), 2 * columns);
      const CudaStretchSums arguments{stretches.data(), sums.data(), 2 * columns, count, columns};
      const unsigned blocks = (2 * columns + kCudaColumnsOfSums - 1) / kCudaColumnsOfSums;
      cuda_on_cpu::run(blocks, kCudaSumThreads, [&] {
        (is_float() ? &cuda_kernels::stretch_sums_float32
                    : &cuda_kernels::stretch_sums_bfloat16)(arguments);
      });
      EXPECT_EQ(sums, Elements(type(), expected)) << count << " of " << columns;
    }
}

TEST_P(CudaKernels, TheFirstLayersInputIsTheDroppedSumOfEmbeddingAndPosition) {
  constexpr std::int64_t vocabulary = 5, lengths = 4;
  for (const std::int64_t columns : kColumns)
    for (const bool drops : {false, true}) {
      SCOPED_TRACE(columns);
      Elements weight = random_elements(vocabulary * columns),
               encodings = random_elements(lengths * columns);
      Elements sums(type(), kRows * columns), expected = sums, y = sums;
      std::vector<long long> tokens, positions;
      std::vector<double> plain;
      for (std::int64_t row = 0; row < kRows; ++row) {
        tokens.push_back(static_cast<long long>(random_.below(vocabulary + 1)) - 1);
        positions.push_back(static_cast<long long>(random_.below(lengths)));
        for (std::int64_t c = 0; c < columns; ++c)
          plain.push_back((tokens[row] < 0 ? 0 : 4 * weight[tokens[row] * columns + c]) +
                          encodings[positions[row] * columns + c]);
      }
      // The scale is 2, so that only one sum is rounded.
      const DropoutRule mask = drops ? rule(128, 1) : DropoutRule{.heads = 1, .queries = kRows};
      sums = Elements(type(), plain);
      table().dropout[index()]({sums.data(), nullptr, expected.data(), columns, mask}, 0, kRows);
      launch(&cuda_kernels::embedding_float32, &cuda_kernels::embedding_bfloat16,
             CudaEmbedding{.tokens = tokens.data(),
                           .positions = positions.data(),
                           .weight = weight.data(),
                           .encodings = encodings.data(),
                           .y = y.data(),
                           .rows = kRows,
                           .columns = static_cast<unsigned>(columns),
                           .scale = 4,
                           .rule = on_cuda(mask)},
             kRows * divide_up<std::int64_t>(columns, kCudaColumns));
      expect_near(y, drops ? expected : sums);
    }
}

/// The rows of each token lie anywhere, most tokens are missing, one is frequent.
TEST_P(CudaKernels, TheGradientOfAnEmbeddingIsTheSumOfItsTokensRows) {
  constexpr std::int64_t vocabulary = 40;
  for (const std::int64_t columns : {1, 8, 65, 130})
    for (const auto& [some, drops] : {std::pair(false, false), {true, false}, {true, true}}) {
      SCOPED_TRACE(columns);
      Elements dy = random_elements(kRows * columns), dropped(type(), kRows * columns);
      const DropoutRule mask = drops ? rule(128, 1) : DropoutRule{.heads = 1, .queries = kRows};
      if (drops)
        table().dropout[index()]({dy.data(), nullptr, dropped.data(), columns, mask}, 0, kRows);
      const Elements& added = drops ? dropped : dy;
      std::vector<std::pair<long long, long long>> rows;  // token and row
      std::vector<double> sums(vocabulary * columns);
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto token = some ? static_cast<long long>(random_.below(2) * random_.below(38)) : -1;
        rows.emplace_back(row == 3 ? -1 : token, row);
        if (rows.back().first < 0) continue;
        for (std::int64_t c = 0; c < columns; ++c)
          sums[token * columns + c] += 4 * added[row * columns + c];
      }
      std::ranges::sort(rows);
      std::vector<long long> tokens, order;
      for (const auto& [token, row] : rows) {
        tokens.push_back(token);
        order.push_back(row);
      }
      Elements d_weight(type(), vocabulary * columns);
      const CudaEmbeddingGradient arguments{.dy = dy.data(),
                                            .tokens = tokens.data(),
                                            .order = order.data(),
                                            .d_weight = d_weight.data(),
                                            .rows = kRows,
                                            .columns = static_cast<unsigned>(columns),
                                            .vocabulary = vocabulary,
                                            .scale = 4,
                                            .rule = on_cuda(mask)};
      cuda_on_cpu::run(kRows, cuda_embedding_threads(arguments.columns), [&] {
        (is_float() ? &cuda_kernels::embedding_gradient_float32
                    : &cuda_kernels::embedding_gradient_bfloat16)(arguments);
      });
      expect_near(d_weight, Elements(type(), sums));
    }
}

TEST_P(CudaKernels, TheLossIsThatOfTheCpu) {
  constexpr unsigned threads = 64;
  for (const std::int64_t columns : {1, 7, 64, 65, 1001, 4096})
    for (const double range : {3.0, 80.0}) {
      SCOPED_TRACE(columns);
      const std::vector<std::int64_t> targets = {0, -1, columns / 2, columns - 1};
      const auto rows = static_cast<unsigned>(targets.size());
      Elements logits = random_elements(rows * columns, range), expected = logits;
      std::vector<float> losses(rows, 9), likelihoods = losses, expected_losses = losses,
                                          expected_likelihoods = losses;
      table().loss[index()]({expected.data(), targets.data(), expected_losses.data(),
                             expected_likelihoods.data(), columns, 0.1F},
                            0, rows);
      const std::vector<long long> on_device(targets.begin(), targets.end());
      const CudaLoss arguments{logits.data(), on_device.data(),
                               losses.data(), likelihoods.data(),
                               rows,          static_cast<unsigned>(columns),
                               0.1F};
      cuda_on_cpu::run(rows, threads, [&] {
        (is_float() ? &cuda_kernels::loss_float32 : &cuda_kernels::loss_bfloat16)(arguments);
      });
      expect_near(logits, expected);
      expect_near(losses, expected_losses);
      expect_near(likelihoods, expected_likelihoods);
    }
}

TEST_P(CudaKernels, ALogitThatIsNotANumberIsShown) {
  std::vector<double> values(300, 1);
  values[280] = std::numeric_limits<double>::quiet_NaN();
  Elements logits(type(), values);
  const long long target = 3;
  float loss = 0, likelihood = 0;
  const CudaLoss arguments{logits.data(), &target, &loss, &likelihood, 1, 300, 0.1F};
  cuda_on_cpu::run(1, 64, [&] {
    (is_float() ? &cuda_kernels::loss_float32 : &cuda_kernels::loss_bfloat16)(arguments);
  });
  EXPECT_TRUE(std::isnan(loss));
  for (std::int64_t c = 0; c < logits.size(); ++c) EXPECT_TRUE(std::isnan(logits[c])) << c;
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(CudaKernels);

// Buffers that are always fp32.

/// The buffers of a step of Adam.
struct AdamBuffers {
  static constexpr std::int64_t kCount = 360;

  explicit AdamBuffers(std::uint64_t seed) {
    RandomStream random(seed, 1);
    for (Elements* buffer : {&gradient, &weights, &first_moment, &second_moment, &average})
      *buffer = Elements(ElementType::Float32, uniform_values(random, kCount, 3));
    reference::Numbers squares = second_moment.values();
    for (double& square : squares) square = std::abs(square);
    second_moment = Elements(ElementType::Float32, squares);
  }

  void step(const CudaStepNumbers& numbers) {
    const auto address = [](Elements& buffer) { return static_cast<float*>(buffer.data()); };
    const CudaAdam arguments{.numbers = &numbers,
                             .gradient = address(gradient),
                             .weights = address(weights),
                             .first_moment = address(first_moment),
                             .second_moment = address(second_moment),
                             .average = address(average),
                             .bfloat16_weights = rounded.data(),
                             .count = kCount,
                             .first_fraction = 0.1F,
                             .second_decay = 0.98F,
                             .second_fraction = 0.02F,
                             .epsilon = 1e-9F};
    cuda_on_cpu::run(3, 21, [&] { cuda_kernels::adam_float32(arguments); });
  }
  bool operator==(const AdamBuffers&) const = default;

  Elements gradient{ElementType::Float32, 0}, weights = gradient, first_moment = gradient,
                                              second_moment = gradient, average = gradient;
  Elements rounded{ElementType::BFloat16, kCount};
};

TEST(CudaAdam, AStepIsTheFormula) {
  const CudaStepNumbers n{.made = 1,
                          .factor = 0.5F,
                          .kept = 0.9F,
                          .step_size = 0.01F,
                          .root_correction = 0.2F,
                          .average_fraction = 0.3F};
  const AdamBuffers before(3);
  AdamBuffers after = before;
  after.step(n);
  for (std::int64_t i = 0; i < AdamBuffers::kCount; ++i) {
    const double g = before.gradient[i] * n.factor;
    const double m = 0.9 * before.first_moment[i] + 0.1 * g;
    const double v = 0.98 * before.second_moment[i] + 0.02 * g * g;
    const double weight =
        before.weights[i] * n.kept - n.step_size * m / (std::sqrt(v) / n.root_correction + 1e-9);
    ASSERT_NEAR(after.first_moment[i], m, 1e-6);
    ASSERT_NEAR(after.second_moment[i], v, 1e-6);
    ASSERT_NEAR(after.weights[i], weight, 1e-6);
    ASSERT_NEAR(after.average[i], before.average[i] + 0.3 * (weight - before.average[i]), 1e-6);
  }
  EXPECT_EQ(after.rounded, Elements(ElementType::BFloat16, after.weights.values()));
  EXPECT_EQ(after.gradient, before.gradient);
  for (const Elements* buffer :
       {&after.weights, &after.first_moment, &after.second_moment, &after.average})
    EXPECT_TRUE(buffer->guards_stand());
}

TEST(CudaAdam, AnUpdateLeftOutChangesNothing) {
  const AdamBuffers before(3);
  AdamBuffers after = before;
  after.step({});  // not made
  EXPECT_EQ(after, before);
}

// What runs them.

TEST(CudaOnCpu, ThreadsOfABlockExchangeTheirNumbers) {
  for (const unsigned threads : {32U, 64U, 1024U}) {
    std::vector<float> sums(threads), largest(threads);
    cuda_on_cpu::run(3, threads, [&] {
      for (int repetition = 0; repetition < 3; ++repetition) {
        const auto number = static_cast<float>(threadIdx.x);
        float both[2] = {number, number * static_cast<float>(blockIdx.x)}, top[1] = {number};
        cuda_kernels::over_block(both, cuda_kernels::Sum());
        cuda_kernels::over_block(top, cuda_kernels::Largest());
        sums[threadIdx.x] = both[1] - both[0] * static_cast<float>(blockIdx.x) + both[0];
        largest[threadIdx.x] = top[0];
      }
    });
    const auto last = static_cast<float>(threads - 1);
    EXPECT_EQ(sums, std::vector<float>(threads, last * static_cast<float>(threads) / 2));
    EXPECT_EQ(largest, std::vector<float>(threads, last));
  }
}

TEST(CudaOnCpu, ThreadsThatWaitForOthersInVainAreAFault) {
  const auto some_wait = [](auto&& wait) {
    cuda_on_cpu::run(1, 64, [&] {
      if (threadIdx.x != 40) wait();
    });
  };
  for (int repetition = 0; repetition < 2; ++repetition) {
    EXPECT_THROW(some_wait([] { __syncthreads(); }), std::logic_error);
    EXPECT_THROW(some_wait([] { __shfl_xor_sync(0xFFFFFFFF, 1.0F, 1); }), std::logic_error);
  }
  cuda_on_cpu::run(1, 64, [] { __syncthreads(); });
}

}  // namespace
}  // namespace dragoman
