#include "compiler/emit/patterns/phrases.hpp"

#include <algorithm>

namespace vphi::emit {

using kernel::Kernel;

constexpr std::size_t kMostInARow = 16;  // stages one after the other; of more, those that repeat
                                         // stand in a loop

std::size_t first_like(const std::vector<Kernel>& stages, std::size_t i) {
  const auto same = [&](const Kernel& stage) { return stage.name == stages[i].name; };
  return static_cast<std::size_t>(std::ranges::find_if(stages, same) - stages.begin());
}

std::vector<Phrase> phrases_of(const std::vector<Kernel>& stages) {
  std::vector<Phrase> list;
  const std::size_t count = stages.size();
  const auto times = [&](std::size_t begin, std::size_t length) {
    std::size_t end = begin + length;
    while (end < count && stages[end].name == stages[end - length].name) ++end;
    return (end - begin) / length;
  };
  for (std::size_t at = 0; at < count;) {
    Phrase best{at, 1, 1};
    for (std::size_t length = 1; count > kMostInARow && at + 2 * length <= count; ++length) {
      const std::size_t n = times(at, length);
      if ((n - 1) * length > (best.times - 1) * best.length) best = {at, length, n};
    }
    list.push_back(best);
    at += best.length * best.times;
  }
  return list;
}

std::size_t written_stages(const std::vector<Kernel>& stages) {
  std::size_t sum = 0;
  for (const Phrase& phrase : phrases_of(stages)) sum += phrase.length;
  return sum;
}

}  // namespace vphi::emit
