// Artificial faults in derived equations, for the tests of the oracle: a change of one expression
// at one place of a System.
#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/model/system.hpp"
#include "tests/physics_derive/derive_text.hpp"
#include "tools/oracle/derivative_check.hpp"

namespace vphi::planted {

using algebra::Expr;
using algebra::Op;
using physics::System;

inline physics::Variable& rate_of(System& system, const std::string& name) {
  for (physics::Variable& v : system.variables)
    if (v.name == name) return v;
  throw std::runtime_error("no variable " + name);
}

inline std::vector<Expr> terms_of(Expr e) {
  return e.is(Op::Add) ? std::vector<Expr>(e.args().begin(), e.args().end()) : std::vector<Expr>{e};
}

using Plant = std::function<void(System&)>;
using Change = std::function<Expr(System&, Expr)>;

inline Plant in(const std::string& name, const Change& change) {
  return [=](System& s) {
    physics::Variable& v = rate_of(s, name);
    const Expr before = v.rate;
    v.rate = change(s, v.rate);
    if (v.rate == before) throw std::runtime_error("nothing was planted");
  };
}
inline Plant in_scalar(std::size_t i, const Change& change) {
  return [=](System& s) { s.scalars.at(i).rate = change(s, s.scalars.at(i).rate); };
}

inline Change times(double factor) {
  return [=](System& s, Expr e) { return s.arena->real(factor) * e; };
}
inline Change plus(double number) {
  return [=](System& s, Expr e) { return e + s.arena->real(number); };
}
/// The number-th term, from the first or (negative) from the last, times `factor`; 0 drops it.
inline Change term(int number, double factor) {
  return [=](System& s, Expr e) {
    std::vector<Expr> terms = terms_of(e);
    const int count = static_cast<int>(terms.size());
    Expr& t = terms.at(static_cast<std::size_t>(number < 0 ? count + number : number));
    t = s.arena->real(factor) * t;
    return s.arena->make(Op::Add, terms);
  };
}
/// Replaces every node that the test finds by the result of `to`.
inline Change nodes(const std::function<bool(Expr)>& test, const std::function<Expr(Expr)>& to) {
  return [=](System&, Expr e) {
    return algebra::rewrite(e, [&](Expr node) { return test(node) ? to(node) : node; });
  };
}
inline Change first(const std::function<bool(Expr)>& test, const std::function<Expr(Expr)>& to) {
  return [=](System&, Expr e) {
    Expr found;
    algebra::visit(e, [&](Expr node) {
      if (!found && test(node)) found = node;
    });
    return found ? algebra::substitute(e, found, to(found)) : e;
  };
}
inline auto is(Op op) {
  return [op](Expr e) { return e.is(op); };
}
inline auto named(const std::string& name) {
  return [name](Expr e) { return e.is(Op::Symbol) && e->name == name; };
}
inline bool neighbour(Expr e) { return e.is(Op::Load) && !e->offset.zero(); }
inline Expr at_the_site(Expr e) { return e->arena->load(e->index); }
inline Expr argument(Expr e) { return e.arg(0); }
inline Expr as(Op op, Expr e) { return e->arena->make(op, {e.arg(0)}); }

// ---- what is made of them -----------------------------------------------------------------------

/// A change in the derived equations of one of the models of a table.
struct Fault {
  const char* name;
  const char* text;
  Plant plant;
};

/// The name in the form of gtest.
inline std::string test_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

inline std::string report(const std::vector<tools::DerivativeRow>& rows) {
  std::string text;
  for (const tools::DerivativeRow& row : rows)
    text += row.variable + " (" + row.source + "): " + std::to_string(row.deviation) + " of " +
            std::to_string(row.points) + " points " + row.not_checked + "\n";
  return text;
}

/// Whether a row says that the two sides differ.
inline bool differ(const std::vector<tools::DerivativeRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const tools::DerivativeRow& row) {
    return row.not_checked.empty() && !row.right();
  });
}

/// The rows of a model whose System has the fault, and whether they show it.
struct Verdict {
  bool found = false;
  std::string rows;
};
inline Verdict judged(const std::string& text, const Plant& plant) {
  auto d = physics::test::derived(text);
  plant(*d.system);
  const auto rows = tools::check_derivatives(*d.resolved, *d.system);
  return {differ(rows), report(rows)};
}
/// The same with the System of another text.
inline Verdict judged(const std::string& text, const std::string& other) {
  const auto d = physics::test::derived(text), wrong = physics::test::derived(other);
  const auto rows = tools::check_derivatives(*d.resolved, *wrong.system);
  return {differ(rows), report(rows)};
}
/// The text with `words` replaced by `other`; `words` must occur in it.
inline std::string replaced(std::string text, const std::string& words, const std::string& other) {
  const auto at = text.find(words);
  if (at == std::string::npos) throw std::runtime_error("no such words: " + words);
  return text.replace(at, words.size(), other);
}

// ---- tables of faults ---------------------------------------------------------------------------

/// A fault in the text: replaced words in one of the models of a table.
struct Words {
  const char* name;
  const char* text;
  const char* words;
  const char* others;
};
using Texts = std::map<std::string, std::string>;

inline Verdict judged(const Words& fault, const Texts& texts) {
  const std::string& text = texts.at(fault.text);
  return judged(text, replaced(text, fault.words, fault.others));
}
inline Verdict judged(const Fault& fault, const Texts& texts) {
  return judged(texts.at(fault.text), fault.plant);
}
template <class Row>
void expect_found(const Row& fault, const Texts& texts) {
  const Verdict verdict = judged(fault, texts);
  EXPECT_TRUE(verdict.found) << fault.name << "\n" << verdict.rows;
}
/// The rows of a correct model; expects that each of them is right.
inline std::vector<tools::DerivativeRow> expect_right(const std::string& text) {
  const auto d = physics::test::derived(text);
  const auto rows = tools::check_derivatives(*d.resolved, *d.system);
  EXPECT_FALSE(rows.empty());
  for (const tools::DerivativeRow& row : rows) EXPECT_TRUE(row.right()) << report(rows);
  return rows;
}
/// Names of the tests over the rows of a table.
template <class Row>
auto names_of(const std::vector<Row>& table) {
  return [&table](const ::testing::TestParamInfo<std::size_t>& info) {
    return test_name(table[info.param].name);
  };
}

}  // namespace vphi::planted
