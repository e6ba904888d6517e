// A small reader of expressions for tables in tests: numbers, names, + - * / ^, function calls,
// comparisons, `lap(u)`. `u`, `v`, `w` are arrays 0, 1, 2; `u[1,0,-1]` is a neighbour.
#pragma once

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra::testing {

class ExpressionReader {
 public:
  ExpressionReader(Arena& arena, std::string text) : arena_(arena), text_(std::move(text)) {}

  Expr read() {
    const Expr e = comparison();
    skip();
    if (at_ != text_.size()) throw std::runtime_error("rest: " + text_.substr(at_));
    return e;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(const std::string& what) {
    skip();
    if (text_.compare(at_, what.size(), what) != 0) return false;
    at_ += what.size();
    return true;
  }
  void need(const std::string& what) {
    if (!take(what)) throw std::runtime_error("expected " + what + " in " + text_);
  }

  Expr comparison() {
    const Expr a = addition();
    if (take("<=")) return arena_.make(Op::LessEqual, {a, addition()});
    if (take("==")) return arena_.make(Op::Equal, {a, addition()});
    if (take("<")) return arena_.make(Op::Less, {a, addition()});
    return a;
  }
  Expr addition() {
    Expr a = multiplication();
    for (;;) {
      if (take("+")) {
        a = a + multiplication();
      } else if (take("-")) {
        a = a - multiplication();
      } else {
        return a;
      }
    }
  }
  Expr multiplication() {
    Expr a = sign();
    for (;;) {
      if (take("*")) {
        a = a * sign();
      } else if (take("/")) {
        a = a / sign();
      } else {
        return a;
      }
    }
  }
  Expr sign() { return take("-") ? -sign() : power(); }
  Expr power() {
    const Expr a = atom();
    return take("^") ? pow(a, sign()) : a;
  }

  Expr atom() {
    skip();
    if (take("(")) {
      const Expr e = comparison();
      need(")");
      return e;
    }
    const std::size_t from = at_;
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      bool point = false;
      while (at_ < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) {
        point = point || text_[at_] == '.';
        ++at_;
      }
      const std::string digits = text_.substr(from, at_ - from);
      if (point) return arena_.real(std::strtold(digits.c_str(), nullptr));
      return arena_.integer(std::strtoll(digits.c_str(), nullptr, 10));
    }
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const std::string name = text_.substr(from, at_ - from);
    if (name.empty()) throw std::runtime_error("unexpected: " + text_.substr(at_));
    if (take("(")) return call(name);
    if (name == "u" || name == "v" || name == "w") return field(name[0] - 'u');
    return arena_.symbol(name);
  }

  Expr field(int array) {
    Offset o;
    if (take("[")) {
      int axis = 0;
      do {
        skip();
        char* end = nullptr;
        o.d[axis++] = static_cast<std::int16_t>(std::strtol(text_.c_str() + at_, &end, 10));
        at_ = static_cast<std::size_t>(end - text_.c_str());
      } while (take(","));
      need("]");
    }
    return arena_.load(array, o);
  }

  Expr call(const std::string& name) {
    std::vector<Expr> args{comparison()};
    while (take(",")) args.push_back(comparison());
    need(")");
    if (name == "lap") return arena_.stencil(0, args[0]);
    if (name == "select") return arena_.make(Op::Select, args);
    if (name == "not") return arena_.make(Op::Not, args);
    if (name == "and") return arena_.make(Op::And, args);
    if (name == "or") return arena_.make(Op::Or, args);
    const Op op = op_named(name);
    if (op == Op::Count_) throw std::runtime_error("no function " + name);
    return arena_.make(op, args);
  }

  Arena& arena_;
  std::string text_;
  std::size_t at_ = 0;
};

inline Expr read(Arena& arena, const std::string& text) {
  return ExpressionReader(arena, text).read();
}

}  // namespace vphi::algebra::testing
