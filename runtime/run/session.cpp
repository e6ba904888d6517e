#include "runtime/run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "program/axes.hpp"
#include "program/parts.hpp"
#include "runtime/device/cuda/memory_holders.hpp"
#include "runtime/device/lanes.hpp"
#include "runtime/device/native/process.hpp"
#include "runtime/device/native/thread_pool.hpp"
#include "runtime/io/matrix_file.hpp"
#include "runtime/run/ranks/joint_sums.hpp"
#include "runtime/run/ranks/parts_beside.hpp"
#include "runtime/run/ranks/worker.hpp"
#include "runtime/run/session_arguments.hpp"
#include "runtime/run/starts/kept_starts.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::Argument;
using program::Launch;
using program::Precision;
using program::Program;

namespace {

constexpr std::int64_t kSmall = std::int64_t{1}
                                << 24;  ///< sites; random fields made ahead below it

constexpr int kSeldom = 16;  ///< steps between outputs from which on their kernels run seldom

void check_memory(const Program& p, const DeviceInfo& info) {
  const MemoryNeed need = memory_needed(p);
  if (info.memory_free == 0 || need.peak <= info.memory_free) return;
  std::string others = memory_holders(info);
  if (!others.empty()) others = fmt::format(" of {} ({})", gigabytes(info.memory_total), others);
  if (p.all_instances() > 1 && p.instances > 1) {
    const std::int64_t batch = largest_batch(p, info.memory_free);
    if (batch > 0)
      throw RunError(
          "E0802",
          fmt::format("{} instances at once need {} of memory, and {} has {} free{}", p.instances,
                      gigabytes(need.peak), info.name, gigabytes(info.memory_free), others),
          fmt::format("{} fit: --batch {}", batch, batch));
  }
  const auto largest = largest_lattice(p, info.memory_free);
  const auto dims = static_cast<std::size_t>(p.dims);
  throw RunError(
      "E0802",
      fmt::format("{} needs {} of memory ({} bytes a site), and {} has {} free{}",
                  shape_text({p.extent.data(), dims}), gigabytes(need.peak), need.per_site,
                  info.name, gigabytes(info.memory_free), others),
      fmt::format("the largest lattice that fits is {}: --lattice '{}'",
                  shape_text({largest.data(), dims}), shape_text({largest.data(), dims})));
}

}  // namespace

Session::Session(const Program& program, Device& device, const SessionOptions& options)
    : program_(program),
      device_(device),
      threads_(options.threads > 0 ? options.threads : usable_threads()),
      first_instance_(options.first_instance),
      by_slot_(program::scalars_by_slot(program)),
      buffers_(program.buffers.size()),
      gathered_(program.kernels.size()),
      whole_(program.buffers.size()),
      lent_(program.buffers.size()),
      partials_(program.kernels.size()),
      counters_(program.kernels.size()),
      kernels_(program.kernels.size()) {
  if (by_slot_) {
    slot_known_.resize(program.scalars.size());
    slots_.resize(program.scalars.size() * static_cast<std::size_t>(program.instances));
  }
  often_.resize(program.kernels.size());
  const auto mark = [&](const Launches& list) {
    for (const Launch& launch : program.with_iterations(list)) often_[launch.kernel] = true;
  };
  mark(program.step), mark(program.multi_step), mark(program.together);
  for (const auto& step : program.cycle) mark(step);
  for (const auto& output : program.outputs)
    if (output.regular() && output.every < kSeldom) mark(output.launches), mark(program.watch);
  const DeviceInfo info = device.info();
  if (info.target != program.target)
    throw RunError(
        "E0803",
        fmt::format("this program was compiled for another kind of device than {}", info.name));
  if (program.cut.axis >= 0) {
    if (options.comm == nullptr) throw std::logic_error("a share of a lattice without ranks");
    lattice_ = std::make_unique<LatticeRanks>(program_, device_, *options.comm);
  }
  if (options.check_memory) check_memory(program, info);
  together_ = program.together_steps > 0 &&
              (!options.check_memory || memory_needed(program, true).peak <= info.memory_free);
  // On the device where that is faster, and where memory is free for the box and the work memory of
  // the transform.
  const std::size_t beside =
      program.dims > 3
          ? 0
          : 3 * fft::padded_bytes({{program.extent[0], program.extent[1], program.extent[2]}},
                                  Precision::F64);
  const auto by_host = [](const Launches& list) {
    return std::ranges::any_of(
        list, [](const Launch& launch) { return launch.solve >= 0 || !launch.maps.empty(); });
  };
  map_fields_ = options.fields;
  steps_by_host_ = by_host(program.step) || std::ranges::any_of(program.cycle, by_host);
  device_fields_ =
      program.instances == 1 && program.axes.empty() &&
      (options.fields == SessionOptions::Fields::Device ||
       (options.fields == SessionOptions::Fields::Auto && DeviceFields::worth_it(program, info) &&
        info.memory_free > memory_needed(program).peak + beside));
}

Session::~Session() {
  const auto drop = [&](BufferHandle h) {
    if (h.id >= 0) device_.free(h);
  };
  try {
    device_.synchronise();
    lattice_.reset();  // the others end by themselves
    fields_.reset();
    device_maps_.reset();
    Session::release_scratch();
    for (auto& copies : buffers_)
      for (BufferHandle h : copies.handle) drop(h);
    for (auto* list : {&partials_, &counters_, &gathered_, &whole_})
      for (BufferHandle h : *list) drop(h);
    drop(scalars_), drop(notes_);
    for (auto& [bytes, handles] : pool_)
      for (BufferHandle h : handles) drop(h);
  } catch (const std::exception&) {
    // A device that failed has reported it before; its memory need not be freed.
  }
}

// What a Session calls of its own is its own: a RankedSession asks other ranks in these places.

// ---- kernels and launches ---------------------------------------------------------------------

void Session::compile(const std::vector<const Launches*>& lists) {
  std::vector<int> wanted;
  for (const Launches* list : lists)
    for (const Launch& launch : program_.with_iterations(*list))
      if (kernels_[launch.kernel].id < 0 &&
          std::find(wanted.begin(), wanted.end(), launch.kernel) == wanted.end())
        wanted.push_back(launch.kernel);
  if (wanted.empty()) return;
  std::vector<program::Kernel> sources;
  for (int k : wanted) {
    sources.push_back(program_.kernels[k]);
    // The time to the first step matters more than the speed of a kernel outside the step.
    if (!often_[k]) sources.back().source += "\n// vphi: seldom\n";
  }
  const Compiling now;
  const auto handles = device_.compile(sources);
  for (std::size_t i = 0; i < wanted.size(); ++i) kernels_[wanted[i]] = handles[i];
}

KernelReport Session::report(int kernel) {
  return kernels_[kernel].id < 0 ? KernelReport{} : device_.report(kernels_[kernel]);
}

BufferHandle Session::resolve(const program::Kernel&, int kernel_index, const Argument& a) const {
  switch (a.kind) {
    case Argument::Kind::Current:
      return buffers_[a.index].handle[buffers_[a.index].now];
    case Argument::Kind::Next:
      return buffers_[a.index].handle[1 - buffers_[a.index].now];
    case Argument::Kind::Scalars:
      return scalars_;
    case Argument::Kind::Partials:
      return partials_[kernel_index];
    case Argument::Kind::Counter:
      return counters_[program::counts_in(program_.kernels, kernel_index, a)];
    case Argument::Kind::Gathered:
      return lattice_ ? gathered_[kernel_index] : partials_[a.index];
    case Argument::Kind::Whole:
      return lattice_ ? whole_[a.index] : now(a.index);
  }
  return {};
}

void Session::issue(const Launches& list) {
  forget_scalars();
  std::vector<BufferHandle> arguments;
  Wanted wanted;  // of other ranks, before the next launch
  const auto exchange = [&] {
    if (lattice_) lattice_->exchange(wanted);
    wanted = {};
  };
  const bool apart = lattice_ && has_parts(program_, list) && lattice_->recorded();
  PartsBeside beside(program_, apart ? dynamic_cast<Lanes*>(&device_) : nullptr);
  std::size_t gathered = 0;  // launches before this one have the sums of all ranks
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Launch& launch = list[i];
    const auto& kernel = program_.kernels[launch.kernel];
    arguments.clear();
    for (const Argument& a : kernel.arguments)
      arguments.push_back(resolve(kernel, launch.kernel, a));
    if (lattice_ && i >= gathered) {
      gathered = end_of_joint(program_, list, i);
      for (std::size_t one = i; one < gathered; ++one) add_wanted_before(list[one], wanted);
    }
    exchange();
    beside.before(launch);
    device_.launch(kernels_[launch.kernel], arguments);
    beside.after(launch);
    for (int b : launch.swap) buffers_[b].now ^= 1;
    if (lattice_) add_wanted_after(launch, wanted);
    for (int number : launch.maps) map(static_cast<std::size_t>(number));
    if (launch.solve < 0) continue;
    exchange();
    solve(static_cast<std::size_t>(launch.solve));
  }
  exchange();
}

void Session::issue_wave(const Launches& list) {
  forget_scalars();
  std::vector<std::vector<BufferHandle>> arguments;
  for (const Launch& launch : list) {
    auto& own = arguments.emplace_back();
    const auto& kernel = program_.kernels[launch.kernel];
    for (const Argument& a : kernel.arguments) own.push_back(resolve(kernel, launch.kernel, a));
    for (int b : launch.swap) buffers_[b].now ^= 1;
  }
  device_.launch_wave(kernels_[list.front().kernel], arguments, program_.together_reach);
}

/// On GPUs, for arrays of one instance.
bool Session::maps_on_device() {
  if (device_maps_) return device_maps_->ready();
  const DeviceInfo info = device_.info();
  if (info.target == program::Target::Native || map_fields_ == SessionOptions::Fields::Host ||
      (info.is_cpu && map_fields_ == SessionOptions::Fields::Auto))
    return false;
  if (program_.instances > 1) {
    why_maps_by_host_ = "a sweep has several instances";
    return false;
  }
  if (lattice_ && !lattice_->recorded()) {
    why_maps_by_host_ = "the GPUs of the ranks do not reach each other";
    return false;
  }
  device_maps_ = std::make_unique<DeviceFourierMaps>(
      program_, device_, threads_, DeviceFourierMaps::Transform::Device, lattice_.get());
  if (!device_maps_->ready()) why_maps_by_host_ = device_maps_->why();
  return device_maps_->ready();
}

/// Instances that have stopped keep their arrays. Where the number of steps is known, nobody stops
/// between two reads of the state.
void Session::map(std::size_t number) {
  const program::FourierMap& map = program_.maps[number];
  const bool may_stop = program_.stop_slot >= 0 && program_.steps < 0;
  if (maps_on_device()) {
    if (may_stop && Session::slot(program_.stop_slot)[0] != 0) return;
    const auto memory = [&](const std::vector<int>& buffers) {
      std::vector<BufferHandle> handles;
      for (const int buffer : buffers) handles.push_back(now(buffer));
      return handles;
    };
    device_maps_->apply(number, memory(map.from), memory(map.to));
    forget_scalars();
    return;
  }
  if (!maps_)
    maps_ = lattice_ ? std::make_unique<FourierMaps>(program_, lattice_->comm(), threads_)
                     : std::make_unique<FourierMaps>(program_, threads_);
  const auto sites = static_cast<std::size_t>(program_.sites());
  const bool lines = program_.cut.second.ranks > 1;  // own lines lie between ghosts
  const std::size_t below = lattice_ && !lines ? own_sites().first : 0;
  const std::size_t own = lattice_ && !lines ? own_sites().second : sites;
  for (std::int64_t i = 0; i < program_.instances; ++i) {
    if (may_stop && Session::slot(program_.stop_slot)[i] != 0) continue;
    const std::size_t first = static_cast<std::size_t>(i) * sites + below;
    std::vector<std::vector<double>> from;
    for (int buffer : map.from) {
      from.push_back(read_from(buffer, first, own));
      if (lines)
        from.back() = numbers_of_bytes(own_planes(program_, std::as_bytes(std::span(from.back()))));
    }
    auto to = maps_->apply(number, from);
    for (std::size_t r = 0; r < to.size(); ++r) {
      if (lines)  // ghosts are filled after the launch
        to[r] = numbers_of_bytes(with_ghosts(program_, std::as_bytes(std::span(to[r]))));
      write_from(map.to[r], first, to[r]);
    }
  }
  forget_scalars();
}

void Session::swap(const Launches& list, std::int64_t times) {
  if (times % 2 == 0) return;
  for (const Launch& launch : list)
    for (int b : launch.swap) buffers_[b].now ^= 1;
}

void Session::launch(const Launches& list) {
  if (list.empty()) return;
  compile({&list});
  provide(list, true);
  if (lattice_) lattice_->meet();  // one rank may have compiled, and others not
  issue(list);
}

// ---- start ------------------------------------------------------------------------------------

void Session::start() {
  const int kept = program_.start_kept_slot;
  if (kept >= 0) device_fields_ = false;  // those are drawn once
  // The host makes the random fields while the device's compiler works.
  const bool ahead =
      program_.sites() * program_.instances <= kSmall && !device_fields_ && !lattice_;
  std::vector<std::promise<std::vector<double>>> promises(program_.random.size());
  for (auto& promise : promises) random_.push_back(promise.get_future());
  const auto make = [&](std::size_t i) {
    try {
      promises[i].set_value(random_fields(program_, program_.random[i], first_instance_,
                                          program_.instances, threads_, &configurations_));
    } catch (...) {
      promises[i].set_exception(std::current_exception());
    }
  };
  std::jthread maker;
  if (ahead && !promises.empty())
    maker = std::jthread([&] {
      for (std::size_t i = 0; i < promises.size(); ++i) make(i);
    });

  compile_usual(true);
  take_state();
  if (!ahead) random_.clear();  // made when they are needed, some instances at a time
  run_prologue();
  if (kept >= 0) {
    if (lattice_)
      throw RunError("E0879", "starts that are drawn again (`keep`) on a lattice that ranks share",
                     "give each rank instances of its own, or take one device");
    KeptStarts starts(program_, first_instance_, threads_);
    const auto values = [&] {
      const Slot slot = Session::slot(kept);
      std::vector<double> all;
      for (std::int64_t i = 0; i < slot.instances; ++i) all.push_back(slot[i]);
      return all;
    };
    while (starts.draw_again(values())) {
      random_ = starts.fields();
      put_scalars(initial_scalars());
      forget_scalars();
      run_prologue();
    }
    const std::vector<double> draws = starts.draws();
    for (std::size_t i = 0; i < draws.size(); ++i)
      Session::set_scalar(program_.draws_slot, draws[i], static_cast<std::int64_t>(i));
  }
  provide(program_.step, false);
  trim();
}

void Session::start_empty() {
  compile_usual(false);
  take_state();
  provide(program_.step, false);
  trim();
}

void Session::compile_usual(bool prologue) {
  std::vector<const Launches*> lists{&program_.step, &program_.watch_before, &program_.watch,
                                     &program_.multi_step};
  if (together_) lists.push_back(&program_.together);
  for (const auto& step : program_.cycle) lists.push_back(&step);
  if (prologue) lists.insert(lists.begin() + 1, &program_.prologue);
  for (const auto& output : program_.outputs)
    if (output.regular()) lists.insert(lists.end(), {&output.before, &output.launches});
  compile(lists);
}

void Session::take_state() {
  const std::vector<double> initial = initial_scalars();
  scalars_ = device_.allocate(sizeof(double) * std::max<std::size_t>(1, initial.size()));
  put_scalars(initial);
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    const auto buffer = static_cast<int>(b);
    if (program_.buffers[b].scratch || program_.home(buffer) != buffer) continue;
    buffers_[b].handle[0] = take(memory_of(buffer));
    if (program_.buffers[b].file.empty()) {
      device_.zero(buffers_[b].handle[0]);
    } else {
      load_matrix(b);
    }
  }
}

std::vector<double> Session::matrix_of_file(const program::Buffer& b) const {
  const auto n = static_cast<std::size_t>(program_.whole_extent()[0]);
  std::vector<double> values = io::read_matrix(b.file, n, n);
  if (!b.transposed) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(values[i * n + j], values[j * n + i]);
  }
  return values;
}

/// Rows of the file become columns in memory, so that what a sum over pairs reads for neighbouring
/// rows lies side by side. Where ranks share the sites, each has the rows of its own.
void Session::load_matrix(std::size_t buffer) {
  const program::Buffer& b = program_.buffers[buffer];
  const BufferHandle to = buffers_[buffer].handle[0];
  device_.zero(to);
  const std::vector<double> values = lattice_ ? share_of_matrix(b) : matrix_of_file(b);
  if (b.precision == Precision::F64) return device_.upload(to, 0, std::as_bytes(std::span(values)));
  const std::vector<float> rounded(values.begin(), values.end());
  device_.upload(to, 0, std::as_bytes(std::span(rounded)));
}

void Session::fill_random(std::size_t index) {
  if (lattice_) lattice_->meet();  // nobody allocates before all have queued what others wait for
  const int b = program_.random[index].buffer;
  auto& copies = buffers_[program_.home(b)];
  if (copies.handle[copies.now].id < 0) copies.handle[copies.now] = take(memory_of(b));
  if (lattice_) return fill_own_random(index);
  if (device_fields_ && program_.buffers[b].home < 0) {
    if (!fields_) fields_ = std::make_unique<DeviceFields>(program_, device_);
    const auto precision = program_.buffers[b].precision;
    if (fields_->random(program_.random[index], copies.handle[copies.now], precision)) return;
  }
  if (!random_.empty()) {
    Session::write(b, random_[index].get());
    return;
  }
  const auto sites = static_cast<std::size_t>(program_.sites());
  const std::int64_t at_once =
      std::max<std::int64_t>(1, kSmall / std::max<std::int64_t>(1, program_.sites()));
  for (std::int64_t first = 0; first < program_.instances; first += at_once) {
    const std::int64_t count = std::min(at_once, program_.instances - first);
    write_from(b, static_cast<std::size_t>(first) * sites,
               random_fields(program_, program_.random[index], first_instance_ + first, count,
                             threads_, &configurations_));
  }
}

namespace {

/// Whether the launch, or the solve after it, uses the array.
bool uses_array(const Program& program, const Launch& launch, int number) {
  const int buffer = program.home(number);
  const auto& arguments = program.kernels[launch.kernel].arguments;
  if (std::any_of(arguments.begin(), arguments.end(),
                  [&](const Argument& a) { return is_array(a) && a.index == buffer; }))
    return true;
  if (launch.solve < 0) return false;
  const program::Solve& solve = program.solves[static_cast<std::size_t>(launch.solve)];
  const auto within = [&](const Launch& other) { return uses_array(program, other, number); };
  return std::ranges::any_of(solve.iterate, within) || std::ranges::any_of(solve.finish, within);
}

}  // namespace

/// Each random field is uploaded before the first launch that reads it, and each scratch array is
/// given back after its last.
void Session::run_prologue() {
  const auto& list = program_.prologue;
  const auto uses = [&](const Launch& launch, int number) {
    return uses_array(program_, launch, number);
  };
  std::vector<bool> filled(program_.random.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t r = 0; r < filled.size(); ++r)
      if (!filled[r] && uses(list[i], program_.random[r].buffer)) fill_random(r), filled[r] = true;
    provide({list[i]}, false);
    issue({list[i]});
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      auto& copies = buffers_[b];
      if (!program_.buffers[b].scratch || copies.handle[copies.now].id < 0) continue;
      const bool later = std::any_of(list.begin() + static_cast<std::ptrdiff_t>(i) + 1, list.end(),
                                     [&](const Launch& l) { return uses(l, static_cast<int>(b)); });
      if (later) continue;
      for (BufferHandle& handle : copies.handle) {
        if (handle.id >= 0) give(handle, memory_of(static_cast<int>(b)));
        handle = {};
      }
    }
  }
  for (std::size_t r = 0; r < filled.size(); ++r)  // straight into state, read by no launch
    if (!filled[r]) fill_random(r);
  if (fields_) fields_->release();
  configurations_ = {};
}

// ---- steps ------------------------------------------------------------------------------------

/// Recordings hold 1, 4, 16, ... steps, so that both recordings and replays are few. An odd number
/// of exchanges of copies ends in the other state, so even numbers of steps use the same recordings
/// again.
std::int64_t Session::block(std::int64_t steps) const {
  const std::int64_t most =
      program_.sites() * program_.instances < (std::int64_t{1} << 22) ? 256 : 16;
  std::int64_t size = 1;
  while (size * 4 <= std::min(steps, most)) size *= 4;
  if (size == 1 && steps >= 2) size = 2;
  return size;
}

std::int64_t Session::phase(std::int64_t step) const {
  const auto cycle_length = static_cast<std::int64_t>(program_.cycle.size());
  return cycle_length == 0 ? 0 : step % cycle_length;
}

/// Two cycles leave the copies as they were.
void Session::swap_steps(std::int64_t first, std::int64_t steps) {
  const auto cycle_length =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(program_.cycle.size()));
  for (std::int64_t i = 0; i < steps % (2 * cycle_length); ++i)
    swap(program_.launches(first + i), 1);
}

std::vector<bool> Session::present_copies() const {
  std::vector<bool> copies;
  for (const Copies& c : buffers_) copies.push_back(c.now != 0);
  return copies;
}

RecordingHandle Session::recording(std::int64_t steps) {
  const auto key = std::tuple(present_copies(), phase(step_), steps);
  const auto found = recordings_.find(key);
  if (found != recordings_.end()) return found->second;
  // the other parity as well, before anything is recorded
  const auto cycle_length =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(program_.cycle.size()));
  const auto now = buffers_;
  for (std::int64_t i = 0; i < 2 * cycle_length; ++i)
    provide_and_swap(program_.launches(step_ + i));
  for (std::size_t b = 0; b < buffers_.size(); ++b) buffers_[b].now = now[b].now;
  const auto before = buffers_;
  const RecordingHandle handle = device_.record([&] {
    for (std::int64_t i = 0; i < steps; ++i) issue(program_.launches(step_ + i));
  });
  buffers_ = before;
  return recordings_[key] = handle;
}

RecordingHandle Session::recording_of_passes(std::int64_t passes) {
  const auto key = std::tuple(present_copies(), std::int64_t{-1}, passes);
  const auto found = recordings_.find(key);
  if (found != recordings_.end()) return found->second;
  provide(program_.together, false);
  const auto before = buffers_;
  const RecordingHandle handle = device_.record([&] {
    for (std::int64_t i = 0; i < passes; ++i) {
      if (program_.together_reach > 0)
        issue_wave(program_.together);
      else
        issue(program_.together);
    }
  });
  buffers_ = before;
  return recordings_[key] = handle;
}

std::int64_t Session::passes(std::int64_t steps) const {
  return together_ && steps >= program_.together_steps ? block(steps / program_.together_steps) : 0;
}

std::int64_t Session::singles(std::int64_t at, std::int64_t steps) const {
  const std::int64_t unit = program_.multi_step_unit;
  if (unit == 0) return steps;
  const std::int64_t lead = (unit - at % unit) % unit;
  if (lead > 0) return std::min(steps, lead);
  return steps < unit ? steps : 0;
}

/// Whether the host takes part between the launches of a step.
bool Session::host_between() { return steps_by_host_ || (lattice_ && !lattice_->recorded()); }

void Session::prepare(std::int64_t steps) {
  if (host_between()) return;  // what goes through the host is not recorded
  const auto before = buffers_;
  const std::int64_t first = step_;
  while (steps > 0) {
    if (const std::int64_t n = passes(steps); n > 0) {
      recording_of_passes(n);
      swap(program_.together, n);
      step_ += n * program_.together_steps, steps -= n * program_.together_steps;
      continue;
    }
    const std::int64_t alone = singles(step_, steps);
    if (alone == 0) {
      const std::int64_t together = steps - steps % program_.multi_step_unit;
      provide(program_.multi_step, false);
      step_ += together, steps -= together;
      continue;
    }
    const std::int64_t size = block(alone);
    recording(size);
    const std::int64_t repeats = program_.cycle.empty() ? alone / size : 1;
    swap_steps(step_, size * repeats);
    step_ += size * repeats;
    steps -= size * repeats;
  }
  step_ = first;
  for (std::size_t b = 0; b < buffers_.size(); ++b) buffers_[b].now = before[b].now;
}

void Session::multi_step(std::int64_t steps) {
  if (multi_step_set_ != steps)
    Session::set_scalar(program_.multi_step_slot, static_cast<double>(steps));
  multi_step_set_ = steps;
  provide(program_.multi_step, false);  // has sums of its own if nothing has prepared them
  issue(program_.multi_step);
}

void Session::advance(std::int64_t steps) {
  forget_scalars();
  const bool single = host_between();
  for (; single && steps > 0; --steps, ++step_) {
    provide(program_.launches(step_), false);
    const Stepping stepping(stepping_);
    issue(program_.launches(step_));
  }
  settle_solves();
  while (steps > 0) {
    std::int64_t size = 0;
    if (const std::int64_t n = passes(steps); n > 0) {
      device_.replay(recording_of_passes(n));
      swap(program_.together, n);
      size = n * program_.together_steps;
      step_ += size, steps -= size;
      continue;
    }
    const std::int64_t alone = singles(step_, steps);
    if (alone == 0) {
      multi_step(size = steps - steps % program_.multi_step_unit);
    } else {
      size = block(alone);
      device_.replay(recording(size));
      swap_steps(step_, size);
    }
    step_ += size, steps -= size;
  }
}

}  // namespace vphi::runtime
