// Choices between what is known and what an iteration finds, as two arms.
//
// Threads whose condition holds do not wait for an iteration that they do not need, unless another
// thread of their warp does. Either arm computes what the plain choice would choose.
#include <fmt/format.h>

#include "compiler/emit/text/layout.hpp"
#include "compiler/emit/text/printer.hpp"

namespace vphi::emit {

void Printer::choose(std::vector<kernel::Choice> choices) {
  choices_ = std::move(choices);
  for (std::size_t i = 0; i < choices_.size(); ++i)
    for (const algebra::Expr select : choices_[i].selects) chosen_[select.get()] = i;
}

// What others need as well stands before the arms.
void Printer::write_choice(std::size_t number) {
  const kernel::Choice& choice = choices_[number];
  for (const algebra::Expr select : choice.selects) chosen_.erase(select.get());
  for (const algebra::Expr value : choice.before) piece(value);
  const std::string test =
      name_it("chosen_" + std::to_string(number + 1), {condition(choice.condition), 0, true});
  std::vector<std::string> names;
  std::string heads;
  for (const algebra::Expr select : choice.selects) {
    std::string family = callbacks_.family(select);
    if (family.empty()) family = "w";
    names.push_back(scope_.fresh(fmt::format("{}_{}", family, ++counters_[family])));
    heads += fmt::format("{} {};\n", type_name(precision_), names.back());
  }
  lines_ += heads;
  const std::string yes = arm(choice, names, 1), no = arm(choice, names, 2);
  lines_ +=
      fmt::format("if ({}) {{\n{}}} else {{\n{}}}\n", test, indented(yes, 2), indented(no, 2));
  for (std::size_t i = 0; i < names.size(); ++i) round_names_[choice.selects[i].get()] = names[i];
}

std::string Printer::arm(const kernel::Choice& choice, const std::vector<std::string>& names,
                         std::size_t number) {
  return enclosed([&] {
    std::string results;
    for (std::size_t i = 0; i < names.size(); ++i)
      results += declaration(names[i], this->number(choice.selects[i].arg(number)));
    return take_lines() + results;
  });
}

// A loop in the part is written again where it is needed after it.
std::string Printer::enclosed(const std::function<std::string()>& write) {
  const auto known = known_;
  const auto powers = powers_;
  const auto table_indices = table_indices_;
  const auto round_names = round_names_;
  const auto rolled = rolled_, chosen = chosen_;
  const std::string outer = take_lines();
  std::string part = write();
  lines_ = outer;
  known_ = known;
  powers_ = powers;
  table_indices_ = table_indices;
  round_names_ = round_names;
  rolled_ = rolled;
  chosen_ = chosen;
  return part;
}

}  // namespace vphi::emit
