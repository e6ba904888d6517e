#include "program/points.hpp"

#include <algorithm>
#include <cmath>

namespace vphi::program {

namespace {

constexpr std::size_t kMostBoxes = 4096;
constexpr double kGoodShare = 0.1;  ///< of the envelope that may lie above the density

}  // namespace

bool is_sound(const PointDensity& d) {
  const bool lengths = d.reach > 0 && std::isfinite(d.reach) && d.apart >= 0;
  const bool values = std::ranges::all_of(d.profile, [](double v) { return v >= 0; });
  const bool sizes = std::ranges::all_of(d.species, [](int bodies) { return bodies >= 0; });
  const int inputs = d.components + static_cast<int>(d.axes.size());
  return d.components >= 1 && d.components <= 3 && lengths && values && sizes &&
         (d.formula.steps.empty() ? d.profile.size() >= 2 : is_sound(d.formula, inputs));
}

Envelope::Envelope(const PointDensity& density, std::span<const double> parameters)
    : density_(density),
      components_(static_cast<std::size_t>(density.components)),
      parameters_(parameters.begin(), parameters.end()) {
  Box whole;
  for (std::size_t i = 0; i < components_; ++i)
    whole.low[i] = -density.reach, whole.high[i] = density.reach;
  boxes_.push_back(bounded(whole));
  divide();
  std::erase_if(boxes_, [](const Box& box) { return box.most == 0; });
  double sum = 0;
  for (const Box& box : boxes_) {
    if (std::isinf(box.most))
      for (std::size_t i = 0; i < components_; ++i) unbounded_[i] = (box.low[i] + box.high[i]) / 2;
    within_.push_back(sum += box.most * volume(box));
  }
}

/// Halves the box in which most of the envelope may lie above the density, until little does; those
/// without a bound come first, the largest of them.
void Envelope::divide() {
  struct Candidate {
    double excess, volume;
    std::size_t box;
    bool operator<(const Candidate& other) const {
      if (excess != other.excess) return excess < other.excess;
      return volume != other.volume ? volume < other.volume : box > other.box;
    }
  };
  std::vector<Candidate> heap;
  double all = 0, above = 0;  // of bounded boxes
  std::size_t open = 0;       // boxes without a bound
  const auto count = [&](const Box& box, int sign) {
    const double size = volume(box);
    if (std::isinf(box.most)) {
      open = sign > 0 ? open + 1 : open - 1;
    } else {
      all += sign * box.most * size, above += sign * (box.most - box.least) * size;
    }
  };
  const auto push = [&](std::size_t box) {
    const Box& b = boxes_[box];
    count(b, 1);
    const double size = volume(b);
    heap.push_back({(b.most - b.least) * size, size, box});
    std::push_heap(heap.begin(), heap.end());
  };
  push(0);
  while (boxes_.size() < kMostBoxes && (open > 0 || above > kGoodShare * all)) {
    std::pop_heap(heap.begin(), heap.end());
    const std::size_t at = heap.back().box;
    heap.pop_back();
    Box lower = boxes_[at];
    count(lower, -1);
    std::size_t longest = 0;
    for (std::size_t i = 1; i < components_; ++i)
      if (lower.high[i] - lower.low[i] > lower.high[longest] - lower.low[longest]) longest = i;
    Box upper = lower;
    lower.high[longest] = upper.low[longest] = (lower.low[longest] + lower.high[longest]) / 2;
    boxes_[at] = bounded(lower), push(at);
    boxes_.push_back(bounded(upper)), push(boxes_.size() - 1);
  }
}

Envelope::Box Envelope::bounded(Box box) const {
  constexpr double kRounding = 1e-12;
  double nearest = 0;
  std::vector<Interval> inputs;
  for (std::size_t i = 0; i < components_; ++i) {
    const double off = std::max({0.0, box.low[i], -box.high[i]});
    nearest += off * off;
    inputs.push_back({box.low[i], box.high[i]});
  }
  box.least = box.most = 0;
  if (nearest >= density_.reach * density_.reach) return box;
  for (const double parameter : parameters_) inputs.push_back({parameter, parameter});
  const Interval bounds = range(density_.formula, inputs);
  box.most = std::max(0.0, bounds.high * (1 + kRounding));
  box.least = std::clamp(bounds.low, 0.0, box.most);
  return box;
}

double Envelope::volume(const Box& box) const {
  double size = 1;
  for (std::size_t i = 0; i < components_; ++i) size *= box.high[i] - box.low[i];
  return size;
}

Envelope::Draw Envelope::operator()(const std::array<double, 4>& uniform) const {
  const auto above =
      std::upper_bound(within_.begin(), within_.end() - 1, uniform[0] * within_.back());
  const Box& box = boxes_[static_cast<std::size_t>(above - within_.begin())];
  Draw draw;
  draw.bound = box.most;
  for (std::size_t i = 0; i < components_; ++i)
    draw.at[i] = box.low[i] + (box.high[i] - box.low[i]) * uniform[i + 1];
  return draw;
}

double Envelope::density(const std::array<double, 3>& at) const {
  double square = 0;
  for (std::size_t i = 0; i < components_; ++i) square += at[i] * at[i];
  if (square > density_.reach * density_.reach) return 0;
  std::vector<double> inputs(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(components_));
  inputs.insert(inputs.end(), parameters_.begin(), parameters_.end());
  return value(density_.formula, inputs);
}

}  // namespace vphi::program
