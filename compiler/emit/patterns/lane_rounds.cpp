#include "compiler/emit/patterns/lane_rounds.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vphi::emit {
namespace {

using Members = std::vector<std::string>;

class LoopText {
 public:
  LoopText(const Job& job, const SiteLoop& loop) : job_(job), loop_(loop) {
    slots_["name"] = job.body.suffix;
    slots_["head"] = loop.head;
    slots_["before"] = loop.before;
    slots_["gather"] = loop.gather;
    slots_["lanes"] = std::to_string(loop.lanes);
    slots_["place"] = loop.lane;
  }

  Code text() {
    Code text;
    for (const std::string& member : job_.body.lane_members) text += array(member + "_lanes");
    for (std::size_t k = 0; k < job_.body.loops.size(); ++k) {
      const LaneLoop& loop = job_.body.loops[k];
      const std::string number = std::to_string(k + 1);
      slots_["lane"] = lane();
      slots_["call"] = code("const vphi_lane_{0} held = vphi_site_before_{1}_{0}(in, lane, par);\n",
                            job_.body.suffix, number);
      slots_["results"] = put(loop.made);
      text += fill("lane_loop.txt", slots_);
      given_.insert(given_.end(), loop.made.begin(), loop.made.end());
      text += rounds(loop, number);
      for (const std::string& value : loop.values)
        if (std::ranges::find(given_, value) == given_.end()) given_.push_back(value);
    }
    const bool whole = job_.body.loops.empty();
    slots_["lane"] = whole ? Code() : lane();
    slots_["call"] = code("const vphi_out_{0} out = vphi_site_{0}(in, {1}par);\n", job_.body.suffix,
                          whole ? "" : "lane, ");
    slots_["results"] = loop_.results;
    return text + fill("lane_loop.txt", slots_);
  }

 private:
  Code array(const Code& name) const {
    return code("{} {}[{}];\n", type_name(job_.body.real), name, loop_.lanes);
  }
  /// The values of a lane that are known by now.
  Code lane() const {
    Code text = code("vphi_lane_{} lane;\n", job_.body.suffix);
    for (const std::string& member : given_)
      text += code("lane.{0} = {0}_lanes[{1}];\n", member, loop_.lane);
    return text;
  }
  Code put(const Members& members) const {
    Code text;
    for (const std::string& member : members)
      text += code("{0}_lanes[{1}] = held.{0};\n", member, loop_.lane);
    return text;
  }
  /// Whether a round gives what `other` names of each member.
  template <class Other>
  Code same(const Members& members, const Other& other) const {
    const char* suffix = job_.body.real == Precision::F32 ? "f32" : "f64";
    Code text;
    for (const std::string& member : members)
      text += (text.empty() ? "" : " & ") +
              code("vphi_same_{}(held.{}, {})", suffix, member, other(member));
    return text;
  }

  Code rounds(const LaneLoop& loop, const std::string& number) {
    Slots slots = slots_;
    const std::string round = "round_" + number;
    slots["number"] = number;
    slots["round"] = round;
    slots["times"] = std::to_string(loop.times);
    slots["last"] = std::to_string(loop.times - 1);
    slots["lane"] = lane();
    Code arrays, keep;
    for (const std::string& member : loop.watched) {
      arrays += array(member + "_before");
      keep += code("{0}_before[{1}] = {0}_lanes[{1}];\n", member, loop_.lane);
    }
    slots["keep"] = keep;
    slots["same"] = same(loop.watched, [](const Code& member) { return "lane." + member; });
    slots["again"] = same(loop.watched, [&](const Code& member) {
      return code("{}_before[{}]", member, loop_.lane);
    });
    slots["put"] = put(loop.values);
    return arrays + fill("lane_rounds.txt", slots);
  }

  const Job& job_;
  const SiteLoop& loop_;
  Slots slots_;
  Members given_;
};

}  // namespace

Code site_loop(const Job& job, const SiteLoop& loop) { return LoopText(job, loop).text(); }

}  // namespace vphi::emit
