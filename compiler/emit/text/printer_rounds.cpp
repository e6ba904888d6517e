// Rounds of an iteration as a loop that is counted.
#include <fmt/format.h>

#include "compiler/emit/text/layout.hpp"
#include "compiler/emit/text/printer.hpp"

namespace vphi::emit {

using algebra::Expr;
using algebra::Node;

void Printer::roll(std::vector<kernel::Rounds> rounds) {
  rounds_ = std::move(rounds);
  for (std::size_t i = 0; i < rounds_.size(); ++i)
    for (const kernel::RoundValue& value : rounds_[i].values) rolled_[value.last.get()] = i;
}

// A name that a node has by itself, or as a value of rounds, which are written at their first use.
Leaf Printer::leaf(const Node& node) {
  if (const auto found = rolled_.find(&node); found != rolled_.end()) write_rounds(found->second);
  const auto named = round_names_.find(&node);
  return named == round_names_.end() ? callbacks_.leaf(node) : Leaf{"", named->second};
}

// What is the same in all rounds stands before the loop.
void Printer::write_rounds(std::size_t number) {
  const kernel::Rounds& rounds = rounds_[number];
  for (const kernel::RoundValue& value : rounds.values) rolled_.erase(value.last.get());
  for (Expr same : rounds.outside) piece(same);
  std::vector<std::string> names;
  std::string heads;
  for (const kernel::RoundValue& value : rounds.values) {
    std::string family = callbacks_.family(value.first);
    if (family.empty()) family = "w";
    names.push_back(scope_.fresh(fmt::format("{}_{}", family, ++counters_[family])));
    const std::string head = std::string(type_name(precision_)) + " " + names.back();
    const std::string begin = value.before ? this->number(value.before) : literal(0.0L, precision_);
    heads += declaration(head, begin);
  }
  lines_ += heads;
  const std::string counter = scope_.fresh(fmt::format("round_{}", number + 1));
  const std::string body = round_body(rounds, names);
  lines_ +=
      fmt::format("VPHI_ROLLED\nfor (int {0} = 0; {0} < {1}; ++{0}) {{\n", counter, rounds.times) +
      indented(body, 2) + "}\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    round_names_[rounds.values[i].last.get()] = names[i];
}

// The first round, of the variables that hold the values of the round before. Names made in it are
// unknown after it.
std::string Printer::round_body(const kernel::Rounds& rounds,
                                const std::vector<std::string>& names) {
  const auto known = known_;
  const auto powers = powers_;
  const auto table_indices = table_indices_;
  const auto round_names = round_names_;
  const std::string outer = take_lines();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Node* before = rounds.values[i].before.get();
    if (!before) continue;
    known_.erase(before);
    round_names_[before] = names[i];
  }
  std::vector<std::string> results;
  for (const kernel::RoundValue& value : rounds.values) {
    const Piece made = piece(value.first);
    // all values are read before the first of them changes
    const bool plain = !made.name.empty() || names.size() == 1;
    results.push_back(plain ? made.text : named(value.first, made).text);
  }
  std::string body = take_lines();
  for (std::size_t i = 0; i < names.size(); ++i) body += declaration(names[i], results[i]);
  lines_ = outer;
  known_ = known;
  powers_ = powers;
  table_indices_ = table_indices;
  round_names_ = round_names;
  return body;
}

}  // namespace vphi::emit
