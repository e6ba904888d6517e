#include "tools/running/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::tools {

namespace fs = std::filesystem;
using runtime::RunError;

namespace {

constexpr double kDefaultSeconds = 600;

struct Unit {
  const char* name;
  double seconds;  ///< 0: counts steps
};
constexpr Unit kUnits[] = {{"s", 1},       {"sec", 1},   {"min", 60}, {"h", 3600},
                           {"hour", 3600}, {"d", 86400}, {"step", 0}, {"steps", 0}};

dsl::ModelText parsed(const std::string& text) {
  dsl::Diagnostics ignored;  // both texts compiled when they were run
  return dsl::parse(std::make_shared<const dsl::Source>("model", text, 0), ignored);
}

std::string canonical_text(dsl::Line line) {
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
    if (line.clause.keyword == "evolve")
      std::erase_if(items, [](const dsl::Item& i) { return i.head && i.head->name == "until"; });
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
                 "only the end, outputs, expectations, device and precision may change; undo this, "
                 "or start over with --restart");
}

}  // namespace

// ---- options
// --------------------------------------------------------------------------------------

void KeepWords::declare(CommandLine& line) {
  line.value("--checkpoint-every", "TIME", every,
             "10min (the default), 30s, 2h, 500 steps, or never")
      .optional("--resume", "DIR", resume, resuming,
                "goes on from the last checkpoint (in the output folder, DIR, or a file); auto: "
                "from the beginning where there is none")
      .flag("--restart", restart,
            "starts over where the folder holds an unfinished run or results of another one");
}

runtime::KeepOptions KeepWords::options() const {
  runtime::KeepOptions keep;
  keep.on = every != "never";
  keep.at_end_after = kWorthKeeping;
  if (every.empty() || !keep.on) {
    keep.every_seconds = kDefaultSeconds;
    return keep;
  }
  double number = 0;
  const char* end = every.data() + every.size();
  const auto [at, error] = std::from_chars(every.data(), end, number);
  std::string unit(at, end);
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  const auto found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const Unit& u) { return unit == u.name; });
  const bool fine = error == std::errc() && found != std::end(kUnits) && number > 0 &&
                    (found->seconds > 0 || number == std::floor(number)) && number < 1e15;
  if (!fine)
    throw UsageError(
        fmt::format("--checkpoint-every takes a time or a number of steps, not `{}`", every),
        "10min, 30s, 2h, '500 steps', never");
  keep.at_end_after = 0;
  if (found->seconds > 0)
    keep.every_seconds = number * found->seconds;
  else
    keep.every_steps = static_cast<std::int64_t>(number);
  return keep;
}

std::vector<std::pair<std::string, std::string>> call_of(const ModelOptions& options) {
  std::vector<std::pair<std::string, std::string>> call;
  for (const auto& text : options.set) call.emplace_back("--set", text);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) call.emplace_back(name, value);
  };
  add("--lattice", options.lattice);
  add("--until", options.until);
  if (options.steps >= 0) add("--steps", std::to_string(options.steps));
  add("--precision", options.precision);
  add("--seed", options.seed);
  return call;
}

ModelOptions continued(const ModelOptions& given,
                       const std::vector<std::pair<std::string, std::string>>& call) {
  ModelOptions all = given;
  const bool other_end = given.steps >= 0 || !given.until.empty();
  for (const auto& [name, value] : call) {
    if (name == "--set" && given.set.empty()) all.set.push_back(value);
    if (name == "--lattice" && given.lattice.empty()) all.lattice = value;
    if (name == "--precision" && given.precision.empty()) all.precision = value;
    if (name == "--seed" && given.seed.empty()) all.seed = value;
    if (name == "--batch" && given.batch == 0) all.batch = std::atoll(value.c_str());
    if (name == "--until" && !other_end) all.until = value;
    if (name == "--steps" && !other_end) all.steps = std::atoll(value.c_str());
  }
  return all;
}

// ---- what may change
// --------------------------------------------------------------------------------

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

}  // namespace vphi::tools
