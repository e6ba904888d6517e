// vphi emit: the kernels of a model as source, or the results of the compiler's stages.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/algebra/transform.hpp"
#include "compiler/explain.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "dsl/messages/suggest.hpp"
#include "embed/ranks.hpp"
#include "embed/readable.hpp"
#include "program/json.hpp"
#include "program/parts.hpp"
#include "runtime/device/native/native.hpp"
#include "tools/commands/portable.hpp"
#include "tools/device_kinds.hpp"
#include "tools/model.hpp"
#include "tools/not_written.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using program::Program;

std::string kernel_names(const Program& p) {
  std::vector<std::string> names;
  for (const auto& kernel : p.kernels) names.push_back(kernel.name);
  return dsl::enumerate(names);
}

/// Index of a kernel; no name: the step's first.
int find_kernel(const Program& p, const std::string& name) {
  if (name.empty()) return p.step.at(0).kernel;
  for (std::size_t i = 0; i < p.kernels.size(); ++i)
    if (p.kernels[i].name == name) return static_cast<int>(i);
  throw UsageError(fmt::format("there is no kernel `{}`", name),
                   fmt::format("kernels are {}", kernel_names(p)));
}

/// The dynamics of the system: its integrator, chain or solver, in a few lines.
std::string dynamics_text(const physics::Dynamics& dynamics) {
  const auto updates = [](const std::vector<physics::Update>& list) {
    std::string text;
    for (const physics::Update& update : list)
      text += fmt::format("  {}: {}\n", update.name, update.shown);
    return text;
  };
  return std::visit(
      physics::Kinds{
          [](const physics::Still&) { return std::string("nothing moves\n"); },
          [](const physics::Evolution& e) {
            return fmt::format("evolution by {}\n", e.integrator.name);
          },
          [](const physics::FluxStep&) { return std::string("steps of the flux scheme\n"); },
          [&](const physics::MarkovChain& chain) {
            return fmt::format("Markov chain, {}\n", chain.method) + updates(chain.updates);
          },
          [&](const physics::LinkFlow& flow) {
            return fmt::format("flow of links by {}\n", flow.integrator.name) +
                   updates(flow.gradients) + updates(flow.rates) + updates(flow.moves);
          },
          [&](const physics::Trajectory& t) {
            std::string text = fmt::format("trajectories of length {:g}\n", t.length);
            for (const physics::Trajectory::Level& level : t.levels)
              text += (level.steps == physics::kWithLevelBefore
                           ? fmt::format("  level {}: with the one before\n", level.shown)
                           : fmt::format("  level {}: {} steps of {}\n", level.shown, level.steps,
                                         level.integrator.name)) +
                      updates(level.kicks);
            return text;
          },
      },
      dynamics);
}

/// The system after the stage `derive` or `prepare`: dynamics, rates and start.
std::string system_text(const physics::System& system) {
  algebra::Names names;
  names.leaf = [&](const algebra::Node& node) {
    if (node.op == algebra::Op::Symbol) return std::string(node.name);
    if (node.op == algebra::Op::Site) return fmt::format("site_{}", "xyzt"[node.index & 3]);
    std::string text = fmt::format("array_{}", node.index);
    for (const physics::Variable& v : system.variables)
      if (v.array == node.index) text = v.name;
    if (!node.offset.zero())
      text +=
          fmt::format("@({})", fmt::join(node.offset.d, node.offset.d + system.lattice.dims, ","));
    return text;
  };
  const auto shown = [&](algebra::Expr e) { return algebra::to_text(e, names); };
  std::string text = dynamics_text(system.dynamics) + "\n";
  for (const physics::Variable& v : system.variables)
    if (v.rate) text += fmt::format("d({})/d(eta) = {}\n", v.name, shown(v.rate));
  for (const physics::ScalarVariable& s : system.scalars)
    if (s.rate) text += fmt::format("d({})/d(eta) = {}\n", s.symbol, shown(s.rate));
  text += "\n";
  for (const physics::InitialValue& value : system.initial)
    for (const physics::Variable& v : system.variables)
      if (v.array == value.array)
        text += fmt::format("{} = {} at the start\n", v.name, shown(value.value));
  return text;
}

/// The plan after a pass: for each kernel the values held by a walk, stores, reductions and
/// epilogue.
std::string plan_text(const Compilation& c) {
  std::string text;
  std::vector<kernel::SiteFunction> functions = c.site_functions;
  if (functions.empty())
    for (const auto& k : c.plan->kernels) functions.push_back({k});
  for (const kernel::SiteFunction& function : functions) {
    const kernel::Kernel& k = function.kernel;
    text += fmt::format("kernel {}{}\n", k.name, function.of_pair ? ", for each pair" : "");
    const auto name = [&kernel = k](int array) {
      const auto* found = kernel.find(array);
      return found != nullptr ? found->name : fmt::format("array_{}", array);
    };
    algebra::Names names;
    names.leaf = [&, dims = k.dims](const algebra::Node& node) {
      if (node.op == algebra::Op::Symbol) return std::string(node.name);
      if (node.op == algebra::Op::Site) return fmt::format("site_{}", "xyzt"[node.index & 3]);
      std::string text = name(node.index);
      if (!node.offset.zero())
        text += fmt::format("@({})", fmt::join(node.offset.d, node.offset.d + dims, ","));
      return text;
    };
    for (const auto& h : function.held)
      text += fmt::format("  next {} = {}\n", h.slot, algebra::to_text(h.value, names));
    for (const auto& angle : k.paired_angles)
      text += fmt::format("  sine and cosine of {}\n", algebra::to_text(angle, names));
    for (const auto& s : k.stores)
      text += fmt::format("  {} = {}\n", name(s.array), algebra::to_text(s.value, names));
    for (const auto& r : k.reductions)
      text += fmt::format("  {} = {}({})\n", r.slot,
                          r.kind == kernel::ReduceKind::Sum       ? "sum"
                          : r.kind == kernel::ReduceKind::Minimum ? "min"
                                                                  : "max",
                          algebra::to_text(r.value, names));
    for (const auto& a : k.epilogue)
      text += fmt::format("  then {} = {}\n", a.slot, algebra::to_text(a.value, names));
    text += '\n';
  }
  return text;
}

/// The same with numbers beside it.
nlohmann::ordered_json kernels_json(const Program& p, const std::string& only) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& k : p.kernels)
    if (only.empty() || k.name == only)
      list.push_back({{"name", k.name},
                      {"entry", k.entry},
                      {"grid", k.grid},
                      {"block", k.block},
                      {"loads", k.loads},
                      {"stores", k.stores},
                      {"bytes", k.bytes},
                      {"flops", k.flops},
                      {"special", k.special},
                      {"source", k.source}});
  return list;
}

/// Of a lattice that ranks share: what goes between them after the launches of the start and of the
/// steps, as comments. Empty where nothing does.
std::string exchanges_text(const Program& p) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  };
  const auto depth = [](const std::array<int, 2>& sides, const char* what) {
    return fmt::format("{} and {} {}", sides[0], sides[1], what);
  };
  const auto classes = [&](const program::Halo& halo) {
    std::string numbers;
    for (int k = 0; k < p.order.modulus; ++k)
      if ((halo.classes >> k & 1) != 0) numbers += fmt::format(" {}", k);
    return numbers.empty() ? "" : " at sites of class" + numbers;
  };
  const auto read = [&](const std::vector<program::Launch>& list) {
    for (const program::Launch& launch : list) {
      const std::string beside = [&] {  // what may be computed meanwhile
        if (&launch == &list.back()) return std::string();
        const program::Kernel& next = p.kernels[static_cast<std::size_t>((&launch)[1].kernel)];
        return part_of(next) == program::Part::Rest ? ", beside " + next.name : "";
      }();
      const program::Kernel& kernel = p.kernels[static_cast<std::size_t>(launch.kernel)];
      for (const program::Argument& a : kernel.arguments) {
        if (a.kind == program::Argument::Kind::Gathered)
          add(fmt::format("before {}: the sums of {} of all ranks", kernel.name,
                          p.kernels[static_cast<std::size_t>(a.index)].name));
        if (a.kind == program::Argument::Kind::Whole)
          add(fmt::format("before {}: {} of all ranks", kernel.name,
                          p.buffers[static_cast<std::size_t>(a.index)].name));
      }
      for (const program::Halo& halo : launch.halos)
        add(fmt::format("after {}: ghosts of {}{}, {}{}{}", kernel.name,
                        p.buffers[static_cast<std::size_t>(halo.buffer)].name, classes(halo),
                        depth(halo.depth, "planes"),
                        p.cut.second.ranks > 1 ? ", " + depth(halo.beside, "lines") : "", beside));
    }
  };
  read(p.prologue), read(p.step);
  for (const auto& step : p.cycle) read(step);
  std::string text;
  for (const std::string& line : lines) text += "// " + line + "\n";
  return text.empty() ? text : "// Between ranks\n" + text + "\n";
}

void write(const std::string& text, const std::string& file) {
  if (file.empty() || file == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw not_written(file);
}

/// A device of this machine, or the usual one of a kind; of processors this machine's, as `vphi
/// run` takes it.
vphi::emit::TargetInfo target_to_run(const std::string& kind, const std::string& device) {
  if (!device.empty()) return target_of(runtime::open_device(device)->info());
  auto target = default_target(kind);
  if (kind == "native") target.compute_units = runtime::native_info().compute_units;
  return target;
}

/// Where a file will lie; empty for standard output.
std::filesystem::path folder_of(const std::string& file) {
  if (file.empty() || file == "-") return {};
  return std::filesystem::absolute(file).lexically_normal().parent_path();
}

/// The options of the command line.
struct Wanted {
  std::vector<std::string> models;
  ModelOptions options;
  embed::RanksWish ranks{0};
  std::string to = "native", target = "native", device, after, kernel, file;
  bool with_main = false, json = false;

  bool whole() const { return to == "json" || to == "program"; }
  bool kernels() const { return !whole() && to != "latex" && after.empty(); }
  /// False where only the help was asked for.
  bool read(const Words& words);
};

bool Wanted::read(const Words& words) {
  std::vector<std::string> texts = device_kinds();
  texts.insert(texts.end(), {"latex", "json", "program"});
  CommandLine line("emit MODEL", "Writes the kernels as readable source.");
  line.arguments(models, 1, 1)
      .choice("--to", texts, to,
              "language of the kernels; latex: the equations; json: the whole program; program: a "
              "file that `vphi run` runs, here or elsewhere")
      .choice("--target", device_kinds(), target,
              "with --to json or program: for which kind of device")
      .value("--device", "ID", device, "with --to program: for this device of this machine")
      .value("--after", "PASS", after,
             "what a stage of the compiler hands on: derive, prepare, schedule, or a pass over "
             "kernels")
      .value("--kernel", "NAME", kernel, "one kernel")
      .flag("--main", with_main, "a file that compiles and runs by itself (the step's kernel)")
      .number("--ranks", "N", ranks.number, 1,
              "the kernels of the first of N ranks, and what goes between ranks")
      .value("--cut", "AXIS=N", ranks.cut,
             "the same for N ranks along this axis: z=4, or two: z=4,y=2")
      .value("-o", "FILE", file, "write to a file")
      .flag("--json", json, "one JSON object: the kernels with their cost, or the text asked for");
  options.declare(line);
  if (!line.parse(words)) return false;
  line.obeyed("--target", !whole(), "it is the device of `--to json` and `--to program`")
      .obeyed("--target", !device.empty(), "`--device` says which device it is")
      .obeyed("--target", to == "program" && target == "hip", "vphi does not run HIP yet")
      .obeyed("--device", to != "program", "it is the device of `--to program`")
      .obeyed("--after", whole() || to == "latex", "passes are those of kernels")
      .obeyed("--kernel", !kernels(), "the text is not a kernel's")
      .obeyed("--main", !kernels(), "the text is not a kernel's")
      .obeyed("--main", to == "hip", "HIP has no main yet");
  for (const char* shared : {"--ranks", "--cut"})
    line.obeyed(shared, !kernels(), "the text is that of one device; `vphi run` compiles for ranks")
        .obeyed(shared, with_main, "a rank does not run by itself");
  return true;
}

void check_pass(const std::string& after) {
  const std::vector<std::string> passes = stage_names();
  if (after.empty() || std::find(passes.begin(), passes.end(), after) != passes.end()) return;
  const auto near = dsl::suggest(after, passes);
  throw UsageError(fmt::format("there is no pass `{}`", after),
                   near ? fmt::format("did you mean `{}`?", *near)
                        : fmt::format("passes are {}", dsl::enumerate(passes)));
}

std::string latex_text(const Compilation& c) {
  std::string text = explain_latex(c);
  if (text.find("\\big|_{") != std::string::npos)
    text +=
        "Of a field $f$, $f\\big|_{x}$ is the value at the next site along $x$ and "
        "$f\\big|_{-x}$ that at the one before.\n";
  return text;
}

}  // namespace

int emit(const Words& words) {
  Wanted wanted;
  if (!wanted.read(words)) return kOk;
  const std::string &to = wanted.to, &kernel = wanted.kernel, &file = wanted.file;
  CompileOptions compile = wanted.options.compile_options();
  compile.stop_after = wanted.after;
  compile.reading = wanted.kernels() && !wanted.json && !wanted.with_main;
  check_pass(wanted.after);
  const std::string language = wanted.whole() ? wanted.target : to == "latex" ? "native" : to;
  const auto info =
      to == "program" ? target_to_run(language, wanted.device) : default_target(language);
  const std::string path = find_model(wanted.models[0]);
  const auto ranks = static_cast<int>(std::max<std::int64_t>(1, wanted.ranks.ranks()));
  const Compilation c = embed::compile_for_ranks(path, compile, info, ranks, wanted.ranks.cut);
  if (report(c)) return refused(c, wanted.json);
  const auto put = [&](const char* key, const auto& what) {
    nlohmann::ordered_json out = {{"ok", true}, {"model", c.resolved.model.name}, {"to", to}};
    out[key] = what;
    write(out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n", file);
  };
  const auto put_text = [&](const char* key, const std::string& text) {
    if (wanted.json)
      put(key, text);
    else
      write(text, file);
  };
  if (to == "latex") {
    put_text("latex", latex_text(c));
    return kOk;
  }
  if (!wanted.after.empty()) {
    if (!c.plan && !c.system) throw std::logic_error("the compiler made no plan, without a reason");
    if (c.plan)
      put_text("plan", plan_text(c));
    else
      put_text("system", system_text(*c.system));
    return kOk;
  }
  if (!c.program) throw std::logic_error("the compiler gave no program and no reason");
  if (to == "program")
    write(portable_text(c, info, path, wanted.options, folder_of(file)), file);
  else if (to == "json")
    write(program::to_json(*c.program) + "\n", file);
  else if (const auto index = static_cast<std::size_t>(find_kernel(*c.program, kernel));
           wanted.with_main)
    put_text("source", vphi::emit::stand_alone(c.program->kernels[index], info.target));
  else if (wanted.json)
    put("kernels", kernels_json(*c.program, kernel));
  else
    write(exchanges_text(*c.program) + embed::readable_sources(*c.program, kernel), file);
  return kOk;
}

}  // namespace vphi::tools
