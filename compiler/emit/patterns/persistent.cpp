#include "compiler/emit/patterns/persistent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/patterns/pairs.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/sites.hpp"
#include "compiler/emit/site_function.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/kernel/draw.hpp"

namespace vphi::emit {
namespace {

using kernel::Kernel;
using kernel::Reach;

constexpr std::int64_t kMostThreads = 256;     // of a group, where there are many instances
constexpr std::int64_t kMostThreadsCpu = 128;  // of pairs, in OpenCL on a processor
// Sites of an instance that one group takes, as `tools/gpu_speed --only small` shows on an H200:
// where groups of other instances fill the device too, and where there are more than that; where an
// instance is alone (Tuned::round_sites), or sums over pairs.
constexpr std::int64_t kMostSitesMany = 4096, kMostSitesFull = 8192, kGroupsFull = 4;
constexpr std::int64_t kMostPairSitesOne = 256;
// Where groups wait for each other: the fewest sites of all, and the most of a thread.
constexpr std::int64_t kFewestSitesWait = 98304, kMostSitesOfThread = 16;
constexpr std::int64_t kWaveThreads = 256;
constexpr int kWaveOccupancy = 2;
constexpr std::int64_t kSitesOfTask = 8192, kPairSitesOfTask = 512;  // on a processor
constexpr std::int64_t kMostTasks = 4096;
// Stages that stand one after the other; of more than that, those that repeat stand in a loop. A
// compiler's time grows with what is left, in some faster than in proportion.
constexpr std::size_t kMostInARow = 16, kMostWritten = 64;

/// Stages from `begin` on, `length` of them, gone through `times` times.
struct Phrase {
  std::size_t begin = 0, length = 1, times = 1;
};

/// The first stage that does the same.
std::size_t first_like(const std::vector<Kernel>& stages, std::size_t i) {
  const auto same = [&](const Kernel& stage) { return stage.name == stages[i].name; };
  return static_cast<std::size_t>(std::ranges::find_if(stages, same) - stages.begin());
}

/// A step's stages in order: what stands in a row, and what repeats where the row is long.
std::vector<Phrase> phrases_of(const std::vector<Kernel>& stages) {
  std::vector<Phrase> list;
  const std::size_t count = stages.size();
  const auto times = [&](std::size_t begin, std::size_t length) {
    std::size_t end = begin + length;
    while (end < count && stages[end].name == stages[end - length].name) ++end;
    return (end - begin) / length;
  };
  for (std::size_t at = 0; at < count;) {
    Phrase best{at, 1, 1};
    for (std::size_t length = 1; count > kMostInARow && at + 2 * length <= count; ++length) {
      const std::size_t n = times(at, length);
      if ((n - 1) * length > (best.times - 1) * best.length) best = {at, length, n};
    }
    list.push_back(best);
    at += best.length * best.times;
  }
  return list;
}

std::size_t written_stages(const std::vector<Kernel>& stages) {
  std::size_t sum = 0;
  for (const Phrase& phrase : phrases_of(stages)) sum += phrase.length;
  return sum;
}

/// Text of all stages, `text(i)` that of one.
template <class Text>
Code in_phrases(const std::vector<Kernel>& stages, const Code& loop, const Text& text) {
  Code all;
  for (const Phrase& phrase : phrases_of(stages)) {
    Code part;
    for (std::size_t i = 0; i < phrase.length; ++i) part += text(phrase.begin + i);
    if (phrase.times > 1)
      part = code("{}for (unsigned turn = 0u; turn < {}u; ++turn) {{\n{}}}\n", loop, phrase.times,
                  indent(part, 2));
    all += part;
  }
  return all;
}

/// Reads its own site alone, and no matrix.
bool own_sites(const Kernel& k) {
  if (kernel::sums_pairs(k)) return false;
  const auto own = [](algebra::Expr e) {
    return !algebra::contains(e, [](algebra::Expr node) {
      return node.is(algebra::Op::Stencil) || (node.is(algebra::Op::Load) && !node->offset.zero());
    });
  };
  return std::ranges::all_of(k.values(), own);
}

std::int64_t most_reductions(const Kernel& persistent) {
  std::size_t most = 0;
  for (const Kernel& stage : persistent.stages) most = std::max(most, stage.reductions.size());
  return static_cast<std::int64_t>(most);
}

std::int64_t threads_for(const Kernel& persistent, std::int64_t most) {
  const std::int64_t wanted = std::max(persistent.sites(), most_reductions(persistent));
  return std::clamp<std::int64_t>((wanted + 31) / 32 * 32, 32, most);
}

/// On a processor: as soon as an instance is one task in every kernel, or there are enough for all
/// threads.
std::optional<PersistentShape> on_processor(const Kernel& persistent, const TargetInfo& target,
                                            bool pairs, bool asked, std::string& why) {
  const std::int64_t of_task = pairs ? kPairSitesOfTask : kSitesOfTask;
  const bool one_task =
      persistent.sites() < 2 * kSitesOfTask && (!pairs || persistent.sites() <= of_task);
  if (!asked && !one_task && persistent.instances < 4 * target.compute_units) {
    why = fmt::format("{} sites are work for several threads", persistent.sites());
    return std::nullopt;
  }
  // Two such loops with barriers around rows that one thread takes: PoCL 3 with LLVM 15 makes code
  // of it whose numbers are wrong, with optimisation alone. Oclgrind's are right.
  const bool groups = !dialect_of(target).tasks();
  if (groups && std::ranges::count_if(persistent.stages, kernel::sums_pairs) > 1) {
    why = "a step has several sums over pairs, which OpenCL drivers of processors confuse";
    return std::nullopt;
  }
  PersistentShape shape;
  if (pairs && groups) shape.threads = static_cast<int>(threads_for(persistent, kMostThreadsCpu));
  shape.why = fmt::format("{} site{} of an instance are one thread's", persistent.sites(),
                          persistent.sites() == 1 ? "" : "s");
  return shape;
}

/// On a GPU: an instance is one group's. Where there is one instance, the caller has compared.
std::optional<PersistentShape> one_group(const Kernel& persistent, const TargetInfo& target,
                                         bool pairs, bool asked, std::string& why) {
  const std::int64_t sites = persistent.sites(), units = std::max(1, target.compute_units);
  const bool many = persistent.instances > 1;
  // One group for an instance leaves a device idle that has more multiprocessors than there are.
  const bool idle = pairs && sites > kMostPairSitesOne && persistent.instances < units;
  const bool full = !pairs && persistent.instances >= kGroupsFull * units;
  const std::int64_t most = full ? kMostSitesFull : kMostSitesMany;
  if (many && !asked && (sites > most || idle)) {
    why = fmt::format("{} instances of {} sites: {}", persistent.instances, sites,
                      sites > most ? "more than a group of threads takes"
                                   : "one group each would leave the device idle");
    return std::nullopt;
  }
  const std::int64_t threads = many ? kMostThreads : dialect_of(target).tuned.round_threads;
  PersistentShape shape;
  shape.threads = static_cast<int>(threads_for(persistent, threads));
  if (most_reductions(persistent) > shape.threads) {
    why = "more sums than a group has threads";
    return std::nullopt;
  }
  const std::int64_t each = (sites + shape.threads - 1) / shape.threads;
  shape.why = fmt::format("a group of {} threads has {} sites of an instance, {} a thread",
                          shape.threads, sites, each);
  return shape;
}

/// On a GPU: groups of one instance that all run at the same time.
std::optional<PersistentShape> groups_that_wait(const Kernel& persistent, const TargetInfo& target,
                                                bool asked, std::string& why) {
  const std::int64_t sites = persistent.sites(),
                     most = kMostSitesOfThread * kWaveThreads * wave_groups(target);
  const Dialect& dialect = dialect_of(target);
  if (*dialect.texts.wait == '\0')
    why = fmt::format(
        "{} sites are more than a group of threads takes, and groups cannot wait for each other "
        "in {}",
        sites, dialect.shown);
  else if (!std::ranges::all_of(persistent.stages, own_sites))
    why =
        fmt::format("{} sites that read each other are more than a group of threads takes", sites);
  else if (!asked && sites < kFewestSitesWait)
    why = fmt::format(
        "{} sites are too few for groups to wait for each other, and too many for one", sites);
  else if (!asked && sites > most)
    why = fmt::format("{} sites are more than {}, with which groups that wait for each other gain",
                      sites, most);
  if (!why.empty()) return std::nullopt;
  PersistentShape shape;
  shape.reach = Reach::Wave;
  shape.threads = static_cast<int>(kWaveThreads);
  shape.why = fmt::format("{} groups that run at the same time wait for each other",
                          std::min((sites + kWaveThreads - 1) / kWaveThreads, wave_groups(target)));
  return shape;
}

/// File-scope text of several stages, each item once.
class Functions {
 public:
  void add(const Code& text) {
    for (const Code::Part& part : text.parts()) {
      if (part.item != nullptr)
        put(part.item->name, part.text, *part.item);
      else
        between(part.text, text.uses());
    }
  }
  const Code& text() const { return text_; }

 private:
  /// What is no item: blank lines are left out.
  void between(const std::string& lines, const Names& uses) {
    const bool blank = std::ranges::all_of(lines, [](char c) { return c == '\n' || c == ' '; });
    if (!blank) put(lines, lines, {lines, 0, 0, uses, true});
  }

  void put(const std::string& name, const std::string& text, const Code::Item& item) {
    const auto [found, fresh] = items_.emplace(name, text);
    if (fresh) {
      text_ += Code::item(item.name, Code(text, item.uses), item.kept);
      return;
    }
    if (found->second != text)
      throw std::invalid_argument("kernels of a step with two functions called " + name);
  }

  std::map<std::string, std::string> items_;
  Code text_;
};

/// Type -> elements of each array in the memory of a group.
using Local = std::map<std::string, std::vector<std::int64_t>>;

class PersistentText {
 public:
  PersistentText(const Kernel& kernel, const TargetInfo& target, const Bindings& bindings)
      : kernel_(kernel),
        target_(target),
        bindings_(bindings),
        frame_(make_job(kernel, target, bindings)) {
    const auto at = std::ranges::find(bindings.slots, kernel.steps_slot);
    if (at == bindings.slots.end())
      throw std::invalid_argument("kernel " + kernel.name + ": no scalar with its steps");
    steps_slot_ = slot_text(bindings, at - bindings.slots.begin());
  }

  program::Kernel emit() {
    program::Kernel out = frame_.dialect.tasks() ? processor() : device();
    out.entry = frame_.entry;
    return out;
  }

 private:
  bool many() const { return kernel_.instances > 1; }
  bool wave() const { return kernel_.reach == Reach::Wave; }

  static bool rows(const Kernel& stage, const TargetInfo& target) {
    return dialect_of(target).processor() && !kernel::sums_pairs(stage);
  }

  Stage stage_of(const Kernel& stage) const {
    if (kernel::sums_pairs(stage)) return pairs_stage(stage, target_, bindings_);
    const Kernel own = kernel::for_device(site_by_site(stage, target_)).kernel;
    const Job job = make_job(own, target_, bindings_);
    return rows(stage, target_) ? rows_stage(job, bindings_) : sites_stage(job, bindings_);
  }

  static Code array_name(int array) { return code("vphi_array_{}", array); }

  /// Pointers of a stage by the names that it knows them by.
  Code aliases(const Kernel& stage, const Stage& parts) const {
    Code text;
    for (std::size_t i = 0; i < stage.arrays.size(); ++i) {
      const kernel::ArrayParam& array = stage.arrays[i];
      const bool written = kernel_.arrays[position(kernel_, array.array)].written;
      text += code("VPHI_GLOBAL {}{}* {} = {};\n", written ? "" : "const ", type_name(array.store),
                   parts.pointers[i], array_name(array.array));
    }
    return text;
  }

  Code parameters(std::int64_t partials) const {
    Code text;
    for (const kernel::ArrayParam& array : kernel_.arrays)
      text += code("\n    VPHI_GLOBAL {}{}* {},", array.written ? "" : "const ",
                   type_name(array.store), array_name(array.array));
    text += "\n    VPHI_GLOBAL double* scalars";
    if (partials > 0) text += ",\n    VPHI_GLOBAL double* partials";
    if (wave()) text += ",\n    VPHI_GLOBAL unsigned* counter";
    return text;
  }

  Code instance(std::int64_t partials) const {
    if (!many()) return {};
    Code text = "const vphi_wide instance = vphi_instance();\n";
    for (const kernel::ArrayParam& array : kernel_.arrays)
      if (array.elements == 0)
        text += code("{} += instance * {}u;\n", array_name(array.array), kernel_.sites());
    text += code("scalars += instance * {}u;\n", bindings_.slots.size());
    if (partials > 0) text += code("partials += instance * {}u;\n", partials);
    return text;
  }

  program::Kernel device() {
    Functions functions;
    Local shared;
    int tree = 0;
    bool last = false;
    std::int64_t partials = 0;
    const auto stage_text = [&](std::size_t i) {
      const Kernel& own = kernel_.stages[i];
      const Stage stage = stage_of(own);
      functions.add(stage.functions);
      Code lines = comment_lines(own.name) + "{\n";
      if (wave()) lines += "  const unsigned open = vphi_gate_of(gate);\n";
      lines +=
          indent(aliases(own, stage) + local_aliases(stage.local_memory, shared) + stage.text, 2);
      const bool meets = !own.reductions.empty() || !own.epilogue.empty();
      if (wave() && meets) lines += "  vphi_wait(gate, open, last, thread);\n";
      if (wave() && !meets) lines += "  (void)open;\n";
      if (!wave() && kernel_.threads > 1) lines += "  vphi_barrier_all();\n";
      tree = std::max(tree, stage.tree_doubles);
      last = last || stage.names_last;
      partials = std::max(partials, stage.partials);
      return lines + "}\n";
    };
    const Code text = in_phrases(kernel_.stages, "VPHI_ROLLED\n", stage_text);
    const std::int64_t gate = partials;
    if (wave()) ++partials;  // the gate of the groups
    const std::int64_t each =
        wave() ? std::min((kernel_.sites() + kernel_.threads - 1) / kernel_.threads,
                          wave_groups(target_))
               : 1;
    const Groups groups{each, 1, 1};
    Slots slots = common_slots(frame_, kernel_.threads, &groups);
    slots["round_types"] = many() ? "" : wide_typedef(frame_.dialect);
    slots["who"] = wave() ? "each group has a part of the sites, waits for the others"
                          : "a group has all sites of an instance";
    slots["wait_functions"] = wave() ? fill(frame_.dialect.texts.wait, {}) : "";
    slots["functions"] = functions.text();
    slots["parameters"] = parameters(partials);
    slots["occupancy"] = std::to_string(wave() ? kWaveOccupancy : 1);
    slots["steps_slot"] = steps_slot_;
    slots["stage_repeats"] = std::to_string(kernel_.stage_repeats);
    slots["instance"] = instance(partials);
    if (wave()) slots["instance"] += code("unsigned* gate = (unsigned*)(partials + {});\n", gate);
    Code local = declared_of(shared);
    if (tree > 0) local += declared({{"double", "tree", tree}});
    if (wave() || last) local += "VPHI_LOCAL unsigned last;\n";
    slots["local_memory"] = local;
    slots["stages"] = text;
    program::Kernel out;
    out.source = finished(fill("persistent_gpu.txt", slots));
    out.partials = partials * kernel_.instances;
    out.arguments = arguments(frame_, bindings_, wave(), partials);
    out.grid = grid_of(frame_, groups);
    out.block = {static_cast<std::uint32_t>(kernel_.threads), 1, 1};
    out.together = wave();
    return out;
  }

  /// Local memory is declared by the kernel, once for all stages, which a barrier parts; a stage
  /// knows it by its own names. `local`: the largest array of each type and place that was wanted.
  static Code local_aliases(const std::vector<LocalArray>& own, Local& local) {
    Code text;
    std::map<std::string, std::size_t> taken;  // arrays of a type that this stage has
    for (const auto& [type, name, elements] : own) {
      const std::size_t place = taken[type]++;
      std::vector<std::int64_t>& sizes = local[type];
      sizes.resize(std::max(sizes.size(), place + 1), 0);
      sizes[place] = std::max(sizes[place], elements);
      text += code("VPHI_LOCAL_POINTER {}* {} = {};\n", type, name, local_name(type, place));
    }
    return text;
  }
  static std::string local_name(const std::string& type, std::size_t place) {
    return fmt::format("shared_{}_{}", type, place);
  }
  static Code declared_of(const Local& local) {
    std::vector<LocalArray> list;
    for (const auto& [type, sizes] : local)
      for (std::size_t place = 0; place < sizes.size(); ++place)
        list.push_back({type, local_name(type, place), sizes[place]});
    return declared(list);
  }

  // ---- on a processor ---------------------------------------------------------------------------

  program::Kernel processor() {
    Slots slots;
    program::Kernel out;
    std::vector<program::Kernel> parts;
    Bindings inside = bindings_;
    inside.inside = true;
    for (std::size_t i = 0; i < kernel_.stages.size(); ++i) {
      parts.emplace_back();
      if (first_like(kernel_.stages, i) != i) continue;  // its functions and arguments are there
      Kernel own = kernel_.stages[i];
      // scalars alone have no functions for one instance of many
      if (own.stores.empty() && own.reductions.empty()) own.instances = 1;
      parts.back() = emit::emit(own, target_, inside);
      out.partials += parts.back().partials;
    }
    out.arguments = arguments(frame_, bindings_, false, out.partials / kernel_.instances);
    std::int64_t partials = 0;
    std::map<std::size_t, Code> calls_of;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (first_like(kernel_.stages, i) != i) continue;
      const program::Kernel& part = parts[i];
      const Kernel& stage = kernel_.stages[i];
      const bool scalars = stage.stores.empty() && stage.reductions.empty();
      const Code space = "vphi_stage_" + std::to_string(i + 1), of = code("of_{}", i + 1);
      slots["stages"] +=
          "namespace " + space + " {\n" + part.source + "}  // namespace " + space + "\n\n";
      Code list;
      for (const program::Argument& argument : part.arguments) {
        const auto from = code("args[{}]", place(out.arguments, argument));
        Code move;
        if (argument.kind == program::Argument::Kind::Partials)
          move = code(" + {}L", 8 * partials);
        else if (scalars && many())
          move = code(" + instance * {}L", argument.bytes);
        list += (list.empty() ? "" : ", ") + (move.empty() ? from : "(char*)" + from + move);
      }
      slots["arguments"] += code("void* const {}[] = {{{}}};\n", of, list);
      calls_of[i] = calls(part, stage, space + "::", of);
      partials += part.partials;
    }
    slots["calls"] = in_phrases(
        kernel_.stages, "", [&](std::size_t i) { return calls_of[first_like(kernel_.stages, i)]; });
    slots["comment"] = comment_lines(kernel_.comment.empty() ? kernel_.name : kernel_.comment);
    slots["entry"] = frame_.entry;
    slots["steps_slot"] = steps_slot_;
    slots["stage_repeats"] = std::to_string(kernel_.stage_repeats);
    slots["instances"] = std::to_string(kernel_.instances);
    out.grid[0] = static_cast<std::uint32_t>(std::min(kernel_.instances, kMostTasks));
    slots["tasks"] = std::to_string(out.grid[0]);
    program::Argument scalars;
    scalars.kind = program::Argument::Kind::Scalars;
    slots["scalars"] = std::to_string(place(out.arguments, scalars));
    out.source = finished(fill("persistent_cpp.txt", slots));
    return out;
  }

  /// Rows of many instances: a function for a share, and one for the end of an instance.
  bool by_shares(const Kernel& stage) const {
    return many() && !kernel::sums_pairs(stage) &&
           !(stage.stores.empty() && stage.reductions.empty());
  }

  Code calls(const program::Kernel& part, const Kernel& stage, const Code& space,
             const Code& of) const {
    if (by_shares(stage)) {
      const Job job = make_job(stage, target_, bindings_);
      const std::int64_t tasks = row_tasks(job);
      const Code share = space + "vphi_share_" + job.body.suffix;
      Code text = tasks == 1 ? code("{}({}, instance, 0);\n", share, of)
                             : code(
                                   "for (long share = 0; share < {}; ++share) {}({}, instance, "
                                   "share);\n",
                                   tasks, share, of);
      if (job.epilogue())
        text += code("{}vphi_end_{}({}, instance);\n", space, job.body.suffix, of);
      return text;
    }
    // `task` is 0 where there is one instance, which the compiler is not to know beforehand
    const std::uint32_t tasks = part.grid[0];
    const bool pairs = kernel::sums_pairs(stage);
    Code text;
    if (pairs && many())
      text = code(
          "for (long block = 0; block < {0}; ++block)\n  {1}{2}({3}, instance * {0} + "
          "block);\n",
          tasks / kernel_.instances, space, part.entry, of);
    else if (tasks > 1)
      text = code("for (long t = 0; t < {}; ++t) {}{}({}, t);\n", tasks, space, part.entry, of);
    else
      text = code("{}{}({}, task);\n", space, part.entry, of);
    if (!part.finish.empty()) text += code("{}{}({});\n", space, part.finish, of);
    return text;
  }

  static std::size_t place(const std::vector<program::Argument>& list,
                           const program::Argument& wanted) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool array = wanted.kind == program::Argument::Kind::Current;
      if (list[i].kind == wanted.kind && (!array || list[i].index == wanted.index)) return i;
    }
    throw std::invalid_argument("a kernel of a step with an argument that the launch lacks");
  }

  const Kernel& kernel_;
  const TargetInfo& target_;
  const Bindings& bindings_;
  Job frame_;
  Code steps_slot_;
};

}  // namespace

std::optional<PersistentShape> persistent_shape(const Kernel& persistent, const TargetInfo& target,
                                                std::string& why, PersistentChoice wish) {
  const bool pairs = std::ranges::any_of(persistent.stages, kernel::sums_pairs);
  const Dialect& dialect = dialect_of(target);
  if (const std::size_t written = written_stages(persistent.stages); written > kMostWritten) {
    why = fmt::format("{} kernels one after the other are more than one launch takes", written);
    return std::nullopt;
  }
  if (wish == PersistentChoice::Groups && (dialect.processor() || persistent.instances > 1)) {
    why = "groups wait for each other on a GPU, within one instance";
    return std::nullopt;
  }
  if (dialect.processor())
    return on_processor(persistent, target, pairs, wish == PersistentChoice::Group, why);
  const std::int64_t alone = pairs ? kMostPairSitesOne : dialect.tuned.round_sites;
  if (wish == PersistentChoice::Groups || (wish == PersistentChoice::ByCounts &&
                                           persistent.instances == 1 && persistent.sites() > alone))
    return groups_that_wait(persistent, target, wish == PersistentChoice::Groups, why);
  return one_group(persistent, target, pairs, wish == PersistentChoice::Group, why);
}

program::Kernel emit_persistent(const Kernel& kernel, const TargetInfo& target,
                                const Bindings& bindings) {
  return PersistentText(kernel, target, bindings).emit();
}

}  // namespace vphi::emit
