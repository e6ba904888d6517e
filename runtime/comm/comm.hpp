// The ranks of one run, and what they say to each other.
//
// A rank is a thread of this process (team.hpp) or a process of its own (mpi.hpp). A Comm is one
// rank's end. Each call is made by all ranks, in the same order; it returns when this rank's part
// is done. What is sent are bytes: all ranks of a run are the same build on the same kind of
// processor. Throws CommError where the ranks cannot reach each other any more, on every rank that
// waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace vphi::comm {

struct CommError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Bytes = std::vector<std::byte>;

class Comm {
 public:
  Comm() = default;
  virtual ~Comm() = default;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Place among the ranks of this rank's machine, and how many these are.
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;
  /// Each rank is a process of its own. Else all are threads of one.
  virtual bool processes() const { return false; }

  /// What rank 0 gives comes back on every rank.
  virtual void share(Bytes& bytes) = 0;
  /// What each rank gives comes back on rank 0, by rank; elsewhere nothing comes back.
  virtual std::vector<Bytes> gather(std::span<const std::byte> own) = 0;
  /// Of a list with one entry for each rank, which rank 0 gives, each rank gets its own.
  virtual Bytes deal(const std::vector<Bytes>& all) = 0;
  /// What each rank gives comes to all of them, by rank. `all` has room for exactly that.
  virtual void to_all(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  /// Where ranks are threads of one process: what each gives comes back, by rank, where it lies. It
  /// stays there until its rank comes here for the second time after that; whoever comes here for
  /// the next time has done with it. Between processes a std::logic_error.
  /// `memory`: of what is given, which it keeps as long, even where its rank has ended.
  virtual std::vector<std::span<const std::byte>> look(std::span<const std::byte> own,
                                                       std::shared_ptr<const void> memory);
  /// Messages between all pairs: `to[r]` goes to rank r, and `from[r]` comes from it. A rank gives
  /// itself a copy. Sizes are known: what rank r expects here is as long as what this one gives it.
  virtual void each_to_each(std::span<const std::span<const std::byte>> to,
                            std::span<const std::span<std::byte>> from) = 0;
  /// Messages on a ring: rank r gives one to rank r - 1 and one to rank r + 1, and gets one from
  /// each. Two ranks are neighbours on both sides. Sizes are known: what rank r expects from below
  /// is as long as what rank r - 1 gives to above.
  virtual void ring(std::span<const std::byte> to_below, std::span<const std::byte> to_above,
                    std::span<std::byte> from_below, std::span<std::byte> from_above) = 0;
  /// Ends what all other ranks wait for, now and later, with a CommError that says `why`.
  virtual void abort(const std::string& why) noexcept = 0;
  /// Where ranks are threads of one process: `end` is called once, by the rank that aborts or by
  /// this one if that has happened, and must return soon. It ends what this rank may wait for
  /// outside of its Comm. Not called any more when what comes back is gone. Processes end whole.
  virtual std::shared_ptr<void> at_abort(std::function<void()> end) {
    return std::make_shared<std::function<void()>>(std::move(end));
  }

  /// Sums over the ranks, added in the order of the ranks: the same bits on each of them.
  void add(std::span<double> values);
  /// The largest that a rank gives.
  std::int64_t most(std::int64_t value);
};

}  // namespace vphi::comm
