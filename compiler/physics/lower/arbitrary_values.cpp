#include "compiler/physics/lower/arbitrary_values.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/mixed_bits.hpp"
#include "compiler/physics/lower/sample.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

double number(std::uint64_t key) {
  return static_cast<double>(mixed_bits(key) >> 11) * 0x1p-52 - 1;
}

std::uint64_t with_offset(std::uint64_t key, const algebra::Offset& offset) {
  for (const int d : offset.d) key = key * 131u + static_cast<std::uint64_t>(d + 64);
  return key;
}

}  // namespace

double ArbitraryValues::operator()(Expr e) {
  algebra::Environment environment;
  environment.leaf = [this](const algebra::Node& node) { return leaf(node); };
  return algebra::evaluate(without_stencils(e), environment);
}

double ArbitraryValues::leaf(const algebra::Node& node) {
  if (node.op == Op::Load) {
    const StateField* field = d_.field_of(node.index);
    if (const int place = field && field->matrices() ? field->place(node.index) : -1; place >= 0) {
      const int reals = field->links->reals();
      return link(*field, place / reals, node.offset)[static_cast<std::size_t>(place % reals)];
    }
    return number(
        with_offset(seed_ * 1000003u + static_cast<std::uint64_t>(node.index), node.offset));
  }
  // scalars: positive, so that powers of a are defined
  std::uint64_t key = seed_;
  for (const char c : node.name) key = key * 31u + static_cast<unsigned char>(c);
  return 1.5 + 0.5 * number(key);
}

const std::vector<double>& ArbitraryValues::link(const StateField& field, int axis,
                                                 const algebra::Offset& at) {
  constexpr int kTerms = 30;
  const gauge::LinkType& type = *field.links;
  const int first = field.arrays[static_cast<std::size_t>(axis * type.reals())];
  const std::uint64_t key = with_offset(seed_ * 7000003u + static_cast<std::uint64_t>(first), at);
  std::vector<double>& stored = links_[{key, first}];
  if (!stored.empty()) return stored;
  Arena arena;
  std::vector<Expr> p;
  for (int a = 0; a < type.group.generators(); ++a)
    p.push_back(arena.real(2 * number(key * 17u + static_cast<std::uint64_t>(a))));
  for (const Expr e : gauge::store(type, gauge::exponential(type.group, p, kTerms)))
    stored.push_back(algebra::evaluate(e, {}));
  return stored;
}

}  // namespace vphi::physics
