// Starts that are drawn again until the condition of `keep` holds
// (program::Program::start_kept_slot).
//
// Draw number n of an instance is a function of the instance's seed and n, so the start that is
// kept is the same alone and among others. Arrays of files stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

#include "program/program.hpp"

namespace vphi::runtime {

class KeptStarts {
 public:
  /// For the instances of a batch from number `first` on. `program` must outlive this.
  KeptStarts(const program::Program& program, std::int64_t first, int threads)
      : program_(program), first_(first), threads_(threads) {}

  /// Draws again where `kept` is 0; false where it is 0 nowhere. E0879 where an instance has been
  /// drawn 10000 times.
  bool draw_again(const std::vector<double>& kept);
  /// The arrays of the newest draws, one for each of Program::random.
  std::vector<std::future<std::vector<double>>> fields() const;
  /// The number of draws of each instance.
  std::vector<double> draws() const;

 private:
  void make_all();
  void draw_one(std::size_t i, int threads);

  const program::Program& program_;
  std::int64_t first_;
  int threads_;
  std::vector<std::int64_t> again_;          ///< draws of each instance after its first
  std::vector<std::vector<double>> fields_;  ///< empty: all instances have their first draw
};

}  // namespace vphi::runtime
