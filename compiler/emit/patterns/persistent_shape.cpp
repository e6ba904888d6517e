// Whether a small system takes many steps a launch, and how its groups synchronise.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/patterns/own_sites.hpp"
#include "compiler/emit/patterns/persistent.hpp"
#include "compiler/emit/patterns/phrases.hpp"
#include "compiler/emit/patterns/sites.hpp"

namespace vphi::emit {
namespace {

using kernel::Kernel;
using kernel::Reach;

constexpr std::int64_t kMostThreads = 256;     // of a group, where there are many instances
constexpr std::int64_t kMostThreadsCpu = 128;  // of pairs, in OpenCL on a processor
// Sites of an instance that one group takes, as `tools/gpu_speed --only small` shows on an H200:
// where groups of other instances fill the device too, and where there are more than that; where an
// instance is alone (Tuned::persistent_sites), or sums over pairs.
constexpr std::int64_t kMostSitesMany = 4096, kMostSitesFull = 8192, kGroupsFull = 4;
constexpr std::int64_t kMostPairSitesOne = 256;
// Where groups wait for each other: the fewest sites of all, and the most of a thread.
constexpr std::int64_t kFewestSitesWait = 98304, kMostSitesOfThread = 16;
constexpr std::int64_t kWaveThreads = 256;
constexpr std::int64_t kSitesOfTask = 8192, kPairSitesOfTask = 512;  // on a processor
constexpr std::size_t kMostWritten = 64;                             // stages one after the other

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
  // PoCL 3 with LLVM 15 compiles two such loops with barriers around rows of one thread into code
  // with wrong results, only when it optimises. The results of Oclgrind are right.
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

/// On a GPU: one group takes an instance. For a single instance the caller has compared the
/// alternatives.
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
  const std::int64_t threads = many ? kMostThreads : dialect_of(target).tuned.persistent_threads;
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
  else if (!std::ranges::all_of(persistent.stages, reads_own_site_alone))
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
  const std::int64_t alone = pairs ? kMostPairSitesOne : dialect.tuned.persistent_sites;
  if (wish == PersistentChoice::Groups || (wish == PersistentChoice::ByCounts &&
                                           persistent.instances == 1 && persistent.sites() > alone))
    return groups_that_wait(persistent, target, wish == PersistentChoice::Groups, why);
  return one_group(persistent, target, pairs, wish == PersistentChoice::Group, why);
}

}  // namespace vphi::emit
