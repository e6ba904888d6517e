// Ranks that share a lattice, step by step: each has its program and memory on one native device.
//
// It does what a run of ranks does between its kernels and nothing else, in the plainest way: it
// fills halos plane by plane and joins the partial sums in the order of the ranks. So what it finds
// is the compiler's. Ghosts are NaN until they are filled.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::testing {

/// In which order the parts of a launch (program/parts.hpp) are computed that a device may compute
/// at the same time. Ends, what fills the ghosts, rest is the order of the list.
enum class OrderOfParts {
  Listed,
  RestFirst,   ///< rest, ends, ghosts
  GhostsLast,  ///< ends, rest, ghosts, which are NaN before
};

class CutRanks {
 public:
  /// `programs`: of each rank, in order; one program that is not cut is a lattice on one device.
  CutRanks(std::vector<program::Program> programs, runtime::Device& device,
           OrderOfParts order = OrderOfParts::Listed);
  ~CutRanks();
  CutRanks(const CutRanks&) = delete;
  CutRanks& operator=(const CutRanks&) = delete;

  /// Numbers of the whole lattice, x fastest.
  void write(int buffer, const std::vector<double>& values);
  std::vector<double> read(int buffer);
  /// Without those that are a rank's own. Throws std::runtime_error where ranks differ.
  std::vector<double> scalars();
  void set_scalars(const std::vector<double>& values);
  /// The lists of launches of the ranks with the same name. Solves iterate 20 times at most.
  using List = const std::vector<program::Launch>& (*)(const program::Program&, std::int64_t);
  void launch(List list, std::int64_t number = 0);

 private:
  struct Rank;
  void run(const std::vector<const std::vector<program::Launch>*>& lists);
  using Launches = std::vector<const program::Launch*>;  ///< of all ranks
  void one(const Launches& launches);
  void compute(const Launches& launches);
  void exchange_copies(const Launches& launches);
  void fill_halos(const Launches& launches);
  void in_parts(std::span<const Launches> ends, const Launches& rest);
  void map(std::size_t number);
  void gather_in_order(const Rank& rank, std::size_t sums, std::size_t end);
  void fill(int buffer, const std::array<int, 2>& depth, const std::array<int, 2>& beside);
  void poison(const Rank& rank, int buffer);
  std::size_t plane(int buffer) const;  ///< bytes
  std::size_t line(
      int buffer) const;  ///< bytes of a line of a plane; of a plane that is whole, all

  runtime::Device& device_;
  OrderOfParts order_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

/// What a model and so many ranks give.
struct CutResult {
  std::string refused;  ///< the codes and messages, where the lattice cannot be cut
  std::string differs;  ///< what is not the same bits as on one device; empty: all is
  int divided = 0;      ///< launches of the steps of the first rank that are divided
};

/// Where ranks compute, and how far their numbers may differ from those of one device.
struct CutSetup {
  std::string device = "native";
  bool as_gpu = false;  ///< kernels in the form for GPUs, on whatever the device is
  std::string precision = {};
  double relative = 0;  ///< to the largest number of an array; 0: the same bits
  std::int64_t bodies =
      0;  ///< a model with more of them gets so many, by its parameter N; 0: its own
  std::string lattice = {};  ///< of a model that has one; empty: a small one
  int beside = 1;            ///< of the ranks, those along the second axis
  OrderOfParts order = OrderOfParts::Listed;
  /// Multiprocessors for which kernels are made; -1: those of the device. 0: any launch has work
  /// enough to be divided.
  int units = -1;
};

/// Starts the model on a small lattice, makes three steps, fills what is watched and all outputs,
/// on one device and on so many ranks, and compares arrays and scalars after each.
CutResult cut_and_compare(const std::string& path, int ranks, const CutSetup& setup = {});

}  // namespace vphi::testing
