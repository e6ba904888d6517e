#include "dsl/words/sweep_words.hpp"

namespace vphi::dsl {

const Item* keep_item(const Resolved& resolved) {
  for (const Clause* clause : resolved.clauses("sweep"))
    for (const Item& item : clause->items)
      if (item.head && item.head->name == kKeep) return &item;
  return nullptr;
}

}  // namespace vphi::dsl
