#include "tools/oracle/derived_value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/pairs.hpp"

namespace vphi::tools {

using algebra::Expr;
using algebra::Node;
using algebra::Op;
using physics::Boundary;

Place DerivedValue::place(int site) const {
  Place p{};
  for (std::size_t k = 0; k < 4; ++k) {
    const int n = static_cast<int>(system_.lattice.extent[k]);
    p[k] = site % n;
    site /= n;
  }
  return p;
}

long double DerivedValue::at(Expr e, const Place& place) {
  std::unordered_map<const Node*, long double> known;
  return value(e, place, nullptr, known);
}

std::vector<long double> DerivedValue::all_at(const std::vector<Expr>& all, const Place& place) {
  std::unordered_map<const Node*, long double> known;
  std::vector<long double> values;
  for (const Expr e : all) values.push_back(value(e, place, nullptr, known));
  return values;
}

long double DerivedValue::entry(int array, int row, int column) const {
  const auto matrix = std::find_if(system_.matrices.begin(), system_.matrices.end(),
                                   [&](const auto& m) { return m.array == array; });
  if (matrix == system_.matrices.end()) throw std::invalid_argument("a matrix that is none");
  auto known = matrices_.find(array);
  if (known == matrices_.end())
    known = matrices_.emplace(array, physics::read_file("", matrix->file)).first;
  if (matrix->transposed) std::swap(row, column);
  return known->second.values.at(static_cast<std::size_t>(row) * known->second.columns +
                                 static_cast<std::size_t>(column));
}

long double DerivedValue::load(const Node& node, const Place& place, const Place* other) const {
  if (algebra::is_pair_entry(node)) {
    if (!other) throw std::invalid_argument("a matrix entry of no pair");
    const int i = place[0], j = (*other)[0];
    return algebra::is_transposed(node) ? entry(node.index, j, i) : entry(node.index, i, j);
  }
  const bool far = algebra::is_other(node);
  if (far && !other) throw std::invalid_argument("the other body of no pair");
  Place p = far ? *other : place;
  long double sign = 1;
  const auto turned = [&](std::size_t axis) {  // a vector in the mirror
    const auto& laws = system_.conservation;
    const auto odd = laws ? laws->odd.find(node.index) : std::map<int, int>::const_iterator{};
    return laws && odd != laws->odd.end() && odd->second == static_cast<int>(axis);
  };
  for (std::size_t k = 0; !far && k < 4; ++k) {
    p[k] += node.offset.d[k];
    const int n = static_cast<int>(system_.lattice.extent[k]);
    if (p[k] >= 0 && p[k] < n) continue;
    const int inside = ((p[k] % n) + n) % n;
    switch (system_.lattice.boundary[k]) {
      case Boundary::Antiperiodic:
        if ((p[k] - inside) / n % 2 != 0) sign = -sign;
        [[fallthrough]];
      case Boundary::Periodic:
        p[k] = inside;
        break;
      case Boundary::Fixed:
        return system_.lattice.fixed_value;
      case Boundary::Neumann:
        if (turned(k)) sign = -sign;
        p[k] = std::clamp(p[k] < 0 ? -1 - p[k] : 2 * n - 1 - p[k], 0, n - 1);
        break;
      case Boundary::Outflow:
        p[k] = std::clamp(p[k], 0, n - 1);
        break;
      case Boundary::Absorbing:
        throw std::invalid_argument("an absorbing boundary");
    }
  }
  const auto array = arrays.find(node.index);
  if (array == arrays.end()) throw std::invalid_argument("an array that is no state");
  const auto& e = system_.lattice.extent;
  const auto site = ((p[3] * e[2] + p[2]) * e[1] + p[1]) * e[0] + p[0];
  return sign * array->second.at(static_cast<std::size_t>(site));
}

long double DerivedValue::by_waves(Expr argument, const Place& here, const Place* other) {
  const long double turn = 2 * std::numbers::pi_v<long double>;
  long double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(system_.lattice.dims); ++k) {
    const auto n = static_cast<int>(system_.lattice.extent[k]);
    for (int j = 0; j < n; ++j) {
      long double weight = 0;
      for (int m = 0; m < n; ++m) {
        const long double wave = turn * std::min(m, n - m) / (n * system_.lattice.dx);
        weight -= wave * wave * std::cos(turn * m * j / n) / n;
      }
      Place p = here;
      p[k] += j;
      std::unordered_map<const Node*, long double> there;
      sum += weight * value(argument, p, other, there);
    }
  }
  return sum;
}

long double DerivedValue::value(Expr e, const Place& here, const Place* other,
                                std::unordered_map<const Node*, long double>& known) {
  if (e.is_number()) return e->number.real;
  if (const auto found = known.find(e.get()); found != known.end()) return found->second;
  const auto keep = [&](long double v) { return known.emplace(e.get(), v).first->second; };
  switch (e.op()) {
    case Op::Symbol: {
      if (e->name == "dx") return system_.lattice.dx;
      const auto symbol = symbols.find(e->name);
      if (symbol == symbols.end()) throw std::invalid_argument("the scalar " + e->name);
      return symbol->second;
    }
    case Op::Load: {
      const auto formula = made.find(e->index);
      if (formula == made.end()) return keep(load(*e, here, other));
      Place p = here;
      for (std::size_t k = 0; k < 4; ++k) p[k] += e->offset.d[k];
      const auto place = std::pair(e->index, p);
      const auto done = made_.find(place);
      if (done != made_.end()) return keep(done->second);
      const long double v = at(formula->second, p);
      made_.emplace(place, v);
      return keep(v);
    }
    case Op::Site:
      return (algebra::is_other(*e) ? *other : here)[static_cast<std::size_t>(e->index)];
    case Op::Noise: {
      if (noise_at) {
        Place p = here;
        for (std::size_t k = 0; k < 4; ++k) p[k] += e->offset.d[k];
        return noise_at(e->index, p);
      }
      const auto stream = noise.find(e->index);
      return stream == noise.end() || !e->offset.zero() ? 0 : stream->second;
    }
    case Op::Normal:
    case Op::Uniform:
      throw std::invalid_argument("a random number");
    case Op::Stencil: {
      const algebra::StencilData& stencil = e->arena->stencil_data(e->index);
      if (stencil.spectral) return keep(by_waves(e.arg(0), here, other));
      long double sum = 0;
      for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
        Place p = here;
        for (std::size_t k = 0; k < 4; ++k) p[k] += stencil.offsets[i].d[k];
        std::unordered_map<const Node*, long double> there;
        sum += static_cast<long double>(stencil.weights[i]) * value(e.arg(0), p, other, there);
      }
      const long double dx = system_.lattice.dx;
      return keep(sum / static_cast<long double>(stencil.denominator) *
                  std::pow(dx, static_cast<long double>(stencil.dx_power)));
    }
    case Op::PairSum: {
      long double sum = 0;
      const int own = here[0];
      for (int j = 0; j < sites(); ++j) {
        if (e->index != 0 && j == own) continue;
        const Place far = place(j);
        std::unordered_map<const Node*, long double> pair;
        sum += value(e.arg(0), here, &far, pair);
      }
      return keep(sum);
    }
    case Op::Mean:
    case Op::Total:
    case Op::Minimum:
    case Op::Maximum: {
      if (const auto found = reduced_.find(e.get()); found != reduced_.end()) return found->second;
      long double sum = 0, low = std::numeric_limits<long double>::infinity(), high = -low;
      for (int s = 0; s < sites(); ++s) {
        const long double v = at(e.arg(0), place(s));
        sum += v;
        low = std::min(low, v);
        high = std::max(high, v);
      }
      const long double v = e.is(Op::Minimum)   ? low
                            : e.is(Op::Maximum) ? high
                            : e.is(Op::Mean)    ? sum / sites()
                                                : sum;
      return reduced_.emplace(e.get(), v).first->second;
    }
    case Op::Number:  // seen before
    case VPHI_ARITHMETIC:
    case VPHI_ORDERED_ARITHMETIC:
    case VPHI_DEVICE_FUNCTIONS:
    case VPHI_CONDITIONS:
#include "compiler/algebra/function_cases.def"
    case Op::Atan2:
    case Op::Min:
    case Op::Max:
    case Op::Select:
    case Op::Lookup:
    case Op::Count_:
      break;
  }
  std::vector<long double> args;
  for (const Expr arg : e.args()) args.push_back(value(arg, here, other, known));
  if (e.is(Op::Lookup))
    return keep(algebra::table_entry(algebra::table_of(*e), static_cast<double>(args.at(1))));
  const auto apply = algebra::row(e.op()).value_long;
  if (!apply) throw std::invalid_argument("an operation without a value");
  return keep(apply(args.data(), static_cast<int>(args.size())));
}

}  // namespace vphi::tools
