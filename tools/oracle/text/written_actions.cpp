// Actions of links in the text: derivatives along the group, and rates of links in its algebra.
#include <algorithm>
#include <cmath>

#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

/// The link turned by exp(i w T_a) for as long as this lives.
class Written::Turned {
 public:
  Turned(WrittenField& f, int site, int axis, int a) : f_(f), a_(a) {
    const std::size_t size = f.phase ? 1 : static_cast<std::size_t>(2 * f.colours * f.colours);
    const std::size_t of_axis = f.phase ? 2 : size;
    first_ = static_cast<std::size_t>(site * f.reals()) + static_cast<std::size_t>(axis) * of_axis;
    for (std::size_t i = 0; i < size; ++i) before_.push_back(f.values[first_ + i]);
  }
  ~Turned() { std::copy(before_.begin(), before_.end(), place()); }
  Turned(const Turned&) = delete;
  Turned& operator=(const Turned&) = delete;

  void by(long double w) {
    if (f_.phase) {
      f_.values[first_] = before_[0] + w;
      return;
    }
    std::vector<Complex> u;
    for (std::size_t i = 0; i < before_.size(); i += 2) u.emplace_back(before_[i], before_[i + 1]);
    auto to = place();
    for (const Complex z : rotated_link(u, f_.colours, a_, w)) {
      *to++ = z.real();
      *to++ = z.imag();
    }
  }

 private:
  std::vector<long double>::iterator place() {
    return f_.values.begin() + static_cast<std::ptrdiff_t>(first_);
  }
  WrittenField& f_;
  int a_;
  std::size_t first_ = 0;
  std::vector<long double> before_;
};

std::vector<Written::Term> Written::terms_of_actions() const {
  std::vector<Term> all;
  for (const auto& [name, fact] : facts_.named) {
    if (!fact.clause || fact.clause->keyword != "action") continue;
    const auto parts = terms_of_action(name);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

long double Written::action() {
  long double sum = 0;
  for (const Term& term : terms_of_actions())
    sum += term.sign *
           summed([&](const Place& p) { return at(*term.text, {}, &p); }).parts.at(0).real();
  return sum;
}

/// Whether a condition selects what is evaluated, here or in a definition that is named.
bool Written::chooses(const dsl::Expr& e, std::set<std::string>& seen) const {
  if (e.kind == ExprKind::Select) return true;
  if (e.kind == ExprKind::Name || e.kind == ExprKind::Call) {
    const NamedFact* fact = facts_.find(e.text);
    if (fact && fact->value && seen.insert(e.text).second && chooses(*fact->value, seen))
      return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const auto& arg) { return chooses(*arg, seen); });
}

/// Found once, by reading the density everywhere. Where a condition selects what is read, all.
const std::vector<Place>& Written::readers(const Term& term, const WrittenField& field, int site) {
  const auto known = site_readers_.find(term.text);
  if (known != site_readers_.end()) return known->second[{&field, site}];
  std::set<std::string> seen;
  const bool any = chooses(*term.text, seen);
  auto& all = site_readers_[term.text];
  for (int s = 0; s < box.sites(); ++s) {
    const Place p = box.place(s);
    std::set<SitePlace> read;
    read_sites_ = &read;
    at(*term.text, {}, &p);
    read_sites_ = nullptr;
    for (int other = 0; any && other < box.sites(); ++other)
      for (const auto& [name, f] : fields) read.insert({&f, other});
    for (const SitePlace& place : read) all[place].push_back(p);
  }
  return all[{&field, site}];
}

long double Written::action_near(const WrittenField& field, int site) {
  long double sum = 0;
  for (const Term& term : terms_of_actions())
    for (const Place& p : readers(term, field, site))
      sum += term.sign * at(*term.text, {}, &p).parts.at(0).real();
  return sum;
}

/// Found once, by reading the density everywhere: loops are the same on all configurations.
const std::vector<Place>& Written::readers(const Term& term, int site, int axis) {
  const auto known = readers_.find(term.text);
  if (known != readers_.end()) return known->second[{site, axis}];
  auto& all = readers_[term.text];
  for (int s = 0; s < box.sites(); ++s) {
    const Place p = box.place(s);
    std::set<std::pair<int, int>> read;
    read_links_ = &read;
    at(*term.text, {}, &p);
    read_links_ = nullptr;
    for (const auto& link : read) all[link].push_back(p);
  }
  return all[{site, axis}];
}

/// (8 (f(h) - f(-h)) - f(2h) + f(-2h))/12h, place by place; with a second one, from three values,
/// (f(h) - f(-h))/2h and (f(h) - 2 f(0) + f(-h))/h^2.
Written::LinkSlope Written::along_link(const std::vector<Term>& terms, WrittenField& f, int site,
                                       int axis, int a, bool second) {
  const bool walls = std::any_of(f.walls.wall.begin(), f.walls.wall.end(), [](Wall wall) {
    return wall != Wall::Periodic && wall != Wall::Open && wall != Wall::Held;
  });
  if (walls) throw NotCovered{{}, "links in a box that is not periodic"};
  const long double h = step;
  LinkSlope sum;
  for (const Term& term : terms) {
    const std::vector<Place> places = readers(term, site, axis);
    Turned link(f, site, axis, a);
    std::array<std::vector<long double>, 5> values;
    for (int k = second ? -1 : -2; k <= (second ? 1 : 2); ++k) {
      if (k == 0 && !second) continue;
      link.by(k * h);
      for (const Place& p : places)
        values[static_cast<std::size_t>(k + 2)].push_back(
            at(*term.text, {}, &p).parts.at(0).real());
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto v = [&](int k) { return values[static_cast<std::size_t>(k + 2)][i]; };
      if (second) {
        sum.first += term.sign * (v(1) - v(-1)) / (2 * h);
        sum.second += term.sign * ((v(1) - v(0)) - (v(0) - v(-1))) / (h * h);
      } else {
        sum.first += term.sign * slope_of_four(v(-2), v(-1), v(1), v(2), h);
      }
    }
  }
  return sum;
}

bool Written::stays(const WrittenField& links, int site, int axis) const {
  const Place at = box.place(site);
  for (int k = 0; k < box.dims; ++k) {
    const auto across = static_cast<std::size_t>(k);
    const bool end = at[across] == 0 || at[across] + 1 == box.extent[across];
    if (k != axis && end && links.walls.wall[across] == Wall::Held) return true;
  }
  return false;
}

bool Written::outside(const WrittenField& links, int site, int axis) const {
  const auto k = static_cast<std::size_t>(axis);
  const Wall wall = links.walls.wall[k];
  return (wall == Wall::Open || wall == Wall::Held) && box.place(site)[k] + 1 == box.extent[k];
}

Written::LinkSlope Written::along_link(const WrittenField& links, int site, int axis, int a) {
  if (stays(links, site, axis)) return {};
  return along_link(terms_of_actions(), fields.at(links.name), site, axis, a, true);
}

long double Written::turned_by(const WrittenField& links, int site, int axis, long double angle) {
  WrittenField& f = fields.at(links.name);
  long double change = 0;
  if (stays(links, site, axis)) return change;
  for (const Term& term : terms_of_actions()) {
    const std::vector<Place> places = readers(term, site, axis);
    Turned link(f, site, axis, 0);
    for (const long double turn : {0.0L, angle}) {
      link.by(turn);
      for (const Place& p : places)
        change += (turn == 0 ? -term.sign : term.sign) * at(*term.text, {}, &p).parts.at(0).real();
    }
  }
  return change;
}

/// i T_a dS/dw_a of the link at this place; of U(1) i dS/dw.
std::optional<Numbers> Written::link_gradient(const dsl::Expr& e, const Scope& scope,
                                              const Place* place) {
  const dsl::Expr& by = *e.args[1];
  const bool indexed = by.kind == ExprKind::Index && by.args.size() == 2;
  const dsl::Expr& base = indexed ? *by.args[0] : by;
  auto found = base.kind == ExprKind::Name ? fields.find(base.text) : fields.end();
  if (base.kind == ExprKind::Name && !moving_.empty() && base.text == moving_)
    found = std::find_if(fields.begin(), fields.end(), [](const auto& entry) {
      return entry.second.phase || entry.second.colours > 0;
    });
  if (flow_axis_ < 0 || found == fields.end()) return std::nullopt;
  WrittenField& f = found->second;
  if (!f.phase && f.colours == 0) return std::nullopt;
  if (!place) throw NeedsPlace{};
  int axis = flow_axis_;
  if (indexed) {
    const auto k = direction(*by.args[1], scope);
    if (!k || k->sign < 0) throw NotCovered{by.span, "a gradient by this link"};
    axis = k->value;
  }
  const dsl::Expr* density = e.args[0].get();
  const NamedFact* fact = density->kind == ExprKind::Name ? facts_.find(density->text) : nullptr;
  if (fact && fact->value && fact->value->kind == ExprKind::Call && fact->value->text == "total")
    density = fact->value->args[0].get();
  std::vector<Term> parts;
  terms(*density, 1, true, parts);
  Place p = *place;
  for (std::size_t k = 0; k < 4; ++k)
    p[k] = ((p[k] % box.extent[k]) + box.extent[k]) % box.extent[k];
  const int site = box.site(p);
  if (f.phase) return Numbers::of(Complex(0, along_link(parts, f, site, axis, 0, false).first));
  Numbers sum{f.colours, f.colours,
              std::vector<Complex>(static_cast<std::size_t>(f.colours * f.colours)), 0};
  for (int a = 0; a < f.colours * f.colours - 1; ++a) {
    const long double slope = along_link(parts, f, site, axis, a, false).first;
    const std::vector<Complex> t = link_generator(f.colours, a);
    for (std::size_t i = 0; i < t.size(); ++i) sum.parts[i] += Complex(0, slope) * t[i];
  }
  return sum;
}

std::vector<Complex> Written::link_rate(const physics::EquationFact& fact,
                                        const WrittenField& links, int site, int axis) {
  const dsl::Head& head = fact.definition->head;
  const Place place = box.place(site);
  Scope scope;
  if (!head.args.empty()) {
    Local local;
    local.index = Index{axis, 1, Index::Kind::Direction};
    scope.names.emplace(head.args[0]->text, std::move(local));
  }
  flow_axis_ = axis;
  Numbers v;
  try {
    v = at(*fact.definition->value, scope, &place);
  } catch (...) {
    flow_axis_ = -1;
    throw;
  }
  flow_axis_ = -1;
  const auto size = static_cast<std::size_t>(links.phase ? 1 : links.colours * links.colours);
  if (v.parts.size() != size) throw NotCovered{head.span, "a rate of another shape than the links"};
  if (stays(links, site, axis)) return std::vector<Complex>(size);
  return v.parts;
}

}  // namespace vphi::tools
