#include "compiler/emit/walks/lines_tile.hpp"

#include <set>

#include <fmt/format.h>

#include "compiler/emit/patterns/colours.hpp"

namespace vphi::emit {
namespace {

constexpr int kThreadsOfTile = 256;
// Groups on a processor, each with the registers that are left. Measured on an H200 for fluids of
// two to five arrays: 3, 4, 5 and 8 groups took 1.30, 1.12, 1.05 and 0.97 of the time in f32, and
// 1.09, 1.02, 1 and 1.4 in f64.
constexpr int kGroupsF32 = 6, kGroupsF64 = 5;
constexpr int kMostBytes = 46 * 1024;  ///< of local memory, for what is passed and for sums

/// Values that threads pass to others.
int passed_values(const kernel::Tile& tile) {
  int count = 0;
  for (const auto& phase : tile.passed)
    for (const kernel::Tile::Passed& passed : phase) count += passed.from.empty() ? 0 : 1;
  return count;
}

int local_bytes(const kernel::Tile& tile, int threads) {
  const kernel::Kernel& kernel = tile.phases.back().step;
  return threads * (passed_values(tile) * bytes_of(kernel.compute) +
                    8 * static_cast<int>(kernel.reductions.size()));
}

/// Threads of a group.
int threads_of(const kernel::Tile& tile) {
  int threads = kThreadsOfTile;
  while (threads > 64 && local_bytes(tile, threads) > kMostBytes) threads /= 2;
  return threads;
}
int stored_by(const kernel::Tile& tile, int threads) { return threads - tile.behind - tile.ahead; }

/// Whether the numbers that threads pass to each other through local memory, each once written and
/// read by some, take less time than those of the arrays in the device's memory. That is seven
/// times slower on an H200, and they overlap in part only: with up to 4.7 numbers passed for one
/// moved tiles took 0.26 to 0.93 of the time of runs, with 6 they took 0.99 and 1.02.
bool worth_passing(const kernel::Tile& tile) {
  constexpr int kMostPassed = 5;  // for one that is moved
  int passed = passed_values(tile);
  for (const auto& phase : tile.passed)
    for (const kernel::Tile::Passed& one : phase) passed += static_cast<int>(one.from.size());
  int moved = 0;
  for (const kernel::ArrayParam& array : tile.phases.back().step.arrays)
    moved += array.read + array.written;
  return passed <= kMostPassed * moved;
}

class TileWriter {
 public:
  TileWriter(const kernel::Tile& tile, const TargetInfo& target, const Bindings& bindings)
      : tile_(tile), threads_(threads_of(tile)) {
    std::vector<std::string> earlier;
    for (std::size_t p = 0; p < tile.phases.size(); ++p) {
      Handed handed;
      for (const kernel::Line::Held& held : tile.phases[p].held)
        handed.emplace_back(held.name, held.value);
      jobs_.push_back(
          make_job(tile.phases[p].step, target, bindings, earlier, handed, Taken::AsPhase));
      for (std::size_t i = 0; i < tile.passed[p].size(); ++i) {
        const std::string& name = tile.phases[p].held[i].name;
        const kernel::Tile::Passed& passed = tile.passed[p][i];
        if (passed.own) earlier.push_back(name);
        for (const int distance : passed.from) {
          earlier.push_back(kernel::passed_name(name, distance));
          const Code place = place_ == 0 ? Code() : code("{}u + ", place_ * threads_);
          texts_[earlier.back()] = code("passed[{}{}]", place, neighbour(distance));
          distances_.insert(distance);
        }
        if (!passed.from.empty()) places_[name] = place_++;
      }
    }
  }

  int threads() const { return threads_; }
  int stored() const { return stored_by(tile_, threads_); }
  int passed() const { return std::max(1, place_ * threads_); }
  const Job& last() const { return jobs_.back(); }

  Code functions() const {
    Code text;
    for (const Job& job : jobs_) text += job.body.code();
    return text;
  }
  /// The slots that the phases have in common, with the functions that any of them calls.
  Slots slots(const Groups& groups) const {
    Job all = last();
    for (const Job& job : jobs_) {
      all.body.calls.add(job.body.calls);
      if (&job != &last())
        all.handed.insert(all.handed.end(), job.handed.begin(), job.handed.end());
    }
    return common_slots(all, threads_, &groups);
  }
  Code parameters() const {
    Code text;
    for (const Job& job : jobs_)
      text += code("const vphi_par_{0} par_{0} = vphi_par_of_{0}(scalars);\n", job.body.suffix);
    return text;
  }
  /// Numbers of the threads from which values are read, in the group.
  Code neighbours() const {
    Code text;
    for (const int distance : distances_)
      text += distance > 0
                  ? code("const unsigned {0} = thread + {1}u < {2}u ? thread + {1}u : {2}u;\n",
                         neighbour(distance), distance, threads_ - 1)
                  : code("const unsigned {0} = thread < {1}u ? 0u : thread - {1}u;\n",
                         neighbour(distance), -distance);
    return text;
  }
  Code phases() const {
    Code text;
    for (std::size_t p = 0; p < jobs_.size(); ++p)
      for (std::size_t i = 0; i < tile_.passed[p].size(); ++i)
        if (tile_.passed[p][i].own) text += code("{} {};\n", real(), tile_.phases[p].held[i].name);
    for (std::size_t p = 0; p < jobs_.size(); ++p) {
      if (p > 0) text += "vphi_barrier();\n";
      text += "{\n" + indent(phase(p), 2) + "}\n";
    }
    return text;
  }

 private:
  Code real() const { return type_name(last().body.real); }
  static Code neighbour(int distance) {
    return distance > 0 ? code("next_{}", distance) : code("last_{}", -distance);
  }

  Code phase(std::size_t p) const {
    const Job& job = jobs_[p];
    const kernel::Line& line = tile_.phases[p];
    const auto load = [&](const Read& read, int age) {
      return code("{}[vphi_cell_{}(cell{})]", read_pointer(job, position(job.kernel, read.array)),
                  last().body.suffix, age == 0 ? Code() : code(" - {}", age));
    };
    Code text = take_cells(job, line, load);
    text += call_step(
        job, line,
        [&](const std::string& symbol) {
          const auto found = texts_.find(symbol);
          return found == texts_.end() ? Code(symbol) : found->second;
        },
        "par_" + job.body.suffix);
    for (std::size_t i = 0; i < tile_.passed[p].size(); ++i) {
      const std::string& name = line.held[i].name;
      const Code value = "out." + job.body.handed_members[i];
      if (tile_.passed[p][i].own) text += code("{} = {};\n", name, value);
      const auto place = places_.find(name);
      if (place != places_.end())
        text += code("passed[{}u + thread] = {};\n", place->second * threads_, value);
    }
    return p + 1 < jobs_.size() ? text : text + results();
  }

  /// What becomes of the results of the last phase.
  Code results() const {
    const Job& job = last();
    Code text;
    for (std::size_t i = 0; i < job.kernel.stores.size(); ++i)
      text += code("  {}[cell] = out.{};\n",
                   write_pointer(job, position(job.kernel, job.kernel.stores[i].array)),
                   job.body.store_members[i]);
    text += indent(gather_sums(job, tile_.phases.back(), threads_), 2);
    return code("if ((thread - {}u < {}u) & (cell < {})) {{\n{}}}\n", tile_.behind, stored(),
                line_shape(tile_.phases.back()).extent, text);
  }

  const kernel::Tile& tile_;
  int threads_, place_ = 0;
  std::vector<Job> jobs_;
  std::map<std::string, int> places_;  ///< of values in `passed`
  std::map<std::string, Code> texts_;  ///< of values that other threads made
  std::set<int> distances_;
};

}  // namespace

std::optional<kernel::Tile> tile_of(const kernel::Kernel& kernel, const kernel::Line& line,
                                    const TargetInfo& target) {
  if (dialect_of(target).processor() || line.run == 0) return {};
  kernel::Kernel along = kernel;
  along.along = line.axis;
  std::optional<kernel::Tile> tile = kernel::tile_of(along);
  if (!tile || !worth_passing(*tile)) return {};
  const int threads = threads_of(*tile);
  constexpr double kLeast = 0.75;  // of the threads have results
  if (local_bytes(*tile, threads) > kMostBytes || stored_by(*tile, threads) < kLeast * threads)
    return {};
  for (kernel::Line& phase : tile->phases) {
    phase.step.fast = line.step.fast;
    phase.step.pairs_all_angles = line.step.pairs_all_angles;
  }
  return tile;
}

program::Kernel emit_tile(const kernel::Tile& tile, const TargetInfo& target,
                          const Bindings& bindings) {
  const TileWriter writer(tile, target, bindings);
  const Job& job = writer.last();
  const kernel::Line& line = tile.phases.back();
  const int threads = writer.threads();
  const std::int64_t tiles = (line_shape(line).extent + writer.stored() - 1) / writer.stored();
  const int blocks = job.body.real == Precision::F32 ? kGroupsF32 : kGroupsF64;
  const std::int64_t held = std::int64_t{blocks} * std::max(1, target.compute_units);
  const Groups groups{std::min(tiles, held), 1, 1};
  const std::int64_t partials = groups[0] * static_cast<std::int64_t>(job.kernel.reductions.size());
  const GpuReductions reductions = gpu_reductions(job, threads, rare_sums(line));
  Slots slots = writer.slots(groups);
  slots["fast_math"] = job.kernel.fast ? fast_math_functions(job.body.real, job.dialect) : "";
  slots["count_of"] = count_of(job, line);
  slots["cell"] = cell_of(line, "i");
  slots["functions"] = writer.functions();
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  slots["finish_functions"] = reductions.functions;
  slots["sums"] = reductions.sums;
  slots["finish"] = reductions.finish;
  slots["local_memory"] = sum_memory(reductions);
  slots["blocks"] = std::to_string(blocks);
  slots["passed_real"] = type_name(job.body.real);
  slots["passed"] = std::to_string(writer.passed());
  slots["neighbours"] = writer.neighbours();
  slots["parameters_of_phases"] = writer.parameters();
  slots["tiles"] = std::to_string(tiles);
  slots["stored"] = std::to_string(writer.stored());
  slots["behind"] = std::to_string(tile.behind);
  slots["still"] = still_text(job, line, bindings, threads);
  slots["phases"] = writer.phases();

  program::Kernel out;
  out.source = finished(fill("lines_tile_gpu.txt", slots));
  out.entry = job.entry;
  out.partials = partials;
  out.arguments = arguments(job, bindings, job.counts_groups(), partials);
  out.grid = grid_of(job, groups);
  out.block = {static_cast<std::uint32_t>(threads), 1, 1};
  return out;
}

}  // namespace vphi::emit
