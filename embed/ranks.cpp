#include "embed/ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "embed/error.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/run/ranks/cut_model.hpp"
#include "runtime/run/ranks/joined_arrays.hpp"
#include "runtime/run/ranks/shares.hpp"
#include "runtime/run/session.hpp"

namespace vphi::embed {

namespace {

constexpr const char* kForms = "cuda:0,1 names two, cuda:0-7 eight, cuda:all every one";
constexpr const char* kSharing =
    "cuda:0,1 names two, cuda:0-7 eight, cuda:all every one; to try a cut on one GPU, set "
    "VPHI_SHARED_GPU=1";

std::optional<int> number_of(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// GPUs of a kind; of OpenCL only these have a list.
std::vector<std::string> all_of(const std::string& kind) {
  std::vector<std::string> found;
  for (const runtime::DeviceInfo& info : runtime::list_devices())
    if (info.id.starts_with(kind + ":") && !info.is_cpu) found.push_back(info.id);
  if (found.empty())
    throw runtime::DeviceError("There is no GPU for `" + kind +
                               ":all`; `vphi doctor` lists the devices of this machine.");
  std::ranges::sort(found, {}, [](const std::string& id) { return std::pair(id.size(), id); });
  return found;
}

/// Numbers behind the colon: "0,2", "0-3", "0-1,4".
std::vector<int> numbers_of(const std::string& device, std::string_view list) {
  const auto refuse = [&] {
    return Error(fmt::format("`{}` is no list of devices", device), kForms);
  };
  std::vector<int> numbers;
  while (true) {
    const std::string_view one = list.substr(0, list.find(','));
    const auto dash = one.find('-');
    const auto first = number_of(one.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(one.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first > 1023) throw refuse();
    for (int k = *first; k <= *last; ++k) numbers.push_back(k);
    if (one.size() == list.size()) return numbers;
    list.remove_prefix(one.size() + 1);
  }
}

std::vector<std::string> named_devices(const std::string& device) {
  const auto colon = device.find(':');
  const std::string kind = device.substr(0, colon);
  if (colon == std::string::npos || (kind != "cuda" && kind != "opencl")) return {device};
  const std::string list = device.substr(colon + 1);
  if (list == "all") return all_of(kind);
  if (list.find_first_of(",-") == std::string::npos) return {device};
  std::vector<std::string> devices;
  for (const int k : numbers_of(device, list)) {
    devices.push_back(fmt::format("{}:{}", kind, k));
    if (!may_share_gpu() && std::count(devices.begin(), devices.end(), devices.back()) > 1)
      throw Error(fmt::format("`{}` names {} twice: two ranks would share one device", device,
                              devices.back()),
                  kSharing);
  }
  return devices;
}

bool is_processor(const std::string& device) {
  if (device == "native") return true;
  for (const runtime::DeviceInfo& info : runtime::list_devices())
    if (info.id == device) return info.is_cpu;
  return false;
}

/// Ranks along each axis, as `--cut` says; 1 where it says nothing.
using RanksByAxis = std::array<std::int64_t, 4>;

constexpr std::string_view kAxes = "xyzt";

RanksByAxis read_cut(const std::string& cut) {
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("`{}` is no cut of a lattice{}", cut, why),
                 "--cut z=4 is for four ranks along z");
  };
  RanksByAxis ranks{};
  std::string_view rest = cut;
  while (true) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const auto axis = one.size() > 2 && one[1] == '=' ? kAxes.find(one[0]) : std::string::npos;
    const auto number = axis == std::string::npos ? std::nullopt : number_of(one.substr(2));
    if (!number || *number < 1) throw refuse("");
    if (ranks[axis] != 0) throw refuse(fmt::format(": it names {} twice", one[0]));
    ranks[axis] = *number;
    if (one.size() == rest.size()) break;
    rest.remove_prefix(one.size() + 1);
  }
  for (std::int64_t& number : ranks) number = std::max<std::int64_t>(1, number);
  return ranks;
}

std::int64_t product(const RanksByAxis& ranks) { return ranks[0] * ranks[1] * ranks[2] * ranks[3]; }

/// The first axis along which a lattice is cut, which is its slowest.
int slowest_axis(const std::array<std::int64_t, 4>& extent) {
  int axis = 3;
  while (axis > 0 && extent[static_cast<std::size_t>(axis)] == 1) --axis;
  return axis;
}

dsl::Span span_of_first(const Compilation& c, std::initializer_list<const char*> keywords) {
  for (const char* keyword : keywords)
    if (const dsl::Clause* clause = c.resolved.clause(keyword)) return clause->keyword_span;
  return {};
}

/// A cut that is not that of the lattice; nothing where it is. `c`: derived.
std::optional<dsl::Diagnostic> other_cut(const Compilation& c, const std::string& cut,
                                         std::int64_t instances) {
  if (cut.empty()) return std::nullopt;
  const RanksByAxis wish = read_cut(cut);
  const std::int64_t ranks = product(wish);
  dsl::Diagnostic d;
  d.code = instances > 1 ? "E0860" : "E0862";
  d.hint = fmt::format("--ranks {} in its place", ranks);
  if (instances > 1) {
    d.span = span_of_first(c, {"sweep", "model"});
    d.message = fmt::format(
        "--cut {} cuts a single lattice, and ranks share the {} instances of this sweep whole", cut,
        instances);
    return d;
  }
  const auto refuse = [&](const std::string& why) {
    d.span = span_of_first(c, {"lattice", "particles", "model"});
    d.message = fmt::format("the lattice cannot be cut for {} ranks: {}", ranks, why);
    return d;
  };
  if (!c.resolved.clause("lattice"))
    return refuse(fmt::format(
        "--cut {} names an axis, and this model has none: bodies are shared by number", cut));
  const auto& extent = c.system->lattice.extent;
  const int axis = slowest_axis(extent);
  const auto along = [&](int a) { return wish[static_cast<std::size_t>(a)] > 1; };
  const int named = along(0) + along(1) + along(2) + along(3);
  const char slowest = kAxes[static_cast<std::size_t>(axis)];
  d.hint = fmt::format("--cut {}={}", slowest, ranks);
  if (named == 2 && axis >= 2 && along(axis) && along(axis - 1)) return std::nullopt;
  if (named > 1)
    return refuse(
        axis < 2 ? fmt::format("--cut {} names {} axes, and rows along x stay whole", cut, named)
                 : fmt::format("--cut {} names {} axes, and a lattice is cut along its slowest, "
                               "{}, and the next one, {}",
                               cut, named, slowest, kAxes[static_cast<std::size_t>(axis - 1)]));
  if (named == 1 && !along(axis)) {
    const int other = along(0) ? 0 : along(1) ? 1 : along(2) ? 2 : 3;
    const char name = kAxes[static_cast<std::size_t>(other)];
    return refuse(other > axis ? fmt::format("it has no axis {}", name)
                               : fmt::format("it is cut along its slowest axis, {}, and not along "
                                             "{}",
                                             kAxes[static_cast<std::size_t>(axis)], name));
  }
  return std::nullopt;
}

/// Of a cut that is that of the lattice: ranks along the axis next to the slowest. `c`: derived.
int named_beside(const Compilation& c, const std::string& cut) {
  const int axis = slowest_axis(c.system->lattice.extent);
  return axis < 2 ? 1 : static_cast<int>(read_cut(cut)[static_cast<std::size_t>(axis - 1)]);
}

/// A lattice for so many ranks where no cut is named: along its slowest axis, or where that has too
/// few slabs along two, those of the shorter step by the model.
Compilation cut_at_best(const dsl::ModelSource& model, CompileOptions options,
                        const emit::TargetInfo& target, const Compiler& compiler) {
  const auto step_of = [&](const Compilation& c) {
    return runtime::step_of_rank(*c.program, options.ranks, runtime::usual_cluster()).all();
  };
  Compilation one = compiler(model, options, target);
  const bool refused = !one.program && std::ranges::any_of(one.diagnostics.all(), [](auto& d) {
    return d.code == "E0862";
  });
  if (!refused) return one;
  std::optional<Compilation> best;
  for (const int beside : {2, 4}) {
    if (options.ranks % beside != 0 || options.ranks == beside) continue;
    options.ranks_beside = beside;
    Compilation two = compiler(model, options, target);
    if (!two.program) continue;
    if (!best || step_of(two) < step_of(*best)) best = std::move(two);
  }
  return best ? std::move(*best) : std::move(one);
}

}  // namespace

namespace {

constexpr std::int64_t kMostRanks = 65536;
constexpr std::int64_t kMostOfOneProcess = 1024;  // each has a thread and a device of its own

void refuse_more_than(std::int64_t most, std::int64_t ranks, const char* of, const char* way) {
  if (ranks > most)
    throw Error(fmt::format("{} ranks are wanted, and {} has {} at most", ranks, of, most), way);
}

}  // namespace

std::int64_t RanksWish::ranks() const {
  refuse_more_than(kMostRanks, number, "a run", "a rank is a GPU, or a share of a processor");
  if (cut.empty()) return number;
  const std::int64_t all = product(read_cut(cut));
  refuse_more_than(kMostRanks, all, "a run", "a rank is a GPU, or a share of a processor");
  if (fastest)
    throw Error(
        fmt::format("the number of ranks is to be chosen, and the cut {} is for {}", cut, all),
        "one of both");
  if (number > 0 && number != all)
    throw Error(fmt::format("{} ranks are wanted, and the cut {} is for {}", number, cut, all),
                "the cut is enough");
  return all;
}

bool may_share_gpu() {
  const char* text = std::getenv("VPHI_SHARED_GPU");
  if (text == nullptr || std::string_view(text).empty() || text == std::string_view("0"))
    return false;
  if (text == std::string_view("1")) return true;
  throw Error(fmt::format("VPHI_SHARED_GPU is {}, and it is 1 or 0", text),
              "1: ranks may share a GPU, to try a cut");
}

std::vector<std::string> devices_of_ranks(const std::string& device, std::int64_t ranks) {
  std::vector<std::string> devices = named_devices(device);
  const auto named = static_cast<std::int64_t>(devices.size());
  if (ranks == 0 || ranks == named) return devices;
  refuse_more_than(kMostOfOneProcess, ranks, "one process",
                   "`mpirun -n N` starts a process for each; on one processor as many ranks as it "
                   "has cores");
  if (named > 1)
    throw Error(fmt::format("{} ranks with {} devices: a rank has one device", ranks, named),
                "without a number of ranks each device is one");
  if (device == "auto" || device == "cuda") {
    const auto gpus = runtime::list_devices();
    const bool cuda = std::ranges::any_of(gpus, [](const auto& i) { return i.id == "cuda:0"; });
    if (cuda || device == "cuda")
      return devices_of_ranks(fmt::format("cuda:0-{}", ranks - 1), ranks);
    devices = {"native"};
  }
  if (!is_processor(devices[0]) && !may_share_gpu())
    throw Error(fmt::format("{} ranks would share one device, {}", ranks, devices[0]),
                fmt::format("{}; several ranks on one processor: native", kSharing));
  devices.resize(static_cast<std::size_t>(ranks), devices[0]);
  return devices;
}

std::unique_ptr<runtime::Device> open_for_rank(const std::string& device, int beside) {
  if (device == "native")
    return runtime::open_native(runtime::HostCompilerChoice::Auto,
                                runtime::threads_of_rank(beside));
  return runtime::open_device(device);
}

std::unique_ptr<runtime::RankGroup> open_ranks(const std::vector<std::string>& devices) {
  std::vector<runtime::OpenDevice> open;
  for (const std::string& device : devices)
    open.emplace_back([device, beside = static_cast<int>(devices.size())] {
      return open_for_rank(device, beside);
    });
  return runtime::open_team(open);
}

namespace {

dsl::Diagnostic not_shared(const Compilation& c, std::int64_t instances, int ranks, bool batch) {
  dsl::Diagnostic d;
  d.code = "E0860";
  d.span = span_of_first(c, {"sweep", "lattice", "particles", "model"});
  if (instances == 1 && !batch) {
    d.message = fmt::format(
        "{} ranks share the instances of a sweep, or sites, and this model has one instance of a "
        "single site",
        ranks);
    d.hint = fmt::format(
        "run it on one device, without ranks; or `sweep draw = 1..{}`, which "
        "makes as many independent draws of it",
        ranks);
    return d;
  }
  d.message = fmt::format("{} ranks share {}: some would have none", ranks,
                          batch ? fmt::format("a batch of {} instances", instances)
                                : fmt::format("{} instances of the sweep", instances));
  d.hint = batch ? fmt::format("a batch of {} or more", ranks)
                 : fmt::format("{} ranks at most", instances);
  return d;
}

}  // namespace

Compilation compile_for_ranks(const dsl::ModelSource& model, CompileOptions options,
                              const emit::TargetInfo& target, int ranks, const std::string& cut,
                              const Compiler& compiler) {
  if (ranks == 1 && cut.empty()) return compiler(model, options, target);
  Compilation derived = derive_model(model, options);
  if (!derived.system) return derived;
  std::int64_t batch = std::max<std::int64_t>(1, derived.system->instances());
  if (auto other = other_cut(derived, cut, batch)) {
    derived.diagnostics.add(std::move(*other));
    return derived;
  }
  if (ranks == 1) return compiler(model, options, target);
  const bool smaller = options.batch > 0 && options.batch < batch;
  if (smaller) batch = options.batch;
  if (batch == 1 && !smaller && derived.system->lattice.sites() > 1) {
    options.ranks = ranks, options.rank = 0;
    if (cut.empty()) return cut_at_best(model, options, target, compiler);
    options.ranks_beside = named_beside(derived, cut);
    return compiler(model, options, target);
  }
  if (batch < ranks) {
    derived.diagnostics.add(not_shared(derived, batch, ranks, smaller));
    return derived;
  }
  options.batch = runtime::most_of(batch, ranks);
  return compiler(model, options, target);
}

std::optional<program::Program> other_planes(const dsl::ModelSource& model, CompileOptions options,
                                             const emit::TargetInfo& target, int ranks,
                                             const program::Program& of_rank_0,
                                             const Compiler& compiler) {
  options.ranks = ranks, options.ranks_beside = of_rank_0.cut.second.ranks;
  for (options.rank = 1; options.rank < ranks; ++options.rank) {
    if (of_rank_0.cut.planes(ranks, options.rank).count == of_rank_0.cut.own) continue;
    return compiler(model, options, target).program;
  }
  return {};
}

std::int64_t batch_of_ranks(const program::Program& of_a_rank, const CompileOptions& options,
                            int ranks) {
  if (ranks == 1) return of_a_rank.instances;
  const std::int64_t all = of_a_rank.all_instances();
  return options.batch > 0 ? std::min(all, options.batch) : all;
}

namespace {

std::string own_part(const program::Cut& cut) {
  const auto axis = static_cast<std::size_t>(cut.axis);
  if (axis == 0) return fmt::format("{} of {} sites", cut.own, cut.whole);
  const std::string planes =
      fmt::format("{} of {} planes along {}", cut.own, cut.whole, kAxes[axis]);
  if (cut.second.ranks == 1) return planes;
  return fmt::format("{}, {} of their {} lines along {}", planes, cut.second.own, cut.second.whole,
                     kAxes[axis - 1]);
}

/// What each rank computes for all sites.
std::string whole_kernels(const program::Program& p) {
  std::string names;
  for (const program::Kernel& kernel : p.kernels) {
    const bool whole = std::ranges::any_of(kernel.arguments, [](const program::Argument& a) {
      return a.kind == program::Argument::Kind::Whole;
    });
    if (whole) names += (names.empty() ? "" : ", ") + kernel.name;
  }
  if (names.empty()) return {};
  return fmt::format(
      "           each computes {} of the whole lattice, whose arrays are gathered\n", names);
}

/// What the first rank makes of whole arrays.
std::string joined(const program::Program& p, int ranks) {
  const runtime::JoinedArrays all = runtime::joined_arrays(p, ranks);
  if (all.what.empty()) return {};
  return fmt::format(
      "           the first joins whole arrays in its host's memory, of up to {:.1f} MB each, for "
      "{}\n",
      static_cast<double>(all.bytes) / 1e6, fmt::join(all.what, ", "));
}

std::string copies(const program::Cut& cut) {
  const auto& beside = cut.second.ghost;
  if (beside[0] + beside[1] > 0)
    return fmt::format(
        "{} and {} copies of its neighbours' planes below and above them, {} and {} of their lines "
        "beside them",
        cut.ghost[0], cut.ghost[1], beside[0], beside[1]);
  if (cut.all || std::max<std::int64_t>(cut.ghost[0], cut.ghost[1]) >= cut.whole - cut.own)
    return "copies of all others";
  if (cut.ghost[0] + cut.ghost[1] == 0) return "without copies of others";
  return fmt::format("{} and {} copies of its neighbours' below and above them", cut.ghost[0],
                     cut.ghost[1]);
}

}  // namespace

std::string two_axes(const program::Program& of_a_rank, int ranks) {
  const program::Cut& cut = of_a_rank.cut;
  if (cut.second.ranks == 1) return {};
  const auto axis = static_cast<std::size_t>(cut.axis);
  return fmt::format("{}={},{}={}", kAxes[axis], ranks / cut.second.ranks, kAxes[axis - 1],
                     cut.second.ranks);
}

std::string ranks_text(const program::Program& of_a_rank, const CompileOptions& options,
                       int ranks) {
  if (of_a_rank.cut.axis >= 0)
    return fmt::format("  ranks    {}: {} for the first, {}, {:.1f} MB of memory\n", ranks,
                       own_part(of_a_rank.cut), copies(of_a_rank.cut),
                       static_cast<double>(runtime::memory_needed(of_a_rank).peak) / 1e6) +
           whole_kernels(of_a_rank) + joined(of_a_rank, ranks);
  const std::int64_t batch = batch_of_ranks(of_a_rank, options, ranks);
  std::int64_t computed = 0;
  for (int r = 0; r < ranks; ++r)
    computed = std::max(computed, runtime::share_of(batch, ranks, r).count);
  const auto need = static_cast<double>(runtime::memory_needed(of_a_rank).peak);
  const double share = static_cast<double>(batch) / static_cast<double>(computed * ranks);
  return fmt::format(
      "  ranks    {}: {} of {} instances at once for each, {:.1f} MB of memory\n"
      "           they send nothing during their steps; at best {:.2f} times as fast as one\n",
      ranks, computed, batch, need / 1e6, ranks * share);
}

}  // namespace vphi::embed
