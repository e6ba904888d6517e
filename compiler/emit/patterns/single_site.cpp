#include "compiler/emit/patterns/single_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/patterns/clock.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/kernel/common_values.hpp"
#include "compiler/kernel/draw.hpp"

namespace vphi::emit {
namespace {

constexpr int kInstanceThreads = 128;
constexpr std::int64_t kMostGroups = std::int64_t{1} << 24;
constexpr int kInstanceLanes = 32;  // instances side by side on a processor
// Bytes of a vector: clang has the vector functions of libmvec for 256 bits. By itself it takes 512
// bits in some loops only, with a call for each number, and the results depend on that.
constexpr int kVectorBytes = 32;
// Of kernels with a table: threads a group, so that making it is little beside using it, and rows.
// Groups on a multiprocessor, where a step is light: at most, and with many instances a thread.
constexpr int kInstanceOccupancy = 5, kOccupancyMany = 3, kLightFlops = 100;
// Registers of a thread beside what it keeps: addresses, counters and values of a step; and those
// of a draw in f32 and in f64, whose radius and angle are computed together.
constexpr int kWorkRegisters = 32, kDrawRegisters = 2, kDrawRegistersF64 = 10;
// Of instances side by side: numbers that they keep, operations of a step (the loop has to stay in
// the cache of instructions), and times that their groups fill the device.
constexpr int kHeldAbreast = 32, kFlopsAbreast = 280, kInstanceWaves = 1;
constexpr int kRegisters = 65536;  // of a multiprocessor
constexpr int kSharedThreads = 256, kRowsCpp = 128, kRowsAlone = 16;
// Rows of a table on GPUs: as few meetings of a group as its local memory allows. The bits of a
// block of random numbers are those of so many steps.
constexpr int kMostRows = 128, kFewestRows = 32, kStepsOfBlock = 128;
constexpr std::size_t kTableBytes = 12 * 1024;

// Where the state of a generator is needed. Bits are used one by one from the first step on. Words
// are used by rounds, which begin after the steps that lead up to a round.
Code state_start(const Job& job) {
  return job.kernel.random.bits ? "step_start" : "(step_start + lead)";
}

// The text of one kernel. `at` is put behind the names of what an instance keeps: "[i]" on
// processors.
class SingleSiteText {
 public:
  SingleSiteText(const Job& job, const Bindings& bindings, const kernel::Shared* shared = nullptr,
                 std::size_t slots = 0)
      : job_(job),
        bindings_(bindings),
        shared_(shared),
        slots_(shared ? slots : bindings.slots.size()) {}

  // Slot `slot` of the instance that `scalars` points to.
  Code scalar(std::ptrdiff_t slot) const { return scalar_of(job_, bindings_, "scalars", slot); }

  Code named(std::ptrdiff_t slot) const { return slot_text(bindings_, slot); }

  Code value(std::size_t array) const { return job_.body.array_names[array] + "_value"; }

  // `own_at`: the same behind the scalars of an instance.
  Code load(const Code& at, const Code& own_at) const {
    Code text;
    for (std::size_t i = 0; i < job_.kernel.arrays.size(); ++i)
      if (job_.kernel.arrays[i].read)
        text += code("{}{} = {}[instance];\n", value(i), at, source(i));
    for (int slot : used()) text += code("own[{}]{} = {};\n", named(slot), own_at, scalar(slot));
    return text;
  }

  // On processors later rows of the table go on from what was saved after the ones before.
  Code source(std::size_t array) const {
    const Code from = read_pointer(job_, array), to = write_pointer(job_, array);
    const bool reloads =
        shared_ && job_.dialect.tasks() && job_.kernel.arrays[array].written && from != to;
    return reloads ? code("(done == 0 ? {} : {})", from, to) : from;
  }

  Code save(const Code& at, const Code& own_at) const {
    Code text;
    for (std::size_t i = 0; i < job_.kernel.arrays.size(); ++i)
      if (job_.kernel.arrays[i].written)
        text += code("{}[instance] = {}{};\n", write_pointer(job_, i), value(i), at);
    for (int slot : job_.body.slots_written)
      text += code("{} = own[{}]{};\n", scalar(slot), named(slot), own_at);
    return text;
  }

  // Declarations of the values, in the precision in which they are stored between the steps.
  Code values(int lanes) const {
    Code text;
    for (std::size_t i = 0; i < job_.kernel.arrays.size(); ++i)
      text += code("{} {}{};\n", type_name(job_.kernel.arrays[i].store), value(i),
                   lanes > 0 ? code("[{}] = {{0}}", lanes) : " = 0");
    return text;
  }

  // One instance out of those side by side, and back.
  Code take() const {
    Code text = code("double mine[{}];\n", std::max<std::size_t>(1, bindings_.slots.size()));
    for (std::size_t i = 0; i < job_.kernel.arrays.size(); ++i)
      text +=
          code("{} {}_here = {}[i];\n", type_name(job_.kernel.arrays[i].store), value(i), value(i));
    for (int slot : used()) text += code("mine[{0}] = own[{0}][i];\n", named(slot));
    text += draw_walker(job_, bindings_, "(begin + i)", "mine");
    if (stateful()) text += "unsigned noise_state = noise_states[i];\n(void)first_walker;\n";
    return text;
  }
  Code put() const {
    Code text;
    for (std::size_t i = 0; i < job_.kernel.arrays.size(); ++i)
      if (job_.kernel.arrays[i].written) text += code("{0}[i] = {0}_here;\n", value(i));
    for (int slot : job_.body.slots_written)
      text += code("own[{0}][i] = mine[{0}];\n", named(slot));
    if (stateful()) text += "noise_states[i] = noise_state;\n";
    return text;
  }

  // Where the states of the lanes begin.
  Code lane_states() const {
    if (!stateful()) return {};
    Code unused;
    for (std::size_t i = 0; i < job_.kernel.arrays.size(); ++i)
      unused += code("(void){}_here;\n", value(i));
    return code("unsigned noise_states[{0}] = {{0}};\nfor (long i = 0; i < {0}; ++i) {{\n",
                kInstanceLanes) +
           indent(take() + unused + draw_state(job_, state_start(job_)) + put(), 2) + "}\n";
  }

  // The steps of a round, of each of them all instances side by side: NVIDIA's compiler keeps to
  // the order in which it meets them, and one instance after the other would wait for each of its
  // sines. Where draws are bits of a word, `noise_states` has those of the round.
  Code shared_steps_abreast(int abreast) const {
    const auto each = [&](const Code& lines) {
      return code("VPHI_UNROLL\nfor (unsigned p = 0u; p < {}u; ++p) {{\n{}}}\n", abreast,
                  indent(lines, 2));
    };
    const std::int64_t together = steps_together(job_.kernel);
    Code text =
        code("unsigned round_bits[{}];\n", abreast) +
        each("unsigned noise_state = noise_states[p];\n" + shared_draws(job_, true, together) +
             "round_bits[p] = bits;\nnoise_states[p] = noise_state;\n");
    for (std::int64_t k = 0; k < together; ++k)
      text += each("double* own = owns[p];\n(void)own;\nconst unsigned bits = round_bits[p];\n" +
                   step("own", "[p]", k, true));
    return text;
  }

  // The steps that share their random numbers; `block` holds the scalars. `alone`: one step,
  // wherever it stands among those.
  Code shared_steps(const Code& block, const Code& suffix, bool alone = false) const {
    const std::int64_t together = alone ? 1 : steps_together(job_.kernel);
    // A round of xorshift words begins where the state stands; single steps after it look theirs
    // up.
    const bool state = shared_ && keeps_state(job_) && (!alone || job_.kernel.random.bits);
    const bool shared = together > 1 || state;
    Code text;
    if (!state && shared_)
      text = draw_word_at(job_, code("(step_start + ({})step)", widest_integer(job_)), shared);
    else if (!state)
      text = draw_word(job_, bindings_, block, shared);
    if (shared) text += shared_draws(job_, state, together);
    for (std::int64_t k = 0; k < together; ++k) {
      const Code one = step(block, suffix, k, shared);
      text += together == 1 ? one : "{\n" + indent(one, 2) + "}\n";
    }
    return text;
  }

 private:
  bool stateful() const { return shared_ && keeps_state(job_); }

  std::vector<int> used() const {
    std::vector<int> list = job_.body.slots_read;
    list.insert(list.end(), job_.body.slots_written.begin(), job_.body.slots_written.end());
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    // behind the scalars of the program come those of the step
    std::erase_if(list, [&](int slot) { return slot >= static_cast<int>(slots_); });
    return list;
  }

  // Entry `column` of the row of step `k` of a round, at a fixed distance from the first row. A sum
  // of unsigned subscripts may wrap around, so the compiler could not use the fixed distance.
  Code entry(const char* table, std::size_t width, std::int64_t k, std::size_t column) const {
    return code("({0} + step * {1}{2})[{3}]", table, width, job_.dialect.words.index_suffix,
                static_cast<std::size_t>(k) * width + column);
  }

  Code step(const Code& block, const Code& suffix, std::int64_t k, bool shares) const {
    const kernel::Kernel& kernel = job_.kernel;
    const Code& name = job_.body.suffix;
    const Code real = type_name(job_.body.real);
    Code text;
    if (job_.per_site()) {
      text +=
          code("const vphi_par_{0} par = vphi_par_of_{0}({1});\nvphi_in_{0} in;\n", name, block);
      for (const Read& read : job_.body.reads) {
        std::int64_t weight = 0;
        for (std::int64_t w : read.weights) weight += w;
        const Code here = code("({}){}{}", real, value(position(kernel, read.array)), suffix);
        text += code("in.{} = {};\n", read.member,
                     weight == 1
                         ? here
                         : literal(static_cast<long double>(weight), job_.body.real) + "*" + here);
      }
      if (!job_.body.draws.empty()) text += shares ? draws_of_step(job_, k) : draw_lines(job_, "0");
      for (const auto& [symbol, member] : job_.body.shared) {
        const auto column = static_cast<std::size_t>(std::ranges::find(shared_->site, symbol) -
                                                     shared_->site.begin());
        text += code("in.{} = {};\n", member, entry("site_rows", shared_->site.size(), k, column));
      }
      for (std::size_t axis = 0; axis < 4; ++axis)
        if (job_.body.site_axis[axis]) text += code("in.site_{} = ({})0;\n", "xyzt"[axis], real);
      if (job_.body.reads.empty() && job_.body.draws.empty() && job_.body.shared.empty() &&
          std::ranges::count(job_.body.site_axis, true) == 0)
        text += code("in.none = ({})0;\n", real);
      text += code("const vphi_out_{0} out = vphi_site_{0}(in, par);\n", name);
      for (std::size_t i = 0; i < kernel.stores.size(); ++i) {
        const std::size_t array = position(kernel, kernel.stores[i].array);
        text += code("{}{} = ({})out.{};\n", value(array), suffix,
                     type_name(kernel.arrays[array].store), job_.body.store_members[i]);
      }
    }
    if (!job_.epilogue()) return text + (job_.per_site() ? "(void)out;\n" : "");
    Code totals;
    for (const std::string& member : job_.body.reduction_members)
      totals += (totals.empty() ? "" : ", ") + code("(double)out.{}", member);
    if (totals.empty()) totals = "0.0";
    if (job_.per_site() && kernel.reductions.empty()) text += "(void)out;\n";
    for (std::size_t j = 0; shared_ && j < shared_->epilogue.size(); ++j)
      text += code("{}[{}] = {};\n", block, slots_ + j,
                   entry("wide_rows", shared_->epilogue.size(), k, j));
    return text + code(
                      "const double total[] = {{{1}}};\n"
                      "vphi_epilogue_{0}({2}, vphi_before_of_{0}({2}), total);\n",
                      name, totals, block);
  }

  const Job& job_;
  const Bindings& bindings_;
  const kernel::Shared* shared_;
  std::size_t slots_;  // of the program
};

// Text of the number of steps in this launch.
Code step_count(const Job& job, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  if (kernel.steps_slot.empty()) return code("{}{}", kernel.steps, job.dialect.words.index_suffix);
  const auto at = std::ranges::find(bindings.slots, kernel.steps_slot);
  if (at == bindings.slots.end())
    throw std::invalid_argument("kernel " + kernel.name + ": no scalar with its steps");
  return code("vphi_count_of({})",
              scalar_of(job, bindings, "all_scalars", at - bindings.slots.begin()));
}

Code steps_text(const kernel::Kernel& kernel) {
  return kernel.steps_slot.empty() ? std::to_string(kernel.steps) : "many";
}

// Arguments of a task by name.
Code single_site_pointers(const Job& job) {
  Code text;
  int at = 0;
  const auto add = [&](const Code& type, const Code& name) {
    text += code("{0}* VPHI_RESTRICT {1} = ({0}*)args[{2}];\n", type, name, at++);
  };
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    const Code type = type_name(array.store);
    if (array.read || !array.next)
      add((array.written && !array.next ? "" : "const ") + type, read_pointer(job, i));
    if (array.next) add(type, write_pointer(job, i));
  }
  add("double", "all_scalars");
  return text;
}

/// Fills in what all patterns for processors share: tasks, and values in blocks of lanes.
void fill_tasks(program::Kernel& out, Slots& slots, const Job& job,
                const SingleSiteText& single_site) {
  const std::int64_t tasks =
      std::clamp<std::int64_t>(job.kernel.instances / (4 * kInstanceLanes), 1, 4096);
  slots["tasks"] = std::to_string(tasks);
  out.grid[0] = static_cast<std::uint32_t>(tasks);
  slots["pointers"] = single_site_pointers(job);
  slots["values"] = single_site.values(kInstanceLanes);
  slots["load"] = single_site.load("[i]", "[i]");
  slots["take"] = single_site.take();
  slots["put"] = single_site.put();
  slots["save"] = single_site.save("[i]", "[i]");
}

/// Fills in what all patterns for GPUs share: groups of threads, and values in registers.
/// `abreast`: the number of instances that a thread takes side by side; 0: one, without arrays.
void fill_groups(program::Kernel& out, Slots& slots, const Job& job,
                 const SingleSiteText& single_site, const Bindings& bindings, int threads,
                 int abreast = 0) {
  const std::int64_t each = std::int64_t{threads} * std::max(1, abreast);
  const std::int64_t groups = (job.kernel.instances + each - 1) / each;
  out.grid[0] = static_cast<std::uint32_t>(std::min(groups, kMostGroups));
  out.block[0] = static_cast<std::uint32_t>(threads);
  const Code at = abreast > 0 ? "[p]" : "";
  slots["values"] = single_site.values(abreast);
  slots["load"] = (abreast > 0 ? "" : single_site.values(0)) + single_site.load(at, "");
  slots["draw_start"] = draw_walker(job, bindings, "instance", "scalars");
  slots["save"] = single_site.save(at, "");
}

/// Rows of a group's table: of the clock, and of what all instances share of a step.
int rows_for(const kernel::Shared& shared, std::size_t clock_slots) {
  const std::size_t row = 8 * (clock_slots + shared.epilogue.size() + shared.site.size());
  int rows = kMostRows;
  while (rows > kFewestRows && row * static_cast<std::size_t>(rows) > kTableBytes) rows /= 2;
  return rows;
}

/// Groups on a multiprocessor where a thread has many instances, which hold more.
int occupancy_of_many(int abreast) {
  return abreast > 4 ? kOccupancyMany : abreast > 2 ? 4 : kInstanceOccupancy;
}

/// Instances of a thread side by side. What they share is read once for all of them and their
/// latencies overlap; more instances need more registers, and leave fewer groups.
int instances_abreast(const Job& job, const TargetInfo& target) {
  const kernel::Cost cost = kernel::cost(job.kernel);
  if (cost.flops > kLightFlops || job.body.real != Precision::F32) return 1;
  const std::int64_t registers = static_cast<std::int64_t>(job.kernel.arrays.size()) +
                                 2 * job.body.slots_written.size() + 2 * job.body.draws.size();
  const std::int64_t fill =
      std::int64_t{kSharedThreads} * kInstanceOccupancy * std::max(1, target.compute_units);
  for (const int abreast : {8, 4, 2}) {
    if (job.kernel.instances < kInstanceWaves * abreast * fill ||
        registers * abreast > kHeldAbreast || cost.flops * abreast > kFlopsAbreast)
      continue;
    if (abreast < 8) return abreast;
    // Groups come in waves: the last of them should not be nearly empty.
    const auto waves = [&](int count) {
      const std::int64_t wave = std::int64_t{count} * kSharedThreads * occupancy_of_many(count) *
                                std::max(1, target.compute_units);
      return count * ((job.kernel.instances + wave - 1) / wave);  // time, in that of an instance
    };
    return waves(7) < waves(8) ? 7 : 8;
  }
  return 1;
}

/// Groups on a multiprocessor, so that nothing is spilled: an estimate of registers from what a
/// thread keeps between steps. Scalars are f64, two registers; next to every value of an array is
/// the one that a step makes.
int occupancy_of(const Job& job, const kernel::Shared& shared, int abreast) {
  if (abreast > 2) return occupancy_of_many(abreast);
  const bool wide = job.body.real == Precision::F64;
  const auto written = [&](int slot) {
    return std::ranges::binary_search(job.body.slots_written, slot);
  };
  const int together = std::max(1, abreast);
  const int read = static_cast<int>(
      std::ranges::count_if(job.body.slots_read, [&](int slot) { return !written(slot); }));
  const int own = (wide ? 2 : 1) * static_cast<int>(job.kernel.arrays.size()) +
                  static_cast<int>(job.body.slots_written.size());
  const int registers =
      kWorkRegisters + 2 * (together * own + read + static_cast<int>(shared.epilogue.size())) +
      (wide ? kDrawRegistersF64 : kDrawRegisters) * static_cast<int>(job.body.draws.size());
  return std::clamp(kRegisters / (kSharedThreads * registers), kOccupancyMany, kInstanceOccupancy);
}

}  // namespace

bool is_single_site(const kernel::Kernel& kernel) {
  if (kernel.instances == 1 || kernel.sites() != 1 || kernel::sums_pairs(kernel)) return false;
  return std::ranges::all_of(kernel.boundary,
                             [](physics::Boundary b) { return b == physics::Boundary::Periodic; });
}

std::int64_t steps_together(const kernel::Kernel& kernel) {
  if ((kernel.steps == 1 && kernel.steps_slot.empty()) || kernel.random.draws == 0) return 1;
  return kernel::steps_sharing_draws(kernel.random);
}

program::Kernel emit_single_site(const Job& job, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const std::int64_t together = steps_together(kernel);
  if (kernel.steps % together != 0)
    throw std::invalid_argument("kernel " + kernel.name + ": steps a launch that share no block");
  const bool cpp = job.dialect.tasks();
  SingleSiteText single_site(job, bindings);
  program::Kernel out;
  Slots slots = common_slots(job, kInstanceThreads);
  slots["own"] = std::to_string(std::max<std::size_t>(1, bindings.slots.size()));
  slots["slots"] = bindings.by_slot ? "1" : slots["own"];
  slots["steps"] = steps_text(kernel);
  slots["step_count"] = step_count(job, bindings);
  slots["together"] = std::to_string(together);
  slots["lanes"] = std::to_string(kInstanceLanes);
  slots["vector"] = std::to_string(kVectorBytes / bytes_of(job.body.real));
  if (cpp) {
    fill_tasks(out, slots, job, single_site);
    slots["shared_steps"] = single_site.shared_steps("mine", "_here");
    out.source = finished(fill("single_site_cpp.txt", slots));
  } else {
    fill_groups(out, slots, job, single_site, bindings, kInstanceThreads);
    slots["shared_steps"] = single_site.shared_steps("own", "");
    out.source = finished(fill("single_site_gpu.txt", slots));
  }
  out.arguments = arguments(job, bindings, false, 0);
  return out;
}

kernel::SiteFunction path_function(const kernel::Shared& shared, const TargetInfo& target) {
  kernel::SiteFunction function{shared.own, {}, {shared.site.begin(), shared.site.end()}};
  function.kernel.fast = shared.own.compute == Precision::F32 && dialect_of(target).can.approximate;
  function.kernel.pairs_all_angles = dialect_of(target).can.sincos_for_all;
  return function;
}

program::Kernel emit_single_site_shared(const kernel::Kernel& kernel, const TargetInfo& target,
                                        const Bindings& bindings) {
  kernel::Shared shared = kernel::share(kernel);
  const Dialect& dialect = dialect_of(target);
  shared.own = kernel::for_device(path_function(shared, target)).kernel;
  Bindings wider = bindings;
  for (const std::string& name : shared.epilogue) wider.slots.push_back(name);
  const Job job = make_job(shared.own, target, wider, shared.site);
  const std::int64_t together = steps_together(shared.own);
  if (kernel.steps % together != 0)
    throw std::invalid_argument("kernel " + kernel.name + ": steps a launch that share no block");
  const bool cpp = job.dialect.tasks();
  const bool alone = dialect.work == Work::Rows;  // no group to share a table with
  const SingleSiteText single_site(job, wider, &shared, bindings.slots.size());
  const auto slot_of = [&](const Code& name) {
    return std::ranges::find(bindings.slots, name) - bindings.slots.begin();
  };
  const auto clock_of = [&](const Code& name) {
    return std::ranges::find(shared.slots, name) - shared.slots.begin();
  };
  program::Kernel out;
  out.entry = job.entry;
  Slots slots = common_slots(job, kSharedThreads);
  const auto number = [](auto n) { return std::to_string(std::max<std::size_t>(1, n)); };
  slots["own"] = number(wider.slots.size());
  slots["slots"] = number(bindings.by_slot ? 1 : bindings.slots.size());
  slots["steps"] = steps_text(kernel);
  slots["step_count"] = step_count(job, bindings);
  slots["together"] = std::to_string(together);
  slots["lanes"] = std::to_string(kInstanceLanes);
  slots["vector"] = std::to_string(kVectorBytes / bytes_of(job.body.real));
  const Clock clock =
      clock_functions(shared, kernel.still, job.body.suffix, job.body.real, dialect);
  const std::vector<int>& row_slots = clock.row_reads;
  slots["kept_slots"] = number(row_slots.size());
  slots["keep_clock"] = slots["take_clock"] = "";
  for (std::size_t k = 0; k < row_slots.size(); ++k) {
    const Code place = code("clock_rows[row * {}u + {}u]", row_slots.size(), k);
    slots["keep_clock"] += code("{} = clock[{}];\n", place, row_slots[k]);
    slots["take_clock"] += code("clock[{}] = {};\n", row_slots[k], place);
  }
  const int rows = cpp ? kRowsCpp : alone ? kRowsAlone : rows_for(shared, row_slots.size());
  slots["rows"] = std::to_string(rows);
  slots["real"] = type_name(job.body.real);
  slots["wide"] = widest_integer(job);
  slots["clock_slots"] = number(shared.slots.size());
  slots["site_width"] = number(shared.site.size());
  slots["wide_width"] = number(shared.epilogue.size());
  slots["still"] = kernel.still.empty() ? "0.0" : code("clock[{}]", clock_of(kernel.still));
  slots["still_slot"] = std::to_string(kernel.still.empty() ? 0 : slot_of(kernel.still));
  slots["stands"] = kernel.still.empty()
                        ? "0"
                        : code("vphi_count_of({}) != 0", single_site.scalar(slot_of(kernel.still)));
  slots["step_start"] = kernel.random.step.empty() ? "0"
                                                   : code("({})clock[{}]", widest_integer(job),
                                                          clock_of(kernel.random.step));
  slots["clock_load"] = slots["clock_save"] = "";
  for (std::size_t j = 0; j < shared.slots.size(); ++j) {
    slots["clock_load"] +=
        code("clock[{}] = {};\n", j, single_site.scalar(slot_of(shared.slots[j])));
    const auto sets = [&](const auto& a) { return a.slot == shared.slots[j]; };
    if (std::ranges::any_of(shared.clock, sets))
      slots["clock_save"] +=
          code("{} = clock[{}];\n", single_site.scalar(slot_of(shared.slots[j])), j);
  }
  slots["body"] += clock.text;
  const bool state = keeps_state(job);
  const std::int64_t run = kernel::steps_of_run(shared.own.random);
  // Rows end where a run of the state or a round of steps does.
  const std::int64_t unit = state ? run : together;
  slots["most_rows"] = code("{} - (step_low & {})", state ? run : rows, unit - 1);
  slots["run"] = std::to_string(state ? run : kStepsOfBlock);
  slots["run_mask"] = std::to_string((state ? run : kStepsOfBlock) - 1);
  slots["together_mask"] = std::to_string(together - 1);
  slots["lead"] = code("({} - (step_low & {})) & {}", together, together - 1, together - 1);
  slots["step_low"] = "0";
  if (!kernel.random.step.empty())
    slots["step_low"] = code("vphi_count_of(clock[{0}] - 128.0*{1}(clock[{0}]*0.0078125))",
                             clock_of(kernel.random.step),
                             function_name(algebra::Op::Floor, Precision::F64, dialect));
  const int abreast = cpp || alone ? 0 : instances_abreast(job, target);
  slots["abreast"] = std::to_string(std::max(1, abreast));
  const bool light = kernel::cost(kernel).flops <= kLightFlops;
  const int occupancy = occupancy_of(job, shared, abreast);
  slots["occupancy"] = std::to_string(!light ? 1 : occupancy);
  // NVIDIA's OpenCL takes no number of groups a multiprocessor, but a number of registers a thread.
  if (dialect.can.asks_registers && light)
    slots["comment"] +=
        code("// vphi: registers={}\n", kRegisters / (kSharedThreads * occupancy) / 8 * 8);
  const bool draws = !job.body.draws.empty();
  const bool kept = state && abreast > 0;
  slots["walkers"] = !draws || abreast == 0
                         ? ""
                         : code("{} first_walkers[{}];\n", widest_integer(job), abreast) +
                               (kept ? code("unsigned noise_states[{}];\n", abreast) : "");
  // NVIDIA's compiler would convert the number again in each round instead of keeping it.
  const Code keep = dialect.words.keep;
  slots["keep_walker"] = !draws ? ""
                         : keep.empty()
                             ? "first_walkers[p] = first_walker;\n"
                             : code("{} kept = first_walker;\n{}\nfirst_walkers[p] = kept;\n",
                                    widest_integer(job), keep);
  slots["walker"] = draws ? code(
                                "const {} first_walker = first_walkers[p];\n"
                                "(void)first_walker;\n",
                                widest_integer(job))
                          : "";
  slots["take_state"] = kept ? "unsigned noise_state = noise_states[p];\n" : "";
  slots["keep_state"] = kept ? "noise_states[p] = noise_state;\n" : "";
  if (kept && job.kernel.random.bits)
    slots["walkers"] += code("vphi_words run_words[{}];\n", abreast);
  if (kept && job.kernel.random.bits)
    slots["noise_state"] =
        draw_run(job, "low", "step_start + begun", "(done | begun) == 0u", "run_words[p]");
  else
    slots["noise_state"] =
        state && !cpp
            ? "unsigned noise_state = 0u;\n" +
                  draw_state(job, alone ? state_start(job) : "(step_start + begun + lead)")
            : "";
  slots["run_start"] =
      kept ? code("VPHI_UNROLL\nfor (unsigned p = 0u; p < {}u; ++p) {{\n{}}}\n", abreast,
                  indent(slots["walker"] + slots["noise_state"] + slots["keep_state"], 2))
           : "";
  slots["lane_states"] = cpp ? single_site.lane_states() : "";
  const Code block = cpp ? "mine" : "own", suffix = cpp ? "_here" : abreast > 0 ? "[p]" : "";
  slots["shared_steps"] = single_site.shared_steps(block, suffix);
  slots["one_step"] = single_site.shared_steps(block, suffix, true);
  if (abreast > 0)
    slots["shared_steps"] = kept && job.kernel.random.bits
                                ? single_site.shared_steps_abreast(abreast)
                                : fill("single_site_steps_gpu.txt", slots);
  if (cpp) {
    fill_tasks(out, slots, job, single_site);
    out.source = finished(fill("single_site_shared_cpp.txt", slots));
  } else {
    fill_groups(out, slots, job, single_site, wider, kSharedThreads, abreast);
    out.source = finished(
        fill(alone ? "single_site_shared_alone.txt" : "single_site_shared_gpu.txt", slots));
  }
  out.arguments = arguments(job, bindings, false, 0);
  return out;
}

}  // namespace vphi::emit
