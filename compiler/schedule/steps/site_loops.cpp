#include "compiler/schedule/steps/site_loops.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/algebra/rewriting.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"
#include "compiler/schedule/steps/recovered.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;

constexpr int kNever = -1;
constexpr int kNoValue = -2;  ///< of unused memory

/// One array that an expression reads, and whether at other sites than its own.
struct Read {
  int array = 0;
  bool away = false;
};

std::vector<Read> reads_of(Expr expr) {
  std::vector<Read> result;
  for (Expr node : algebra::reads(expr)) {
    const Expr load = node.is(Op::Stencil) ? node.arg(0) : node;
    result.push_back({load->index, node.is(Op::Stencil) || !load->offset.zero()});
  }
  return result;
}

/// Leaves of expressions, each of which is searched once.
class Leaves {
 public:
  const std::vector<Read>& reads(Expr expr) { return of(expr).reads; }
  const std::vector<std::string>& symbols(Expr expr) { return of(expr).symbols; }

 private:
  struct Found {
    std::vector<Read> reads;
    std::vector<std::string> symbols;
  };
  const Found& of(Expr expr) {
    const auto [entry, fresh] = found_.try_emplace(expr.get());
    if (!fresh) return entry->second;
    entry->second.reads = reads_of(expr);
    algebra::visit(expr, [&](Expr node) {
      if (node.is(Op::Symbol)) entry->second.symbols.push_back(node->name);
    });
    return entry->second;
  }

  std::unordered_map<const algebra::Node*, Found> found_;
};

/// The levels over which the value of an array is needed.
struct Life {
  int last = kNever;  ///< last sweep that reads it
  bool away = false;  ///< at other sites, in that sweep
  bool ever_away = false;

  void read(int loop, bool at_other_sites) {
    if (loop > last) {
      last = loop;
      away = at_other_sites;
    } else if (loop == last) {
      away |= at_other_sites;
    }
    ever_away |= at_other_sites;
  }
};

class SiteLoopsBuilder {
 public:
  SiteLoopsBuilder(const Block& block, const Wanted& wanted)
      : block_(block), items_(block.items()), wanted_(wanted), storage_(block.storage()) {}

  SiteLoops make() {
    index();
    mark_live();
    set_levels();
    if (!wanted_.pure) read_what_is_stored(items_, sweeps());
    find_lives();
    if (wanted_.scratch) {
      for (const int array : *wanted_.scratch) places_[array] = {kNoValue, true};
    }
    place();
    build();
    if (wanted_.scratch) {
      wanted_.scratch->clear();
      for (const auto& [array, place] : places_) {
        if (place.temporary) wanted_.scratch->push_back(array);
      }
    }
    return std::move(result_);
  }

 private:
  const Item& item_of(int array) const { return items_[by_array_.at(array)]; }
  bool defined_here(int array) const { return by_array_.contains(array); }

  void index() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.kind == Item::Kind::Array) {
        by_array_[item.array] = i;
      } else {
        by_slot_[item.name] = i;
      }
    }
    live_.assign(items_.size(), false);
    for (std::size_t i = 0; i < items_.size(); ++i) any_pairs_ |= over_pairs(i);
    level_.assign(items_.size(), 0);
  }

  /// Marks the items that the wanted values need.
  void mark_live() {
    std::vector<std::size_t> todo;
    const auto need = [&](std::size_t i) {
      if (live_[i]) return;
      live_[i] = true;
      todo.push_back(i);
    };
    const auto need_all = [&](Expr value) {
      for (const Read& read : leaves_.reads(value)) {
        if (defined_here(read.array)) need(by_array_.at(read.array));
      }
      for (const std::string& name : leaves_.symbols(value)) {
        if (const auto found = by_slot_.find(name); found != by_slot_.end()) need(found->second);
      }
    };
    for (const auto& [array, value] : wanted_.arrays) need_all(value);
    for (const std::string& slot : wanted_.slots) {
      if (const auto found = by_slot_.find(slot); found != by_slot_.end()) need(found->second);
    }
    while (!todo.empty()) {
      const std::size_t i = todo.back();
      todo.pop_back();
      need_all(items_[i].value);
    }
  }

  /// Array, Reduction: the sweep that makes it. Scalar: the first sweep that may use it.
  void set_levels() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!live_[i]) continue;
      const Item& item = items_[i];
      int level = 0;
      for (const Read& read : leaves_.reads(item.value)) {
        if (!defined_here(read.array)) continue;
        const bool later = read.away || over_pairs(by_array_.at(read.array));
        level = std::max(level, level_[by_array_.at(read.array)] + (later ? 1 : 0));
      }
      for (const std::string& name : leaves_.symbols(item.value)) {
        const auto found = by_slot_.find(name);
        if (found != by_slot_.end() && found->second < i) {
          level = std::max(level, first_use(found->second));
        }
      }
      // Sums over pairs have sweeps of their own: odd levels, the others even ones.
      if (any_pairs_ && item.kind != Item::Kind::Scalar && over_pairs(i) != (level % 2 == 1)) {
        ++level;
      }
      // Each sum of a sweep keeps registers; what is too many goes to a sweep after it.
      const bool sum = item.kind == Item::Kind::Reduction;
      while ((sum && reductions_at_[level] >= kMostReductions) || other_sites(item, level)) {
        level += any_pairs_ ? 2 : 1;
      }
      if (sum) ++reductions_at_[level];
      if (item.kind != Item::Kind::Scalar) parities_.emplace(level, item.parity);
      level_[i] = level;
      if (item.kind != Item::Kind::Scalar) levels_ = std::max(levels_, level + 1);
    }
    if (wanted_.join) join_with_later_loop();
    if (any_pairs_) close_ranks();
  }

  /// Moves an array that is needed at the end only to the sweep that reads most of its arguments.
  /// There it may read only values that live so long anyway, and its own old value.
  void join_with_later_loop() {
    std::map<int, std::set<std::size_t>> readers;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!live_[i] || items_[i].kind == Item::Kind::Scalar) continue;
      for (const Read& read : leaves_.reads(items_[i].value)) readers[read.array].insert(i);
    }
    for (const auto& [own, value] : wanted_.arrays) {
      if (!value.is(Op::Load) || !defined_here(value->index)) continue;
      const std::size_t i = by_array_.at(value->index);
      const Item& item = items_[i];
      if (over_pairs(i) || readers.contains(item.array)) continue;
      const std::vector<Read>& reads = leaves_.reads(item.value);
      const auto shared_at = [&](int level) {  // reads in common; -1: not possible there
        if (other_sites(item, level)) return -1;
        int shared = 0;
        for (const Read& read : reads) {
          if (read.away) return -1;
          bool there = false, lives = read.array == own;
          for (const std::size_t other : readers[read.array]) {
            if (other == i) continue;
            there = there || level_[other] == level;
            lives = lives || level_[other] >= level;
          }
          if (!lives) return -1;
          shared += there ? 1 : 0;
        }
        return shared;
      };
      int best = level_[i];
      for (int level = best + 1; level < levels_; ++level)
        if (shared_at(level) > shared_at(best)) best = level;
      level_[i] = best;
    }
  }

  /// A sweep goes over all sites, or over those of one parity.
  bool other_sites(const Item& item, int level) const {
    const auto found = parities_.find(level);
    return item.kind != Item::Kind::Scalar && found != parities_.end() &&
           found->second != item.parity;
  }

  /// The sites of a parity, as colours whose number never changes.
  kernel::Colours sites_of_parity(int parity) const {
    const physics::Lattice& lattice = block_.system().lattice;
    kernel::Colours colours;
    colours.modulus = 2;
    colours.slot = parity == 0 ? "even_sites" : "odd_sites";
    block_.slots().add(colours.slot, parity);
    for (int axis = 0; axis < lattice.dims; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      colours.weights[a] = lattice.extent[a] % 2 == 0 ? 1 : 0;
      if (colours.weights[a] == 1) colours.axis = axis;  // the last one: memory in order along x
    }
    return colours;
  }

  bool over_pairs(std::size_t i) const {
    const Item& item = items_[i];
    return item.kind == Item::Kind::Array && item.value.is(Op::PairSum);
  }

  /// Whether a sweep adds up pairs, which has no other stores.
  bool pairs_at(int level) const {
    for (std::size_t i = 0; any_pairs_ && i < items_.size(); ++i)
      if (live_[i] && level_[i] == level && over_pairs(i)) return true;
    return false;
  }

  /// Removes levels without a sweep.
  void close_ranks() {
    std::set<int> used;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (live_[i] && items_[i].kind != Item::Kind::Scalar) used.insert(level_[i]);
    }
    for (int& level : level_) {
      level = static_cast<int>(std::distance(used.begin(), used.lower_bound(level)));
    }
    levels_ = static_cast<int>(used.size());
  }

  int first_use(std::size_t i) const {
    return level_[i] + (items_[i].kind == Item::Kind::Reduction ? 1 : 0);
  }

  std::vector<int> sweeps() const {
    std::vector<int> sweeps = level_;
    for (std::size_t i = 0; i < sweeps.size(); ++i)
      if (!live_[i]) sweeps[i] = -1;
    return sweeps;
  }

  void find_lives() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!live_[i] || items_[i].kind == Item::Kind::Scalar) continue;
      for (const Read& read : leaves_.reads(items_[i].value)) {
        lives_[read.array].read(level_[i], read.away);
      }
    }
    for (const auto& [array, value] : wanted_.arrays) {
      if (defined_here(value->index)) levels_ = std::max(levels_, 1);
    }
  }

  /// The same at every site, and still the same in later sweeps: no scalar in it is assigned here.
  bool same_everywhere(Expr value) const {
    const auto differs = [&](Expr node) {
      return node.is(Op::Normal) || node.is(Op::Uniform) ||
             (node.is(Op::Symbol) && by_slot_.contains(node->name));
    };
    return !value->per_site && !algebra::contains(value, differs);
  }

  /// A value that another sweep than its own reads, or that stays, needs memory.
  bool needs_memory(const Item& item, int level) const {
    if (item.value.is(Op::PairSum)) return true;
    const auto life = lives_.find(item.array);
    if (life == lives_.end()) return false;
    if (!life->second.ever_away && same_everywhere(item.value)) return false;
    return life->second.ever_away || (!wanted_.pure && life->second.last > level);
  }

  /// Memory of one array: whose value it holds.
  struct Place {
    int occupant = -1;
    bool temporary = false;
  };

  bool free_at(const Place& place, int level) const {
    const auto life = lives_.find(place.occupant);
    if (life == lives_.end()) return true;
    return life->second.last < level || (life->second.last == level && !life->second.away);
  }

  void place() {
    for (const auto& [array, value] : wanted_.arrays) {
      places_[array] = {array, false};
      goal_.emplace(value->index, array);  // the first of several arrays with one value
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (live_[i] && items_[i].kind == Item::Kind::Array) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return level_[i]; });
    for (const std::size_t i : order) place_value(items_[i], level_[i]);
    for (const auto& [array, value] : wanted_.arrays) copy_where_needed(array, value->index);
  }

  void place_value(const Item& item, int level) {
    const auto goal = goal_.find(item.array);
    const bool final = goal != goal_.end();
    if (!final && !needs_memory(item, level)) return;
    const int home = final ? goal->second : item.version_of;
    if (home >= 0 && places_.contains(home)) {
      Place& place = places_.at(home);
      const auto life = lives_.find(place.occupant);
      const bool in_place = free_at(place, level);
      if (in_place || life->second.last == level) {
        settle(item.array, home, level, !in_place);
        return;
      }
    }
    if (final && !needs_memory(item, level)) {
      // Its memory still holds a value that is read: kept elsewhere until the last read.
      lives_[item.array].read(level + 1, false);
    }
    settle(item.array, temporary(item, level), level, false);
  }

  int temporary(const Item& item, int level) {
    for (auto& [array, place] : places_) {
      if (place.temporary && free_at(place, level)) return array;
    }
    program::Buffer buffer;
    buffer.name = item.name;
    buffer.precision = block_.system().numerics.store;
    buffer.scratch = wanted_.pure;
    const int array = storage_.allocate_new(buffer);
    places_[array] = {-1, true};
    return array;
  }

  void settle(int value, int array, int level, bool second_buffer) {
    places_[array].occupant = value;
    memory_[value] = array;
    stores_[level].push_back({array, value, second_buffer});
    if (second_buffer) storage_.of(array).doubled = true;
  }

  /// Copies the final value of `array` from other memory once its old value is not needed any more.
  void copy_where_needed(int array, int value) {
    const auto found = memory_.find(value);
    const int source = found == memory_.end() ? value : found->second;
    if (source == array) return;
    Place& place = places_.at(array);
    const auto life = lives_.find(place.occupant);
    int level = life == lives_.end() ? 0 : life->second.last;
    if (defined_here(value)) level = std::max(level, level_[by_array_.at(value)]);
    level = std::max(level, 0);
    // the sites on which the old value matters are not known
    const int there = wanted_.pure ? -1 : block_.parity();
    const int parity = defined_here(value) ? item_of(value).parity : there;
    while (pairs_at(level) || (parities_.contains(level) && parities_.at(level) != parity)) ++level;
    parities_.emplace(level, parity);
    const bool second_buffer =
        life != lives_.end() && life->second.last == level && life->second.away;
    stores_[level].push_back({array, value, second_buffer});
    levels_ = std::max(levels_, level + 1);
    if (second_buffer) storage_.of(array).doubled = true;
  }

  // ---- kernels ----------------------------------------------------------------------------------

  /// The value as sweep `level` sees it: from memory if an earlier sweep left it there.
  Expr resolved(Expr expr, int level) {
    return resolved(std::span<const Expr>(&expr, 1), level)[0];
  }

  std::vector<Expr> resolved(std::span<const Expr> exprs, int level) {
    const auto [known, fresh] = resolving_.try_emplace(level, nullptr);
    if (fresh)
      known->second = std::make_unique<algebra::Rewriting>(
          [this, level](Expr node) { return leaf_resolved(node, level); });
    return (*known->second)(exprs);
  }

  Expr leaf_resolved(Expr node, int level) {
    if (!node.is(Op::Load) || !defined_here(node->index)) return node;
    const std::size_t i = by_array_.at(node->index);
    const auto memory = memory_.find(node->index);
    if (memory != memory_.end() && level_[i] < level) {
      return node->arena->load(memory->second, node->offset, node->span);
    }
    if (level_[i] == level && is_shared(node->index)) return node;
    const Expr value = items_[i].value;
    const Expr known = resolving_.at(level)->known(value);
    return known ? known : resolved(value, level);
  }

  /// Resolves all values of a sweep together, in the order in which they were written; those of
  /// several right sides in step.
  void resolve(int level) {
    std::map<int, std::vector<Expr>> columns;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (live_[i] && item.kind != Item::Kind::Scalar && level_[i] == level)
        columns[item.column].push_back(item.value);
    }
    std::vector<Expr> all;
    std::vector<std::vector<Expr>> lists;
    for (auto& [column, values] : columns) {
      all.insert(all.end(), values.begin(), values.end());
      lists.push_back(std::move(values));
    }
    if (lists.size() > 1) {
      resolved(std::span<const Expr>{}, level);
      const std::vector<algebra::Rewriting*> one(lists.size(), resolving_.at(level).get());
      algebra::rewrite_in_step(one, lists);
    }
    resolved(all, level);
  }

  /// Read at the site itself by several values of its own sweep (its own store is one).
  bool is_shared(int array) const {
    const auto found = readers_.find(array);
    const int readers = found == readers_.end() ? 0 : found->second;
    return readers + (memory_.contains(array) ? 1 : 0) > 1;
  }

  void count_readers() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (!live_[i] || item.kind == Item::Kind::Scalar) continue;
      for (const Read& read : leaves_.reads(item.value)) {
        if (read.away || !defined_here(read.array)) continue;
        if (level_[by_array_.at(read.array)] == level_[i]) ++readers_[read.array];
      }
    }
  }

  kernel::Kernel blank(int level) const {
    const std::string name = wanted_.name + (level == 0 ? "" : "_" + std::to_string(level + 1));
    kernel::Kernel kernel = lattice_kernel(block_.system(), name);
    kernel.along = wanted_.along;
    return kernel;
  }

  void declare_arrays(kernel::SiteLoop& loop, const std::set<int>& second) const {
    kernel::Kernel& kernel = loop.kernel;
    std::set<int> read, written, shared;
    std::vector<Expr> values;
    for (const kernel::Store& value : loop.shared) {
      shared.insert(value.array);
      values.push_back(value.value);
    }
    for (const kernel::Store& store : kernel.stores) {
      values.push_back(store.value);
      written.insert(store.array);
    }
    for (const kernel::Reduction& reduction : kernel.reductions) values.push_back(reduction.value);
    for (const Expr node : algebra::reads(values)) {
      const Expr load = node.is(Op::Stencil) ? node.arg(0) : node;
      if (!shared.contains(load->index)) read.insert(load->index);
    }
    schedule::declare_arrays(kernel, read, written, second, storage_);
  }

  void build() {
    count_readers();
    for (int level = 0; level < levels_; ++level) {
      kernel::SiteLoop loop;
      loop.kernel = blank(level);
      std::set<int> second;
      resolve(level);
      for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        if (!live_[i] || item.kind != Item::Kind::Array || level_[i] != level) continue;
        if (is_shared(item.array)) loop.shared.push_back({item.array, resolved(item.value, level)});
      }
      for (const Stored& store : stores_[level]) {
        const Expr load = block_.arena().load(store.value);
        loop.kernel.stores.push_back({store.array, resolved(load, level)});
        if (store.second_buffer) second.insert(store.array);
      }
      for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        if (!live_[i] || item.kind != Item::Kind::Reduction || level_[i] != level) continue;
        loop.kernel.reductions.push_back({item.name, item.reduce, resolved(item.value, level)});
      }
      if (const auto parity = parities_.find(level);
          parity != parities_.end() && parity->second >= 0) {
        loop.kernel.colours = sites_of_parity(parity->second);
      }
      declare_arrays(loop, second);
      result_.sweeps.push_back(std::move(loop));
      result_.swaps.emplace_back(second.begin(), second.end());
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (!live_[i] || item.kind != Item::Kind::Scalar) continue;
      const kernel::ScalarAssign assign{item.name, item.value};
      if (result_.sweeps.empty()) {
        result_.alone.push_back(assign);
      } else if (level_[i] == 0) {
        result_.sweeps[0].before.push_back(assign);
      } else {
        result_.sweeps[static_cast<std::size_t>(level_[i]) - 1].kernel.epilogue.push_back(assign);
      }
    }
  }

  struct Stored {
    int array = 0;
    int value = 0;
    bool second_buffer = false;
  };

  const Block& block_;
  std::vector<Item> items_;
  mutable Leaves leaves_;
  const Wanted& wanted_;
  Storage& storage_;
  SiteLoops result_;
  std::unordered_map<int, std::size_t> by_array_;
  std::unordered_map<std::string, std::size_t> by_slot_;
  std::vector<bool> live_;
  static constexpr int kMostReductions = 16;
  std::map<int, int> reductions_at_;  ///< level -> how many
  std::map<int, int> parities_;       ///< level -> Item::parity of its values
  bool any_pairs_ = false;
  std::vector<int> level_;
  int levels_ = 0;
  std::unordered_map<int, Life> lives_;
  std::map<int, Place> places_;
  std::unordered_map<int, int> goal_;     ///< value -> the array it must end in
  std::unordered_map<int, int> readers_;  ///< how many values of the same sweep read a value
  std::unordered_map<int, int> memory_;   ///< value -> array in which it is stored
  std::map<int, std::vector<Stored>> stores_;
  std::map<int, std::unique_ptr<algebra::Rewriting>> resolving_;  ///< by sweep
};

}  // namespace

SiteLoops make_site_loops(const Block& block, const Wanted& wanted) {
  return SiteLoopsBuilder(block, wanted).make();
}

}  // namespace vphi::schedule
