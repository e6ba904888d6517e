// Scripts by which shells complete the words of the command, and its manual page. All are written
// from the tables of the verbs, so that an option is named once.
#include <fmt/format.h>

#include <algorithm>

#include "embed/models.hpp"
#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

namespace {

struct Described {
  const Verb* verb;
  CommandTable table;
};

std::vector<Described> all_verbs() {
  std::vector<Described> all;
  for (const Verb& verb : verbs())
    all.push_back({&verb, CommandLine::table_of([&] { verb.call({}); })});
  return all;
}

std::string models() {
  std::vector<std::string> names;
  for (const auto& [name, path] : embed::shipped_models()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// What stands for a plain argument, beside files where the table names no words.
std::string arguments_of(const CommandTable& table) {
  if (!table.arguments) return {};
  return table.words.empty() ? models() : fmt::format("{}", fmt::join(table.words, " "));
}

bool takes_files(const CommandTable& table) { return table.arguments && table.words.empty(); }

std::string names_of(const CommandTable& table) {
  std::vector<std::string> names;
  for (const auto& option : table.options) names.push_back(option.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string verb_names(const std::vector<Described>& all) {
  std::vector<std::string> names;
  for (const Described& d : all) names.emplace_back(d.verb->name);
  return fmt::format("{}", fmt::join(names, " "));
}

void bash(const std::vector<Described>& all) {
  fmt::print("# Completion of vphi in bash: source it, or put it where bash-completion looks.\n");
  fmt::print(
      "_vphi() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} "
      "before=${{COMP_WORDS[COMP_CWORD-1]}}\n");
  fmt::print("  local options=\"\" arguments=\"\" files=\"\"\n  COMPREPLY=()\n");
  fmt::print(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    mapfile -t COMPREPLY < <(compgen -W \"{}\" -- "
      "\"$word\")\n    return\n  fi\n",
      verb_names(all));
  fmt::print("  case \"${{COMP_WORDS[1]}} $before\" in\n");
  for (const Described& d : all)
    for (const auto& option : d.table.options)
      if (!option.words.empty())
        fmt::print(
            "    '{} {}') mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$word\"); return ;;\n",
            d.verb->name, option.name, fmt::join(option.words, " "));
  fmt::print("  esac\n  case ${{COMP_WORDS[1]}} in\n");
  for (const Described& d : all)
    fmt::print("    {}) options=\"{}\" arguments=\"{}\" files=\"{}\" ;;\n", d.verb->name,
               names_of(d.table), arguments_of(d.table), takes_files(d.table) ? "-f" : "");
  fmt::print(
      "  esac\n  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n  else\n"
      "    mapfile -t COMPREPLY < <(compgen $files -W \"$arguments\" -- \"$word\")\n"
      "  fi\n}}\ncomplete -o filenames -F _vphi vphi\n");
}

/// For a text in single quotes; zsh's descriptions end at a bracket.
std::string quoted(const std::string& text, bool zsh = false) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += zsh ? "'\\''" : "\\'";
    else if (zsh && (c == '[' || c == ']' || c == ':'))
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

void zsh(const std::vector<Described>& all) {
  fmt::print(
      "#compdef vphi\n# Completion of vphi in zsh: put it as _vphi into a folder of $fpath.\n");
  fmt::print("_vphi() {{\n  local -a verbs=(\n");
  for (const Described& d : all)
    fmt::print("    '{}:{}'\n", d.verb->name, quoted(d.verb->summary, true));
  fmt::print("  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n");
  fmt::print("  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n");
  for (const Described& d : all) {
    fmt::print("    {})\n      _arguments \\\n", d.verb->name);
    for (const auto& option : d.table.options) {
      const bool word = !option.shown.empty();
      const std::string values =
          option.words.empty() ? std::string() : fmt::format("({})", fmt::join(option.words, " "));
      fmt::print("        '*{}[{}]{}' \\\n", option.name, quoted(option.help, true),
                 word ? fmt::format(":{}:{}", quoted(option.shown, true), values) : std::string());
    }
    if (d.table.arguments)
      fmt::print("        '*:argument:{{{}compadd {}}}'", takes_files(d.table) ? "_files; " : "",
                 arguments_of(d.table));
    fmt::print(" ;;\n");
  }
  fmt::print("  esac\n}}\n_vphi \"$@\"\n");
}

void fish(const std::vector<Described>& all) {
  fmt::print("# Completion of vphi in fish: put it into ~/.config/fish/completions/vphi.fish.\n");
  for (const Described& d : all)
    fmt::print("complete -c vphi -f -n __fish_use_subcommand -a {} -d '{}'\n", d.verb->name,
               quoted(d.verb->summary));
  for (const Described& d : all) {
    const std::string here =
        fmt::format("complete -c vphi -n '__fish_seen_subcommand_from {}'", d.verb->name);
    fmt::print("{} {} -a '{}'\n", here, takes_files(d.table) ? "-F" : "-f", arguments_of(d.table));
    for (const auto& option : d.table.options) {
      const bool one = option.name.size() == 2;
      fmt::print("{} -{} {}{}{} -d '{}'\n", here, one ? "s" : "l", option.name.substr(one ? 1 : 2),
                 option.shown.empty() ? "" : " -r",
                 option.words.empty() ? std::string()
                                      : fmt::format(" -f -a '{}'", fmt::join(option.words, " ")),
                 quoted(option.help));
    }
  }
}

/// Text for roff: a line must not begin with a dot or an apostrophe.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

void man(const std::vector<Described>& all) {
  fmt::print(".TH VPHI 1 \"\" \"vphi {}\" \"User commands\"\n", VPHI_VERSION);
  fmt::print(".SH NAME\nvphi \\- from a model file of a field theory to a running simulation\n");
  fmt::print(".SH SYNOPSIS\n");
  for (const Described& d : all)
    fmt::print(".B vphi {}\n[options]\n.br\n",
               roff(d.table.usage.empty() ? d.verb->name : d.table.usage));
  fmt::print(
      ".SH DESCRIPTION\nA model file says a potential, a Hamiltonian, an action, a conservation "
      "law or a noisy\n"
      "equation of motion. vphi derives the equations, compiles kernels for CUDA, OpenCL or the\n"
      "processor when it runs, and runs them.\n.SH VERBS\n");
  for (const Described& d : all) {
    fmt::print(".SS {}\n{}\n", roff(d.verb->name),
               roff(d.table.summary.empty() ? d.verb->summary : d.table.summary));
    for (const auto& option : d.table.options)
      fmt::print(".TP\n.B {}{}\n{}\n", roff(option.name),
                 option.shown.empty() ? std::string() : " " + roff(option.shown),
                 roff(option.help));
  }
  fmt::print(
      ".SH EXIT STATUS\n0 ok, 1 a mistake in the model or the command line, 2 an expectation of "
      "the model\n"
      "failed, 3 a device, 4 an error of vphi, 130 interrupted, 143 terminated.\n");
}

}  // namespace

int completion(const Words& words) {
  struct Form {
    const char* name;
    void (*write)(const std::vector<Described>&);
  };
  static constexpr Form forms[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"man", man}};
  std::vector<std::string> wanted, names;
  for (const Form& form : forms) names.emplace_back(form.name);
  CommandLine line(
      "completion bash|zsh|fish|man",
      "Writes a script that completes the command's words in a shell, or its manual page.");
  line.arguments(wanted, 1, 1, names);
  if (!line.parse(words)) return kOk;
  const auto form = std::ranges::find_if(forms, [&](const Form& f) { return f.name == wanted[0]; });
  if (form == std::end(forms))
    throw UsageError(fmt::format("there is no form `{}`", wanted[0]), "bash, zsh, fish or man");
  form->write(all_verbs());
  return kOk;
}

}  // namespace vphi::tools
