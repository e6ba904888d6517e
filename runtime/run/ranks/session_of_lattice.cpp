// What a session does beside its launches where ranks share the lattice.
#include <algorithm>
#include <utility>

#include "runtime/observe/reduce.hpp"
#include "runtime/run/ranks/joint_sums.hpp"
#include "runtime/run/ranks/lattice_ranks.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/own_field.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::Argument;

namespace {

/// Sums of a cut along two axes in the order of the lattice: of each plane those of the ranks that
/// have lines of it, `of_plane` bytes of each.
Wanted::Dealt sums_in_order(const program::Cut& cut, int ranks, BufferHandle own, BufferHandle all,
                            std::size_t of_plane) {
  Wanted::Dealt dealt{own, all, {}};
  const auto beside = static_cast<std::size_t>(cut.second.ranks);
  for (int giver = 0; giver < ranks; ++giver) {
    const program::Cut::Planes planes = cut.planes(ranks, giver);
    const auto before =
        static_cast<std::size_t>(planes.first) * beside + static_cast<std::size_t>(giver) % beside;
    dealt.runs.emplace_back(static_cast<std::size_t>(ranks),
                            Wanted::Runs{0, of_plane, before * of_plane, beside * of_plane,
                                         of_plane, static_cast<std::uint64_t>(planes.count)});
  }
  return dealt;
}

/// An array on the whole lattice, of what ranks have of the planes of one class of sites
/// (PlacesOfArray).
Wanted::Dealt whole_of_class(const program::Program& p, int ranks, BufferHandle own,
                             BufferHandle all, const PlacesOfArray& places,
                             std::uint64_t of_class) {
  const program::Cut& cut = p.cut;
  const auto size = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const bool second = cut.second.ranks > 1;
  const std::uint64_t whole_plane = second ? places.line * size(cut.second.whole) : places.plane;
  Wanted::Dealt dealt{own, all, {}, static_cast<int>(of_class)};
  for (int giver = 0; giver < ranks; ++giver) {
    const program::Cut::Planes planes = cut.planes(ranks, giver), lines = cut.lines(giver);
    const std::int64_t first = cut.ghost[0], first_line = cut.second.ghost[0];
    const std::uint64_t in_memory = size(planes.count + first + cut.ghost[1]),
                        there = places.moved(of_class, planes.first - first,
                                             second ? lines.first - first_line : 0);
    Wanted::Runs runs{(of_class * in_memory + size(first)) * places.plane,
                      places.plane,
                      (there * size(cut.whole) + size(planes.first)) * whole_plane,
                      whole_plane,
                      places.plane,
                      size(planes.count)};
    if (second) {
      runs.from += size(first_line) * places.line, runs.to += size(lines.first) * places.line;
      runs.bytes = size(lines.count) * places.line;
    } else {
      runs.bytes *= std::exchange(runs.count, 1);  // planes that follow one another
    }
    dealt.runs.emplace_back(static_cast<std::size_t>(ranks), runs);
  }
  return dealt;
}

}  // namespace

/// What this launch needs of other ranks, beside what the launches before it have left.
void Session::add_wanted_before(const program::Launch& launch, Wanted& wanted) const {
  for (const Argument& a : program_.kernels[launch.kernel].arguments) {
    if (a.kind == Argument::Kind::Whole) {
      const program::Buffer& buffer = program_.buffers[a.index];
      const int lanes = lanes_of(buffer);
      if (program_.cut.second.ranks > 1 || lanes > 0) {
        const PlacesOfArray places = places_of_array(program_, buffer.precision, lanes);
        for (std::uint64_t k = 0; k < places.classes; ++k)
          wanted.dealt.push_back(whole_of_class(program_, lattice_->comm().size(), now(a.index),
                                                whole_[a.index], places, k));
        continue;
      }
      const std::size_t plane = plane_bytes(program_, buffer.precision);
      wanted.joined.push_back({now(a.index), whole_[a.index],
                               static_cast<std::size_t>(program_.cut.own) * plane,
                               static_cast<std::size_t>(a.bytes),
                               static_cast<std::size_t>(program_.cut.ghost[0]) * plane});
    }
    if (a.kind != Argument::Kind::Gathered) continue;
    const auto bytes =
        static_cast<std::size_t>(program_.kernels[a.index].for_ranks()) * sizeof(double);
    if (program_.cut.second.ranks > 1 && program_.kernels[a.index].totals == 0) {
      wanted.dealt.push_back(sums_in_order(program_.cut, lattice_->comm().size(),
                                           partials_[a.index], gathered_[launch.kernel],
                                           bytes / static_cast<std::size_t>(program_.cut.own)));
      continue;
    }
    wanted.joined.push_back(
        {partials_[a.index], gathered_[launch.kernel], bytes, static_cast<std::size_t>(a.bytes)});
  }
}

void Session::add_wanted_after(const program::Launch& launch, Wanted& wanted) const {
  for (const program::Halo& halo : launch.halos) {
    const program::Buffer& buffer = program_.buffers[halo.buffer];
    const Wanted::Ghosts ghosts{now(halo.buffer), buffer.precision, halo.depth,
                                halo.beside,      lanes_of(buffer), halo.classes};
    // buffers with one home are sent together
    const auto known = std::ranges::find_if(wanted.ghosts, [&](const Wanted::Ghosts& other) {
      return ghosts.lanes > 0 && other.array.id == ghosts.array.id &&
             other.classes == ghosts.classes;
    });
    if (known == wanted.ghosts.end())
      wanted.ghosts.push_back(ghosts);
    else
      known->deepen(ghosts);
  }
}

void Session::fill_ghosts(int buffer) {
  Wanted wanted;
  const program::Buffer& about = program_.buffers[buffer];
  wanted.ghosts.push_back({now(buffer), about.precision, program_.cut.deepest(),
                           program_.cut.second.ghost, lanes_of(about)});
  lattice_->exchange(wanted);
}

/// Before a recording: allocates what the launches use, and tells what they want of other ranks.
/// The exchanges are those of `issue`.
void Session::provide_and_swap(const Launches& list) {
  Wanted wanted;
  std::size_t gathered = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const program::Launch& launch = list[i];
    provide({launch}, false);
    if (lattice_) {
      if (i >= gathered) {
        gathered = end_of_joint(program_, list, i);
        for (std::size_t one = i; one < gathered; ++one) {
          provide({list[one]}, false);
          add_wanted_before(list[one], wanted);
        }
      }
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

std::pair<std::size_t, std::size_t> Session::own_sites() const {
  const auto plane = static_cast<std::size_t>(program_.sites()) / planes_in_memory(program_);
  return {static_cast<std::size_t>(program_.cut.ghost[0]) * plane,
          static_cast<std::size_t>(program_.cut.own) * plane};
}

std::vector<double> Session::read_own_sites(int buffer, std::size_t first, std::size_t count) {
  std::vector<double> values;
  for (const OwnSites& run :
       own_sites_among(program_, lattice_->comm().size(), lattice_->comm().rank(), first, count)) {
    const auto some = read_from(buffer, run.in_memory, run.count);
    values.insert(values.end(), some.begin(), some.end());
  }
  return values;
}

/// Where it is done, on the devices of all ranks.
bool Session::own_random_on_device(std::size_t index) {
  const program::RandomField& field = program_.random[index];
  const program::Buffer& buffer = program_.buffers[field.buffer];
  const bool here = device_fields_ && buffer.home < 0;
  if (lattice_->comm().most(here ? 0 : 1) != 0) return false;
  // columns of waves are dealt from device to device
  const bool waves = field.kind == program::RandomField::Kind::Vacuum;
  if (waves && map_fields_ != SessionOptions::Fields::Device && !lattice_->recorded()) return false;
  if (!fields_)
    fields_ = std::make_unique<DeviceFields>(program_, device_, DeviceFields::Transform::Device,
                                             lattice_.get());
  if (!fields_->random(field, now(field.buffer), buffer.precision)) return false;
  fill_ghosts(field.buffer);
  return true;
}

/// The numbers are those of one device. Waves of a single row, and of planes that are not
/// transformed by themselves, are drawn by the first rank, which also reads files.
void Session::fill_own_random(std::size_t index) {
  const program::RandomField& field = program_.random[index];
  comm::Comm& comm = lattice_->comm();
  if (own_random_on_device(index)) return;
  if (drawn_by_ranks(program_, field, comm.size()))
    return write_own(field.buffer, own_field(program_, field, comm, threads_));
  std::vector<comm::Bytes> shares;
  if (comm.rank() == 0) {
    program::Program whole = program_;
    whole.kernels.clear();
    whole.extent = whole.whole_extent();
    const std::vector<double> values =
        random_fields(whole, field, first_instance_, 1, threads_, &configurations_);
    for (int r = 0; r < comm.size(); ++r)
      shares.push_back(share_of_whole(whole.cut, comm.size(), r, std::as_bytes(std::span(values))));
  }
  write_own(field.buffer, numbers_of_bytes(comm.deal(shares)));
}

/// Of a box of the lattice on the host.
fft::SharedTransform Session::shared_transform() const {
  const auto extent = program_.whole_extent();
  comm::Comm& comm = lattice_->comm();
  return {{{extent[0], extent[1], extent[2], extent[3]}},
          planes_by_rank(program_, comm.size()),
          comm,
          threads_,
          program_.cut.second.ranks};
}

observe::BinSums Session::own_bin_sums(std::size_t output, std::size_t field) {
  const observe::ReadBuffer read([&](int buffer) { return read_own(buffer); });
  fft::SharedTransform transform = shared_transform();
  return observe::bin_sums(
      {program_, program_.outputs[output].fields[field], read, scalars(), threads_}, transform);
}

void Session::project_own(const program::Transform& transform) {
  fft::SharedTransform fourier = shared_transform();
  observe::apply(
      program_, transform, [&](int buffer) { return read_own(buffer); },
      [&](int buffer, std::vector<double> own) { write_own(buffer, std::move(own)); }, fourier);
}

std::vector<double> Session::read_own(int buffer) {
  if (program_.cut.second.ranks == 1 && program_.buffers[buffer].home < 0)
    return read_from(buffer, own_sites().first, own_sites().second);
  const std::vector<double> memory = Session::read(buffer);
  return numbers_of_bytes(own_planes(program_, std::as_bytes(std::span(memory))));
}

/// Own sites, x fastest, and the ghosts beside them.
void Session::write_own(int buffer, std::vector<double> own) {
  if (program_.cut.second.ranks > 1 || program_.buffers[buffer].home >= 0) {
    own = numbers_of_bytes(with_ghosts(program_, std::as_bytes(std::span(own))));
    write_from(buffer, 0, own);
  } else {
    write_from(buffer, own_sites().first, own);
  }
  fill_ghosts(buffer);
}

/// The first rank reads the file.
std::vector<double> Session::share_of_matrix(const program::Buffer& matrix) const {
  comm::Comm& comm = lattice_->comm();
  std::vector<comm::Bytes> shares;
  if (comm.rank() == 0) {
    const std::vector<double> all = matrix_of_file(matrix);
    const auto whole = static_cast<std::size_t>(program_.cut.whole);
    for (int r = 0; r < comm.size(); ++r) {
      const auto [first, count] = program_.cut.planes(comm.size(), r);
      std::vector<double> own;
      for (std::size_t column = 0; column < whole; ++column) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(column * whole) + first;
        own.insert(own.end(), begin, begin + count);
      }
      shares.push_back(bytes_of_numbers(std::span<const double>(own)));
    }
  }
  return numbers_of_bytes(comm.deal(shares));
}

}  // namespace vphi::runtime
