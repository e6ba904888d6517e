#include "compiler/algebra/names.hpp"

#include <cctype>

namespace vphi::algebra {
namespace {

constexpr Letter kGreek[] = {
    {"alpha", "\\alpha", "α"},   {"beta", "\\beta", "β"},       {"gamma", "\\gamma", "γ"},
    {"delta", "\\delta", "δ"},   {"epsilon", "\\epsilon", "ε"}, {"eps", "\\epsilon", "ε"},
    {"zeta", "\\zeta", "ζ"},     {"eta", "\\eta", "η"},         {"theta", "\\theta", "θ"},
    {"iota", "\\iota", "ι"},     {"kappa", "\\kappa", "κ"},     {"lambda", "\\lambda", "λ"},
    {"mu", "\\mu", "μ"},         {"nu", "\\nu", "ν"},           {"xi", "\\xi", "ξ"},
    {"pi", "\\pi", "π"},         {"rho", "\\rho", "ρ"},         {"sigma", "\\sigma", "σ"},
    {"tau", "\\tau", "τ"},       {"upsilon", "\\upsilon", "υ"}, {"phi", "\\phi", "φ"},
    {"chi", "\\chi", "χ"},       {"psi", "\\psi", "ψ"},         {"omega", "\\omega", "ω"},
    {"Gamma", "\\Gamma", "Γ"},   {"Delta", "\\Delta", "Δ"},     {"Theta", "\\Theta", "Θ"},
    {"Lambda", "\\Lambda", "Λ"}, {"Xi", "\\Xi", "Ξ"},           {"Pi", "\\Pi", "Π"},
    {"Sigma", "\\Sigma", "Σ"},   {"Upsilon", "\\Upsilon", "Υ"}, {"Phi", "\\Phi", "Φ"},
    {"Psi", "\\Psi", "Ψ"},       {"Omega", "\\Omega", "Ω"},     {"varphi", "\\varphi", "ϕ"},
    {"hbar", "\\hbar", "ħ"},
};

bool all_digits(std::string_view s) {
  for (const char c : s) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  }
  return !s.empty();
}

std::string escaped(std::string_view text, bool latex) {
  std::string result;
  for (const char c : text) {
    if (latex && std::string_view("#$%&_{}").find(c) != std::string_view::npos) {
      result += '\\';
      result += c;
    } else if (latex && (c == '\\' || c == '^' || c == '~')) {
      result += "\\text{";
      result += c == '\\' ? "\\textbackslash" : c == '^' ? "\\textasciicircum" : "\\textasciitilde";
      result += '}';
    } else if (!latex && c == '<') {
      result += "&lt;";
    } else if (!latex && c == '>') {
      result += "&gt;";
    } else if (!latex && c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

/// One letter, in one byte or as one UTF-8 sequence.
bool one_letter(std::string_view s) {
  std::size_t letters = 0;
  for (const char c : s) letters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return letters == 1;
}

std::string latex_word(std::string_view word) {
  if (const Letter* letter = greek(word)) return letter->latex;
  if (one_letter(word) || all_digits(word)) return escaped(word, true);
  return "\\mathrm{" + escaped(word, true) + '}';
}

std::string mathml_word(std::string_view word) {
  if (all_digits(word)) return "<mn>" + std::string(word) + "</mn>";
  std::string text = "<mi>";
  const Letter* letter = greek(word);
  text += letter ? std::string(letter->unicode) : escaped(word, false);
  return text + "</mi>";
}

}  // namespace

const Letter* greek(std::string_view name) {
  for (const Letter& letter : kGreek) {
    if (name == letter.name || name == letter.unicode) return &letter;
  }
  return nullptr;
}

NameParts parts_of(std::string_view name) {
  NameParts parts;
  while (!name.empty() && name.back() == '\'') {
    name.remove_suffix(1);
    ++parts.primes;
  }
  const std::size_t open = name.find('(');
  if (open != std::string_view::npos && open > 0 && name.back() == ')') {
    parts.function = name.substr(0, open);
    name = name.substr(open + 1, name.size() - open - 2);
    while (!name.empty() && name.back() == '\'') {
      name.remove_suffix(1);
      ++parts.primes;
    }
  }
  const std::size_t underscore = name.find('_');
  if (underscore != std::string_view::npos && underscore > 0 && underscore + 1 < name.size()) {
    parts.base = name.substr(0, underscore);
    parts.subscript = name.substr(underscore + 1);
    return parts;
  }
  std::size_t digits = name.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
  parts.base = name.substr(0, digits == 0 ? name.size() : digits);
  if (digits > 0) parts.subscript = name.substr(digits);
  return parts;
}

std::string latex_name(std::string_view name) {
  const NameParts parts = parts_of(name);
  std::string text = latex_word(parts.base);
  if (!parts.subscript.empty()) {
    text += "_{";
    text += latex_word(parts.subscript);
    text += '}';
  }
  text.append(static_cast<std::size_t>(parts.primes), '\'');
  if (parts.function.empty()) return text;
  std::string call = "\\operatorname{";
  call += escaped(parts.function, true);
  call += '}';
  call += text;
  return call;
}

std::string mathml_name(std::string_view name) {
  const NameParts parts = parts_of(name);
  std::string text = mathml_word(parts.base);
  std::string primes;
  for (int i = 0; i < parts.primes; ++i) primes += "′";
  if (!primes.empty()) primes = "<mo>" + primes + "</mo>";
  if (!parts.subscript.empty() && !primes.empty()) {
    text = "<msubsup>" + text + mathml_word(parts.subscript) + primes + "</msubsup>";
  } else if (!parts.subscript.empty()) {
    text = "<msub>" + text + mathml_word(parts.subscript) + "</msub>";
  } else if (!primes.empty()) {
    text = "<msup>" + text + primes + "</msup>";
  }
  if (parts.function.empty()) return text;
  return "<mrow>" + mathml_word(parts.function) + "<mo>&#x2061;</mo>" + text + "</mrow>";
}

}  // namespace vphi::algebra
