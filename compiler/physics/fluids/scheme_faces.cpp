#include "compiler/physics/fluids/scheme_faces.hpp"

#include <algorithm>
#include <optional>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

bool numbers(const std::vector<Expr>& args) {
  return std::ranges::all_of(args, [](Expr e) { return e.is_number(); });
}

class Faces {
 public:
  Faces(algebra::Arena& arena, const AxisScheme& scheme) : arena_(arena), scheme_(scheme) {}

  /// The flux through the face to the next site, from the change of a quantity taken apart into
  /// pairs t and -t@-k. Lines of the scheme are replaced by their values only where no pair is left
  /// without that.
  std::optional<Expr> face_of(int quantity, Expr result, bool step) {
    std::vector<Term> terms;
    terms_of(result, arena_.integer(1), terms);
    Expr face = arena_.integer(0);
    bool own = !step;
    while (true) {
      std::erase_if(terms, [&](const Term& t) {
        const bool start = !own && t.value == arena_.load(quantity) && t.factor.is_one();
        own = own || start;
        return start || t.value.is_zero();
      });
      if (terms.empty()) return own ? std::optional(face) : std::nullopt;
      if (const Expr through = taken_pair(terms)) {
        face = in_order(arena_, Op::Add, {face, through});
        continue;
      }
      const auto line =
          std::ranges::find_if(terms, [&](const Term& t) { return sum_line(t.value) != nullptr; });
      if (line == terms.end()) return std::nullopt;
      const Term open = *line;
      terms.erase(line);
      terms_of(sum_line(open.value)->value, open.factor, terms);
    }
  }

 private:
  struct Term {
    Expr factor;  ///< no value per site
    Expr value;
  };

  /// Appends the terms of `e` times `factor`.
  void terms_of(Expr e, Expr factor, std::vector<Term>& out) {
    const auto scaled = [&](Expr by) { return factor * by; };
    if (e.is(Op::Add)) {
      for (const Expr arg : e.args()) terms_of(arg, factor, out);
    } else if (e.is(Op::Sub)) {
      terms_of(e.arg(0), factor, out);
      terms_of(e.arg(1), -factor, out);
    } else if (e.is(Op::Neg)) {
      terms_of(e.arg(0), -factor, out);
    } else if (e.is(Op::Mul) && e.args().size() == 2 && !e.arg(0)->per_site) {
      terms_of(e.arg(1), scaled(e.arg(0)), out);
    } else if (e.is(Op::Mul) && e.args().size() == 2 && !e.arg(1)->per_site) {
      terms_of(e.arg(0), scaled(e.arg(1)), out);
    } else if (e.is(Op::Div) && !e.arg(1)->per_site) {
      terms_of(e.arg(0), factor / e.arg(1), out);
    } else {
      out.push_back({factor, e});
    }
  }
  const Derived* sum_line(Expr e) const {
    if (!e.is(Op::Load) || !e->offset.zero()) return nullptr;
    for (const Derived& line : scheme_.lines) {
      if (line.array == e->index && (line.value.is(Op::Add) || line.value.is(Op::Sub))) {
        return &line;
      }
    }
    return nullptr;
  }

  /// Takes t and -t@-k out of the terms: t goes through the face to the next site.
  Expr taken_pair(std::vector<Term>& terms) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Expr before = algebra::shift(terms[i].value, one_back());
      for (std::size_t j = 0; j < terms.size(); ++j) {
        if (!(terms[j].value == before) || !(terms[i].factor + terms[j].factor).is_zero()) continue;
        const Expr through =
            in_order(arena_, Op::Mul, {kernel::with_fixed_order(terms[i].factor), terms[i].value});
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        return through;
      }
    }
    return {};
  }

  algebra::Offset one_back() const {
    algebra::Offset offset;
    offset.d[static_cast<std::size_t>(scheme_.axis)] = -1;
    return offset;
  }

  algebra::Arena& arena_;
  const AxisScheme& scheme_;
};

}  // namespace

Expr in_order(algebra::Arena& arena, Op op, std::vector<Expr> args, dsl::Span span) {
  if (numbers(args)) return kernel::with_fixed_order(arena.make(op, args, span));
  const Expr a = args[0], b = args.size() > 1 ? args[1] : Expr();
  const bool a0 = a.is_zero(), b0 = b && b.is_zero();
  if (op == Op::Add) {
    if (a0) return b;
    if (b0) return a;
  } else if (op == Op::Sub) {
    if (b0 || a == b) return b0 ? a : arena.integer(0);
    if (a0) return in_order(arena, Op::Neg, {b}, span);
  } else if (op == Op::Mul) {
    if (a0 || b0) return arena.integer(0);
    if (a.is_one()) return b;
    if (b.is_one()) return a;
  } else if (op == Op::Div) {
    if (a0 || b.is_one()) return a;
  } else if (op == Op::Pow) {
    return kernel::with_fixed_order(arena.make(Op::Pow, {a, b}, span));
  }
  return arena.raw(op, std::move(args), span);
}

std::map<int, Expr> faces_of(algebra::Arena& arena, const AxisScheme& scheme, bool step) {
  Faces found(arena, scheme);
  std::map<int, Expr> faces;
  for (const auto& [quantity, result] : scheme.result) {
    const auto face = found.face_of(quantity, result, step);
    if (!face) return {};
    faces[quantity] = *face;
  }
  return faces;
}

}  // namespace vphi::physics
