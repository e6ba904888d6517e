#include "runtime/run/ranks/ordering_session.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/run/ranks/worker.hpp"

namespace vphi::runtime {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SessionOptions of_rank_0(SessionOptions options, const RankGroup& group) {
  options.threads = group.threads();
  return options;
}

}  // namespace

OrderingSession::OrderingSession(const program::Program& of_a_rank, RankGroup& group,
                                 const SessionOptions& options)
    : Session(of_a_rank, group.device(), of_rank_0(options, group)), group_(group) {}

void OrderingSession::open(const Packer& order) {
  group_.ask(order, [] {});
  opened_ = true;
}

OrderingSession::~OrderingSession() {
  if (!opened_) return;
  try {
    group_.tell(order(Order::Close));
  } catch (const std::exception&) {
    // A rank that cannot be reached has nothing left to close.
  }
}

void OrderingSession::start_empty() {
  forget();
  compile_usual(false);
  group_.ask(order(Order::StartEmpty), [&] { do_own([&] { Session::start_empty(); }); });
}

void OrderingSession::prepare(std::int64_t steps) {
  group_.tell(order(Order::Prepare, {steps}));
  do_own([&] { Session::prepare(steps); });
}

void OrderingSession::advance(std::int64_t steps) {
  forget();
  group_.tell(order(Order::Advance, {steps}));
  if (moving_ < 0) moving_ = seconds_now();
  do_own([&] { Session::advance(steps); });
}

void OrderingSession::synchronise() {
  double own = 0;
  const auto others = group_.ask(order(Order::Synchronise), [&] {
    do_own([&] { Session::synchronise(); });
    if (moving_ >= 0) own = seconds_now() - moving_;
    moving_ = -1;
  });
  auto& ranks = group_.ranks();
  ranks[0].busy += own, ranks[0].memory_held = bytes_peak();
  for (RankInfo& rank : ranks) rank.planes_go = planes_go();  // the same for all
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    Unpacker from(others[r]);
    ranks[r].busy += from.real(), ranks[r].memory_held = from.number();
  }
}

void OrderingSession::launch(const std::vector<program::Launch>& list) {
  if (list.empty()) return;
  forget();
  compile({&list});
  Packer launches = order(Order::Launch);
  put_launches(launches, list);
  group_.tell(launches);
  do_own([&] { Session::launch(list); });
}

void OrderingSession::release_scratch() {
  group_.tell(order(Order::Release));
  do_own([&] { Session::release_scratch(); });
}

void OrderingSession::exchange(int buffer, std::span<const InstancePair> pairs) {
  std::vector<std::byte> all(bytes_of(buffer));
  read_bytes(buffer, all);
  const auto bytes = std::ssize(all) / program().instances;
  for (const auto& [i, j] : pairs)
    std::swap_ranges(all.begin() + bytes * i, all.begin() + bytes * (i + 1),
                     all.begin() + bytes * j);
  write_bytes(buffer, all);
}

}  // namespace vphi::runtime
