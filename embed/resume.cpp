#include "embed/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::embed {

namespace fs = std::filesystem;
using runtime::RunError;

namespace {

dsl::ModelText parsed(const std::string& text) {
  dsl::Diagnostics ignored;  // both texts compiled when they were run
  return dsl::parse(std::make_shared<const dsl::Source>("model", text, 0), ignored);
}

/// The expression without the numbers of rounds after which its solvers give up: what was solved
/// within them has the same bits for any larger number.
dsl::ExprPtr without_limits(const dsl::ExprPtr& expr) {
  if (!expr) return expr;
  dsl::Expr copy = *expr;
  for (dsl::ExprPtr& arg : copy.args) arg = without_limits(arg);
  for (dsl::NamedArgument& named : copy.named) {
    named.value = without_limits(named.value);
    if (!named.value || (named.name != "solver" && named.name != "force")) continue;
    dsl::Expr solver = *named.value;
    std::erase_if(solver.named, [](const auto& option) { return option.name == "max"; });
    named.value = std::make_shared<const dsl::Expr>(std::move(solver));
  }
  return std::make_shared<const dsl::Expr>(std::move(copy));
}

/// The line without what may change between two parts of a run.
void leave_out_free(dsl::Line& line) {
  line.definition.value = without_limits(line.definition.value);
  for (dsl::Item& item : line.clause.items) item.value = without_limits(item.value);
  const auto ends = [&](const dsl::Item& item) {
    if (!item.head) return false;
    const std::string& name = item.head->name;
    return line.clause.keyword == "evolve"
               ? name == "until"
               : line.clause.keyword == "sample" && (name == "trajectories" || name == "sweeps");
  };
  std::erase_if(line.clause.items, ends);
}

std::string canonical_text(dsl::Line line) {
  leave_out_free(line);
  line.documentation.clear();
  line.comments_above.clear();
  line.comment_beside.clear();
  line.clause.comments_at_end.clear();
  line.clause.comment_after.clear();
  dsl::ModelText alone;
  alone.lines = {std::move(line)};
  std::string text = dsl::format(alone, dsl::Spelling::Ascii);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool is_free(const std::string& keyword) {
  static const std::set<std::string> free{"model",  "every",  "at end", "output",
                                          "expect", "report", "cite",   "precision"};
  return free.contains(keyword);
}

/// Names in a text: letters, digits and _.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

/// One statement of a line, and the name it defines if it matters only where that name is used.
struct Statement {
  std::string text, name;
};

std::vector<Statement> statements(const dsl::ModelText& model) {
  std::vector<Statement> list;
  for (const dsl::Line& line : model.lines) {
    if (line.kind == dsl::Line::Kind::Definition) {
      list.push_back({canonical_text(line), line.definition.head.name});
      continue;
    }
    if (line.kind == dsl::Line::Kind::Equation) {
      list.push_back({canonical_text(line), {}});
      continue;
    }
    if (is_free(line.clause.keyword)) continue;
    dsl::Line copy = line;
    auto& items = copy.clause.items;
    if (line.clause.keyword == "param") {
      for (const dsl::Item& item : line.clause.items) {
        items = {item};
        items[0].leading = dsl::Item::Leading::Start;
        list.push_back({canonical_text(copy), item.head ? item.head->name : ""});
      }
      continue;
    }
    list.push_back({canonical_text(copy), {}});
  }
  return list;
}

/// Which statements enter the state: all without a name, and those whose name one of them uses.
std::vector<Statement> used(const std::vector<Statement>& all) {
  std::vector<bool> in(all.size());
  std::set<std::string> words;
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (in[i] || (!all[i].name.empty() && !words.contains(all[i].name))) continue;
      in[i] = grown = true;
      words.merge(names_in(all[i].text));
    }
  }
  std::vector<Statement> list;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (in[i]) list.push_back(all[i]);
  return list;
}

[[noreturn]] void changed(const std::string& what) {
  throw RunError("E0851", fmt::format("the model is not the one of the checkpoint: {}", what),
                 "only the end, outputs, expectations, `max` of solvers, device and precision may "
                 "change; undo this, or start over with --restart");
}

}  // namespace

std::vector<std::string> state_lines(const std::string& model_text) {
  std::vector<std::string> lines;
  for (auto& statement : used(statements(parsed(model_text)))) lines.push_back(statement.text);
  return lines;
}

std::string model_name(const std::string& path) {
  dsl::Diagnostics ignored;
  const auto model = dsl::load_model(path, ignored);
  return model.name.empty() ? fs::path(path).stem().string() : model.name;
}

std::string until_of(const std::string& model_text) {
  for (const dsl::Line& line : parsed(model_text).lines)
    if (line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "evolve")
      for (const dsl::Item& item : line.clause.items)
        if (item.head && item.head->name == "until" && item.value) return to_text(*item.value);
  return {};
}

std::vector<std::string> check_same_model(const runtime::CheckpointHead& then,
                                          const program::Program& now) {
  if (then.model != now.model)
    changed(fmt::format("that is `{}`, this is `{}`", then.model, now.model));
  const auto before = used(statements(parsed(then.model_text)));
  const auto after = used(statements(parsed(now.model_text)));
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    if (i >= before.size()) changed(fmt::format("the line `{}` is new", after[i].text));
    if (i >= after.size()) changed(fmt::format("the line `{}` is gone", before[i].text));
    if (before[i].text != after[i].text)
      changed(fmt::format("a line was `{}` and is now `{}`", before[i].text, after[i].text));
  }
  for (const auto& statement : after)
    for (const auto& [name, value] : now.parameters)
      for (const auto& [old_name, old_value] : then.parameters)
        if (name == statement.name && name == old_name && value != old_value)
          changed(fmt::format("`{}` was {} and is now {}", name, old_value, value));
  if (then.seed != now.seed)
    changed(fmt::format("its seed was {} and is now {}", then.seed, now.seed));
  if (then.extent != now.extent) {
    const auto text = [](const auto& extent, int dims) {
      return runtime::shape_text({extent.data(), static_cast<std::size_t>(dims)});
    };
    changed(fmt::format("its lattice was {} and is now {}", text(then.extent, then.dims),
                        text(now.extent, now.dims)));
  }
  if (then.dt != now.dt) changed(fmt::format("its dt was {} and is now {}", then.dt, now.dt));
  std::vector<std::string> notes;
  if (then.compiler_version != now.compiler_version || then.vphi_version != VPHI_VERSION)
    notes.push_back(fmt::format(
        "the checkpoint was written by vphi {}: from here on the same to rounding, not bit for bit",
        then.vphi_version));
  bool narrower = false;
  for (const auto& array : then.arrays)
    for (const auto& buffer : now.buffers)
      narrower = narrower || (buffer.name == array.name && buffer.precision != array.precision);
  if (narrower) notes.push_back("the precision of the fields has changed");
  return notes;
}

void go_on(const runtime::FoundCheckpoint& from, const program::Program& program,
           const std::string& until, runtime::RunOptions& options) {
  const auto& head = from.reader->head();
  std::vector<std::string> notes = from.notes;
  for (auto& note : check_same_model(head, program)) notes.push_back(std::move(note));
  std::string until_then = until_of(head.model_text), until_now = until_of(program.model_text);
  for (const auto& [name, value] : head.call)
    if (name == "--until") until_then = value;
  if (!until.empty()) until_now = until;
  options.past_stop = until_then != until_now;
  if (options.past_stop) options.renewal = runtime::RunOptions::Renewal::Scalars;
  notes.push_back(fmt::format("goes on from step {}, t = {:.6g}: {}", head.step, head.time,
                              from.path.string()));
  for (const auto& note : notes)
    if (options.tell) options.tell(note);
  options.resume = from.reader;
}

}  // namespace vphi::embed
