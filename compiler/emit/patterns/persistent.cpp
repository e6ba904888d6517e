#include "compiler/emit/patterns/persistent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/emit/patterns/pairs.hpp"
#include "compiler/emit/patterns/phrases.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/sites.hpp"
#include "compiler/emit/site_function.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/kernel/draw.hpp"

namespace vphi::emit {
namespace {

using kernel::Kernel;
using kernel::Reach;

constexpr int kPersistentOccupancy = 2;
constexpr std::int64_t kMostTasks = 4096;
constexpr std::size_t kMostOwnScalars = 1024;  ///< 8 KiB of the memory of a group

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
  /// Lines outside of items; blank lines are left out.
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
        frame_(make_job(kernel, target, bindings)),
        own_(kernel, frame_.dialect, groups()) {
    steps_slot_ = slot_text(bindings, slot_number(bindings, kernel.steps_slot));
  }

  program::Kernel emit() {
    program::Kernel out = frame_.dialect.tasks() ? processor() : device();
    out.entry = frame_.entry;
    return out;
  }

 private:
  bool many() const { return kernel_.instances > 1; }
  bool wave() const { return kernel_.reach == Reach::Wave; }
  /// Of an instance.
  std::int64_t groups() const {
    if (!wave()) return 1;
    return std::min((kernel_.sites() + kernel_.threads - 1) / kernel_.threads,
                    wave_groups(target_));
  }

  /// Whether the numbers that all sites have in common are in the memory of the group during a
  /// launch: one thread takes them from stage to stage, and all others wait for it. Their functions
  /// take a pointer to the memory of the device, which there is no other kind of on such a device.
  bool keeps_scalars() const {
    return !wave() && frame_.dialect.can.one_address_space &&
           bindings_.slots.size() <= kMostOwnScalars;
  }
  Code move_scalars(const char* to, const char* from) const {
    return code("for (unsigned slot = thread; slot < {}u; slot += {}u) {}[slot] = {}[slot];\n",
                bindings_.slots.size(), kernel_.threads, to, from);
  }

  static bool rows(const Kernel& stage, const TargetInfo& target) {
    return dialect_of(target).processor() && !kernel::sums_pairs(stage);
  }

  Stage stage_of(const Kernel& stage) const {
    if (kernel::sums_pairs(stage)) return pairs_stage(stage, target_, bindings_);
    const Kernel own = kernel::for_device(site_by_site(stage, target_)).kernel;
    const bool in_rows = rows(stage, target_);
    const Job job =
        make_job(own, target_, bindings_, {}, {}, in_rows ? Taken::InParts : Taken::Whole);
    return in_rows ? rows_stage(job, bindings_) : sites_stage(job, bindings_, own_);
  }

  static Code array_name(int array) { return code("vphi_array_{}", array); }

  /// The pointers of a stage, under the names that the stage uses.
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
      lines += indent((own_.any() ? Code() : aliases(own, stage)) +
                          local_aliases(stage.local_memory, shared) + stage.text,
                      2);
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
    const Groups groups{this->groups(), 1, 1};
    Slots slots = common_slots(frame_, kernel_.threads, &groups);
    slots["round_types"] = many() ? "" : wide_typedef(frame_.dialect);
    slots["who"] = wave() ? "each group has a part of the sites, waits for the others"
                          : "a group has all sites of an instance";
    slots["wait_functions"] = wave() ? fill(frame_.dialect.texts.wait, {}) : "";
    slots["functions"] = functions.text();
    slots["parameters"] = parameters(partials);
    slots["occupancy"] = std::to_string(wave() ? kPersistentOccupancy : 1);
    slots["steps_slot"] = steps_slot_;
    slots["stage_repeats"] = std::to_string(kernel_.stage_repeats);
    slots["instance"] = instance(partials);
    if (wave()) slots["instance"] += code("unsigned* gate = (unsigned*)(partials + {});\n", gate);
    Code local = declared_of(shared);
    if (tree > 0) local += declared({{"double", "tree", tree}});
    if (wave() || last) local += "VPHI_LOCAL unsigned last;\n";
    slots["load_own"] = own_.load();
    slots["store_own"] = own_.store();
    if (keeps_scalars()) {
      local +=
          declared({{"double", "own_scalars", static_cast<std::int64_t>(bindings_.slots.size())}});
      slots["load_own"] += "VPHI_GLOBAL double* const all_scalars = scalars;\n" +
                           move_scalars("own_scalars", "scalars") +
                           "scalars = own_scalars;\nvphi_barrier_all();\n";
      slots["store_own"] += move_scalars("all_scalars", "own_scalars");
    }
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
      if (first_like(kernel_.stages, i) != i)
        continue;  // its functions and arguments are emitted already
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
      if (job.epilogue()) text += space + code("vphi_end_{}({}, instance);\n", job.body.suffix, of);
      return text;
    }
    // `task` is 0 where there is one instance; the compiler must not take it for a constant
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
  OwnSites own_;
  Code steps_slot_;
};

}  // namespace

program::Kernel emit_persistent(const Kernel& kernel, const TargetInfo& target,
                                const Bindings& bindings) {
  return PersistentText(kernel, target, bindings).emit();
}

}  // namespace vphi::emit
