#include "compiler/physics/spinors/edges.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/lower/sample.hpp"
#include "compiler/physics/lower/turns.hpp"

namespace vphi::physics {

using algebra::Op;

SitePhase phase_beyond(const Setting& d, const EdgePhases& edges, const algebra::Offset& offset) {
  Arena& arena = d.arena();
  SitePhase phase;
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (edges[k].one() || offset.d[k] == 0) continue;
    const std::int64_t n = d.grid.extent[k];
    const Turns way = turns_of(offset.d[k], n);
    const Expr inside = arena.make(Op::Less, {arena.site(axis), arena.integer(n - way.rest)});
    if (edges[k].turned) {
      const std::int64_t here = way.times % 2 == 0 ? 1 : -1;
      const Expr one = arena.make(Op::Select, {inside, arena.integer(here), arena.integer(-here)});
      phase.sign = phase.sign ? gauge::times(phase.sign, one) : one;
    }
    if (!edges[k].angle) continue;
    const auto part = [&](Op op) {
      const auto of = [&](std::int64_t crossings) {
        return arena.make(op, {arena.integer(crossings) * edges[k].angle});
      };
      return arena.make(Op::Select, {inside, of(way.times), of(way.times + 1)});
    };
    gauge::Complex whole{part(Op::Cos), part(Op::Sin)};
    if (phase.cosine) whole = gauge::times(gauge::Complex{phase.cosine, phase.sine}, whole);
    phase.cosine = whole.re, phase.sine = whole.im;
  }
  return phase;
}

std::optional<SpinorPart> spinor_part(const Declared& d, int array) {
  if (const StateField* field = d.field_of(array)) {
    if (!field->spinor) return std::nullopt;
    return SpinorPart{field->place(array) % 2 != 0, field->edges};
  }
  const auto solved = d.collected.spinor_parts.find(array);
  if (solved == d.collected.spinor_parts.end()) return std::nullopt;
  return solved->second;
}

namespace {

using PartOf = std::function<std::optional<SpinorPart>(int)>;

bool reads_spinors(Expr e, const PartOf& part_of) {
  return e && algebra::contains(e, [&](Expr node) {
           return node.is(Op::Load) && part_of(node->index).has_value();
         });
}

/// The expression with a symbol for each part that reads no spinor, sums and means over the
/// lattice among them; of alternatives both count.
Expr in_spinors(Expr e, const PartOf& part_of) {
  return algebra::rewrite(e, [&](Expr node) {
    Arena& arena = *node->arena;
    const auto symbol = [&](const char* name) {
      return arena.symbol(std::string(name) + " " + std::to_string(node->id));
    };
    if (node.is(Op::Number) || node.is(Op::Symbol)) return node;
    if (algebra::reduces_sites(node.op())) return symbol("reduced");
    if (node.args().empty()) {
      const bool spinor = node.is(Op::Load) && part_of(node->index).has_value();
      return spinor ? node : symbol("number");
    }
    const auto plain = [](Expr arg) { return arg.is(Op::Number) || arg.is(Op::Symbol); };
    if (std::ranges::all_of(node.args(), plain)) return symbol("number");
    if (!node.is(Op::Select)) return node;
    return symbol("first") * node.arg(1) + symbol("second") * node.arg(2);
  });
}

/// The expression where conditions and what they choose from numbers are symbols, as sums and means
/// over the lattice are: what is left changes smoothly with the site.
Expr smooth(Expr e, const PartOf& part_of) {
  return algebra::rewrite(e, [&](Expr node) {
    const auto symbol = [&](const char* name) {
      return node->arena->symbol(std::string(name) + " " + std::to_string(node->id));
    };
    if (algebra::reduces_sites(node.op())) return symbol("reduced");
    if (!node.is(Op::Select)) return node;
    if (!reads_spinors(node, part_of)) return symbol("number");
    return symbol("first") * node.arg(1) + symbol("second") * node.arg(2);
  });
}

/// Numbers in place of sites and arrays, those of spinors turned by an angle.
struct Sample {
  std::function<double(const SpinorPart&)> angle;
  int axis = -1;             ///< the one along which the site is moved
  std::int64_t further = 0;  ///< so many sites
};

double value_at(Expr e, const PartOf& part_of, const Sample& sample) {
  const auto leaf = [&](const algebra::Node& node) {
    const bool stencil = node.op == Op::Stencil;
    const algebra::Node& load = stencil ? *node.args[0] : node;
    if (load.op == Op::Site)
      return sample_number({load.index}, "site") +
             static_cast<double>(load.index == sample.axis ? sample.further : 0);
    if (load.op != Op::Load) return sample_number({}, node.name);
    const auto& o = load.offset.d;
    const auto number = [&](int array) {
      return sample_number({stencil ? node.index : -1, array, o[0], o[1], o[2], o[3]});
    };
    const auto part = part_of(load.index);
    if (!part) return number(load.index);
    const int re = load.index - (part->imaginary ? 1 : 0);
    const std::complex<double> turned =
        std::polar(1.0, sample.angle(*part)) * std::complex<double>(number(re), number(re + 1));
    return part->imaginary ? turned.imag() : turned.real();
  };
  return algebra::evaluate(e, {leaf});
}

bool close(std::complex<double> a, std::complex<double> b) {
  return std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b));
}

}  // namespace

std::optional<int> turns_with_spinors(const Declared& d, const Value& v, bool signs) {
  const PartOf part_of = [&](int array) { return spinor_part(d, array); };
  const auto reads = [&](const Component& c) {
    return reads_spinors(c.re, part_of) || reads_spinors(c.im, part_of);
  };
  if (std::ranges::none_of(v.parts, reads)) return 0;
  constexpr double kAngle = 0.7;
  constexpr int kMostTurns = 4;
  const double angle = signs ? std::numbers::pi : kAngle;
  std::vector<std::complex<double>> before, after;
  for (const Component& c : v.parts) {
    const auto at = [&](double by) {
      const Sample sample{[&](const SpinorPart&) { return by; }};
      const auto value = [&](Expr e) {
        return e ? value_at(in_spinors(e, part_of), part_of, sample) : 0.0;
      };
      return std::complex<double>(value(c.re), value(c.im));
    };
    before.push_back(at(0)), after.push_back(at(angle));
  }
  const auto all_turn = [&](int times) {
    const auto phase = std::polar(1.0, angle * times);
    return std::ranges::equal(after, before, [&](auto a, auto b) { return close(a, phase * b); });
  };
  for (int times = 0; times <= (signs ? 1 : kMostTurns); ++times) {
    if (all_turn(times)) return times;
    if (!signs && all_turn(-times)) return -times;
  }
  return std::nullopt;
}

bool gains_phase(const Declared& d, Expr e) {
  const PartOf part_of = [&](int array) { return spinor_part(d, array); };
  if (!reads_spinors(e, part_of)) return false;
  const Expr all = smooth(e, part_of);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(d.grid.dims); ++axis) {
    const auto angle = [&](const SpinorPart& part) {
      const EdgePhase& edge = part.edges[axis];
      const auto number = [](const algebra::Node& node) { return sample_number({}, node.name); };
      return (edge.turned ? std::numbers::pi : 0.0) +
             (edge.angle ? algebra::evaluate(edge.angle, {number}) : 0.0);
    };
    const bool phase = algebra::contains(e, [&](Expr node) {
      const auto part = node.is(Op::Load) ? part_of(node->index) : std::nullopt;
      return part && !part->edges[axis].one();
    });
    if (!phase) continue;
    const Sample here{[](const SpinorPart&) { return 0.0; }};
    const Sample around{angle, static_cast<int>(axis), d.grid.extent[axis]};
    if (!close(value_at(all, part_of, here), value_at(all, part_of, around))) return true;
  }
  return false;
}

bool couples_with_phase(const Declared& d, Expr e) {
  const auto couples = [&](Expr local) {
    return algebra::contains(local, [&](Expr node) {
      return node.is(Op::Load) && !node->offset.zero() && spinor_part(d, node->index).has_value();
    });
  };
  return algebra::contains(e, [&](Expr node) {
    const bool sum = algebra::reduces_sites(node.op());
    if (!sum && !(node == e)) return false;
    const Expr local = sum ? node.arg(0) : node;
    return couples(local) && gains_phase(d, local);
  });
}

}  // namespace vphi::physics
