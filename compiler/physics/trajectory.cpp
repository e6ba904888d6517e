#include "compiler/physics/trajectory.hpp"

#include <utility>

namespace vphi::physics {

namespace {

// Places in Sampling::updates; kicks follow, those of level k being cycle[k].
enum Place : std::size_t { kRefresh, kBegin, kDrift, kClose, kKicks };

constexpr const char *kTau = "tau", *kIncrease = "increase", *kDraw = "draw", *kWide = "wide ",
                     *kNarrow = "narrow ", *kScheme = "scheme ";

}  // namespace

void put_trajectory(System& system, Trajectory t) {
  algebra::Arena& arena = *system.arena;
  Sampling& sampling = *system.sampling;
  auto& options = system.integrator_options;
  options = {{kTau, arena.real(static_cast<long double>(t.length))},
             {kIncrease, t.increase},
             {kDraw, t.draw}};
  for (const Trajectory::Memory& m : t.memory)
    options.emplace_back((m.wide ? kWide : kNarrow) + m.name, arena.integer(m.array));
  sampling.updates = {std::move(t.refresh), std::move(t.begin), std::move(t.drift),
                      std::move(t.close)};
  sampling.cycle.clear();
  for (Trajectory::Level& level : t.levels) {
    options.emplace_back(kScheme + level.scheme, arena.integer(level.steps));
    std::vector<int>& own = sampling.cycle.emplace_back();
    for (Update& kick : level.kicks) {
      kick.proof = {level.shown};
      kick.span = level.span;
      own.push_back(static_cast<int>(sampling.updates.size()));
      sampling.updates.push_back(std::move(kick));
    }
  }
}

std::optional<Trajectory> trajectory_of(const System& system) {
  if (!system.sampling) return std::nullopt;
  const Sampling& sampling = *system.sampling;
  Trajectory t;
  const auto after = [](const std::string& name, const char* start) -> std::optional<std::string> {
    const std::string prefix = start;
    if (!name.starts_with(prefix)) return std::nullopt;
    return name.substr(prefix.size());
  };
  for (const auto& [name, value] : system.integrator_options) {
    if (name == kTau) t.length = static_cast<double>(value->number.real);
    if (name == kIncrease) t.increase = value;
    if (name == kDraw) t.draw = value;
    for (const bool wide : {false, true}) {
      if (const auto memory = after(name, wide ? kWide : kNarrow))
        t.memory.push_back({static_cast<int>(value->number.rational.num), *memory, wide});
    }
    if (const auto scheme = after(name, kScheme)) {
      Trajectory::Level level;
      level.scheme = *scheme;
      level.steps = value->number.rational.num;
      for (const int kick : sampling.cycle[t.levels.size()])
        level.kicks.push_back(sampling.updates[static_cast<std::size_t>(kick)]);
      level.shown = level.kicks.front().proof.front();
      level.span = level.kicks.front().span;
      t.levels.push_back(std::move(level));
    }
  }
  if (!t.increase) return std::nullopt;
  t.refresh = sampling.updates[kRefresh];
  t.begin = sampling.updates[kBegin];
  t.drift = sampling.updates[kDrift];
  t.close = sampling.updates[kClose];
  return t;
}

}  // namespace vphi::physics
