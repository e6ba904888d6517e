// The roofline picture: what a kernel could reach at most, by memory and by arithmetic.
// S. Williams, A. Waterman, D. Patterson, Commun. ACM 52 (2009) 65.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/report/page.hpp"
#include "runtime/report/sections.hpp"

namespace vphi::report {
namespace {

constexpr double kLeft = 62, kRight = 616, kTop = 14,
                 kBottom = 250;  // of the inside, in a 640 wide

struct Dot {
  std::string name;
  double intensity = 0, rate = 0;  ///< flops a byte, flops a second
};

}  // namespace

std::string roofline(const Report& report) {
  const Speed& s = report.speed;
  if (s.copy_bandwidth <= 0 || s.sites <= 0) return "";
  std::vector<Dot> dots;
  for (const KernelCost& k : report.kernels) {
    if (!k.in_step || k.seconds <= 0 || k.flops <= 0 || k.bytes <= 0) continue;
    dots.push_back({k.name, static_cast<double>(k.flops) / k.bytes, k.flops * s.sites / k.seconds});
  }
  if (dots.empty()) return "";

  double least = 1.0 / 16, most = s.flops > 0 ? 4 * s.flops / s.copy_bandwidth : 64, lowest = 1e300;
  for (const Dot& d : dots) {
    least = std::min(least, d.intensity / 4);
    most = std::max(most, d.intensity * 4);
    lowest = std::min(lowest, d.rate);
  }
  double top = s.flops > 0 ? 2 * s.flops : 2 * s.copy_bandwidth * most;
  for (const Dot& d : dots) top = std::max(top, 2 * d.rate);
  const double bottom = std::min(lowest / 4, least * s.copy_bandwidth);
  const auto x = [&](double i) {
    return kLeft + (kRight - kLeft) * std::log(i / least) / std::log(most / least);
  };
  const auto y = [&](double r) {
    return kBottom - (kBottom - kTop) * std::log(r / bottom) / std::log(top / bottom);
  };

  std::string out =
      "<div class=\"roofline\"><svg viewBox=\"0 0 640 296\" role=\"img\" aria-label=\"Roofline: "
      "kernels of the step against the limits of memory and arithmetic\">\n";
  for (int e = static_cast<int>(std::ceil(std::log2(least))); std::exp2(e) <= most; ++e) {
    if (e % 2 != 0) continue;
    const double at = x(std::exp2(e));
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text "
        "x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        at, kTop, kBottom, kBottom + 17,
        e >= 0 ? fmt::format("{}", 1 << e) : fmt::format("1/{}", 1 << -e));
  }
  for (int e = static_cast<int>(std::ceil(std::log10(bottom))); std::pow(10, e) <= top; ++e)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text "
        "x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, kRight, y(std::pow(10, e)), kLeft - 7, y(std::pow(10, e)) + 4,
        prefixed(std::pow(10, e)));
  const double ridge = s.flops > 0 ? s.flops / s.copy_bandwidth : most;
  const double from = std::max(least, bottom / s.copy_bandwidth);
  const double to = std::min(ridge, most);
  out += fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}", x(from),
                     y(from * s.copy_bandwidth), x(to), y(to * s.copy_bandwidth));
  if (s.flops > 0) out += fmt::format("L{:.1f} {:.1f}", x(most), y(s.flops));
  out += "\"/>\n";
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">copy {}B/s</text>\n",
                     x(std::sqrt(from * to)) - 8, y(std::sqrt(from * to) * s.copy_bandwidth) - 6,
                     prefixed(s.copy_bandwidth));
  if (s.flops > 0)
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">multiply-add {}flop/s, {}</text>\n",
        kRight - 4, y(s.flops) - 7, prefixed(s.flops), escape(report.precision));
  for (const Dot& d : dots) {
    const double roof = s.flops > 0 ? std::min(s.flops, d.intensity * s.copy_bandwidth)
                                    : d.intensity * s.copy_bandwidth;
    out += fmt::format(
        "<line class=\"drop\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><circle "
        "class=\"dot\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"5\"><title>{3}: {4}flop/s at {5:.2g} "
        "flop/byte</title></circle><text class=\"name\" x=\"{6:.1f}\" y=\"{7:.1f}\">{3}</text>\n",
        x(d.intensity), y(d.rate), y(roof), escape(d.name), prefixed(d.rate), d.intensity,
        x(d.intensity) + 9, y(d.rate) + 14);
  }
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">flops a byte of memory traffic</text>"
      "<text x=\"4\" y=\"10\">flop/s</text>\n</svg></div>\n",
      (kLeft + kRight) / 2, kBottom + 38);
  return out;
}

}  // namespace vphi::report
