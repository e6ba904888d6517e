#include "compiler/emit/text/frame.hpp"

#include "compiler/emit/math/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/math/sincos.hpp"
#include "compiler/emit/math/unit_log.hpp"
#include "compiler/emit/math/vector_math.hpp"
#include "compiler/emit/patterns/single_site.hpp"
#include "compiler/emit/text/instances.hpp"
#include "compiler/emit/text/reading.hpp"

namespace vphi::emit {
namespace {

constexpr int kMostThreads = 2048;  ///< of a multiprocessor

using kernel::ReduceKind;
using kernel::SumKind;
using program::Argument;

constexpr std::int64_t kMostOnesInF32 = std::int64_t{1} << 24;  // a sum of 1 is exact up to here

// A count of sites where a condition holds, which f32 can hold.
bool is_exact_count(const kernel::Kernel& kernel, const kernel::Reduction& reduction) {
  return algebra::is_condition(reduction.value->op) && kernel.walked_sites() <= kMostOnesInF32;
}

// Compensated in f32 unless plain sums are asked for, in f64 only where Kahan's are.
bool compensated(const kernel::Kernel& kernel, std::size_t i) {
  const kernel::Reduction& reduction = kernel.reductions[i];
  if (reduction.kind != ReduceKind::Sum || is_exact_count(kernel, reduction)) return false;
  return kernel.compute == Precision::F32 ? kernel.sum != SumKind::Plain
                                          : kernel.sum == SumKind::Kahan;
}

const char* suffix(Precision precision) { return precision == Precision::F32 ? "f32" : "f64"; }

}  // namespace

Code join_functions(const Job& job) {
  Code join = "a + b", neutral = "0.0";
  const auto& reductions = job.kernel.reductions;
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    if (reductions[i].kind == ReduceKind::Sum) continue;
    const bool low = reductions[i].kind == ReduceKind::Minimum;
    join = code("vphi_select_f64(which == {}u, {}(a, b),\n    {})", i,
                low ? "vphi_min_f64" : "vphi_max_f64", join);
    neutral = code("vphi_select_f64(which == {}u, {},\n    {})", i,
                   low ? "VPHI_INFINITY" : "-VPHI_INFINITY", neutral);
  }
  const std::string joins = "vphi_join_" + job.body.suffix;
  const std::string starts = "vphi_neutral_" + job.body.suffix;
  return Code::item(joins, code("VPHI_INLINE double {}(unsigned which, double a, double b) {{\n"
                                "  (void)which;\n  return {};\n}}\n",
                                joins, join)) +
         Code::item(starts, code("VPHI_INLINE double {}(unsigned which) {{\n"
                                 "  (void)which;\n  return {};\n}}\n",
                                 starts, neutral));
}

Job make_job(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings,
             const std::vector<std::string>& shared, const Handed& handed, Taken taken) {
  const Dialect& dialect = dialect_of(target);
  Job job{kernel,
          target,
          dialect,
          make_body(kernel, dialect, bindings, is_single_site(kernel), shared, handed,
                    !dialect.processor(),
                    dialect.processor() || taken != Taken::InParts ? taken : Taken::Whole),
          {},
          dialect.processor(),
          handed};
  job.order = bindings.order;
  job.inside = bindings.inside;
  job.arrivals = bindings.arrivals;
  for (const kernel::ArrayParam& array : kernel.arrays) {
    const auto number = static_cast<std::size_t>(array.array);
    job.places.push_back(number < bindings.places.size() ? bindings.places[number] : MemoryPlace{});
  }
  job.entry = "vphi_" + job.body.suffix;
  return job;
}

std::size_t position(const kernel::Kernel& kernel, int array) {
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i)
    if (kernel.arrays[i].array == array) return i;
  throw std::invalid_argument("kernel " + kernel.name + ": unknown array");
}

Code scalar_of(const Job& job, const Bindings& bindings, const Code& pointer, std::ptrdiff_t slot) {
  if (!bindings.by_slot) return code("{}[{}]", pointer, slot_text(bindings, slot));
  if (bindings.reading)
    return code("{}[{} * {}{}]", pointer, slot_text(bindings, slot), job.kernel.instances,
                job.dialect.words.wide_suffix);
  return code("{}[{}{}]", pointer, slot * job.kernel.instances, job.dialect.words.wide_suffix);
}

std::vector<Argument> arguments(const Job& job, const Bindings& bindings, bool counter,
                                std::int64_t partials) {
  std::vector<Argument> list;
  const std::int64_t instances = job.kernel.instances, sites = instances * job.kernel.sites();
  for (const kernel::ArrayParam& array : job.kernel.arrays) {
    const MemoryPlace& place = job.places[position(job.kernel, array.array)];
    if (place.lane > 0) continue;  // in the memory of another
    const int buffer = bindings.buffer_of.at(static_cast<std::size_t>(array.array));
    const auto add = [&](Argument::Kind kind, bool written) {
      Argument argument{kind, buffer};
      argument.bytes =
          (array.elements > 0 ? array.elements : sites * place.lanes) * bytes_of(array.store);
      argument.precision = array.store;
      argument.written = written;
      list.push_back(argument);
    };
    const auto now = job.kernel.gathers ? Argument::Kind::Whole : Argument::Kind::Current;
    if (array.read || !array.next) add(now, array.written && !array.next);
    if (array.next) add(Argument::Kind::Next, true);
  }
  const auto add = [&](Argument::Kind kind, std::int64_t bytes) {
    Argument argument{kind, 0};
    argument.bytes = bytes;
    argument.written = true;
    list.push_back(argument);
  };
  add(Argument::Kind::Scalars, instances * static_cast<std::int64_t>(8 * bindings.slots.size()));
  list.back().index = bindings.by_slot ? 1 : 0;
  if (partials > 0) add(Argument::Kind::Partials, instances * 8 * (partials + job.totals()));
  if (counter) add(Argument::Kind::Counter, instances * 4);
  return list;
}

bool has_site_order(const Job& job) {
  return std::ranges::any_of(job.places, [](const MemoryPlace& p) { return p.home >= 0; });
}

bool centred(const Job& job) {
  return std::ranges::all_of(job.body.reads, [](const Read& r) { return r.centre(); });
}

std::int64_t most_groups_of_instance(const Job& job, std::int64_t wanted) {
  constexpr std::int64_t kAlways = 64;
  return std::max(wanted / kSitesPerThread, job.body.held > 0 ? kAlways : std::int64_t{1});
}

std::size_t home_of(const Job& job, std::size_t array) {
  return job.places[array].home < 0 ? array : position(job.kernel, job.places[array].home);
}

std::string place_type(const Job& job, std::size_t array) {
  const int lanes = job.places[array].lanes;
  return type_name(job.kernel.arrays[array].store) + (lanes > 1 ? std::to_string(lanes) : "");
}

std::string read_pointer(const Job& job, std::size_t array) {
  return "vphi_" + job.body.array_names[home_of(job, array)];
}

std::vector<std::string> array_pointers(const Job& job) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) list.push_back(read_pointer(job, i));
  return list;
}

std::string write_pointer(const Job& job, std::size_t array) {
  return read_pointer(job, array) + (job.kernel.arrays[array].next ? "_next" : "");
}

Code gpu_parameters(const Job& job) {
  std::vector<Code> list;
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    if (job.places[i].lane > 0) continue;
    const Code type = place_type(job, i);
    const bool in_place = array.written && !array.next;
    if (array.read || !array.next)
      list.push_back(code("VPHI_GLOBAL {}{}* VPHI_RESTRICT {}", in_place ? "" : "const ", type,
                          read_pointer(job, i)));
    if (array.next)
      list.push_back(code("VPHI_GLOBAL {}* VPHI_RESTRICT {}", type, write_pointer(job, i)));
  }
  const bool path = is_single_site(job.kernel);
  const bool alone = job.kernel.reach == kernel::Reach::Group && !job.signed_index;
  list.push_back(code("VPHI_GLOBAL double* {}scalars", path ? "all_" : ""));
  if (!path && !alone && !job.kernel.reductions.empty())
    list.push_back("VPHI_GLOBAL double* partials");
  if (!path && !alone && job.counts_groups() && job.per_site())
    list.push_back("VPHI_GLOBAL unsigned* counter");
  Code text;
  for (const Code& item : list) text += (text.empty() ? "\n    " : ",\n    ") + item;
  return text;
}

std::array<std::uint32_t, 3> grid_of(const Job& job, const Groups& groups) {
  const std::int64_t instances = job.kernel.instances;
  const auto word = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  if (instances == 1) return {word(groups[0]), word(groups[1]), word(groups[2])};
  const std::int64_t all = groups[0] * groups[1] * groups[2] * instances;
  if (all >= std::int64_t{1} << 31)
    throw std::invalid_argument("kernel " + job.kernel.name + ": too many instances in one launch");
  return {word(all), 1, 1};
}

bool places_of_all_instances(const Job& job) {
  const kernel::Kernel& kernel = job.kernel;
  return kernel.instances > 1 && kernel.reach == kernel::Reach::Launch && has_site_order(job) &&
         kernel.instances * kernel.sites() < std::int64_t{1} << 31;
}

Code instance_pointers(const Job& job, const Bindings& bindings, std::int64_t partials,
                       bool counter) {
  if (job.kernel.instances == 1) return draw_start(job, bindings, "0");
  Code text = "const vphi_wide instance = vphi_instance();\n";
  const bool by_place = places_of_all_instances(job);
  if (by_place)
    text += code("const vphi_index first_place = (vphi_index)instance * {};\n",
                 index_literal(job, job.kernel.sites()));
  const auto move = [&](const Code& pointer, std::int64_t words) {
    text += words == 1 ? code("{} += instance;\n", pointer)
                       : code("{} += instance * {}u;\n", pointer, words);
  };
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    if (array.elements > 0 || job.places[i].lane > 0) continue;
    if (by_place && job.places[i].home >= 0) continue;
    if (array.read || !array.next) move(read_pointer(job, i), job.kernel.sites());
    if (array.next) move(write_pointer(job, i), job.kernel.sites());
  }
  move("scalars", static_cast<std::int64_t>(bindings.slots.size()));
  if (partials > 0) move("partials", partials);
  if (counter) move("counter", 1);
  return text + draw_start(job, bindings, "instance");
}

bool wide_index(const kernel::Kernel& kernel) { return kernel.sites() >= (std::int64_t{1} << 31); }

std::string index_literal(const Job& job, std::int64_t value) {
  const Words& words = job.dialect.words;
  return std::to_string(value) +
         (wide_index(job.kernel) ? words.wide_index_suffix : words.index_suffix);
}

namespace {

// Numbers of the work groups; within the instance where there are many.
Code group_functions(const Job& job, const Groups* groups) {
  if (job.kernel.instances == 1 || !groups) return fill(job.dialect.texts.groups, {});
  const auto& [x, y, z] = *groups;
  return fill("groups_many.txt", {{"linear", job.dialect.words.group},
                                  {"instances", std::to_string(job.kernel.instances)},
                                  {"groups", std::to_string(x * y * z)},
                                  {"groups_x", std::to_string(x)},
                                  {"groups_y", std::to_string(y)},
                                  {"groups_z", std::to_string(z)},
                                  {"groups_xy", std::to_string(x * y)}});
}

// A compiler that knew the index to be equal would keep the value read before in a register.
constexpr const char* kReloadFunction =
    "// The same index, since there are never 2^31 groups; no compiler can know that.\n"
    "VPHI_INLINE vphi_index vphi_again(vphi_index i, vphi_index times) {\n"
    "  return i + times * (vphi_groups() >> 31);\n"
    "}\n";

// Quotients, roots and powers of kernels that write them out.
Code near_functions(const Dialect& dialect, Precision precision) {
  if (precision == Precision::F64)
    return fill(dialect.texts.seeds, {}) + fill("near_math_f64.txt", {}) +
           fill("least_f64.txt", {});
  Slots slots;
  slots["asm"] = dialect.words.assembler;
  slots["bits"] = dialect.words.bits_of_float;
  slots["float_of_bits"] = dialect.words.float_of_bits;
  const std::string extremes = dialect.texts.extremes;
  return fill("near_seeds_f32.txt", slots) + fill("angle_f32.txt", {}) +
         fill(dialect.texts.near, {}) + (extremes.empty() ? Code() : fill(extremes, {}));
}

/// Whether a site chooses between two numbers by its place along an axis that ranks may cut
/// (schedule/cut.hpp), as the sign of a quark beyond an antiperiodic end.
bool chooses_number_by_place(const kernel::Kernel& kernel) {
  const int slowest = kernel.dims - 1;
  const auto by_place = [&](algebra::Expr test) {
    return algebra::contains(test, [&](algebra::Expr node) {
      return node.is(algebra::Op::Site) && node->index > 0 && node->index >= slowest - 1;
    });
  };
  bool found = false, beside = false;
  algebra::visit(kernel.values(), [&](algebra::Expr, algebra::Expr node) {
    beside = beside || node.is(algebra::Op::Stencil) ||
             (node.is(algebra::Op::Load) && !node->offset.zero());
    found = found || (node.is(algebra::Op::Select) && node.arg(1).is_number() &&
                      node.arg(2).is_number() && by_place(node.arg(0)));
  });
  return found && beside;
}

}  // namespace

// On one rank the same comparisons also choose neighbours at the ends; on several these are ghosts.
// clang multiplies by a number that is chosen in one way or the other, and where it fuses products
// and sums across expressions it takes other products: ranks would have other last bits.
Code fusing_line(const kernel::Kernel& kernel, const TargetInfo& target) {
  if (!dialect_of(target).tasks() || !target.contract || !chooses_number_by_place(kernel))
    return {};
  return "// vphi: contract=expression\n";
}

Code declared(const std::vector<LocalArray>& arrays) {
  Code text;
  for (const LocalArray& array : arrays)
    text += code("VPHI_LOCAL {} {}[{}];\n", array.type, array.name, array.elements);
  return text;
}

Code quick_functions(const Dialect& dialect) {
  return fill("angle_f32.txt", {}) + fill(dialect.texts.quick, {});
}

Code wide_typedef(const Dialect& dialect) {
  return code("typedef {} vphi_wide;", dialect.words.wide_type);
}

Slots common_slots(const Job& job, int threads, const Groups* groups) {
  Slots slots;
  const Dialect& dialect = job.dialect;
  const bool many = job.kernel.instances > 1, groups_there = !dialect.tasks();
  if (groups_there) slots["group_functions"] = group_functions(job, groups);
  slots["wide_type"] = many && groups_there ? wide_typedef(dialect) : "";
  slots["instances"] = std::to_string(job.kernel.instances);
  slots["name"] = job.body.suffix;
  slots["entry"] = job.entry;
  slots["linkage"] = job.inside ? "static __attribute__((noinline))" : "extern \"C\"";
  slots["comment"] =
      comment_lines(job.kernel.comment.empty() ? job.kernel.name : job.kernel.comment);
  slots["threads"] = std::to_string(threads);
  slots["index_type"] = wide_index(job.kernel) ? dialect.words.wide_type : "unsigned";
  if (job.signed_index) slots["index_type"] = "long";
  slots["contract"] = job.target.contract ? "ON" : "OFF";
  // A group of one thread needs no barriers. PoCL splits a kernel at its barriers and copies the
  // code after each; with some thirty of them in a loop it does not finish.
  const bool alone = threads == 1;
  slots["barrier"] = alone ? "" : "barrier(CLK_LOCAL_MEM_FENCE);";
  slots["barrier_all"] = alone ? "" : "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
  slots["fence"] = dialect.words.fence;
  slots["contract_pragmas"] = job.target.contract
                                  ? ""
                                  : "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n"
                                    "#else\n#pragma GCC optimize(\"fp-contract=off\")\n#endif";
  slots["contract_line"] = job.target.contract ? "" : "// vphi: contract=off\n";
  slots["prelude"] = fill(dialect.texts.prelude, slots);
  slots["choices"] = fusing_line(job.kernel, job.target) + fill("choices.txt", slots) +
                     table_functions(job.kernel, dialect, job.handed);
  slots["choices"] += sincos_functions_for(job.body.calls, dialect);
  if (job.body.calls.unit_log) slots["choices"] += unit_log_functions(dialect);
  slots["choices"] += vector_functions_for(job.kernel, dialect);
  if (job.kernel.fast && job.handed.empty() && groups_there)
    slots["choices"] += quick_functions(dialect);
  if (job.kernel.written_out) slots["choices"] += near_functions(dialect, job.kernel.compute);
  if (!job.body.draws.empty()) slots["choices"] += draw_functions(job);
  slots["wrap"] = fill("wrap.txt", slots);
  if (groups_there) slots["wrap"] += Code::item("vphi_again", kReloadFunction);
  slots["around"] = fill("around.txt", slots);
  slots["body"] = job.body.code();
  if (groups_there) slots["parameters"] = gpu_parameters(job);
  return slots;
}

Code each_site(const std::string& name, const std::string& count, int threads, bool once) {
  const Code first = code("(vphi_index)vphi_group() * {}u + thread", threads);
  if (once) return code("const vphi_index {0} = {1};\nif ({0} < {2})", name, first, count);
  return code(
      "for (vphi_index {0} = {1}; {0} < {2};\n     {0} += (vphi_index)vphi_groups() * {3}u)", name,
      first, count, threads);
}

namespace {

/// The groups of a launch for each multiprocessor; no more than one can hold.
int groups_of_unit(const Job& job, std::int64_t groups) {
  const std::int64_t units = std::max(1, job.target.compute_units);
  return static_cast<int>(std::min<std::int64_t>((groups + units - 1) / units, kMostThreads));
}

}  // namespace

int occupancy_of_row(const Job& job, int threads, std::int64_t groups) {
  // On an H200 wave equations with 2048 threads on a multiprocessor took 0.89 to 0.99 of the time
  // with the registers that the compiler chose, and none spilled. With more numbers or special
  // functions it may.
  constexpr std::size_t kMostNumbers = 6;
  constexpr int kMostInstructions = 40, kMostSpecial = 1;
  const kernel::Kernel& kernel = job.kernel;
  const bool row = kernel.extent[1] == 1 && kernel.extent[2] == 1;
  if (!row || !kernel.reductions.empty() || !job.body.draws.empty() ||
      kernel.reach != kernel::Reach::Launch ||
      job.body.reads.size() + kernel.stores.size() > kMostNumbers)
    return 1;
  const kernel::Cost cost = kernel::cost(kernel);
  if (cost.instructions > kMostInstructions || cost.special > kMostSpecial) return 1;
  return std::clamp(groups_of_unit(job, groups), 1, std::max(1, kMostThreads / threads));
}

int occupancy(const Job& job, int threads, std::int64_t groups) {
  constexpr int kRegisters = 65536;  // of a multiprocessor
  constexpr int kBeside = 34;        // values in flight, and one word of an address for each array
  if (job.body.held == 0) return occupancy_of_row(job, threads, groups);
  const int words = job.body.held * bytes_of(job.body.real) / 4 + kBeside +
                    static_cast<int>(std::ranges::count(job.places, 0, &MemoryPlace::lane));
  // Where more values are held than are read, most of them wait to be stored, and the compiler
  // makes them when it stores: parts of a step with 183 and 197 of them took 168 registers without
  // a spill in place of 232, and on an H200 0.87 of the step's time.
  constexpr int kWaiting = 200, kEnough = 168;
  const bool wait = job.body.real == Precision::F32 && job.body.held <= kWaiting &&
                    job.body.held > static_cast<int>(job.body.reads.size());
  const int needed = wait ? std::min(words, kEnough) : words;
  return std::clamp(std::min(kRegisters / (threads * needed), groups_of_unit(job, groups)), 1,
                    kMostThreads / threads);
}

bool noise_hides_errors(const kernel::Kernel& kernel, const TargetInfo& target) {
  return (kernel.random.draws > 0 || kernel.fast) && kernel.compute == Precision::F32 &&
         dialect_of(target).can.approximate && target.contract;
}

std::size_t sums_at_once(std::size_t count) {
  std::size_t batch = std::min<std::size_t>(count, 8);
  while (count % batch != 0) --batch;
  return batch;
}

GpuReductions gpu_reductions(const Job& job, int threads, const std::vector<bool>& in_tree) {
  GpuReductions out;
  if (!job.epilogue()) return out;
  const kernel::Kernel& kernel = job.kernel;
  Slots slots;
  slots["name"] = job.body.suffix;
  slots["threads"] = std::to_string(threads);
  const bool alone = kernel.reach == kernel::Reach::Group;
  const bool ranks = kernel::sums_of_ranks(kernel), folds = kernel::folds_sums_on_rank(kernel);
  if (kernel.reductions.empty()) {
    slots["arrivals"] = job.arrivals > 0 ? code("{}u", job.arrivals) : Code("vphi_groups()");
    const bool wave = kernel.reach == kernel::Reach::Wave;
    out.functions = fill(alone  ? "finish_plain_group_gpu.txt"
                         : wave ? "finish_plain_wave_gpu.txt"
                                : "finish_plain_gpu.txt",
                         slots);
    const char* arguments = alone  ? "thread, scalars"
                            : wave ? "&last, thread, counter, scalars"
                                   : "thread, counter, scalars";
    out.finish = code("vphi_finish_{}({});\n", job.body.suffix, arguments);
    return out;
  }
  const std::size_t count = kernel.reductions.size();
  if (static_cast<int>(count) > threads)
    throw std::invalid_argument("kernel " + kernel.name + ": more reductions than threads");
  slots["reductions"] = std::to_string(count);
  slots["lanes"] = std::to_string(std::min(32, threads));
  slots["batch"] = std::to_string(sums_at_once(count));
  // The fence of the counting thread may cover the writes that the barrier before it has ordered.
  const bool cumulative = job.dialect.can.ordered_fence;
  // Four independent accumulators and unrolled loops hide latencies on GPUs; PoCL 3.1 (LLVM 15)
  // crashes on them.
  slots["fold_lanes"] = fill(cumulative ? "fold_accumulators.txt" : "fold_simple.txt", slots);
  slots["tail_unroll"] = cumulative ? "VPHI_UNROLL" : "VPHI_ROLLED";
  slots["writer_fence"] = cumulative ? "" : "vphi_fence();";
  slots["suffix"] = suffix(kernel.compute);
  slots["real"] = type_name(kernel.compute);
  bool any = false;
  const Code real = type_name(kernel.compute);
  for (std::size_t i = 0; i < count; ++i) {
    const Code& member = job.body.reduction_members[i];
    if (i < in_tree.size() && in_tree[i]) {
      out.sums += code("tree[{}u + thread] = 0.0;\n", i * threads);
      continue;
    }
    const bool carry = compensated(kernel, i);
    any = any || carry;
    const char* start = "0";
    if (kernel.reductions[i].kind == ReduceKind::Minimum) start = "VPHI_INFINITY";
    if (kernel.reductions[i].kind == ReduceKind::Maximum) start = "-VPHI_INFINITY";
    out.sums += code("{0} {1} = ({0}){2};\n", real, member, start);
    if (carry) out.sums += code("{0} {1}_carry = ({0})0;\n", real, member);
    out.finish += code("tree[{}u + thread] = (double){}{};\n", i * threads, member,
                       carry ? " - (double)" + member + "_carry" : "");
  }
  out.finish += code("vphi_barrier();\nvphi_finish_{}({});\n", job.body.suffix,
                     alone   ? "tree, thread, scalars"
                     : folds ? "tree, &last, thread, partials, counter"
                     : ranks ? "tree, thread, partials"
                             : "tree, &last, thread, partials, counter, scalars");
  slots["before"] = ranks ? Code()
                          : code("const vphi_before_{0} before = vphi_before_of_{0}(scalars);\n",
                                 job.body.suffix);
  if (!alone && (folds || !ranks)) slots["fold_shares"] = fill("fold_shares_gpu.txt", slots);
  out.functions = (any ? fill("compensated.txt", slots) : Code()) + join_functions(job) +
                  fill("fold_gpu.txt", slots) +
                  fill(alone   ? "finish_group_gpu.txt"
                       : folds ? "fold_of_rank_gpu.txt"
                       : ranks ? "finish_ranks_gpu.txt"
                               : "finish_gpu.txt",
                       slots);
  out.tree_doubles = static_cast<int>(count) * threads;
  out.last = folds || !ranks;
  return out;
}

Code accumulate(const Job& job, std::size_t i, const Code& value) {
  const Code& sum = job.body.reduction_members[i];
  const char* type = suffix(job.kernel.compute);
  switch (job.kernel.reductions[i].kind) {
    case ReduceKind::Minimum:
      return code("{0} = vphi_min_{1}({0}, {2});\n", sum, type, value);
    case ReduceKind::Maximum:
      return code("{0} = vphi_max_{1}({0}, {2});\n", sum, type, value);
    case ReduceKind::Sum:
      break;
  }
  if (!compensated(job.kernel, i)) return code("{0} = {0} + {1};\n", sum, value);
  return code("vphi_accumulate_{0}(&{1}, &{1}_carry, {2});\n", type, sum, value);
}

bool rows_apart(const kernel::Kernel& kernel) {
  return kernel.planes && (kernel.planes->second || kernel.planes->gap > 0);
}

RowsOfLines::RowsOfLines(const kernel::Kernel& kernel) {
  const kernel::Planes& planes = *kernel.planes;
  const int second = planes.axis - 1;
  const auto cells = [&](int axis, std::int64_t sites) {
    return kernel.colours && kernel.colours->axis == axis ? sites / kernel.colours->modulus : sites;
  };
  const auto in_memory = [&](int axis) {
    return cells(axis, kernel.extent[static_cast<std::size_t>(axis)]);
  };
  for (int axis = 1; axis < second; ++axis) of_line *= in_memory(axis);
  if (!planes.second) {
    const std::int64_t plane = second > 0 ? of_line * in_memory(second) : of_line;
    own = plane * cells(planes.axis, planes.own / 2);
    of_plane = own + plane * cells(planes.axis, planes.gap);
    first = plane * cells(planes.axis, planes.first);
    return;
  }
  of_plane = of_line * in_memory(second);
  own = of_line * cells(second, planes.second->own);
  first =
      of_plane * cells(planes.axis, planes.first) + of_line * cells(second, planes.second->first);
}

Code RowsOfLines::place(const Code& number, std::int64_t each,
                        const std::function<Code(std::int64_t)>& literal) const {
  return code("{0} / {1} * {2} + {0} % {1} + {3}", number, literal(own * each),
              literal(of_plane * each), literal(first * each));
}

}  // namespace vphi::emit
