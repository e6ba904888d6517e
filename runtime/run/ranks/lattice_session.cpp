#include "runtime/run/ranks/lattice_session.hpp"

#include <fmt/format.h>

#include "program/json.hpp"
#include "runtime/observe/kinds/kind.hpp"
#include "runtime/run/ranks/cut_model.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/starts/own_field.hpp"

namespace vphi::runtime {

using program::Program;

namespace {

SessionOptions with_ranks(SessionOptions options, RankGroup& group) {
  options.comm = &group.comm();
  return options;
}

/// Before any rank allocates: each must have room for its planes.
const Program& fitting(const Program& own, const Program* other, RankGroup& group, bool memory) {
  std::size_t need = memory_needed(own).peak;
  if (other != nullptr) need = std::max(need, memory_needed(*other).peak);
  const std::size_t free = group.memory_free();
  if (memory && free > 0 && need > free)
    throw RunError("E0802",
                   fmt::format("the planes of each of {} ranks need {} MB of memory, and {} MB are "
                               "free on one of them",
                               group.size(), need / 1000000, free / 1000000),
                   "more ranks, or a smaller lattice: --lattice");
  return own;
}

/// What the first rank's steps would take at their limits.
void tell_model(const Program& own, RankGroup& group) {
  if (own.target != program::Target::Cuda || !own.solves.empty()) return;
  const Cluster& cluster = usual_cluster();
  const StepOfRank step = step_of_rank(own, group.size(), cluster);
  RankInfo& first = group.ranks()[0];
  first.modelled_for = cluster.name;
  first.modelled_kernels = step.kernels, first.modelled_exchanges = step.exchanges;
}

/// How many scalars are a rank's own, and not shown: the places of its first plane and line, and
/// what is behind them, as sums of parts.
std::size_t own_scalars(const Program& of_a_rank) {
  return of_a_rank.scalars.size() - static_cast<std::size_t>(of_a_rank.cut.origin_slot);
}

}  // namespace

Program whole_lattice(const Program& of_a_rank) {
  Program whole = of_a_rank;
  whole.extent = whole.whole_extent();
  whole.scalars.resize(whole.scalars.size() - own_scalars(whole));
  whole.cut = {};
  return whole;
}

LatticeSession::LatticeSession(const Program& own, const Program* other, const Program& whole,
                               RankGroup& group, const SessionOptions& options)
    : OrderingSession(fitting(own, other, group, options.check_memory), group,
                      with_ranks(options, group)),
      own_(own),
      whole_(whole),
      other_(other) {
  show(whole);
  for (std::size_t r = 0; r < group.ranks().size(); ++r) {
    RankInfo& rank = group.ranks()[r];
    rank.instances = 1, rank.planes = own.cut.planes(group.size(), static_cast<int>(r)).count;
    rank.row = own.cut.axis == 0;
    rank.lines = own.cut.second.ranks > 1 ? own.cut.second.own : 0;
  }
  tell_model(own, group);
  Packer opening =
      order(Order::Lattice, {std::int64_t{group.threads()},
                             std::int64_t{options.check_memory ? 1 : 0}, other == nullptr ? 1 : 2});
  opening.text(program::to_json(own, -1));
  if (other != nullptr) opening.text(program::to_json(*other, -1));
  open(opening);
}

void LatticeSession::do_own(const std::function<void()>& work) {
  try {
    work();
  } catch (const RunError&) {  // all ranks find it
    throw;
  } catch (const std::exception& failure) {
    group_.comm().abort(failure.what());
    throw;
  }
}

const Program& LatticeSession::program_of(int rank) const {
  const auto planes = own_.cut.planes(group_.size(), rank).count;
  return planes == own_.cut.own ? own_ : *other_;
}

// ---- steps ------------------------------------------------------------------------------------

void LatticeSession::start() {
  compile_usual(true);  // first here: the others then find the kernels in the cache
  group_.ask(order(Order::Start), [&] {
    try {
      Session::start();
    } catch (const std::exception& failure) {  // a file that is not there is found here alone
      group_.comm().abort(failure.what());
      throw;
    }
  });
}

// ---- numbers ----------------------------------------------------------------------------------

const std::vector<double>& LatticeSession::scalars() {
  const std::vector<double>& own = Session::scalars();
  shown_scalars_.assign(own.begin(), own.end() - static_cast<std::ptrdiff_t>(own_scalars(own_)));
  return shown_scalars_;
}

void LatticeSession::set_scalar(int slot, double value, std::int64_t instance) {
  Packer set = order(Order::SetScalar, {slot});
  set.real(value), set.whole(instance);
  group_.tell(set);
  Session::set_scalar(slot, value, 0);
}

void LatticeSession::set_scalars(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  all.resize(all.size() + own_scalars(own_));  // each rank puts the place of its part here
  group_.tell(order(Order::SetScalars));
  const Bytes bytes = bytes_of_numbers(std::span<const double>(all));
  group_.deal(std::vector<Bytes>(static_cast<std::size_t>(group_.size()), bytes));
  Session::set_scalars(all);
}

LatticeSession::Bytes LatticeSession::deal(std::span<const std::byte> whole) {
  std::vector<Bytes> all;
  for (int r = 0; r < group_.size(); ++r)
    all.push_back(with_ghosts(program_of(r), share_of_whole(own_.cut, group_.size(), r, whole)));
  return group_.deal(all);
}

void LatticeSession::join(const Bytes& own, const std::vector<Bytes>& others,
                          std::span<std::byte> whole) const {
  const Bytes first = own_planes(own_, own);
  std::size_t size = first.size();
  for (std::size_t r = 1; r < others.size(); ++r) size += others[r].size();
  if (size != whole.size()) throw std::logic_error("a rank answered with another size");
  put_share(own_.cut, group_.size(), 0, first, whole);
  for (std::size_t r = 1; r < others.size(); ++r)
    put_share(own_.cut, group_.size(), static_cast<int>(r), others[r], whole);
}

std::vector<double> LatticeSession::read(int buffer) {
  Bytes own;
  const auto others = group_.ask(order(Order::Read, {buffer}), [&] {
    own = bytes_of_numbers(std::span<const double>(Session::read(buffer)));
  });
  std::vector<double> whole(own.size() / static_cast<std::size_t>(own_.sites()) *
                            static_cast<std::size_t>(whole_.sites()) / sizeof(double));
  join(own, others, std::as_writable_bytes(std::span(whole)));
  return whole;
}

std::vector<double> LatticeSession::read(int buffer, std::int64_t) {
  return LatticeSession::read(buffer);
}

std::vector<double> LatticeSession::read_sites(int buffer, std::size_t first, std::size_t count) {
  std::vector<double> own, whole(count);
  const auto others = group_.ask(order(Order::ReadSites, {buffer, static_cast<std::int64_t>(first),
                                                          static_cast<std::int64_t>(count)}),
                                 [&] { own = read_own_sites(buffer, first, count); });
  for (std::size_t r = 0; r < others.size(); ++r) {
    const std::vector<double> some = r == 0 ? own : numbers_of_bytes(others[r]);
    auto next = some.begin();
    for (const OwnSites& run :
         own_sites_among(own_, group_.size(), static_cast<int>(r), first, count)) {
      const auto end = next + static_cast<std::ptrdiff_t>(run.count);
      std::copy(next, end, whole.begin() + static_cast<std::ptrdiff_t>(run.in_whole - first));
      next = end;
    }
    if (next != some.end()) throw std::logic_error("ranks answered with another number of sites");
  }
  return whole;
}

std::optional<observe::BinSums> LatticeSession::bin_sums(std::size_t output, std::size_t field) {
  if (!observe::has_bin_sums(own_.outputs[output].fields[field]) ||
      !transformed_by_ranks(own_, group_.size()))
    return {};
  observe::BinSums sums;
  group_.ask(
      order(Order::BinSums, {static_cast<std::int64_t>(output), static_cast<std::int64_t>(field)}),
      [&] { do_own([&] { sums = own_bin_sums(output, field); }); });
  return sums;
}

void LatticeSession::project(const program::Transform& transform) {
  if (!transformed_by_ranks(own_, group_.size())) return Session::project(transform);
  Packer project = order(Order::Project);
  put_transform(project, transform);
  group_.ask(project, [&] { do_own([&] { project_own(transform); }); });
}

void LatticeSession::write(int buffer, std::span<const double> values) {
  group_.tell(order(Order::Write, {buffer}));
  const Bytes own = deal(std::as_bytes(values));
  do_own([&] { Session::write(buffer, numbers_of_bytes(own)); });
}

std::size_t LatticeSession::bytes_of(int buffer) const {
  const auto planes = static_cast<std::size_t>(own_.sites()),
             all = static_cast<std::size_t>(whole_.sites());
  return Session::bytes_of(buffer) / planes * all;
}

void LatticeSession::read_bytes(int buffer, std::span<std::byte> to) {
  Bytes own(Session::bytes_of(buffer));
  const auto others =
      group_.ask(order(Order::ReadBytes, {buffer}), [&] { Session::read_bytes(buffer, own); });
  join(own, others, to);
}

void LatticeSession::write_bytes(int buffer, std::span<const std::byte> from) {
  group_.tell(order(Order::WriteBytes, {buffer}));
  const Bytes own = deal(from);
  do_own([&] { Session::write_bytes(buffer, own); });
}

}  // namespace vphi::runtime
