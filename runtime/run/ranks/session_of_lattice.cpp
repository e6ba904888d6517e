// What a session does beside its launches where ranks share the lattice.
#include "runtime/run/ranks/lattice_ranks.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::Argument;

void Session::before_launch(const program::Launch& launch) {
  for (const Argument& a : program_.kernels[launch.kernel].arguments) {
    if (a.kind != Argument::Kind::Gathered) continue;
    const auto bytes =
        static_cast<std::size_t>(program_.kernels[a.index].partials) * sizeof(double);
    lattice_->gather(partials_[a.index], bytes, gathered_[launch.kernel]);
  }
}

void Session::after_launch(const program::Launch& launch) {
  for (const program::Halo& halo : launch.halos)
    lattice_->fill(program_.buffers[halo.buffer], now(halo.buffer), halo.depth);
}

void Session::fill_ghosts(int buffer) {
  lattice_->fill(program_.buffers[buffer], now(buffer), program_.cut.ghost);
}

/// The first rank draws the field of the whole lattice, with the numbers of one device.
std::vector<double> Session::share_of_random(std::size_t index) {
  comm::Comm& comm = lattice_->comm();
  std::vector<comm::Bytes> shares;
  if (comm.rank() == 0) {
    program::Program whole = program_;
    whole.kernels.clear();
    whole.extent[static_cast<std::size_t>(whole.cut.axis)] = whole.cut.whole;
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
