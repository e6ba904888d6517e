#include "tools/running/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace vphi::tools {

namespace {

constexpr double kDefaultSeconds = 600;

struct Unit {
  const char* name;
  double seconds;  ///< 0: counts steps
};
constexpr Unit kUnits[] = {{"s", 1},       {"sec", 1},   {"min", 60}, {"h", 3600},
                           {"hour", 3600}, {"d", 86400}, {"step", 0}, {"steps", 0}};

}  // namespace

void KeepWords::declare(CommandLine& line) {
  line.value("--checkpoint-every", "TIME", every,
             "10min (the default), 30s, 2h, 500 steps, or never")
      .optional("--resume", "DIR", resume, resuming,
                "goes on from the last checkpoint (in the output folder, DIR, or a file); auto: "
                "from the beginning where there is none")
      .flag("--restart", restart,
            "starts over where the folder holds an unfinished run or results of another one");
}

runtime::KeepOptions KeepWords::options() const {
  runtime::KeepOptions keep;
  keep.on = every != "never";
  keep.at_end_after = kWorthKeeping;
  if (every.empty() || !keep.on) {
    keep.every_seconds = kDefaultSeconds;
    return keep;
  }
  double number = 0;
  const char* end = every.data() + every.size();
  const auto [at, error] = std::from_chars(every.data(), end, number);
  std::string unit(at, end);
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  const auto found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const Unit& u) { return unit == u.name; });
  const bool fine = error == std::errc() && found != std::end(kUnits) && number > 0 &&
                    (found->seconds > 0 || number == std::floor(number)) && number < 1e15;
  if (!fine)
    throw UsageError(
        fmt::format("--checkpoint-every takes a time or a number of steps, not `{}`", every),
        "10min, 30s, 2h, '500 steps', never");
  keep.at_end_after = 0;
  if (found->seconds > 0)
    keep.every_seconds = number * found->seconds;
  else
    keep.every_steps = static_cast<std::int64_t>(number);
  return keep;
}

}  // namespace vphi::tools
