#include "compiler/physics/chains/link_phase.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/mixed_bits.hpp"
#include "dsl/messages/error.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr std::uint64_t kMostPlaces = 4096;
constexpr std::uint64_t kFewDraws = 64;  ///< of other fields and random numbers

/// The sites and the values of sweep axes that an expression depends on.
class Places {
 public:
  Places(const Space& d, Expr e) : d_(d), time_(d.time()), scale_(d.scale()) {
    algebra::visit(e, [&](Expr node) {
      if (node.is(Op::Site)) {
        add(sites_, node->index, d_.grid.extent[static_cast<std::size_t>(node->index)]);
      } else if (node.is(Op::Symbol)) {
        const int axis = swept(node->name);
        if (axis >= 0) {
          const auto& values = d_.axes[static_cast<std::size_t>(axis)].values;
          add(axes_, axis, static_cast<std::int64_t>(values.size()));
        }
        other_ = other_ || (axis < 0 && !known(*node.get()));
      } else if ((node.op() <= Op::Uniform && !node.is_number()) || node.is(Op::Stencil)) {
        other_ = true;
      }
    });
    for (const auto* list : {&sites_, &axes_})
      for (const Choice& choice : *list) all_ *= static_cast<std::uint64_t>(choice.size);
  }

  std::uint64_t count() const {
    return std::min(kMostPlaces, other_ ? std::max(all_, kFewDraws) : all_);
  }

  /// Whether the value depends on more than the place.
  bool arbitrary() const { return other_; }

  /// Goes to place number n of `count()`: every place once, or a sample spread over all of them.
  void go_to(std::uint64_t n) {
    number_ = n;
    std::uint64_t rest = all_ <= kMostPlaces ? n % all_ : mixed_bits(n) % all_;
    for (auto* list : {&sites_, &axes_})
      for (Choice& choice : *list) {
        choice.at = static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(choice.size));
        rest /= static_cast<std::uint64_t>(choice.size);
      }
  }

  long double leaf(const algebra::Node& node) const {
    if (node.op == Op::Site) return static_cast<long double>(find(sites_, node.index));
    if (node.op == Op::Symbol) {
      if (const int axis = swept(node.name); axis >= 0)
        return d_.axes[static_cast<std::size_t>(axis)]
            .values[static_cast<std::size_t>(find(axes_, axis))];
      if (const auto value = known(node)) return *value;
    }
    const RandomField* drawn = source(node);
    if (drawn && drawn->kind == RandomField::Kind::Link && drawn->colours == 1) {
      // both parts of a link of a file; their modulus is checked where the file is read
      const long double angle = 2 * std::acos(-1.0L) * chance(node, drawn->entry / 2);
      return drawn->entry % 2 == 0 ? std::cos(angle) : std::sin(angle);
    }
    const bool uniform =
        node.op == Op::Uniform || (drawn && drawn->kind == RandomField::Kind::Uniform);
    return uniform ? chance(node, node.index) : 4 * chance(node, node.index) - 2;
  }

  /// " at site (3, 0)"; empty where all sites are alike.
  std::string shown() const {
    if (sites_.empty()) return "";
    std::string site;
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const auto has = [&](const Choice& c) { return c.number == axis; };
      const bool counts = std::ranges::any_of(sites_, has);
      site += (axis > 0 ? ", " : "") + (counts ? std::to_string(find(sites_, axis)) : "*");
    }
    return " at site (" + site + ")";
  }

 private:
  struct Choice {
    int number = 0;  ///< of the axis
    std::int64_t size = 1, at = 0;
  };

  static void add(std::vector<Choice>& list, int number, std::int64_t size) {
    const auto same = [&](const Choice& c) { return c.number == number; };
    if (std::ranges::none_of(list, same)) list.push_back({number, size, 0});
  }
  static std::int64_t find(const std::vector<Choice>& list, int number) {
    for (const Choice& choice : list)
      if (choice.number == number) return choice.at;
    return 0;
  }
  int swept(const std::string& name) const {
    for (std::size_t k = 0; k < d_.axes.size(); ++k)
      if (d_.axes[k].symbol == name) return static_cast<int>(k);
    return -1;
  }
  /// A number between 0 and 1, different at each place and for each leaf of this name and number.
  long double chance(const algebra::Node& node, int index) const {
    std::uint64_t key = mixed_bits(number_) ^ static_cast<std::uint64_t>(index);
    for (const char c : node.name) key = mixed_bits(key) ^ static_cast<unsigned char>(c);
    for (const int step : node.offset.d) key = mixed_bits(key) ^ static_cast<std::uint64_t>(step);
    return static_cast<long double>(mixed_bits(key)) / 0x1p64L;
  }
  /// The random numbers or the file that fill the array of a leaf; null where neither does.
  const RandomField* source(const algebra::Node& node) const {
    if (node.op != Op::Load) return nullptr;
    const auto fills = [&](const RandomField& r) { return r.array == node.index; };
    const auto found = std::ranges::find_if(d_.collected.random, fills);
    return found == d_.collected.random.end() ? nullptr : &*found;
  }
  /// The value of t or a at the start.
  std::optional<long double> known(const algebra::Node& node) const {
    if (time_.get() == &node) return d_.start_time;
    if (d_.expanding() && scale_.get() == &node) return 1;
    return std::nullopt;
  }

  const Space& d_;
  Expr time_, scale_;
  std::vector<Choice> sites_, axes_;
  bool other_ = false;  ///< other leaves, which may have any value
  std::uint64_t all_ = 1, number_ = 0;
};

Expr largest(Expr a, Expr b) {
  const Expr size = b->arena->make(Op::Abs, {b});
  return a ? b->arena->make(Op::Max, {a, size}) : size;
}

/// Largest part of U adj(U) - 1 and of det U - 1.
Expr distance(const gauge::Matrix& u) {
  Arena& arena = *u.parts[0].re->arena;
  const gauge::Matrix square = gauge::times(u, gauge::adjoint(u));
  Expr far;
  for (int i = 0; i < u.rows; ++i)
    for (int j = 0; j < u.columns; ++j) {
      const gauge::Complex& part = square.at(i, j);
      far = largest(far, i == j ? part.re - arena.integer(1) : part.re);
      far = largest(far, part.im);
    }
  if (u.rows == 1) return far;
  const gauge::Complex det = gauge::determinant(u);
  return largest(largest(far, det.re - arena.integer(1)), det.im);
}

/// The expression with a symbol for each reduction over the lattice, whose value is not known yet.
Expr without_averages(Expr e) {
  int count = 0;
  return algebra::rewrite(e, [&](Expr node) {
    if (!algebra::reduces_sites(node.op())) return node;
    return node->arena->symbol(fmt::format("average {}", count++));
  });
}

struct Far {
  long double distance = 0;
  std::string where;
};

/// The place where a link is farthest from its group; nothing where all are near enough.
std::optional<Far> far_from_group(const Space& d, const gauge::Matrix& u) {
  const Expr e = without_averages(distance(u));
  Places places(d, e);
  std::optional<Far> worst;
  for (std::uint64_t n = 0; n < places.count(); ++n) {
    places.go_to(n);
    const long double far =
        algebra::evaluate_long(e, [&](const algebra::Node& node) { return places.leaf(node); });
    if (!std::isfinite(far) && places.arbitrary())
      continue;  // a root whose argument is never negative for the values of the run
    if (far <= kFarFromGroup || (worst && !(far > worst->distance))) continue;
    worst = Far{far, places.shown()};
    if (!std::isfinite(far)) break;
  }
  return worst;
}

}  // namespace

void check_phase(const Space& d, const StateField& links, const Component& value, dsl::Span span) {
  const bool real = !value.im || value.im.is_zero();
  gauge::Matrix u = gauge::zero(d.arena(), 1, 1);
  u.parts[0] = {value.re, real ? d.arena().integer(0) : value.im};
  const auto far = far_from_group(d, u);
  if (!far) return;
  d.fail(dsl::error(
      "E0718", span,
      fmt::format("a link `{}` of U(1) has modulus 1, and this has not{}", links.name, far->where),
      "", "a link is exp(1i*angle)",
      fmt::format("write an angle theta as: init {} = exp(1i*theta)", links.name)));
}

gauge::Matrix checked_link(const Space& d, const StateField& links, const Value& value,
                           dsl::Span span) {
  const gauge::Group group = links.links->group;
  const Expr zero = d.arena().integer(0);
  gauge::Matrix u = gauge::zero(d.arena(), group.n, group.n);
  bool number = true;
  for (std::size_t i = 0; i < u.parts.size(); ++i) {
    u.parts[i] = {value.parts[i].re, value.parts[i].im ? value.parts[i].im : zero};
    number = number && algebra::constant(u.parts[i].re) && algebra::constant(u.parts[i].im);
  }
  if (const auto far = far_from_group(d, u)) {
    d.fail(dsl::error(
        "E0718", span,
        fmt::format("a link `{}` of SU({}) is unitary with determinant 1, and this is off by "
                    "{:.2g}{}",
                    links.name, group.n, static_cast<double>(far->distance), far->where),
        "", fmt::format("U*adj(U) - 1 and det(U) - 1 are below {} at the start", kFarFromGroup),
        group.n == 2 ? "write [[a, b], [-conj(b), conj(a)]] with norm2(a) + norm2(b) = 1"
                     : "write a matrix of the group; a diagonal one has phases exp(1i*theta) whose "
                       "angles add up to 0"));
  }
  return number ? u : gauge::reunitarised(group, u);
}

}  // namespace vphi::physics
