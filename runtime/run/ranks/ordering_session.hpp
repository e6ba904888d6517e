// What a Session of rank 0 orders the others to do, whatever the ranks share: instances
// (ranked_session.hpp) or a lattice (lattice_session.hpp). Each order is followed by all ranks,
// this one too.
#pragma once

#include <functional>

#include "runtime/run/ranks/rank_group.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

class OrderingSession : public Session {
 public:
  ~OrderingSession() override;

  void synchronise() override;
  void start_empty() override;
  void prepare(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  void launch(const std::vector<program::Launch>& list) override;
  void release_scratch() override;
  /// By the bytes that all ranks show.
  void exchange(int buffer, std::span<const InstancePair> pairs) override;

 protected:
  using Bytes = comm::Bytes;
  /// `of_a_rank`: the program of this rank.
  OrderingSession(const program::Program& of_a_rank, RankGroup& group,
                  const SessionOptions& options);
  /// Opens the sessions of the other ranks, which end with this one.
  void open(const Packer& order);
  /// This rank's part of an order.
  virtual void do_own(const std::function<void()>& work) { work(); }
  /// Numbers that have been read are no longer those of the state.
  virtual void forget() {}

  RankGroup& group_;

 private:
  bool opened_ = false;
  double moving_ = -1;  ///< when the first steps after the last wait began; -1: none
};

}  // namespace vphi::runtime
