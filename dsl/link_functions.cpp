#include "dsl/link_functions.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <span>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

namespace {

constexpr int kMostSteps = 64;
constexpr std::size_t kMostLines = 1000;  ///< that calls add to a model

/// Builds the expression anew, below the nodes for which `change` gives another one.
ExprPtr changed(const ExprPtr& e, const std::function<ExprPtr(const ExprPtr&)>& change) {
  if (!e) return e;
  if (ExprPtr other = change(e)) return other;
  Expr copy = *e;
  for (ExprPtr& arg : copy.args) arg = changed(arg, change);
  for (NamedArgument& named : copy.named) named.value = changed(named.value, change);
  return std::make_shared<const Expr>(std::move(copy));
}

ExprPtr name_of(const std::string& text, Span span) {
  Expr name;
  name.kind = ExprKind::Name;
  name.text = text;
  name.span = span;
  return std::make_shared<const Expr>(std::move(name));
}

bool given_by_lattice(const std::string& name) {
  return name == "x" || name == "y" || name == "z" || name == "t";
}

/// Whether the text needs a name in place of the parameter: the links that it indexes, walks along,
/// or differentiates by.
bool wants_name(const ExprPtr& text, const std::string& parameter) {
  bool found = false;
  for_each(text, [&](const Expr& e) {
    if (e.kind != ExprKind::Index && e.kind != ExprKind::Call) return;
    const Builtin* builtin = e.kind == ExprKind::Call ? find_builtin(e.text) : nullptr;
    const bool walks =
        builtin && (builtin->rule == Rule::PathProduct || builtin->rule == Rule::Colours);
    if ((e.kind == ExprKind::Index || walks) && !e.args.empty() &&
        e.args[0]->kind == ExprKind::Name && e.args[0]->text == parameter)
      found = true;
  });
  return found;
}

class Writer {
 public:
  explicit Writer(Resolved& resolved) : resolved_(resolved), lines_(resolved.model.lines) {}

  void all() {
    for (const Line& line : lines_)
      if (line.kind == Line::Kind::Definition && makes_links(line.definition.head))
        texts_.emplace(line.definition.head.name, line);
    if (texts_.empty()) return;
    for (const Line& line : lines_) collect_names(line);
    const std::vector<Line> before = lines_;
    const std::size_t own = lines_.size();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].kind == Line::Kind::Definition && makes_links(lines_[i].definition.head))
        continue;
      Line line = lines_[i];
      change_ = false;
      write_out(line);
      if (!change_) continue;
      if (i < own && resolved_.as_written.empty()) resolved_.as_written = before;
      lines_[i] = std::move(line);
      for (Line& one : added_) lines_.push_back(std::move(one));
      added_.clear();
      full_ = lines_.size() > own + kMostLines;
    }
  }

 private:
  void report(Diagnostic d) { resolved_.diagnostics.add(std::move(d)); }

  void collect_names(const Line& line) {
    if (line.span.file != 0) return;
    const auto head = [this](const Head& h) {
      names_.insert(h.name);
      for (const ExprPtr& arg : h.args) names_.insert(arg->text);
    };
    if (line.kind != Line::Kind::Clause) head(line.definition.head);
    for (const Item& item : line.clause.items)
      if (item.head) head(*item.head);
    for_each(line, [this](const Expr& e) {
      if (e.kind == ExprKind::Name || e.kind == ExprKind::Call) names_.insert(e.text);
    });
  }

  std::string fresh(const std::string& stem, const std::string& behind) {
    std::string name = stem + behind;
    for (int k = 1; names_.contains(name); ++k) name = stem + behind + std::to_string(k);
    names_.insert(name);
    return name;
  }

  const Line* text_of(const Expr& e) const {
    if (e.kind != ExprKind::Call) return nullptr;
    const auto found = texts_.find(e.text);
    return found == texts_.end() ? nullptr : &found->second;
  }

  /// The call that a definition consists of: `V = f(...)`, `V[mu] = f(...)[mu]`.
  ExprPtr whole_call(const Definition& d) const {
    const Head& head = d.head;
    if (d.drawn || head.primes > 0 || head.form == Head::Form::Function) return nullptr;
    const ExprPtr& value = d.value;
    if (const Line* text = text_of(*value)) {
      const bool fits = head.form == Head::Form::Plain ||
                        head.args.size() == text->definition.head.indices.size();
      return fits ? value : nullptr;
    }
    if (value->kind != ExprKind::Index || !text_of(*value->args[0])) return nullptr;
    const bool same = std::ranges::equal(
        head.args, std::span(value->args).subspan(1), [](const ExprPtr& a, const ExprPtr& b) {
          return a->kind == ExprKind::Name && b->kind == ExprKind::Name && a->text == b->text;
        });
    return same ? value->args[0] : nullptr;
  }

  void write_out(Line& line) {
    if (line.kind != Line::Kind::Clause) {
      Definition d = line.definition;
      if (line.kind == Line::Kind::Definition) {
        for (int k = 0; const ExprPtr call = whole_call(d); ++k) {
          change_ = true;
          if (full_ || k == kMostSteps || !instantiate(d, *call)) {
            as_links_are(d, *call);
            break;
          }
        }
      }
      local_.clear();
      if (d.head.form == Head::Form::Function)
        for (const ExprPtr& parameter : d.head.args) local_.insert(parameter->text);
      d.value = without_calls(d.value);
      local_.clear();
      line.definition = std::move(d);
      return;
    }
    clause(line.clause);
  }

  void clause(Clause& c) {
    for (Item& item : c.items) {
      item.value = without_calls(item.value);
      for (auto& [word, value] : item.words) value = without_calls(value);
    }
    for (Line& inner : c.body) {
      if (inner.kind == Line::Kind::Clause)
        clause(inner.clause);
      else
        inner.definition.value = without_calls(inner.definition.value);
    }
    for (Definition& fact : c.where) fact.value = without_calls(fact.value);
  }

  /// `d` becomes U[mu], with any links U, or 0 where there are none, after a message about the
  /// call: of a wrong call, or, by the search for cycles, of functions that need each other.
  void as_links_are(Definition& d, const Expr& call) {
    const Head& head = text_of(call)->definition.head;
    Expr link;
    link.kind = ExprKind::Index;
    link.span = call.span;
    for (const Line& line : lines_)
      for (const Item& item : line.clause.items)
        if (line.clause.keyword == "gauge" && item.value && item.value->kind == ExprKind::Name &&
            link.args.empty())
          link.args = {item.value, head.indices[0]};
    d.head.form = Head::Form::Indexed;
    d.head.args = head.indices;
    d.value = link.args.empty() ? whole_number(0, call.span)
                                : std::make_shared<const Expr>(std::move(link));
  }

  /// The expression with names of definitions in place of calls.
  ExprPtr without_calls(const ExprPtr& e) {
    bool any = false;
    for_each(e, [&](const Expr& node) { any = any || text_of(node); });
    if (!any) return e;
    change_ = true;
    return changed(e, [this](const ExprPtr& node) -> ExprPtr {
      if (ExprPtr text = in_place(*node)) return text;
      return text_of(*node) ? name_of(defined(node), node->span) : nullptr;
    });
  }

  /// `f(s)[i]` in a function of s: no definition beside it knows s, so the text of f stands in its
  /// place; null elsewhere.
  ExprPtr in_place(const Expr& e) {
    const Line* line = e.kind == ExprKind::Index ? text_of(*e.args[0]) : nullptr;
    if (!line || within_.contains(line->definition.head.name)) return nullptr;
    const Head& head = line->definition.head;
    const Expr& call = *e.args[0];
    const bool fits = call.args.size() == head.args.size() && call.named.empty() &&
                      e.args.size() == head.indices.size() + 1;
    bool local = false;
    for (const ExprPtr& argument : call.args)
      for_each(argument, [&](const Expr& name) {
        local = local || (name.kind == ExprKind::Name && local_.contains(name.text));
      });
    if (!fits || !local) return nullptr;
    resolved_.written_out.insert(head.name);
    std::map<std::string, ExprPtr> meaning;
    for (std::size_t i = 0; i < head.args.size(); ++i)
      meaning.emplace(head.args[i]->text, without_calls(call.args[i]));
    for (std::size_t i = 0; i < head.indices.size(); ++i)
      meaning.emplace(head.indices[i]->text, e.args[i + 1]);
    if (line->span.file != 0) keep_apart(line->definition, meaning);
    within_.insert(head.name);
    ExprPtr text = without_calls(changed(line->definition.value, by(meaning)));
    within_.erase(head.name);
    return text;
  }

  /// What stands for each name.
  static std::function<ExprPtr(const ExprPtr&)> by(const std::map<std::string, ExprPtr>& meaning) {
    return [&meaning](const ExprPtr& e) -> ExprPtr {
      const auto found = e->kind == ExprKind::Name ? meaning.find(e->text) : meaning.end();
      return found == meaning.end() ? nullptr : found->second;
    };
  }

  /// Names that a text of the library binds, and that the model has, become others.
  void keep_apart(const Definition& text, std::map<std::string, ExprPtr>& meaning) {
    const auto bound = [&](const Expr& e) {
      if (e.kind != ExprKind::Name || meaning.contains(e.text) || !names_.contains(e.text) ||
          given_by_lattice(e.text) || find_builtin(e.text) || find_constant(e.text))
        return;
      const std::string other = fresh(e.text, "_");
      meaning.emplace(e.text, name_of(other, e.span));
    };
    for (const ExprPtr& index : text.head.indices) bound(*index);
    for_each(text.value, bound);
  }

  /// The name of the definition for a call; equal calls have one.
  std::string defined(const ExprPtr& call) {
    const auto [known, is_new] = made_.emplace(to_text(*call), "");
    if (!is_new) return known->second;
    known->second = fresh(call->text, "_");
    Line line;
    line.span = call->span;
    line.definition.head.name = known->second;
    line.definition.head.span = call->span;
    line.definition.value = call;
    const std::string name = known->second;
    added_.push_back(std::move(line));
    return name;
  }

  /// The number of steps behind the arguments; 0 after a message.
  int steps(const Expr& e) {
    const Expr* number = &e;
    for (const Line& line : lines_) {
      if (e.kind != ExprKind::Name || line.clause.keyword != "param") continue;
      for (const Item& item : line.clause.items)
        if (item.head && item.head->name == e.text && item.value) number = item.value.get();
    }
    int count = 0;
    const std::string& text = number->text;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool whole = number->kind == ExprKind::Number && !number->imaginary &&
                       problem == std::errc() && end == text.data() + text.size();
    if (whole && count >= 1 && count <= kMostSteps) return count;
    report(errors::link_steps(e.span, kMostSteps));
    return 0;
  }

  /// Whether an argument is links: in the text of the function or of one that it is handed on to.
  bool takes_links(const Line& line, std::size_t argument, int depth = 0) const {
    constexpr int kDeepest = 16;  // a function that calls itself is refused elsewhere
    const Definition& text = line.definition;
    const std::string& name = text.head.args[argument]->text;
    bool found = wants_name(text.value, name);
    for_each(text.value, [&](const Expr& e) {
      const Line* inner = found || depth > kDeepest ? nullptr : text_of(e);
      for (std::size_t i = 0; inner && i < e.args.size(); ++i) {
        const bool handed_on = e.args[i]->kind == ExprKind::Name && e.args[i]->text == name &&
                               i < inner->definition.head.args.size();
        found = found || (handed_on && takes_links(*inner, i, depth + 1));
      }
    });
    return found;
  }

  /// `d` becomes the text of the function; false after a message.
  bool instantiate(Definition& d, const Expr& call) {
    const Line& line = *text_of(call);
    const Head& head = line.definition.head;
    resolved_.written_out.insert(head.name);
    const std::size_t wanted = head.args.size();
    std::vector<ExprPtr> arguments = call.args;
    const std::size_t most = wanted + (wanted > 0 && takes_links(line, 0) ? 1 : 0);
    if (arguments.size() < wanted || arguments.size() > most || !call.named.empty()) {
      Head usage = head;
      usage.indices.clear();
      report(errors::wrong_arity(call.span, head.name, to_text(usage), static_cast<int>(wanted),
                                 static_cast<int>(call.args.size()),
                                 line.documentation.substr(0, line.documentation.find('\n')),
                                 head.span));
      return false;
    }
    if (arguments.size() > wanted) {
      const int count = steps(*arguments.back());
      if (count == 0) return false;
      arguments.pop_back();
      if (count > 1) {
        Expr before = call;
        before.args = arguments;
        if (count > 2) before.args.push_back(whole_number(count - 1, call.span));
        arguments[0] = std::make_shared<const Expr>(std::move(before));
      }
    }
    std::map<std::string, ExprPtr> meaning;
    for (std::size_t i = 0; i < wanted; ++i) {
      ExprPtr argument = without_calls(arguments[i]);
      const std::string& parameter = head.args[i]->text;
      if (argument->kind != ExprKind::Name && wants_name(line.definition.value, parameter)) {
        report(errors::links_wanted(argument->span, head.name, parameter, line.documentation));
        return false;
      }
      meaning.emplace(parameter, std::move(argument));
    }
    std::vector<ExprPtr> indices = head.indices;
    if (line.span.file != 0) keep_apart(line.definition, meaning);
    for (ExprPtr& index : indices) index = changed(index, by(meaning));
    d.head.form = Head::Form::Indexed;
    d.head.args = std::move(indices);
    d.value = changed(line.definition.value, by(meaning));
    return true;
  }

  static ExprPtr whole_number(int value, Span span) {
    Expr number;
    number.text = std::to_string(value);
    number.span = span;
    return std::make_shared<const Expr>(std::move(number));
  }

  Resolved& resolved_;
  std::vector<Line>& lines_;
  std::map<std::string, Line> texts_;
  std::set<std::string> names_;              ///< of the model, and those given here
  std::map<std::string, std::string> made_;  ///< names of the definitions of calls
  std::vector<Line> added_;                  ///< definitions of calls in the line at hand
  std::set<std::string> local_;              ///< parameters of the function at hand
  std::set<std::string> within_;             ///< functions whose text is written in place
  bool change_ = false;                      ///< the line at hand has calls
  bool full_ = false;                        ///< calls have added more lines than any model needs
};

}  // namespace

void write_out_link_functions(Resolved& resolved) { Writer(resolved).all(); }

}  // namespace vphi::dsl
