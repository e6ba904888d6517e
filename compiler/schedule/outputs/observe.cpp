#include "compiler/schedule/outputs/observe.hpp"

#include <algorithm>
#include <cctype>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/spinors/linear_map.hpp"

namespace vphi::schedule {

using algebra::Op;

std::string plain(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 128 && std::isalnum(u)) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "q" + result;
  return result.substr(0, 40);
}

int Observer::scalar(const std::string& hint, Expr value) {
  const std::string slot = block_.slots().fresh("out_" + plain(hint));
  assign(slot, value);
  return block_.slots().index(slot);
}

void Observer::assign(const std::string& name, Expr value) {
  block_.assign(name, seen(value));
  wanted_.slots.push_back(name);
}

program::Buffer Observer::scratch(const std::string& hint) const {
  program::Buffer buffer;
  buffer.name = "out_" + plain(hint);
  buffer.precision = system_.numerics.store;
  buffer.scratch = true;
  return buffer;
}

/// Requests the solutions that a value reads, and the scalars with the residuals and iterations of
/// a solve.
void Observer::want_solves(Expr value) {
  for (std::size_t i = 0; i < system_.solves.size(); ++i) {
    const physics::LinearSystem& solve = system_.solves[i];
    const bool wanted = algebra::contains(value, [&](Expr node) {
      if (node.is(Op::Load)) return std::ranges::count(solve.arrays, node->index) > 0;
      return node.is(Op::Symbol) &&
             (node->name == solve.iterations || node->name == solve.residual);
    });
    if (!wanted || !solves_.insert(i).second) continue;
    for (const Expr part : solve.source) want_solves(part);
    // what the operator reads, its own unknown aside
    const std::size_t first = solve.like < 0 ? i : static_cast<std::size_t>(solve.like);
    const bool aside = solves_.insert(first).second;
    const physics::LinearSystem& shared = system_.solves[first];
    for (const Expr part : physics::values_of(shared.op)) want_solves(part);
    if (const auto& half = shared.even_odd)
      for (const physics::LinearMap* map : {&half->op, &half->adjoint, &half->source, &half->back})
        for (const Expr part : physics::values_of(*map)) want_solves(part);
    if (aside) solves_.erase(first);
  }
}

/// The value of the synchronised state; projections it reads are made first.
Expr Observer::seen(Expr value) {
  const auto spectral = [](Expr node) {
    return node.is(Op::Stencil) && node->arena->stencil_data(node->index).spectral;
  };
  if (stepping_ && algebra::contains(value, spectral))
    value = algebra::rewrite(value, [&](Expr node) { return spectral(node) ? image(node) : node; });
  want_solves(value);
  if (system_.projections.empty()) return at(state_, value);
  for (const physics::Projection& projection : system_.projections) {
    const bool wanted = algebra::contains(value, [&](Expr node) {
      return node.is(Op::Load) && std::ranges::count(projection.arrays, node->index) > 0;
    });
    if (wanted) project(projection);
  }
  value = algebra::rewrite(value, [&](Expr node) {
    if (!node.is(Op::Load)) return node;
    const auto found = ahead_->projected.find(node->index);
    if (found == ahead_->projected.end()) return node;
    return node->arena->load(found->second->index, node->offset, node->span);
  });
  return at(state_, value);
}

/// The array that a map fills with a spectral Laplacian; repeated ones are one map. One of
/// a formula with another one in it stays, and is refused later.
Expr Observer::image(Expr node) {
  if (!images_)
    images_ = std::make_unique<Images>(system_, *stepping_, block_.slots(), block_.storage());
  if (const auto found = images_->known.find(node.get()); found != images_->known.end())
    return found->second;
  const auto made = std::ranges::find_if(images_->maps, [&](const ArrayMap& map) {
    return node.arg(0).is(Op::Load) && node.arg(0)->offset.zero() &&
           map.to[0] == node.arg(0)->index;
  });
  Storage& storage = block_.storage();
  ArrayMap map;
  map.map.name = "lap";
  map.map.function = program::FourierMap::Function::Itself;
  int laplacians = 1;
  if (made != images_->maps.end()) {  // of an image: one power more of the same source
    map.from = made->from;
    laplacians += made->map.matrix[0].laplacians;
  } else {
    const bool holds_image = algebra::contains(node.arg(0), [&](Expr leaf) {
      return leaf.is(Op::Load) && std::ranges::any_of(images_->maps, [&](const ArrayMap& other) {
               return other.to[0] == leaf->index;
             });
    });
    if (holds_image) return node;
    const Expr source = images_->block.array("source", at(images_->state, node.arg(0)));
    int array = source->index;
    if (!storage.allocated(array)) {
      array = storage.allocate_new(scratch("source"));
      images_->wanted.arrays[array] = source;
    }
    map.from = {array};
  }
  map.map.matrix = {{.row = 0, .column = 0, .laplacians = laplacians}};
  map.to = {storage.allocate_new(scratch("image"))};
  const Expr image = block_.arena().load(map.to[0], {}, node->span);
  images_->maps.push_back(std::move(map));
  images_->known[node.get()] = image;
  return image;
}

void Observer::project(const physics::Projection& projection) {
  Ahead& ahead = *ahead_;
  if (ahead.projected.contains(projection.arrays[0])) return;
  Storage& storage = block_.storage();
  program::Transform transform;
  transform.derivative = projection.derivative;
  for (std::size_t c = 0; c < projection.values.size(); ++c) {
    const Expr load = ahead.block.array("tensor", at(ahead.state, projection.values[c]));
    const int array = storage.allocate_new(scratch("tensor"));
    ahead.wanted.arrays[array] = load;
    ahead.projected[projection.arrays[c]] = block_.arena().load(array);
    transform.buffers.push_back(static_cast<int>(storage.buffer_index(array)));
  }
  ahead.transforms.push_back(std::move(transform));
}

/// Array that will hold the value: the one that another stage has for it, or a new one.
int Observer::place(const std::string& hint, Expr load) {
  const auto in = [&](const std::map<int, Expr>& arrays) {
    const auto found =
        std::ranges::find_if(arrays, [&](const auto& a) { return a.second == load; });
    return found == arrays.end() ? -1 : found->first;
  };
  int array = in(wanted_.arrays);
  for (std::size_t i = 0; array < 0 && i < stages_.size(); ++i) array = in(stages_[i]);
  return array >= 0 ? array : block_.storage().allocate_new(scratch(hint));
}

Observer::Fields Observer::fields(const std::string& hint, const std::vector<Expr>& values,
                                  std::size_t room) {
  Storage& storage = block_.storage();
  Fields result;
  std::map<int, Expr> needed;
  for (Expr value : values) {
    const Expr load = block_.array(plain(hint), seen(value));
    const bool stored = load.is(Op::Load) && storage.allocated(load->index);
    int array = stored ? load->index : -1;
    for (const auto& [known, other] : needed)
      if (other == load) array = known;
    if (array < 0) array = place(hint, load);
    if (!stored) needed.emplace(array, load);
    result.buffers.push_back(static_cast<int>(storage.buffer_index(array)));
  }
  // The first stage that has all of it already, else the last one if it has room.
  const auto stage = [&](std::size_t i) -> std::map<int, Expr>& {
    return i == 0 ? wanted_.arrays : stages_[i - 1];
  };
  const auto fits = [&](std::size_t i, std::size_t most) {
    std::size_t size = stage(i).size();
    for (const auto& [array, load] : needed) size += stage(i).contains(array) ? 0 : 1;
    return size <= most;
  };
  std::size_t at = 0;
  while (at <= stages_.size() && !fits(at, stage(at).size())) ++at;
  if (at > stages_.size()) {
    at = stages_.size();
    if (!stage(at).empty() && !fits(at, room)) {
      stages_.emplace_back();
      ++at;
    }
    stage(at).insert(needed.begin(), needed.end());
  }
  result.stage = at;
  return result;
}

SiteLoops Observer::Before::loops(const std::string& name) {
  wanted.pure = true;
  wanted.name = name;
  return make_site_loops(block, wanted);
}

Observer::Result Observer::finish(const std::string& name) {
  wanted_.pure = true;
  wanted_.name = name;
  SiteLoops sweeps = make_site_loops(block_, wanted_);
  Result result;
  result.solves = solves_;
  result.alone = std::move(sweeps.alone);
  result.chain = sequence_of(std::move(sweeps));
  if (ahead_ && !ahead_->transforms.empty()) {
    SiteLoops first = ahead_->loops(name + "_tensor");
    result.before_alone = std::move(first.alone);
    result.before = sequence_of(std::move(first));
    result.transforms = std::move(ahead_->transforms);
  }
  if (images_ && !images_->maps.empty()) {
    SiteLoops first = images_->loops(name + "_sources");
    result.sources_alone = std::move(first.alone);
    result.sources = sequence_of(std::move(first));
    result.maps = std::move(images_->maps);
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Wanted wanted;
    wanted.pure = true;
    wanted.name = name + "_stage_" + std::to_string(i + 2);
    wanted.arrays = stages_[i];
    result.stages.push_back(sequence_of(make_site_loops(block_, wanted)));
  }
  return result;
}

}  // namespace vphi::schedule
