// Rounds of an iteration as a loop.
//
// A round is a function of the values that the round before hands on. Where it hands on what it was
// given, or what an earlier round handed on, the values of all rounds to come are known. A loop
// whose rounds cost much more than a comparison therefore ends early, with the value of its last
// round: an iteration that has converged stays at one value, or goes around among a few that differ
// in their last bits. Zeros of both signs count as equal. Where the rounds themselves choose to
// stay at their values (kernel::settling), the condition of that choice ends the loop.
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
  if (const auto found = chosen_.find(&node); found != chosen_.end()) write_choice(found->second);
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
  Watch watched;
  if (const Expr settled = kernel::settling(rounds)) {
    watched.settled = settled;
    watched.unchanged = scope_.fresh(counter + "_settled");
    watched.end = fmt::format("if ({}) break;\n", watched.unchanged);
  } else if (kernel::worth_watching(rounds, precision_)) {
    watched = watch(rounds, names, counter);
  }
  const std::string body = round_body(rounds, names, watched);
  lines_ +=
      watched.begin +
      fmt::format("VPHI_ROLLED\nfor (int {0} = 0; {0} < {1}; ++{0}) {{\n", counter, rounds.times) +
      indented(body + watched.end, 2) + "}\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    round_names_[rounds.values[i].last.get()] = names[i];
}

std::string Printer::same(const std::string& a, const std::string& b) {
  return fmt::format("{}({}, {})", suffixed("vphi_same"), a, b);
}

// The values of every fourth round are kept, so that up to four values in turn are noticed. Before
// the first round they are those that it is given, as if round -1 had made them. A loop of values
// in turn ends where the last round would end, a multiple of their number (1 to 4) from here.
// Everything is a select but the end of the loop.
Printer::Watch Printer::watch(const kernel::Rounds& rounds, const std::vector<std::string>& names,
                              const std::string& counter) {
  Watch watch;
  const std::string turn = scope_.fresh(counter + "_turn"), at = scope_.fresh(counter + "_kept"),
                    known = scope_.fresh(counter + "_known");
  watch.unchanged = scope_.fresh(counter + "_same");
  watch.begin = fmt::format("int {} = 0, {} = -1;\n", turn, at);
  std::string equal, keep;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!rounds.values[i].before) continue;
    const std::string kept = scope_.fresh(names[i] + "_kept");
    watch.begin += fmt::format("{} {} = {};\n", type_name(precision_), kept, names[i]);
    equal += (equal.empty() ? "" : " & ") + same(names[i], kept);
    keep += fmt::format("{0} = {1}({2} == {3}, {4}, {0});\n", kept, suffixed("vphi_select"), at,
                        counter, names[i]);
  }
  watch.end = fmt::format(
      "{0} = {1} ? {2} - {3} : {0};\n{3} = ({2} & 3) == 3 ? {2} : {3};\n{4}"
      "const int {5} = {6} | ((0 < {0}) & (({0} == 3 ? ({7} - {2}) % 3 : ({7} - {2}) & ({0} - 1)) "
      "== 0));\n"
      "if ({5}) break;\n",
      turn, equal, counter, at, keep, known, watch.unchanged, rounds.times - 1);
  return watch;
}

// The first round, of the variables that hold the values of the round before.
std::string Printer::round_body(const kernel::Rounds& rounds, const std::vector<std::string>& names,
                                const Watch& watched) {
  const std::string& unchanged = watched.unchanged;
  return enclosed([&] {
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
      const bool plain = !made.name.empty() || (names.size() == 1 && unchanged.empty());
      results.push_back(plain ? made.text : named(value.first, made).text);
    }
    std::string body = take_lines();
    if (!unchanged.empty()) {
      std::string all = watched.settled ? piece(watched.settled).text : "";
      body += take_lines();
      for (std::size_t i = 0; i < names.size() && !watched.settled; ++i) {
        if (rounds.values[i].before) all += (all.empty() ? "" : " & ") + same(results[i], names[i]);
      }
      body += declaration("const int " + unchanged, all);
    }
    for (std::size_t i = 0; i < names.size(); ++i) body += declaration(names[i], results[i]);
    return body;
  });
}

}  // namespace vphi::emit
