#include "compiler/physics/fields/transverse.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

constexpr int kPairs[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

using Key = std::array<int, 4>;

Key key_of(const Offset& o) { return {o.d[0], o.d[1], o.d[2], o.d[3]}; }

/// Weights of a derivative by offset, up to a common factor.
using Weights = std::map<Key, double>;

/// The quadratic form of one array in the six components of a source.
class Source {
 public:
  Source(const Theory& d, const std::array<Expr, 6>& components, int array)
      : d_(d), components_(components), array_(array) {
    std::set<Key> offsets;
    for (const Expr e : components) {
      algebra::visit(e, [&](Expr node) {
        if (node.is(Op::Load) && node->index == array &&
            offsets.insert(key_of(node->offset)).second)
          offsets_.push_back(node->offset);
      });
    }
  }

  /// Nothing where the source is not a product of one derivative along each axis.
  std::optional<std::array<Weights, 3>> derivative() {
    std::array<Weights, 3> d;
    for (int axis = 0; axis < 3; ++axis) {
      const auto weights = from_diagonal(axis == 0 ? 0 : axis == 1 ? 3 : 5);
      if (!weights) return std::nullopt;
      d[axis] = *weights;
    }
    // a sign of each axis is free on the diagonal; the off-diagonal components settle it
    for (int axis = 1; axis < 3; ++axis) {
      if (matches(axis, d[0], d[axis])) continue;
      for (auto& [offset, w] : d[axis]) w = -w;
      if (!matches(axis, d[0], d[axis])) return std::nullopt;
    }
    if (!matches(4, d[1], d[2])) return std::nullopt;
    return d;
  }

 private:
  /// d^2 S/(df(a) df(b)) with every symbol at 1; nothing where it depends on a field.
  std::optional<double> second(int component, const Offset& a, const Offset& b) {
    Arena& arena = d_.arena();
    Expr e = algebra::derivative(components_[component], arena.load(array_, a));
    e = algebra::derivative(e, arena.load(array_, b));
    if (algebra::contains(e, [](Expr n) { return n.is(Op::Load) || n.is(Op::Stencil); })) return {};
    try {
      return algebra::evaluate(e, {[](const algebra::Node&) { return 1.0; }});
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }

  /// A form of rank one is w w^T: its largest diagonal entry gives w.
  std::optional<Weights> from_diagonal(int component) {
    Offset at;
    double largest = 0;
    for (const Offset& o : offsets_) {
      const auto m = second(component, o, o);
      if (!m) return std::nullopt;
      if (std::abs(*m) > std::abs(largest)) largest = *m, at = o;
    }
    if (largest == 0) return std::nullopt;
    sign_ = largest < 0 ? -1 : 1;
    Weights w;
    for (const Offset& o : offsets_) {
      const double m = *second(component, o, at);
      if (m != 0) w[key_of(o)] = sign_ * m / std::sqrt(std::abs(largest));
    }
    return form_is(component, w, w) ? std::optional(w) : std::nullopt;
  }

  bool matches(int component, const Weights& a, const Weights& b) {
    return form_is(component, a, b);
  }

  /// Whether the form of this component is sign*(a b^T + b a^T)/2.
  bool form_is(int component, const Weights& a, const Weights& b) {
    const auto of = [](const Weights& w, const Offset& o) {
      const auto it = w.find(key_of(o));
      return it == w.end() ? 0.0 : it->second;
    };
    double size = 0;
    for (const auto& [o, w] : a) size = std::max(size, w * w);
    for (const Offset& p : offsets_) {
      for (const Offset& q : offsets_) {
        const auto m = second(component, p, q);
        const double wanted = sign_ * (of(a, p) * of(b, q) + of(b, p) * of(a, q)) / 2;
        if (!m || std::abs(*m - wanted) > 1e-9 * size) return false;
      }
    }
    return true;
  }

  const Theory& d_;
  const std::array<Expr, 6>& components_;
  int array_;
  std::vector<Offset> offsets_;
  double sign_ = 1;
};

program::Symbol symbol_of(const Weights& weights) {
  program::Symbol symbol;
  for (const auto& [offset, w] : weights) {
    symbol.offsets.push_back(offset);
    symbol.weights.push_back(w);
  }
  return symbol;
}

/// (u(x + k) - u(x - k))/2
std::vector<program::Symbol> central_differences() {
  std::vector<program::Symbol> symbols(3);
  for (int axis = 0; axis < 3; ++axis) {
    Key forth{}, back{};
    forth[axis] = 1, back[axis] = -1;
    symbols[axis] = {{forth, back}, {0.5, -0.5}};
  }
  return symbols;
}

/// The same up to one factor for all axes.
bool agree(const std::vector<program::Symbol>& a, const std::vector<program::Symbol>& b) {
  const double factor = b[0].weights[0] / a[0].weights[0];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (a[axis].offsets != b[axis].offsets) return false;
    for (std::size_t i = 0; i < a[axis].weights.size(); ++i) {
      const double wanted = factor * a[axis].weights[i];
      if (std::abs(b[axis].weights[i] - wanted) > 1e-9 * std::abs(wanted)) return false;
    }
  }
  return true;
}

/// The terms of a source that read neighbours. One of values of the site alone, as w*v_i*v_j of a
/// fluid, holds no derivative and is transverse with respect to any.
class NeighbourTerms {
 public:
  NeighbourTerms(const Theory& d, const StateField& field) : d_(d), field_(field) {}

  Expr operator()(Expr e) const {
    if (!reads(e)) return d_.arena().integer(0);
    if (e.is(Op::Add)) {
      Expr sum = d_.arena().integer(0);
      for (const Expr term : e.args()) sum = sum + (*this)(term);
      return sum;
    }
    if (e.is(Op::Mul)) return of_product(e);
    return e;
  }

 private:
  /// A product of values of the site and of one sum.
  Expr of_product(Expr e) const {
    const auto reading = [&](Expr factor) { return reads(factor); };
    if (std::ranges::count_if(e.args(), reading) != 1) return e;
    Expr product = d_.arena().integer(1);
    for (const Expr factor : e.args())
      product = product * (reads(factor) ? (*this)(factor) : factor);
    return product;
  }

  bool reads(Expr e) const {
    return algebra::contains(e, [&](Expr node) {
      if (node.is(Op::Stencil)) return foreign(node.arg(0));
      return node.is(Op::Load) && !node->offset.zero() && foreign(node);
    });
  }

  /// Whether it is of anything else than the tensor itself.
  bool foreign(Expr e) const {
    return algebra::contains(e, [&](Expr node) {
      return node.is(Op::Load) && !is_gradient(node->index) && d_.field_of(node->index) != &field_;
    });
  }

  const Theory& d_;
  const StateField& field_;
};

/// A source with all links 1: a covariant derivative becomes the one whose links it holds.
Expr without_links(const Theory& d, Expr source) {
  return algebra::rewrite(source, [&](Expr node) -> Expr {
    if (!node.is(Op::Load) || is_gradient(node->index)) return node;
    const StateField* field = d.field_of(node->index);
    if (!field || !field->links) return node;
    if (field->angle) return d.arena().integer(0);
    const gauge::LinkType& type = *field->links;
    const std::vector<Expr> one = gauge::store(type, gauge::identity(d.arena(), type.group.n));
    return one[static_cast<std::size_t>(field->place(node->index) % type.reals())];
  });
}

/// The field of the tensor: the one whose components its entries read.
const StateField* field_of(const Theory& d, const Value& tensor) {
  const StateField* field = nullptr;
  for (const Component& part : tensor.parts) {
    algebra::visit(part.re, [&](Expr node) {
      if (!node.is(Op::Load) || is_gradient(node->index)) return;
      if (const StateField* owner = d.field_of(node->index); owner && owner->rows == 3)
        field = owner;
    });
  }
  return field;
}

}  // namespace

std::vector<program::Symbol> source_derivative(const Theory& d, const Value& tensor,
                                               dsl::Span span) {
  const StateField* field = field_of(d, tensor);
  if (!field || field->columns != 3 || field->complex) return central_differences();
  const NeighbourTerms terms(d, *field);
  std::array<Expr, 6> components;
  std::set<int> others;
  for (int c = 0; c < 6; ++c) {
    const int cell = field->cells[kPairs[c][0] * 3 + kPairs[c][1]];
    const int array = field->order == 2 ? field->velocities[cell] : field->arrays[cell];
    const auto rate = d.rates.find(array);
    if (rate == d.rates.end()) return central_differences();
    components[c] = without_links(d, terms(rate->second));
    algebra::visit(components[c], [&](Expr node) {
      if (!node.is(Op::Load) || is_gradient(node->index)) return;
      // momenta of links are vectors: what is read of them at neighbours is no derivative
      const StateField* other = d.field_of(node->index);
      if (other != field && !(other && other->link)) others.insert(node->index);
    });
  }
  std::vector<program::Symbol> found;
  for (const int array : others) {
    const auto weights = Source(d, components, array).derivative();
    if (!weights) d.fail(errors::no_source_derivative(span, field->name));
    std::vector<program::Symbol> symbols;
    for (const Weights& w : *weights) symbols.push_back(symbol_of(w));
    if (!found.empty() && !agree(found, symbols))
      d.fail(errors::no_source_derivative(span, field->name));
    found = std::move(symbols);
  }
  return found.empty() ? central_differences() : found;
}

Value projected(const Theory& d, const Value& tensor, dsl::Span span) {
  if (tensor.rows != 3 || tensor.columns != 3 || tensor.complex() || d.grid.dims != 3)
    d.fail(errors::wrong_shape(span,
                               "`transverse_traceless` takes a real symmetric tensor, sym(3), on a "
                               "lattice of three dimensions"));
  if (!d.periodic())
    d.fail(errors::not_yet(span, "`transverse_traceless` in a box that is not periodic"));
  std::vector<Expr> values;
  for (const auto& [i, j] : kPairs) {
    if (tensor.parts[i * 3 + j].re != tensor.parts[j * 3 + i].re)
      d.fail(errors::wrong_shape(span, "`transverse_traceless` takes a symmetric tensor"));
    values.push_back(tensor.parts[i * 3 + j].re);
  }
  for (const Expr e : values) {
    algebra::visit(e, [&](Expr node) {
      if (!node.is(Op::Load)) return;
      for (const Projection& other : d.collected.projections)
        if (std::ranges::count(other.arrays, node->index) > 0)
          d.fail(errors::not_yet(span, "the projection of what is projected already"));
    });
  }
  Projection* projection = nullptr;
  for (Projection& known : d.collected.projections)
    if (known.values == values) projection = &known;
  if (!projection) {
    std::vector<program::Symbol> derivative = source_derivative(d, tensor, span);  // may fail
    projection = &d.collected.projections.emplace_back();
    projection->values = values;
    projection->derivative = std::move(derivative);
    for (int c = 0; c < 6; ++c) projection->arrays.push_back(d.new_array());
  }
  Value result{3, 3, std::vector<Component>(9)};
  for (int c = 0; c < 6; ++c) {
    const Expr load = d.arena().load(projection->arrays[c], {}, span);
    result.parts[kPairs[c][0] * 3 + kPairs[c][1]] = {load, {}};
    result.parts[kPairs[c][1] * 3 + kPairs[c][0]] = {load, {}};
  }
  return result;
}

void finish_projections(const Program& d, ProgramUnits& units, System& system) {
  if (system.projections.empty()) return;
  std::set<int> arrays;
  for (Projection& p : system.projections) {
    arrays.insert(p.arrays.begin(), p.arrays.end());
    for (Expr& value : p.values) value = units.quantity(value);
  }
  const auto refuse = [&](Expr e, dsl::Span span) {
    if (e && algebra::contains(
                 e, [&](Expr node) { return node.is(Op::Load) && arrays.contains(node->index); }))
      d.fail(errors::not_yet(span, "`transverse_traceless` in what every step needs"));
  };
  for (const Variable& v : system.variables) refuse(v.rate, v.span);
  for (const ScalarVariable& s : system.scalars) refuse(s.rate, d.background.span);
  for (const InitialValue& i : system.initial) refuse(i.value, d.grid.span);
  refuse(system.until, d.grid.span);
  for (const OutputClause& output : system.outputs) refuse(output.after, output.span);
  for (const Observable& o : system.progress) refuse(o.value, d.grid.span);
}

}  // namespace vphi::physics
