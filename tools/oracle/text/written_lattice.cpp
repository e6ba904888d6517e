// Neighbours, differences and links in the text.
#include <cmath>
#include <numbers>

#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

namespace {

int wrapped(int i, int n) { return ((i % n) + n) % n; }

Complex conjugate(Complex z) { return std::conj(z); }

}  // namespace

int Box::site(const Place& p) const {
  return ((p[3] * extent[2] + p[2]) * extent[1] + p[1]) * extent[0] + p[0];
}

Place Box::place(int site) const {
  Place p{};
  for (std::size_t k = 0; k < 4; ++k) {
    p[k] = site % extent[k];
    site /= extent[k];
  }
  return p;
}

// ---- neighbours ---------------------------------------------------------------------------------

namespace {

/// sum_a u_a T_a
Numbers in_algebra(int n, const std::vector<Complex>& u) {
  Numbers v{n, n, std::vector<Complex>(static_cast<std::size_t>(n * n)), 0};
  for (std::size_t a = 0; a < u.size(); ++a) {
    const std::vector<Complex> t = link_generator(n, static_cast<int>(a));
    for (std::size_t i = 0; i < t.size(); ++i) v.parts[i] += u[a] * t[i];
  }
  return v;
}

}  // namespace

/// The place where rows that end go on in others.
Place Box::after_shifts(Place p) const {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (walls.shift[axis] == Place{}) continue;
    const int inside = wrapped(p[axis], extent[axis]), turns = (p[axis] - inside) / extent[axis];
    p[axis] = inside;
    for (std::size_t other = 0; other < 4; ++other) p[other] += turns * walls.shift[axis][other];
  }
  return p;
}

Numbers Written::field_at(const WrittenField& f, const Place& place, bool rate) const {
  Place p = box.after_shifts(place);
  Complex phase = 1;
  bool outside = false;
  long double value = 0;  // of a wall
  for (int k = 0; k < box.dims; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const int n = box.extent[axis];
    if (p[axis] >= 0 && p[axis] < n) continue;
    switch (f.walls.wall[axis]) {
      case Wall::Periodic:
      case Wall::Open:  // see link_at
      case Wall::Held:
        p[axis] = wrapped(p[axis], n);
        break;
      case Wall::Antiperiodic:
        if ((p[axis] - wrapped(p[axis], n)) / n % 2 != 0) phase = -phase;
        p[axis] = wrapped(p[axis], n);
        break;
      case Wall::Twisted: {
        const long double turns = static_cast<long double>(p[axis] - wrapped(p[axis], n)) / n;
        phase *= std::polar(1.0L, f.walls.fixed[axis] * turns);
        p[axis] = wrapped(p[axis], n);
        break;
      }
      case Wall::Fixed:
        outside = true;
        value = rate ? 0 : f.walls.fixed[axis];
        break;
      case Wall::Neumann:
        p[axis] = std::clamp(p[axis] < 0 ? -1 - p[axis] : 2 * n - 1 - p[axis], 0, n - 1);
        break;
      case Wall::Outflow:
        p[axis] = std::clamp(p[axis], 0, n - 1);
        break;
    }
  }
  reads_box_ = reads_box_ || !outside;
  if (read_sites_ && !outside) read_sites_->insert({&f, box.site(p)});
  const std::vector<long double>& state = rate ? f.rates : f.values;
  const std::size_t first =
      outside ? 0 : static_cast<std::size_t>(box.site(p)) * static_cast<std::size_t>(f.reals());
  Numbers v{f.rows, f.columns, {}, rate ? 0 : f.period};
  for (std::size_t i = 0; i < static_cast<std::size_t>(f.reals()); i += 2) {
    Complex part(outside ? value : state.at(first + i),
                 outside ? (f.complex ? value : 0) : state.at(first + i + 1));
    if (!outside) part *= rate ? phase * speed_ : phase;
    const long double angle = part.real();
    v.parts.push_back(f.phase && !rate ? Complex(std::cos(angle), std::sin(angle)) : part);
  }
  return f.algebra > 0 && !f.link ? in_algebra(f.algebra, v.parts) : v;
}

Numbers Written::shifted(const dsl::Expr& e, const Scope& scope, const Place* place) {
  if (!place) throw NeedsPlace{};
  Place p = *place;
  const dsl::Expr& where = *e.args[1];
  if (where.kind == ExprKind::List) {
    for (std::size_t i = 0; i < where.args.size(); ++i)
      p[i] += static_cast<int>(real(*where.args[i], scope, place));
  } else {
    const auto k = direction(where, scope);
    if (!k) throw NotCovered{where.span, "a shift along this"};
    p[static_cast<std::size_t>(k->value)] += k->sign;
  }
  return at(*e.args[0], scope, &p);
}

bool Written::mentions_angle(const dsl::Expr& e, std::set<std::string>& seen) const {
  if (e.kind == ExprKind::Name || e.kind == ExprKind::Call) {
    const auto field = fields.find(e.text);
    if (field != fields.end() && field->second.period > 0) return true;
    const NamedFact* fact = facts_.find(e.text);
    if (fact && fact->value && seen.insert(e.text).second && mentions_angle(*fact->value, seen))
      return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const auto& arg) { return mentions_angle(*arg, seen); });
}

/// u(there) - u(here); of an angle the short way round.
Numbers Written::difference(const Numbers& there, const Numbers& here, const dsl::Expr& u) const {
  std::set<std::string> seen;
  if (there.period == 0 && mentions_angle(u, seen))
    throw NotCovered{u.span, "a lattice derivative of a formula of an angle"};
  Numbers result{there.rows, there.columns, {}, 0};
  for (std::size_t i = 0; i < there.parts.size(); ++i) {
    Complex step = there.parts[i] - here.parts[i];
    if (there.period > 0)
      step = step.real() - there.period * std::ceil(step.real() / there.period - 0.5L);
    result.parts.push_back(step);
  }
  return result;
}

Numbers Written::neighbours(const dsl::Expr& u, const Scope& scope, const Place& place,
                            int nonzero) {
  Numbers sum;
  bool first = true;
  int cells = 1;
  for (int k = 0; k < box.dims; ++k) cells *= 3;
  for (int code = 0; code < cells; ++code) {
    Place p = place;
    int away = 0, rest = code;
    for (int k = 0; k < box.dims; ++k, rest /= 3) {
      p[static_cast<std::size_t>(k)] += rest % 3 - 1;
      away += rest % 3 != 1;
    }
    if (away != nonzero) continue;
    const Numbers v = at(u, scope, &p);
    if (first) sum = v;
    for (std::size_t i = 0; !first && i < v.parts.size(); ++i) sum.parts[i] += v.parts[i];
    first = false;
  }
  sum.period = 0;
  return sum;
}

/// The weights of -k^2 on a ring of N sites, in closed form (Trefethen, Spectral Methods in MATLAB,
/// SIAM 2000, chapter 3; for odd N in the same way).
const std::map<Place, long double>& Written::spectral_weights() {
  const long double pi = std::numbers::pi_v<long double>;
  for (std::size_t k = 0; k < static_cast<std::size_t>(box.dims); ++k) {
    const auto n = static_cast<long>(box.extent[k]);
    const long double whole = static_cast<long double>(n), unit = 2 * pi / (whole * box.dx);
    weights_[Place{}] -= unit * unit * (n % 2 == 0 ? whole * whole + 2 : whole * whole - 1) / 12;
    for (long j = 1; j < n; ++j) {
      Place offset{};
      offset[k] = static_cast<int>(j);
      const long double angle = pi * static_cast<long double>(j) / whole;
      const long double sine = std::sin(angle);
      weights_[offset] -= unit * unit * (j % 2 == 0 ? 1 : -1) * (n % 2 == 0 ? 1 : std::cos(angle)) /
                          (2 * sine * sine);
    }
  }
  return weights_;
}

/// The weights of the stencil: its text applied to a field that is 1 at one site and 0 elsewhere.
const std::map<Place, long double>& Written::laplacian_weights(const dsl::Expr& e) {
  if (!weights_.empty()) return weights_;
  if (box.dims == 0) throw NotCovered{e.span, "`lap` without a lattice"};
  const NamedFact* chosen = facts_.find("laplacian");
  const auto stencil = chosen ? facts_.stencils.find(chosen->value->text) : facts_.stencils.end();
  if (chosen && stencil == facts_.stencils.end()) {
    if (chosen->value->text != "spectral") throw NotCovered{e.span, "this Laplacian"};
    return spectral_weights();
  }
  int cells = 1;
  constexpr int kWidth = 9;  // offsets from -4 to 4
  for (int k = 0; k < box.dims; ++k) cells *= kWidth;
  for (int code = 0; code < cells; ++code) {
    Place offset{};
    int rest = code, away = 0;
    for (int k = 0; k < box.dims; ++k, rest /= kWidth) {
      offset[static_cast<std::size_t>(k)] = rest % kWidth - kWidth / 2;
      away += std::abs(offset[static_cast<std::size_t>(k)]);
    }
    long double weight = 0;
    if (!chosen) {
      weight = (away == 0 ? -2.0L * box.dims : away == 1 ? 1.0L : 0.0L) / (box.dx * box.dx);
    } else {
      const dsl::Item& item = stencil->second->items.front();
      Scope scope;
      Local delta, spacing;
      delta.of_place = [&](const Place& p) { return Numbers::of(p == offset ? 1 : 0); };
      spacing.fixed = Numbers::of(box.dx);
      scope.names.emplace(item.head->args[0]->text, std::move(delta));
      scope.names.emplace("dx", std::move(spacing));
      const Place origin{};
      weight = real(*item.value, scope, &origin);
    }
    if (weight != 0) weights_.emplace(offset, weight);
  }
  return weights_;
}

/// Those of a place; in coordinates they differ from cell to cell.
std::map<Place, long double> Written::laplacian_weights(const dsl::Expr& e, const Place& place) {
  if (!cells.volume) return laplacian_weights(e);
  std::map<Place, long double> weights;
  for (int axis = 0; axis < box.dims; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    Place next{}, back{}, before = place;
    next[k] = 1;
    back[k] = -1;
    --before[k];
    const long double unit = box.dx * box.dx * cells.volume(place);
    weights[next] = cells.face_over_length(place, axis) / unit;
    weights[back] = cells.face_over_length(before, axis) / unit;
  }
  return weights;
}

Numbers Written::laplacian(const dsl::Expr& u, const Scope& scope, const Place& place) {
  const Numbers here = at(u, scope, &place);
  Numbers sum{here.rows, here.columns, std::vector<Complex>(here.parts.size()), 0};
  for (const auto& [offset, weight] : laplacian_weights(u, place)) {
    Place p = place;
    for (std::size_t k = 0; k < 4; ++k) p[k] += offset[k];
    const Numbers step = difference(at(u, scope, &p), here, u);  // weights add up to 0
    for (std::size_t i = 0; i < sum.parts.size(); ++i) sum.parts[i] += weight * step.parts[i];
  }
  return sum;
}

/// (u(x + k) - u(x - k))/(2 dx)
Numbers Written::slope(const dsl::Expr& u, const Scope& scope, const Place& place, int axis) {
  Place forth = place, back = place;
  ++forth[static_cast<std::size_t>(axis)];
  --back[static_cast<std::size_t>(axis)];
  const Numbers here = at(u, scope, &place);
  Numbers ahead = difference(at(u, scope, &forth), here, u);
  const Numbers behind = difference(at(u, scope, &back), here, u);
  for (std::size_t i = 0; i < ahead.parts.size(); ++i)
    ahead.parts[i] = (ahead.parts[i] - behind.parts[i]) / (2 * box.dx);
  return ahead;
}

long double Written::gradient_square(const WrittenField& f, const Place& place) {
  const dsl::Expr none;
  const Numbers here = field_at(f, place, false);
  long double sum = 0;
  for (const auto& [offset, weight] : laplacian_weights(none, place)) {
    Place p = place;
    for (std::size_t k = 0; k < 4; ++k) p[k] += offset[k];
    const Numbers there = field_at(f, p, false);
    for (std::size_t i = 0; i < there.parts.size(); ++i) {
      Complex step = there.parts[i] - here.parts[i];
      if (f.period > 0) step = step.real() - f.period * std::ceil(step.real() / f.period - 0.5L);
      sum += weight * std::norm(step) / 2;
    }
  }
  return sum;
}

/// The link that begins at `from`; against its direction the adjoint. Where links are open, the one
/// from the last site to the first is 0.
Numbers Written::link_at(const WrittenField& links, Place from, int axis, int sign) const {
  if (read_links_) {
    Place p = box.after_shifts(from);
    for (std::size_t k = 0; k < 4; ++k) p[k] = wrapped(p[k], box.extent[k]);
    read_links_->insert({box.site(p), axis});
  }
  const Numbers all = field_at(links, from, false);
  if (links.algebra > 0) {
    if (sign < 0) throw NotCovered{{}, "the momentum of a link backwards"};
    const auto first = all.parts.begin() + axis * links.columns;
    return in_algebra(links.algebra, {first, first + links.columns});
  }
  const auto along = static_cast<std::size_t>(axis);
  const int last = box.extent[along] - 1;
  const Wall wall = links.walls.wall[along];
  if ((wall == Wall::Open || wall == Wall::Held) && wrapped(from[along], last + 1) == last) {
    const int n = std::max(links.colours, 1);
    return {n, n, std::vector<Complex>(static_cast<std::size_t>(n * n)), 0};
  }
  if (links.colours == 0) {
    const Complex u = all.parts.at(static_cast<std::size_t>(axis));
    return Numbers::of(sign < 0 && links.phase ? conjugate(u) : u);
  }
  const auto n = static_cast<std::size_t>(links.colours);
  const std::size_t first = static_cast<std::size_t>(axis) * n * n;
  Numbers u{links.colours, links.colours, {}, 0};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      u.parts.push_back(sign < 0 ? conjugate(all.parts.at(first + j * n + i))
                                 : all.parts.at(first + i * n + j));
  return u;
}

Numbers Written::link_speed_at(const WrittenField& links, Place from, int axis, int sign) const {
  Numbers u = link_at(links, from, axis, 1);
  const Numbers rates = field_at(links, from, true);
  const auto n = static_cast<std::size_t>(u.rows), first = static_cast<std::size_t>(axis) * n * n;
  for (std::size_t i = 0; i < u.parts.size(); ++i)
    u.parts[i] = links.phase ? Complex(0, rates.parts.at(first).real()) * u.parts[i]
                             : rates.parts.at(first + i);
  if (sign > 0) return u;
  Numbers adjoint = u;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) adjoint.parts[i * n + j] = conjugate(u.parts[j * n + i]);
  return adjoint;
}

/// Links along a path of directions.
Numbers Written::loop(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const WrittenField* links = nullptr;
  for (const auto& [name, f] : fields)
    if (f.phase || f.colours > 0) links = &f;
  if (const auto own = fields.find(e.args[0]->text);
      e.args[0]->kind == ExprKind::Name && own != fields.end())
    links = &own->second;
  if (!links) throw NotCovered{e.span, "links of this group"};
  if (!place) throw NeedsPlace{};
  Place p = *place;
  const dsl::Expr& first = *e.args[0];
  const bool named = first.kind == ExprKind::Name && !scope.find(first.text);
  const WrittenField* made = named ? made_links(first.text) : nullptr;
  const bool skips = made || (named && first.text == links->name);
  Numbers product = Numbers::of(1);
  for (const auto& arg : e.args) {
    if (skips && arg == e.args[0]) continue;
    const bool many = arg->kind == ExprKind::Binary && arg->text == "*";
    int times = many ? static_cast<int>(real(*arg->args[0], scope, place)) : 1;
    auto k = direction(many ? *arg->args[1] : *arg, scope);
    if (!k) throw NotCovered{arg->span, "a step of a path"};
    if (times < 0) {  // -2*mu
      times = -times;
      k->sign = -k->sign;
    }
    const auto axis = static_cast<std::size_t>(k->value);
    for (int i = 0; i < times; ++i) {
      if (k->sign < 0) --p[axis];
      product = multiplied(product, made ? made_link_at(*made, p, k->value, k->sign)
                                         : link_at(*links, p, k->value, k->sign));
      if (k->sign > 0) ++p[axis];
    }
  }
  return product;
}

}  // namespace vphi::tools
