// The Session of rank 0 of several: its own share of a batch, and orders for the others.
//
// It shows one batch, as if one device moved it: instances in their order, whoever has them. What
// is written goes to the rank that computes it; what is read comes from the rank that shows it.
#pragma once

#include "runtime/run/ranks/ordering_session.hpp"
#include "runtime/run/ranks/shares.hpp"

namespace vphi::runtime {

class RankedSession : public OrderingSession {
 public:
  /// `part`: made for the instances of one rank. `whole`: the same, of all ranks together; the
  /// sweep's instances from options.first_instance on. All three must outlive it. Throws E0802
  /// where a rank has too little memory, E0860 where the program is made for another number.
  RankedSession(const program::Program& part, const program::Program& whole, RankGroup& group,
                const SessionOptions& options);

  void start() override;
  const std::vector<double>& scalars() override;
  Slot slot(int slot) override;
  void set_scalar(int slot, double value, std::int64_t instance) override;
  std::vector<double> read(int buffer) override;
  std::vector<double> read(int buffer, std::int64_t instance) override;
  std::vector<double> read_sites(int buffer, std::size_t first, std::size_t count) override;
  void write(int buffer, std::span<const double> values) override;
  std::size_t bytes_of(int buffer) const override;
  void read_bytes(int buffer, std::span<std::byte> to) override;
  void write_bytes(int buffer, std::span<const std::byte> from) override;
  void set_scalars(std::span<const double> values) override;

 private:
  void forget() override;
  /// What each rank computes, of bytes that are laid out by instance; the others' are sent.
  Bytes deal(std::span<const std::byte> whole);
  /// The batch from what each rank shows: `own` of this rank, which is its whole share.
  void join(std::span<const std::byte> own, const std::vector<Bytes>& others,
            std::span<std::byte> to) const;
  void fetch_slots(std::size_t first, std::size_t end);

  const program::Program& part_;
  const program::Program& whole_;
  std::vector<Share> shares_;  ///< by rank
  bool by_slot_ = false;
  std::vector<double> all_scalars_;  ///< [instance][slot]
  bool scalars_known_ = false;
  std::vector<double> all_slots_;  ///< [slot][instance], where kernels have them so
  std::vector<bool> slot_known_;
};

}  // namespace vphi::runtime
