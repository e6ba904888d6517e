#include "compiler/physics/chains/determinant_slopes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/gauge/link_paths.hpp"
#include "compiler/physics/lower/calculus.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

/// The same loop passed the other way.
std::pair<Offset, gauge::Word> passed_back(Offset from, const gauge::Word& word) {
  using gauge::operator+;
  return {from + gauge::displacement(word), gauge::inverse(word)};
}

}  // namespace

DeterminantSlopes::DeterminantSlopes(const Motion& d, gauge::LinkOf link, std::string name,
                                     dsl::Span span)
    : d_(d), link_(std::move(link)), name_(std::move(name)), span_(span) {}

gauge::Matrix DeterminantSlopes::middle(const gauge::WordTerm& term, const gauge::SpinorOf& left,
                                        const gauge::SpinorOf& right, LogarithmSlope log,
                                        Offset site) const {
  using gauge::operator+;
  const algebra::Mover move = around(d_.grid);
  const gauge::Complex weight{move(term.weight.re, site), move(term.weight.im, site)};
  gauge::Matrix m = gauge::colour_outer(term.spin, right(term.at + site), left(site));
  if (log.blocks && term.at.zero()) {
    const gauge::Matrix trace = trace_at(d_.arena(), *log.blocks, term.spin, site);
    m = gauge::plus(m, log.scale == 1 ? trace : gauge::times(d_.arena().real(log.scale), trace));
  }
  return gauge::times(weight, m);
}

void DeterminantSlopes::add(const std::vector<gauge::WordTerm>& words, const gauge::SpinorOf& left,
                            const gauge::SpinorOf& right, Expr factor, LogarithmSlope log) {
  std::map<int, std::vector<gauge::WordTerm>> hops;
  std::map<int, std::vector<Loop>> loops;  // of this form, so that sums have one order
  for (const gauge::WordTerm& term : words) {
    if (!term.at.zero()) {
      hops[term.of].push_back(term);
      continue;
    }
    gauge::Matrix m = gauge::times(factor, middle(term, left, right, log, {}));
    Loop loop{term.from, term.word, {}};
    if (auto [from, word] = passed_back(term.from, term.word); word < loop.word) {
      loop = {from, std::move(word), {}};
      m = gauge::adjoint(m);
    }
    std::vector<Loop>& own = loops[term.of];
    const auto same = std::ranges::find_if(
        own, [&](const Loop& other) { return other.from == loop.from && other.word == loop.word; });
    Loop& sum = same == own.end() ? own.emplace_back(loop) : *same;
    sum.middle = sum.middle.parts.empty() ? m : gauge::plus(sum.middle, m);
  }
  for (auto& [of, own] : loops)
    for (Loop& loop : own) {
      std::vector<Loop>& all = loops_[of];
      const auto same = std::ranges::find_if(all, [&](const Loop& other) {
        return other.from == loop.from && other.word == loop.word;
      });
      if (same == all.end())
        all.push_back(std::move(loop));
      else
        same->middle = gauge::plus(same->middle, loop.middle);
    }
  for (const auto& [of, own] : hops)
    add_staples(
        of, own,
        [&](const gauge::WordTerm& term, Offset site) {
          return middle(term, left, right, log, site);
        },
        factor);
}

void DeterminantSlopes::add_staples(int of, const std::vector<gauge::WordTerm>& words,
                                    const gauge::MiddleAt& middle, Expr factor) {
  const gauge::LinkOf link = gauge::links_of_field(link_, of);
  std::vector<gauge::Matrix>& staple = staples_[of];
  staple.resize(static_cast<std::size_t>(d_.grid.dims));
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    const gauge::Matrix v = gauge::insertion_staple(words, axis, link, middle);
    if (v.parts.empty()) continue;
    const gauge::Matrix own = gauge::times(factor, v);
    gauge::Matrix& all = staple[static_cast<std::size_t>(axis)];
    all = all.parts.empty() ? own : gauge::plus(all, own);
  }
}

/// The number as it is read from memory; its array is set by `update` where it has none yet.
Expr DeterminantSlopes::held(Expr part, std::vector<Trajectory::Memory>& memory, Update& update) {
  if (part.is_number()) return part;
  const Expr own = part.is(Op::Neg) ? part.arg(0) : part;
  const auto [found, added] = array_of_.try_emplace(own.get(), 0);
  if (added) {
    found->second = d_.new_array();
    memory.push_back(
        {found->second, fmt::format("{}_at_sites_{}", name_, array_of_.size()), false});
    update.values.emplace_back(found->second, own);
  }
  const Expr load = d_.arena().load(found->second);
  return part == own ? load : gauge::negative(load);
}

DeterminantSlopes::Staples DeterminantSlopes::finish(std::vector<Trajectory::Memory>& memory,
                                                     std::vector<Update>& updates) {
  std::size_t count = 0, before = updates.size();
  for (auto& [of, loops] : loops_) {
    std::vector<gauge::WordTerm> words;
    for (Loop& loop : loops) {
      Update update;
      update.name = fmt::format("at_sites_{}_{}", name_, updates.size() - before + 1);
      update.shown = fmt::format("X and Y of {} at the sites of loops", name_);
      update.span = span_;
      for (gauge::Complex& part : loop.middle.parts)
        part = {held(part.re, memory, update), held(part.im, memory, update)};
      if (!update.values.empty()) updates.push_back(std::move(update));
      words.push_back({{}, {}, loop.from, loop.word, {}, of});
      ++count;
    }
    const gauge::MiddleAt middle = [&, move = around(d_.grid)](const gauge::WordTerm& term,
                                                               Offset site) {
      gauge::Matrix m = loops[static_cast<std::size_t>(&term - words.data())].middle;
      for (gauge::Complex& part : m.parts) part = {move(part.re, site), move(part.im, site)};
      return m;
    };
    add_staples(of, words, middle, d_.arena().integer(1));
  }
  if (count > 0)
    d_.remark(
        fmt::format("{}: {} loops of links share matrices at the sites, {} numbers that are "
                    "kept in memory for the kicks",
                    name_, count, array_of_.size()));
  return std::move(staples_);
}

}  // namespace vphi::physics
