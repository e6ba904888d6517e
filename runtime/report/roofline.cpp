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

std::vector<Dot> dots_of(const Report& report) {
  std::vector<Dot> dots;
  for (const KernelCost& k : report.kernels) {
    if (!k.in_step || k.seconds <= 0 || k.flops <= 0 || k.bytes <= 0) continue;
    dots.push_back(
        {k.name, static_cast<double>(k.flops) / k.bytes, k.flops * report.speed.sites / k.seconds});
  }
  return dots;
}

/// Both axes are logarithmic.
struct RooflineAxes {
  double least = 0, most = 0;  ///< flops a byte
  double bottom = 0, top = 0;  ///< flops a second

  RooflineAxes(const std::vector<Dot>& dots, const Speed& s) {
    double lowest = 1e300;
    least = 1.0 / 16, most = s.flops > 0 ? 4 * s.flops / s.copy_bandwidth : 64;
    for (const Dot& d : dots) {
      least = std::min(least, d.intensity / 4);
      most = std::max(most, d.intensity * 4);
      lowest = std::min(lowest, d.rate);
    }
    top = s.flops > 0 ? 2 * s.flops : 2 * s.copy_bandwidth * most;
    for (const Dot& d : dots) top = std::max(top, 2 * d.rate);
    bottom = std::min(lowest / 4, least * s.copy_bandwidth);
  }
  double x(double intensity) const {
    return kLeft + (kRight - kLeft) * std::log(intensity / least) / std::log(most / least);
  }
  double y(double rate) const {
    return kBottom - (kBottom - kTop) * std::log(rate / bottom) / std::log(top / bottom);
  }
};

std::string roofline_grid(const RooflineAxes& axes) {
  std::string out;
  for (int e = static_cast<int>(std::ceil(std::log2(axes.least))); std::exp2(e) <= axes.most; ++e) {
    if (e % 2 != 0) continue;
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text "
        "x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        axes.x(std::exp2(e)), kTop, kBottom, kBottom + 17,
        e >= 0 ? fmt::format("{}", 1 << e) : fmt::format("1/{}", 1 << -e));
  }
  for (int e = static_cast<int>(std::ceil(std::log10(axes.bottom))); std::pow(10, e) <= axes.top;
       ++e) {
    const double at = axes.y(std::pow(10, e));
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text "
        "x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, kRight, at, kLeft - 7, at + 4, prefixed(std::pow(10, e)));
  }
  return out;
}

/// What memory allows, up to what arithmetic does.
std::string roofline_limits(const RooflineAxes& axes, const Speed& s,
                            const std::string& precision) {
  const double ridge = s.flops > 0 ? s.flops / s.copy_bandwidth : axes.most;
  const double from = std::max(axes.least, axes.bottom / s.copy_bandwidth);
  const double to = std::min(ridge, axes.most), between = std::sqrt(from * to);
  std::string out =
      fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}", axes.x(from),
                  axes.y(from * s.copy_bandwidth), axes.x(to), axes.y(to * s.copy_bandwidth));
  if (s.flops > 0) out += fmt::format("L{:.1f} {:.1f}", axes.x(axes.most), axes.y(s.flops));
  out += "\"/>\n";
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">copy {}B/s</text>\n",
                     axes.x(between) - 8, axes.y(between * s.copy_bandwidth) - 6,
                     prefixed(s.copy_bandwidth));
  if (s.flops > 0)
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">multiply-add {}flop/s, {}</text>\n",
        kRight - 4, axes.y(s.flops) - 7, prefixed(s.flops), escape(precision));
  return out;
}

std::string roofline_dot(const RooflineAxes& axes, const Speed& s, const Dot& d) {
  const double roof = s.flops > 0 ? std::min(s.flops, d.intensity * s.copy_bandwidth)
                                  : d.intensity * s.copy_bandwidth;
  const double x = axes.x(d.intensity), y = axes.y(d.rate);
  return fmt::format(
      "<line class=\"drop\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><circle "
      "class=\"dot\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"5\"><title>{3}: {4}flop/s at {5:.2g} "
      "flop/byte</title></circle><text class=\"name\" x=\"{6:.1f}\" y=\"{7:.1f}\">{3}</text>\n",
      x, y, axes.y(roof), escape(d.name), prefixed(d.rate), d.intensity, x + 9, y + 14);
}

}  // namespace

std::string roofline(const Report& report) {
  const Speed& s = report.speed;
  if (s.copy_bandwidth <= 0 || s.sites <= 0) return "";
  const std::vector<Dot> dots = dots_of(report);
  if (dots.empty()) return "";
  const RooflineAxes axes(dots, s);
  std::string out =
      "<div class=\"roofline\"><svg viewBox=\"0 0 640 296\" role=\"img\" aria-label=\"Roofline: "
      "kernels of the step against the limits of memory and arithmetic\">\n";
  out += roofline_grid(axes) + roofline_limits(axes, s, report.precision);
  for (const Dot& d : dots) out += roofline_dot(axes, s, d);
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">flops a byte of memory traffic</text>"
      "<text x=\"4\" y=\"10\">flop/s</text>\n</svg></div>\n",
      (kLeft + kRight) / 2, kBottom + 38);
  return out;
}

}  // namespace vphi::report
