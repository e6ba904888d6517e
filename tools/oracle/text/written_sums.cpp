// Indices, sums and derivatives in the text.
#include <cmath>

#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

namespace {

constexpr int kReach = 4;  ///< sites behind a fixed wall that may read one of the box

/// Reads inside of a sum over the box are not reads of the site that uses the sum.
class Restored {
 public:
  explicit Restored(bool& flag) : flag_(flag), before_(flag) {}
  ~Restored() { flag_ = before_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  bool& flag_;
  bool before_;
};

}  // namespace

// ---- indices and sums -----------------------------------------------------------------------

int Written::axis_named(const std::string& name) const {
  constexpr const char* kAxes[] = {"x", "y", "z", "t"};
  for (int axis = 0; axis < box.dims && axis < 4; ++axis)
    if (name == kAxes[axis]) return axis;
  return -1;
}

std::optional<Written::Index> Written::direction(const dsl::Expr& e, const Scope& scope) const {
  if (e.kind == ExprKind::Unary && e.text == "-") {
    auto k = direction(*e.args[0], scope);
    if (k) k->sign = -k->sign;
    return k;
  }
  if (e.kind != ExprKind::Name) return std::nullopt;
  if (const Local* local = scope.find(e.text)) {
    if (local->index || !local->text) return local->index;
    return direction(*local->text, *local->scope);
  }
  if (const int axis = axis_named(e.text); axis >= 0) return Index{axis, 1, Index::Kind::Direction};
  return std::nullopt;
}

std::vector<Written::Index> Written::range(const dsl::Expr& e, const std::string& name,
                                           const Scope& scope, std::set<std::string>& seen) {
  const auto is_index = [&](const dsl::Expr& at) {
    const dsl::Expr& bare = at.kind == ExprKind::Unary && at.text == "-" ? *at.args[0] : at;
    return bare.kind == ExprKind::Name && bare.text == name;
  };
  const auto all = [](int size, Index::Kind kind) {
    std::vector<Index> result;
    for (int i = 0; i < size; ++i) result.push_back({i, 1, kind});
    return result;
  };
  if (e.kind == ExprKind::Shift && is_index(*e.args[1]))
    return all(box.dims, Index::Kind::Direction);
  if (e.kind == ExprKind::Call && (e.text == "loop" || e.text == "path")) {
    for (const auto& arg : e.args) {
      const bool many = arg->kind == ExprKind::Binary && arg->text == "*";
      if (is_index(many ? *arg->args[1] : *arg)) return all(box.dims, Index::Kind::Direction);
    }
  }
  if (e.kind == ExprKind::Call && e.text == "d" && e.args.size() == 2 && is_index(*e.args[1]))
    return all(box.dims, Index::Kind::Direction);
  if (e.kind == ExprKind::Index && e.args[0]->kind == ExprKind::Name) {
    const std::string& base = e.args[0]->text;
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      if (!is_index(*e.args[i])) continue;
      if (const auto f = fields.find(base); f != fields.end()) {
        if (f->second.particle && i == 1) return all(box.sites(), Index::Kind::Body);
        if (f->second.link) return all(box.dims, Index::Kind::Direction);
        return all(i == 1 ? f->second.rows : f->second.columns, Index::Kind::Number);
      }
      const NamedFact* fact = facts_.find(base);
      if (fact && fact->kind == NamedFact::Kind::Indexed && i - 1 < fact->parameters.size() &&
          seen.insert(base).second) {
        auto found = range(*fact->value, fact->parameters[i - 1], {}, seen);
        if (found.empty() && box.dims == 0) found = all(box.sites(), Index::Kind::Body);
        if (!found.empty()) return found;
      }
    }
  }
  if (e.kind == ExprKind::Call) {
    const NamedFact* fact = facts_.find(e.text);
    if (fact && fact->kind == NamedFact::Kind::Function) {
      for (std::size_t i = 0; i < e.args.size() && i < fact->parameters.size(); ++i) {
        if (!is_index(*e.args[i]) || !seen.insert(e.text).second) continue;
        const auto found = range(*fact->value, fact->parameters[i], {}, seen);
        if (!found.empty()) return found;
      }
    }
  }
  for (const auto& arg : e.args) {
    const auto found = range(*arg, name, scope, seen);
    if (!found.empty()) return found;
  }
  return {};
}

Numbers Written::sum(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const bool product = e.text == "prod";
  std::vector<std::string> names;
  std::vector<const dsl::Expr*> conditions;
  std::map<std::string, std::vector<Index>> ranges;
  const std::function<void(const dsl::Expr&)> collect = [&](const dsl::Expr& at) {
    if (at.kind == ExprKind::Name && !scope.find(at.text) && !facts_.find(at.text) &&
        axis_named(at.text) < 0 && std::find(names.begin(), names.end(), at.text) == names.end())
      names.push_back(at.text);
    for (const auto& arg : at.args) collect(*arg);
  };
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    // an index that stands alone is bound here, whatever name of the model it has
    if (e.args[i]->kind == ExprKind::Name && !scope.find(e.args[i]->text) &&
        axis_named(e.args[i]->text) < 0)
      names.push_back(e.args[i]->text);
    collect(*e.args[i]);
    if (e.args[i]->kind != ExprKind::Name) conditions.push_back(e.args[i].get());
  }
  for (const auto& option : e.named) {
    const dsl::Expr& v = *option.value;
    auto& values = ranges[option.name];
    names.push_back(option.name);
    if (v.kind == ExprKind::Call && v.text == "directions") {
      for (const auto& sign : v.args)
        for (int k = 0; k < box.dims; ++k)
          values.push_back({k, sign->text == "-" ? -1 : 1, Index::Kind::Direction});
    } else if (v.kind == ExprKind::Range) {
      const int last = static_cast<int>(real(*v.args[1], scope, place));
      for (int i = static_cast<int>(real(*v.args[0], scope, place)); i <= last; ++i)
        values.push_back({i, 1, Index::Kind::Number});
    } else {
      throw NotCovered{e.span, "a sum with this option"};
    }
  }
  if (names.empty()) {
    if (product) throw NotCovered{e.span, "a product over the box"};
    return reduction(e, scope);
  }
  for (const std::string& name : names) {
    if (ranges.contains(name)) continue;
    std::set<std::string> seen;
    ranges[name] = range(*e.args[0], name, scope, seen);
    for (const dsl::Expr* c : conditions)
      if (ranges[name].empty()) ranges[name] = range(*c, name, scope, seen);
    if (ranges[name].empty()) throw NotCovered{e.span, "the range of `" + name + "`"};
  }
  Numbers result;
  bool any = false;
  const std::function<void(std::size_t, const Scope&)> tuples = [&](std::size_t i,
                                                                    const Scope& outer) {
    if (i < names.size()) {
      for (const Index& k : ranges.at(names[i])) {
        Scope inner;
        inner.parent = &outer;
        Local local;
        local.index = k;
        inner.names.emplace(names[i], std::move(local));
        tuples(i + 1, inner);
      }
      return;
    }
    for (const dsl::Expr* c : conditions)
      if (real(*c, outer, place) == 0) return;
    const Numbers v = at(*e.args[0], outer, place);
    if (!any) {
      result = v;
      any = true;
      return;
    }
    for (std::size_t k = 0; k < v.parts.size(); ++k)
      result.parts[k] = product ? result.parts[k] * v.parts[k] : result.parts[k] + v.parts[k];
  };
  tuples(0, scope);
  result.period = 0;
  return any ? result : Numbers::of(product ? 1 : 0);
}

Numbers Written::reduction(const dsl::Expr& e, const Scope& scope) {
  if (!e.named.empty()) throw NotCovered{e.span, "`" + e.text + "` with options"};
  if (e.args.size() > 1) {  // over indices as well: the mean of each tuple's
    throw NotCovered{e.span, "`" + e.text + "` over indices"};
  }
  const Restored keep(reads_box_);
  const std::string& f = e.text;
  if (f == "total" || f == "sum")
    return summed([&](const Place& p) { return at(*e.args[0], scope, &p); });
  std::vector<Numbers> values;
  for (int s = 0; s < box.sites(); ++s) {
    const Place p = box.place(s);
    values.push_back(at(*e.args[0], scope, &p));
  }
  Numbers result = values[0];
  result.period = 0;
  const auto n = static_cast<long double>(values.size());
  for (std::size_t k = 0; k < result.parts.size(); ++k) {
    Complex sum = 0;
    long double low = values[0].parts[k].real(), high = low;
    for (const Numbers& v : values) {
      sum += v.parts[k];
      low = std::min(low, v.parts[k].real());
      high = std::max(high, v.parts[k].real());
    }
    result.parts[k] = f == "min" ? Complex(low) : f == "max" ? Complex(high) : sum;
    if (f == "mean" || f == "var") result.parts[k] /= n;
  }
  if (f != "var") return result;
  long double square = 0;
  for (const Numbers& v : values)
    for (std::size_t k = 0; k < v.parts.size(); ++k)
      square += std::norm(v.parts[k] - result.parts[k]);
  return Numbers::of(square / n);
}

// ---- derivatives --------------------------------------------------------------------------------

long double Written::difference_quotient(long double& u, long double scale,
                                         const std::function<long double()>& f) {
  const OtherState nothing(*this, 0, root_);
  const long double here = u, h = step * scale;
  const auto moved = [&](int steps) {
    u = here + steps * h;
    const long double v = f();
    u = here;
    return v;
  };
  return slope_of_four(moved(-2), moved(-1), moved(1), moved(2), h);
}

/// The sum over the sites, and over those beyond a fixed wall that read a site of the box.
Numbers Written::summed(const std::function<Numbers(const Place&)>& f) {
  const Restored keep(reads_box_);
  const OtherState nothing(*this, 0, root_);
  Numbers total;
  bool any = false;
  const auto add = [&](const Numbers& v) {
    if (!any) total = v;
    for (std::size_t i = 0; any && i < v.parts.size(); ++i) total.parts[i] += v.parts[i];
    any = true;
  };
  for (int s = 0; s < box.sites(); ++s) add(f(box.place(s)));
  for (int k = 0; k < box.dims; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const bool fixed = box.walls.wall[axis] == Wall::Fixed ||
                       std::any_of(fields.begin(), fields.end(), [&](const auto& f) {
                         return f.second.walls.wall[axis] == Wall::Fixed;
                       });
    if (!fixed) continue;
    for (int s = 0; s < box.sites(); ++s) {
      Place p = box.place(s);
      const int here = p[axis];
      if (here >= kReach && here < box.extent[axis] - kReach && box.extent[axis] > 2 * kReach)
        continue;
      for (const int behind : {-1 - here, 2 * box.extent[axis] - 1 - here}) {  // mirrored sites
        if (behind < -kReach || behind >= box.extent[axis] + kReach) continue;
        if (behind >= 0 && behind < box.extent[axis]) continue;
        p[axis] = behind;
        reads_box_ = false;
        const Numbers v = f(p);
        if (reads_box_) add(v);
      }
    }
  }
  total.period = 0;
  return total;
}

Complex Written::functional(const dsl::Expr& e, const Scope& scope) {
  try {
    return number(e, scope, nullptr);
  } catch (const NeedsPlace&) {
    return summed([&](const Place& p) { return at(e, scope, &p); }).parts.at(0);
  }
}

Numbers Written::derivative(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const dsl::Expr* by = e.args[1].get();
  const bool conjugated = by->kind == ExprKind::Call && by->text == "conj";
  if (conjugated) by = by->args[0].get();
  const bool name = by->kind == ExprKind::Name;
  if (const auto gradient = link_gradient(e, scope, place)) return *gradient;
  if (const auto k = direction(*by, scope);
      k && !conjugated && !(name && fields.contains(by->text))) {
    if (!place) throw NeedsPlace{};
    Numbers v = slope(*e.args[0], scope, *place, k->value);
    for (Complex& z : v.parts) z *= k->sign;
    return v;
  }
  if (name && !fields.contains(by->text)) {  // the name is left open meanwhile
    const long double here = real(*by, scope, place);
    const long double h = step * std::max(std::fabs(here), 1e-3L);
    const bool local = scope.find(by->text) != nullptr && !scope.seen_by_definitions(by->text);
    const auto moved = [&](int steps) {
      Scope inner;
      inner.parent = &scope;
      inner.dynamic = !local;
      Local open;
      open.fixed = Numbers::of(here + steps * h);
      inner.names.emplace(by->text, std::move(open));
      const OtherState other(*this, local ? state_ : next_state(), local ? root_ : &inner);
      return at(*e.args[0], inner, place);
    };
    Numbers result = moved(1);
    const Numbers b = moved(-1), c = moved(2), d = moved(-2);
    for (std::size_t i = 0; i < result.parts.size(); ++i)
      result.parts[i] = slope_of_four(d.parts[i], b.parts[i], result.parts[i], c.parts[i], h);
    return result;
  }
  // by a field, a component or a body
  const bool indexed = by->kind == ExprKind::Index && by->args[0]->kind == ExprKind::Name;
  const auto found = fields.find(indexed ? by->args[0]->text : by->text);
  if (found == fields.end()) throw NotCovered{by->span, "a derivative by this"};
  WrittenField& f = found->second;
  if (f.symmetric || f.link) throw NotCovered{by->span, "a derivative by this"};
  std::size_t site = 0, first = 0, count = static_cast<std::size_t>(f.rows * f.columns);
  const auto component = [&](const dsl::Expr& i) {
    first = static_cast<std::size_t>(real(i, scope, place));
    count = 1;
  };
  if (f.particle && indexed) {
    site = static_cast<std::size_t>(real(*by->args[1], scope, place));
    if (by->args.size() == 3) component(*by->args[2]);
  } else {
    if (!place) throw NeedsPlace{};
    site = static_cast<std::size_t>(box.site(*place));
    if (indexed) component(*by->args[1]);
  }
  Numbers result = count == 1 ? Numbers{1, 1, {}, 0} : Numbers{f.rows, f.columns, {}, 0};
  for (std::size_t k = first; k < first + count; ++k) {
    long double* u = &f.values[site * static_cast<std::size_t>(f.reals()) + 2 * k];
    const auto by_part = [&](int part, bool imaginary) {
      return difference_quotient(u[part], f.scale, [&] {
        const Complex v = functional(*e.args[0], scope);
        return imaginary ? v.imag() : v.real();
      });
    };
    if (!f.complex) {
      result.parts.emplace_back(by_part(0, false), by_part(0, true));
    } else {
      const Complex slope(by_part(0, false) / 2, by_part(1, false) / 2);
      result.parts.push_back(conjugated ? slope : std::conj(slope));
    }
  }
  return result;
}

}  // namespace vphi::tools
