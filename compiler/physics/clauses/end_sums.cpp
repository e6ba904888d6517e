#include "compiler/physics/clauses/end_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/lower/sample.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

/// Sites of a period along the other axes, so that their neighbours differ.
constexpr int kAcross = 3;

/// A short row along one axis between two ends.
class ShortRow {
 public:
  ShortRow(const Declared& d, Expr density, int axis) : d_(d), axis_(axis) {
    std::int64_t reach = 1;
    algebra::visit(density, [&](Expr node) {
      if (!node.is(Op::Load)) return;
      reach = std::max<std::int64_t>(reach, std::abs(along(node->offset)));
      if (end_of(node->index)) reads_.push_back({node, algebra::derivative(density, node)});
    });
    length_ = 4 * reach + 4;
  }

  /// An array of whose values the sum has another derivative than the equation of the inside.
  std::optional<int> differs() const {
    for (const Read& read : reads_)
      for (std::int64_t site = 0; site < length_; ++site)
        if (differs_at(read.load->index, site)) return read.load->index;
    return std::nullopt;
  }

 private:
  struct Read {
    Expr load;
    Expr slope;  ///< of the term of a site by it
  };

  std::int64_t along(const Offset& offset) const { return offset.d[axis_]; }
  bool inside(std::int64_t site) const { return site >= 0 && site < length_; }

  /// What lies beyond the ends of an array, where it is images of its sites.
  std::optional<Boundary> end_of(int array) const {
    if (!d_.field_of(array)) return std::nullopt;
    const Boundary end = d_.walls_of(array).boundary[static_cast<std::size_t>(axis_)];
    if (end != Boundary::Neumann && end != Boundary::Outflow) return std::nullopt;
    return end;
  }

  std::int64_t image(int array, std::int64_t site) const {
    const auto end = end_of(array);
    if (!end) return (site % length_ + length_) % length_;
    if (*end == Boundary::Outflow) return std::clamp<std::int64_t>(site, 0, length_ - 1);
    return site < 0 ? -1 - site : site < length_ ? site : 2 * length_ - 1 - site;
  }

  /// The derivative of the term of a site by what it reads, which is at 0 along the other axes.
  double slope(const Read& read, std::int64_t site) const {
    const auto across = [&](const algebra::Node& node, int axis) {
      const std::int64_t at = node.offset.d[axis] - read.load->offset.d[axis];
      return axis == axis_ ? 0 : (at % kAcross + kAcross) % kAcross;
    };
    const auto leaf = [&](const algebra::Node& node) {
      if (node.op == Op::Site)
        return node.index == axis_ ? static_cast<double>(site) + 0.3 : sample_number({node.index});
      if (node.op != Op::Load) return sample_number({node.index}, node.name);
      return sample_number({node.index, image(node.index, site + along(node.offset)),
                            across(node, 0), across(node, 1), across(node, 2), across(node, 3)});
    };
    return algebra::evaluate(read.slope, {leaf});
  }

  /// Terms of sites inside that read an image of this site, against terms of sites beyond the end
  /// that would read the site itself.
  bool differs_at(int array, std::int64_t site) const {
    double sum = 0, inner = 0;
    for (const Read& read : reads_) {
      if (read.load->index != array) continue;
      const std::int64_t far = along(read.load->offset);
      for (std::int64_t from = 0; from < length_; ++from)
        if (!inside(from + far) && image(array, from + far) == site) sum += slope(read, from);
      if (!inside(site - far)) inner += slope(read, site - far);
    }
    return std::abs(sum - inner) > 1e-9 * (1 + std::abs(sum) + std::abs(inner));
  }

  const Declared& d_;
  int axis_;
  std::vector<Read> reads_;
  std::int64_t length_ = 0;
};

}  // namespace

void check_end_sums(const Declared& d, Expr density, dsl::Span span) {
  for (const Expr part : without_averages(density)) {
    const Expr plain = without_stencils(part);  // gradients stay, as numbers of the site
    for (int axis = 0; axis < d.grid.dims; ++axis) {
      try {
        if (const auto array = ShortRow(d, plain, axis).differs()) {
          const StateField& field = *d.field_of(*array);
          d.fail(errors::sum_at_end(span, field.name, algebra::kAxisNames[axis], field.span));
        }
      } catch (const std::invalid_argument&) {
        // sums over pairs, transforms: not of neighbours
      }
    }
  }
}

}  // namespace vphi::physics
