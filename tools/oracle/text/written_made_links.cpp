// Links that a definition of the text makes of others, V[mu] = exp(A)*U[mu] with gradients of loops
// in A, and V[mu, nu] = project(M). They are computed at all sites from the links of now: A by
// difference quotients of the text's loops, exp(A) by its series, the unitary factor of M by
// Newton's iteration, W to (W + W^-+)/2.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/oracle/text/dense_matrix.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

namespace {

std::vector<Complex> times(const std::vector<Complex>& x, const std::vector<Complex>& y,
                           std::size_t n) {
  std::vector<Complex> result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) result[i * n + j] += x[i * n + k] * y[k * n + j];
  return result;
}

/// exp(a) u.
std::vector<Complex> exponential_times(const std::vector<Complex>& a, const std::vector<Complex>& u,
                                       std::size_t n) {
  constexpr int kTerms = 48;
  std::vector<Complex> term = u, sum = u;
  for (int k = 1; k <= kTerms; ++k) {
    term = times(a, term, n);
    for (std::size_t i = 0; i < term.size(); ++i) {
      term[i] /= static_cast<long double>(k);
      sum[i] += term[i];
    }
  }
  return sum;
}

Complex determinant_of(const std::vector<Complex>& a, std::size_t n) {
  if (n == 1) return a[0];
  Complex sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<Complex> minor;
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (j != k) minor.push_back(a[i * n + j]);
    sum += (k % 2 == 0 ? a[k] : -a[k]) * determinant_of(minor, n - 1);
  }
  return sum;
}

/// The unitary factor of m, turned to the determinant 1 by the smallest phase; of one row without.
std::vector<Complex> projected(std::vector<Complex> m, std::size_t n) {
  constexpr int kRounds = 60;
  for (int k = 0; k < kRounds; ++k) {
    const std::vector<Complex> back = inverse_of(m, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) {
        const Complex x = (m[i * n + j] + std::conj(back[j * n + i])) / 2.0L;
        const Complex y = (m[j * n + i] + std::conj(back[i * n + j])) / 2.0L;
        m[i * n + j] = x, m[j * n + i] = y;
      }
  }
  if (n == 1) return m;
  const Complex turn =
      std::polar(1.0L, -std::arg(determinant_of(m, n)) / static_cast<long double>(n));
  for (Complex& z : m) z *= turn;
  return m;
}

}  // namespace

/// Whether the gradient by links of this name stands in the expression or a definition it names.
bool Written::has_gradient_by(const dsl::Expr& e, const std::string& links,
                              std::set<std::string>& seen) const {
  if (e.kind == ExprKind::Call && e.text == "d" && e.args.size() == 2) {
    const dsl::Expr& by = e.args[1]->kind == ExprKind::Index ? *e.args[1]->args[0] : *e.args[1];
    if (by.kind == ExprKind::Name && by.text == links) return true;
  }
  if (e.kind == ExprKind::Name) {
    const NamedFact* fact = facts_.find(e.text);
    if (fact && fact->value && seen.insert(e.text).second &&
        has_gradient_by(*fact->value, links, seen))
      return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const auto& arg) { return has_gradient_by(*arg, links, seen); });
}

const WrittenField* Written::projected_links(const NamedFact& fact,
                                             const std::vector<int>& labels) {
  WrittenField* links = nullptr;
  for (auto& [of, f] : fields)
    if (f.phase || f.colours > 0) links = &f;
  if (!links) return nullptr;
  MadeLinks& made = made_[{fact.name, labels}];
  if (made.of == links->values) return &made.links;
  WrittenField result = *links;
  struct Meanwhile {
    Written& text;
    std::set<LinkPlace>* read = std::exchange(text.read_links_, nullptr);
    ~Meanwhile() { text.read_links_ = read; }
  };
  const Meanwhile meanwhile{*this};
  const auto n = static_cast<std::size_t>(links->phase ? 1 : links->colours);
  for (int site = 0; site < box.sites(); ++site) {
    const Place place = box.place(site);
    for (int axis = 0; axis < box.dims; ++axis) {
      if (std::ranges::find(labels, axis) != labels.end()) continue;  // of another axis than mu
      Scope scope;
      for (std::size_t i = 0; i <= labels.size(); ++i) {
        Local local;
        local.index = Index{i == 0 ? axis : labels[i - 1], 1, Index::Kind::Direction};
        scope.names.emplace(fact.parameters[i], std::move(local));
      }
      const Numbers m = at(*fact.value->args[0], scope, &place);
      if (m.parts.size() != n * n) throw NotCovered{fact.value->span, "a projection of this shape"};
      const std::vector<Complex> u = projected(m.parts, n);
      const std::size_t of_axis = links->phase ? 2 : 2 * n * n;
      const std::size_t first = static_cast<std::size_t>(site * result.reals()) +
                                static_cast<std::size_t>(axis) * of_axis;
      if (links->phase) {
        result.values[first] = std::arg(u[0]);
        continue;
      }
      for (std::size_t i = 0; i < n * n; ++i) {
        result.values[first + 2 * i] = u[i].real();
        result.values[first + 2 * i + 1] = u[i].imag();
      }
    }
  }
  made.links = std::move(result);
  made.of = links->values;
  return &made.links;
}

const WrittenField* Written::made_links(const std::string& name, const std::vector<int>& labels) {
  const NamedFact* fact = facts_.find(name);
  if (!fact || fact->kind != NamedFact::Kind::Indexed ||
      fact->parameters.size() != labels.size() + 1)
    return nullptr;
  const dsl::Expr& e = *fact->value;
  if (e.kind == ExprKind::Call && e.text == "project" && e.args.size() == 1)
    return projected_links(*fact, labels);
  if (!labels.empty()) return nullptr;
  if (e.kind != ExprKind::Binary || e.text != "*" || e.args[0]->kind != ExprKind::Call ||
      e.args[0]->text != "exp" || e.args[1]->kind != ExprKind::Index)
    return nullptr;
  const dsl::Expr &exponent = *e.args[0]->args[0], &link = *e.args[1];
  if (link.args[0]->kind != ExprKind::Name || link.args[1]->text != fact->parameters[0])
    return nullptr;
  const std::string& base = link.args[0]->text;
  std::set<std::string> seen;
  if (base == name || !has_gradient_by(exponent, base, seen)) return nullptr;
  WrittenField* links = nullptr;
  for (auto& [of, f] : fields)
    if (f.phase || f.colours > 0) links = &f;
  if (!links) return nullptr;
  const WrittenField* start = base == links->name ? links : made_links(base);
  if (!start) return nullptr;
  MadeLinks& made = made_[{name, labels}];
  if (made.of == links->values) return &made.links;

  // the loops of the exponent are those of the base: it stands in for the model's links meanwhile
  struct Meanwhile {
    Written& text;
    WrittenField& links;
    std::vector<long double> values = links.values;
    std::string moving = text.moving_;
    int axis = text.flow_axis_;
    std::set<LinkPlace>* read = text.read_links_;
    ~Meanwhile() {
      links.values = values;
      text.moving_ = moving;
      text.flow_axis_ = axis;
      text.read_links_ = read;
    }
  };
  WrittenField result = *start;
  {
    const Meanwhile meanwhile{*this, *links};
    links->values = start->values;
    moving_ = base;
    read_links_ = nullptr;
    const auto n = static_cast<std::size_t>(links->phase ? 1 : links->colours);
    for (int site = 0; site < box.sites(); ++site) {
      const Place place = box.place(site);
      for (int axis = 0; axis < box.dims; ++axis) {
        Scope scope;
        Local local;
        local.index = Index{axis, 1, Index::Kind::Direction};
        scope.names.emplace(fact->parameters[0], std::move(local));
        flow_axis_ = axis;
        const Numbers a = at(exponent, scope, &place);
        if (a.parts.size() != n * n) throw NotCovered{exponent.span, "an exponent of this shape"};
        const std::size_t of_axis = links->phase ? 2 : 2 * n * n;
        const std::size_t first = static_cast<std::size_t>(site * result.reals()) +
                                  static_cast<std::size_t>(axis) * of_axis;
        if (links->phase) {
          result.values[first] += a.parts[0].imag();
          continue;
        }
        std::vector<Complex> u;
        for (std::size_t i = 0; i < n * n; ++i)
          u.emplace_back(result.values[first + 2 * i], result.values[first + 2 * i + 1]);
        u = exponential_times(a.parts, u, n);
        for (std::size_t i = 0; i < n * n; ++i) {
          result.values[first + 2 * i] = u[i].real();
          result.values[first + 2 * i + 1] = u[i].imag();
        }
      }
    }
  }
  made.links = std::move(result);
  made.of = links->values;
  return &made.links;
}

/// All links of the model count as read: the definition may reach any of them.
Numbers Written::made_link_at(const WrittenField& links, const Place& from, int axis, int sign) {
  if (read_links_)
    for (int s = 0; s < box.sites(); ++s)
      for (int k = 0; k < box.dims; ++k) read_links_->insert({s, k});
  return link_at(links, from, axis, sign);
}

}  // namespace vphi::tools
