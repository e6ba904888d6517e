#include "dsl/syntax/spelling.hpp"

#include <array>
#include <cstdio>

#include "dsl/syntax/unicode.hpp"

namespace vphi::dsl {
namespace {

struct Letter {
  char32_t code;
  std::string_view ascii;
};

// The first row of each ASCII name is the one that unicode_spelling prints.
constexpr std::array<Letter, 62> kSpelledLetters{{
    {0x3B1, "alpha"},
    {0x3B2, "beta"},
    {0x3B3, "gamma"},
    {0x3B4, "delta"},
    {0x3B5, "epsilon"},
    {0x3B6, "zeta"},
    {0x3B7, "eta"},
    {0x3B8, "theta"},
    {0x3B9, "iota"},
    {0x3BA, "kappa"},
    {0x3BB, "lambda"},
    {0x3BC, "mu"},
    {0x3BD, "nu"},
    {0x3BE, "xi"},
    {0x3BF, "omicron"},
    {0x3C0, "pi"},
    {0x3C1, "rho"},
    {0x3C3, "sigma"},
    {0x3C4, "tau"},
    {0x3C5, "upsilon"},
    {0x3C6, "phi"},
    {0x3C7, "chi"},
    {0x3C8, "psi"},
    {0x3C9, "omega"},
    {0x391, "Alpha"},
    {0x392, "Beta"},
    {0x393, "Gamma"},
    {0x394, "Delta"},
    {0x395, "Epsilon"},
    {0x396, "Zeta"},
    {0x397, "Eta"},
    {0x398, "Theta"},
    {0x399, "Iota"},
    {0x39A, "Kappa"},
    {0x39B, "Lambda"},
    {0x39C, "Mu"},
    {0x39D, "Nu"},
    {0x39E, "Xi"},
    {0x39F, "Omicron"},
    {0x3A0, "Pi"},
    {0x3A1, "Rho"},
    {0x3A3, "Sigma"},
    {0x3A4, "Tau"},
    {0x3A5, "Upsilon"},
    {0x3A6, "Phi"},
    {0x3A7, "Chi"},
    {0x3A8, "Psi"},
    {0x3A9, "Omega"},
    {0x210F, "hbar"},
    {0x2202, "d"},
    {0x2207, "grad"},
    {0x2206, "lap"},
    // variants that are read, not printed
    {0x3C2, "varsigma"},
    {0x3D1, "theta"},
    {0x3D5, "phi"},
    {0x3D6, "pi"},
    {0x3F0, "kappa"},
    {0x3F1, "rho"},
    {0x3F5, "epsilon"},
    {0xB5, "mu"},
    {0x2126, "Omega"},
    {0x212F, "e"},
}};

}  // namespace

std::string canonical(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const auto [c, bytes] = decode(name, i);
    i += static_cast<std::size_t>(bytes);
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
      continue;
    }
    if (c >= 0x2080 && c <= 0x2089) {  // subscript digits
      out.push_back(static_cast<char>('0' + (c - 0x2080)));
      continue;
    }
    bool known = false;
    for (const Letter& letter : kSpelledLetters) {
      if (letter.code == c) {
        out += letter.ascii;
        known = true;
        break;
      }
    }
    if (!known) {
      std::array<char, 16> text{};
      std::snprintf(text.data(), text.size(), "u%04X", static_cast<unsigned>(c));
      out += text.data();
    }
  }
  return out;
}

std::string unicode_spelling(std::string_view name) {
  std::string out;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    std::size_t end = name.find('_', begin);
    if (end == std::string_view::npos) end = name.size();
    std::size_t letters = end;
    while (letters > begin && is_digit(name[letters - 1])) --letters;
    const auto stem = name.substr(begin, letters - begin);
    bool found = false;
    for (const Letter& letter : kSpelledLetters) {
      if (letter.ascii == stem && letter.code < 0x2000) {
        append_utf8(out, letter.code);
        found = true;
        break;
      }
    }
    if (!found) out += stem;
    out += name.substr(letters, end - letters);
    if (end < name.size()) out += '_';
    begin = end + 1;
  }
  return out;
}

}  // namespace vphi::dsl
