#include "tools/running/progress.hpp"

#include "tools/say.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace vphi::tools {

std::string with_prefix(double value) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t i = 0;
  while (std::abs(value) >= 999.5 && i + 1 < std::size(prefixes)) value /= 1000, ++i;
  return fmt::format("{:.3g} {}", value, prefixes[i]);
}

std::string duration_text(double seconds) {
  if (seconds < 0.00995) return fmt::format("{:.3g} ms", 1000 * seconds);
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", 1000 * seconds);
  if (seconds < 99.5) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

ProgressLine::ProgressLine(double copy_bandwidth, bool terminal, std::string chain)
    : copy_bandwidth_(copy_bandwidth), terminal_(terminal), chain_(std::move(chain)) {}

std::string ProgressLine::text(const runtime::Progress& now) const {
  std::string line = fmt::format("{} {}", chain_.empty() ? "step" : chain_, now.step);
  if (now.steps >= 0) line += fmt::format("/{}", now.steps);
  if (chain_.empty()) line += fmt::format("  t = {:.5g}", now.time);
  if (now.seconds_left >= 0 && now.step != now.steps)
    line += fmt::format("  ETA {}", duration_text(now.seconds_left));
  line += fmt::format("  {}updates/s", with_prefix(now.site_updates_per_s));
  if (copy_bandwidth_ > 0 && now.bytes_per_s > 0)
    line += fmt::format("  {:.0f} % of copy", 100 * now.bytes_per_s / copy_bandwidth_);
  for (const auto& [name, value] : now.watched) line += fmt::format("  {} {:.2e}", name, value);
  return line;
}

void ProgressLine::show(const runtime::Progress& now) {
  const std::string line = text(now);
  if (!terminal_) {
    say("{}\n", line);
    return;
  }
  const std::size_t blank = width_ > line.size() ? width_ - line.size() : 0;
  say("\r{}{:{}}", line, "", blank);
  std::fflush(stderr);
  width_ = line.size();
}

void ProgressLine::finish() {
  if (terminal_ && width_ > 0) say("\n");
  width_ = 0;
}

}  // namespace vphi::tools
