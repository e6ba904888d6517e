// Lists of launches, and the planes of ranks.
#include <initializer_list>

#include "program/program.hpp"

namespace vphi::program {

Cut::Planes Cut::planes(int ranks, int rank) const {
  const std::int64_t slabs = whole / slab;
  const int along = ranks / second.ranks, place = rank / second.ranks;
  const std::int64_t first = slabs * place / along * slab;
  return {first, slabs * (place + 1) / along * slab - first};
}

Cut::Planes Cut::lines(int rank) const {
  if (second.ranks == 1) return {0, second.whole};
  return {rank % second.ranks * second.own, second.own};
}

std::array<int, 2> Cut::deepest() const {
  return all ? std::array<int, 2>{0, static_cast<int>(whole)} : ghost;
}

std::array<std::int64_t, 4> Program::whole_extent() const {
  auto whole = extent;
  if (cut.axis >= 0) whole[static_cast<std::size_t>(cut.axis)] = cut.whole;
  if (cut.second.ranks > 1) whole[static_cast<std::size_t>(cut.axis - 1)] = cut.second.whole;
  return whole;
}

void Program::each_list(const std::function<void(std::vector<Launch>&)>& see) {
  for (std::vector<Launch>* list : {&prologue, &renewed_averages, &renewed_scalars, &kept_values,
                                    &step, &watch, &watch_then, &watch_before, &exchange.launches})
    see(*list);
  for (std::vector<Launch>& list : cycle) see(list);
  for (Output& output : outputs)
    for (std::vector<Launch>* list :
         {&output.before, &output.launches, &output.averages, &output.then})
      see(*list);
  for (Solve& solve : solves) see(solve.iterate), see(solve.finish);
}

}  // namespace vphi::program
