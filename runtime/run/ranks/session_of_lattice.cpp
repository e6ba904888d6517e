// What a session does beside its launches where ranks share the lattice.
#include "runtime/run/ranks/lattice_ranks.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::Argument;

/// What this launch needs of other ranks, beside what the launches before it have left.
void Session::add_wanted_before(const program::Launch& launch, Wanted& wanted) const {
  for (const Argument& a : program_.kernels[launch.kernel].arguments) {
    if (a.kind != Argument::Kind::Gathered) continue;
    const auto bytes =
        static_cast<std::size_t>(program_.kernels[a.index].for_ranks()) * sizeof(double);
    wanted.sums.push_back(
        {partials_[a.index], gathered_[launch.kernel], bytes, static_cast<std::size_t>(a.bytes)});
  }
}

void Session::add_wanted_after(const program::Launch& launch, Wanted& wanted) const {
  for (const program::Halo& halo : launch.halos)
    wanted.ghosts.push_back(
        {now(halo.buffer), program_.buffers[halo.buffer].precision, halo.depth});
}

void Session::fill_ghosts(int buffer) {
  Wanted wanted;
  wanted.ghosts.push_back(
      {now(buffer), program_.buffers[buffer].precision, program_.cut.deepest()});
  lattice_->exchange(wanted);
}

/// Before a recording: allocates what the launches use, and tells what they want of other ranks.
/// The exchanges are those of `issue`.
void Session::provide_and_swap(const Launches& list) {
  Wanted wanted;
  for (const program::Launch& launch : list) {
    provide({launch}, false);
    if (lattice_) {
      add_wanted_before(launch, wanted);
      lattice_->prepare(wanted);
      wanted = {};
    }
    swap({launch}, 1);
    if (lattice_) add_wanted_after(launch, wanted);
  }
  if (lattice_) lattice_->prepare(wanted);
}

void Session::synchronise() {
  device_.synchronise();
  if (lattice_) lattice_->check();
}

/// The first rank draws the field of the whole lattice, with the numbers of one device.
std::vector<double> Session::share_of_random(std::size_t index) {
  comm::Comm& comm = lattice_->comm();
  std::vector<comm::Bytes> shares;
  if (comm.rank() == 0) {
    program::Program whole = program_;
    whole.kernels.clear();
    whole.extent = whole.whole_extent();
    const std::vector<double> values = random_fields(whole, program_.random[index], first_instance_,
                                                     1, threads_, &configurations_);
    const std::size_t plane = values.size() / static_cast<std::size_t>(whole.cut.whole);
    for (int r = 0; r < comm.size(); ++r) {
      const auto planes = whole.cut.planes(comm.size(), r);
      shares.push_back(bytes_of_numbers(
          std::span(values).subspan(static_cast<std::size_t>(planes.first) * plane,
                                    static_cast<std::size_t>(planes.count) * plane)));
    }
  }
  return numbers_of_bytes(with_ghosts(program_, comm.deal(shares)));
}

}  // namespace vphi::runtime
