// The Session of rank 0 of several that share a lattice: its own planes, and orders for the others.
//
// It shows the whole lattice, as if one device had it. What is read is joined from the planes of
// all ranks, what is written is cut into them. Scalars are the same on all ranks.
#pragma once

#include "runtime/run/ranks/ordering_session.hpp"

namespace vphi::runtime {

class LatticeSession : public OrderingSession {
 public:
  /// `own`: the program of rank 0. `other`: that of ranks with another number of planes; null:
  /// there are none. `whole`: what is shown (`whole_lattice`). All must outlive it. Throws E0802
  /// where a rank has too little memory.
  LatticeSession(const program::Program& own, const program::Program* other,
                 const program::Program& whole, RankGroup& group, const SessionOptions& options);

  void start() override;
  const std::vector<double>& scalars() override;
  void set_scalar(int slot, double value, std::int64_t instance) override;
  std::vector<double> read(int buffer) override;
  std::vector<double> read(int buffer, std::int64_t instance) override;
  std::vector<double> read_sites(int buffer, std::size_t first, std::size_t count) override;
  void write(int buffer, std::span<const double> values) override;
  std::size_t bytes_of(int buffer) const override;
  void read_bytes(int buffer, std::span<std::byte> to) override;
  void write_bytes(int buffer, std::span<const std::byte> from) override;
  void set_scalars(std::span<const double> values) override;
  std::optional<observe::BinSums> bin_sums(std::size_t output, std::size_t field) override;
  void project(const program::Transform& transform) override;

 private:
  /// What other ranks wait for ends with this rank's error.
  void do_own(const std::function<void()>& work) override;
  const program::Program& program_of(int rank) const;
  Bytes deal(std::span<const std::byte> whole);
  void join(const Bytes& own, const std::vector<Bytes>& others, std::span<std::byte> whole) const;

  const program::Program &own_, &whole_;
  const program::Program* other_;
  std::vector<double> shown_scalars_;
};

/// A program of a rank as it looks with the whole lattice.
program::Program whole_lattice(const program::Program& of_a_rank);

}  // namespace vphi::runtime
