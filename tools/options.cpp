#include "tools/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "dsl/messages/suggest.hpp"

namespace vphi::tools {

namespace {

thread_local CommandTable* asked = nullptr;  ///< filled by the next `parse`

}  // namespace

CommandTable CommandLine::table_of(const std::function<void()>& call) {
  CommandTable table;
  asked = &table;
  call();
  asked = nullptr;
  return table;
}

CommandLine::CommandLine(std::string usage, std::string summary)
    : usage_(std::move(usage)), summary_(std::move(summary)) {}

CommandLine& CommandLine::flag(std::string name, bool& to, std::string help) {
  options_.push_back({std::move(name), "", std::move(help), [&to](const auto&) { to = true; }});
  return *this;
}

CommandLine& CommandLine::value(std::string name, std::string shown, std::string& to,
                                std::string help) {
  options_.push_back({std::move(name), std::move(shown), std::move(help),
                      [&to](const std::string& text) { to = text; }});
  return *this;
}

CommandLine& CommandLine::optional(std::string name, std::string shown, std::string& to,
                                   bool& given, std::string help) {
  options_.push_back({std::move(name), std::move(shown), std::move(help),
                      [&to, &given](const std::string& text) { to = text, given = true; }, true});
  return *this;
}

namespace {

std::int64_t number_from(const std::string& name, const std::string& text, std::int64_t least,
                         const char* or_else) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || number < least)
    throw UsageError(
        fmt::format("{} takes a whole number from {} on{}, not `{}`", name, least, or_else, text));
  return number;
}

}  // namespace

CommandLine& CommandLine::number(std::string name, std::string shown, std::int64_t& to,
                                 std::int64_t least, std::string help) {
  const auto take = [&to, name, least](const std::string& text) {
    to = number_from(name, text, least, "");
  };
  options_.push_back({std::move(name), std::move(shown), std::move(help), take});
  return *this;
}

CommandLine& CommandLine::number_or_auto(std::string name, std::int64_t& to, bool& chosen,
                                         std::int64_t least, std::string help) {
  const auto take = [&to, &chosen, name, least](const std::string& text) {
    chosen = text == "auto";
    to = chosen ? 0 : number_from(name, text, least, " or `auto`");
  };
  options_.push_back({std::move(name), "N|auto", std::move(help), take});
  return *this;
}

CommandLine& CommandLine::list(std::string name, std::string shown, std::vector<std::string>& to,
                               std::string help) {
  options_.push_back({std::move(name), std::move(shown), std::move(help),
                      [&to](const std::string& text) { to.push_back(text); }});
  options_.back().repeats = true;
  return *this;
}

CommandLine& CommandLine::choice(std::string name, std::vector<std::string> words, std::string& to,
                                 std::string help) {
  std::string shown = fmt::format("{}", fmt::join(words, "|"));
  const auto take = [&to, name, words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) {
      const auto near = dsl::suggest(text, words);
      throw UsageError(
          fmt::format("{} takes {}, not `{}`", name, dsl::enumerate(words, "or"), text),
          near ? fmt::format("did you mean `{} {}`?", name, *near) : "");
    }
    to = text;
  };
  options_.push_back({std::move(name), std::move(shown), std::move(help), take});
  options_.back().words = std::move(words);
  return *this;
}

CommandLine& CommandLine::arguments(std::vector<std::string>& to, std::size_t required,
                                    std::size_t most, std::vector<std::string> words) {
  arguments_ = &to, required_ = required, most_ = most, words_ = std::move(words);
  return *this;
}

CommandLine::Option& CommandLine::find(const std::string& name) {
  std::vector<std::string> known{"--help"};
  for (Option& option : options_) {
    if (option.name == name) return option;
    known.push_back(option.name);
  }
  const auto near = dsl::suggest(name, known);
  const std::string verb = usage_.substr(0, usage_.find(' '));
  throw UsageError(fmt::format("`vphi {}` has no option `{}`", verb, name),
                   near ? fmt::format("did you mean `{}`?", *near)
                        : fmt::format("`vphi {} --help` lists them", verb));
}

bool CommandLine::parse(const std::vector<std::string>& words) {
  if (asked != nullptr) {
    asked->usage = usage_, asked->summary = summary_;
    asked->arguments = arguments_ != nullptr, asked->words = words_;
    asked->options.push_back({"--help", "", "lists the options", {}});
    for (const Option& o : options_) asked->options.push_back({o.name, o.shown, o.help, o.words});
    return false;
  }
  bool only_arguments = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_arguments || word.size() < 2 || word[0] != '-') {
      if (arguments_ == nullptr || arguments_->size() >= most_)
        throw UsageError(fmt::format("`{}` is one argument too many", word),
                         fmt::format("usage: vphi {}", usage_));
      arguments_->push_back(word);
      continue;
    }
    if (word == "--") {
      only_arguments = true;
      continue;
    }
    if (word == "--help" || word == "-h") {
      std::fputs(help().c_str(), stdout);
      return false;
    }
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    Option& option = find(name);
    if (option.given && !option.repeats && !option.shown.empty())
      throw UsageError(fmt::format("{} is given twice", name), "leave one of the two out");
    option.given = true;
    const bool empty = equals != std::string::npos ? equals + 1 == word.size()
                                                   : i + 1 < words.size() && words[i + 1].empty();
    if (empty && !option.shown.empty() && !option.optional)
      throw UsageError(fmt::format("{} needs a value: {} {}", name, name, option.shown));
    if (option.shown.empty()) {
      if (equals != std::string::npos) throw UsageError(fmt::format("{} takes no value", name));
      option.take({});
    } else if (equals != std::string::npos) {
      option.take(word.substr(equals + 1));
    } else if (option.optional) {
      const bool all = arguments_ == nullptr || arguments_->size() >= most_;
      const bool next = all && i + 1 < words.size() && !words[i + 1].starts_with('-');
      option.take(next ? words[++i] : "");
    } else {
      if (i + 1 == words.size())
        throw UsageError(fmt::format("{} needs a value: {} {}", name, name, option.shown));
      option.take(words[++i]);
    }
  }
  if (arguments_ != nullptr && arguments_->size() < required_)
    throw UsageError(
        fmt::format("`vphi {}` needs one argument more", usage_.substr(0, usage_.find(' '))),
        fmt::format("usage: vphi {}", usage_));
  return true;
}

const CommandLine& CommandLine::obeyed(const std::string& name, bool idle,
                                       const std::string& reason) const {
  const auto given = std::ranges::find_if(
      options_, [&](const Option& option) { return option.name == name && option.given; });
  if (idle && given != options_.end())
    throw UsageError(fmt::format("`{}` changes nothing here: {}", name, reason));
  return *this;
}

std::string CommandLine::help() const {
  std::string text = fmt::format("{}\n\nusage: vphi {}{}\n", summary_, usage_,
                                 options_.empty() ? "" : " [options]");
  std::size_t width = 0;
  const auto head = [](const Option& o) {
    if (o.optional) return o.name + "[=" + o.shown + "]";
    return o.shown.empty() ? o.name : o.name + " " + o.shown;
  };
  for (const Option& option : options_) width = std::max(width, head(option).size());
  if (!options_.empty()) text += "\n";
  for (const Option& option : options_)
    text += fmt::format("  {:<{}}  {}\n", head(option), width, option.help);
  return text;
}

}  // namespace vphi::tools
