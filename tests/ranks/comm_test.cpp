// What ranks say to each other, and how an instance finds its rank.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "runtime/comm/team.hpp"
#include "runtime/run/ranks/shares.hpp"

namespace vphi {
namespace {

using comm::Bytes;
using comm::Comm;

/// All ranks of a team do the same.
void together(int size, const std::function<void(Comm&)>& work) {
  comm::Team team(size);
  std::vector<std::jthread> ranks;
  for (int r = 0; r < size; ++r)
    ranks.emplace_back([&, r] {
      const auto comm = team.comm(r);
      work(*comm);
    });
}

Bytes letters(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(Comm, WhatRankZeroSharesComesToAll) {
  for (const int size : {1, 2, 5})
    together(size, [&](Comm& comm) {
      for (int round = 0; round < 200; ++round) {
        Bytes bytes = comm.rank() == 0 ? letters("round " + std::to_string(round)) : letters("?");
        comm.share(bytes);
        ASSERT_EQ(bytes, letters("round " + std::to_string(round)));
      }
    });
}

TEST(Comm, GatherAndDealKeepTheOrderOfRanks) {
  together(4, [](Comm& comm) {
    EXPECT_EQ(comm.size(), 4);
    for (int round = 0; round < 100; ++round) {
      const auto all = comm.gather(letters(std::string(comm.rank() + round, 'a')));
      ASSERT_EQ(all.size(), comm.rank() == 0 ? 4u : 0u);
      for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r].size(), r + round);
      std::vector<Bytes> dealt;
      for (int r = 0; comm.rank() == 0 && r < 4; ++r) dealt.push_back(letters(std::to_string(r)));
      EXPECT_EQ(comm.deal(dealt), letters(std::to_string(comm.rank())));
    }
  });
}

TEST(Comm, WhatEachGivesComesToAllInTheOrderOfRanks) {
  for (const int size : {1, 2, 5})
    together(size, [&](Comm& comm) {
      for (int round = 0; round < 100; ++round) {
        // as many letters as the rank has ranks below it
        const auto rank = static_cast<std::size_t>(comm.rank());
        Bytes all(static_cast<std::size_t>(size * (size - 1) / 2));
        comm.to_all(letters(std::string(rank, static_cast<char>('a' + comm.rank()))), all);
        ASSERT_EQ(all, letters(std::string("bccdddeeee").substr(0, all.size())));
      }
    });
}

TEST(Comm, MessagesBetweenAllPairsFindTheirRank) {
  for (const int size : {1, 2, 5})
    together(size, [&](Comm& comm) {
      // "21": from rank 2 to rank 1, so many times as both numbers add up to
      const auto message = [](int from, int to) {
        std::string text;
        for (int i = 0; i < from + to; ++i) text += std::to_string(10 * from + to) + ' ';
        return letters(text);
      };
      for (int round = 0; round < 100; ++round) {
        std::vector<Bytes> given, taken;
        for (int r = 0; r < size; ++r) {
          given.push_back(message(comm.rank(), r));
          taken.emplace_back(message(r, comm.rank()).size());
        }
        const std::vector<std::span<const std::byte>> to(given.begin(), given.end());
        const std::vector<std::span<std::byte>> from(taken.begin(), taken.end());
        comm.each_to_each(to, from);
        for (int r = 0; r < size; ++r)
          ASSERT_EQ(taken[static_cast<std::size_t>(r)], message(r, comm.rank()));
      }
    });
}

/// With two ranks both neighbours are the same rank: what goes below must come from above.
TEST(Comm, MessagesOnARingKeepTheirSides) {
  for (const int size : {1, 2, 3, 4})
    together(size, [&](Comm& comm) {
      for (int round = 0; round < 100; ++round) {
        const auto named = [&](int rank, char side) {
          return letters(std::string(1, static_cast<char>('0' + (rank + size) % size)) + side);
        };
        Bytes below(2), above(2);
        comm.ring(named(comm.rank(), 'v'), named(comm.rank(), '^'), below, above);
        ASSERT_EQ(below, named(comm.rank() - 1, '^'));
        ASSERT_EQ(above, named(comm.rank() + 1, 'v'));
      }
    });
}

TEST(Comm, SumsAreTheSameBitsOnEveryRankInTheOrderOfRanks) {
  const std::vector<double> parts{1e16, 1, -1e16, 0.1};
  double expected = parts[0];
  for (std::size_t r = 1; r < 4; ++r) expected += parts[r];
  together(4, [&](Comm& comm) {
    std::vector<double> sums{parts[static_cast<std::size_t>(comm.rank())], 1};
    comm.add(sums);
    EXPECT_EQ(sums, (std::vector<double>{expected, 4}));
    EXPECT_EQ(comm.most(10 * comm.rank() - 7), 23);
  });
}

TEST(Comm, WhoeverWaitsHearsOfAnAbort) {
  std::atomic<int> heard{0};
  together(3, [&](Comm& comm) {
    if (comm.rank() == 2) return comm.abort("rank 2 has had enough");
    for (int again = 0; again < 2; ++again) {
      try {
        Bytes bytes;
        comm.share(bytes);
        ADD_FAILURE() << "nobody has shared anything with rank 2";
      } catch (const comm::CommError& error) {
        EXPECT_STREQ(error.what(), "rank 2 has had enough");
        ++heard;
      }
    }
  });
  EXPECT_EQ(heard, 4);
}

/// What a rank waits for outside of its Comm, such as messages of NCCL in a GPU's queue, ends with
/// an abort of any rank: once, also where that was before, and not for those who have left.
TEST(Comm, AnAbortEndsWhatRanksWaitForElsewhere) {
  comm::Team team(3);
  const auto first = team.comm(0), second = team.comm(1), third = team.comm(2);
  std::string ended;
  const auto kept = first->at_abort([&] { ended += 'a'; });
  auto left = second->at_abort([&] { ended += 'b'; });
  left.reset();
  const auto other = second->at_abort([&] { ended += 'c'; });
  EXPECT_EQ(ended, "");
  third->abort("enough");
  EXPECT_EQ(ended, "ac");
  first->abort("more than enough");
  EXPECT_EQ(ended, "ac");
  const auto late = third->at_abort([&] { ended += 'd'; });
  EXPECT_EQ(ended, "acd");
}

TEST(Shares, EachInstanceIsShownByOneRankAndComputedWithinTheBatch) {
  for (std::int64_t batch = 1; batch < 40; ++batch)
    for (int ranks = 1; ranks <= batch && ranks < 12; ++ranks) {
      const std::int64_t most = runtime::most_of(batch, ranks);
      std::int64_t next = 0;
      for (int r = 0; r < ranks; ++r) {
        const runtime::Share share = runtime::share_of(batch, ranks, r);
        EXPECT_EQ(share.first, next);
        next += share.count;
        EXPECT_GE(share.count, most - 1);
        EXPECT_LE(share.count, most);
        EXPECT_GE(share.count, 1);
        EXPECT_GE(share.hidden(), 0);
        EXPECT_GE(share.start, 0);
        EXPECT_LE(share.start + most, batch);
        EXPECT_LE(share.hidden() + share.count, most);
      }
      EXPECT_EQ(next, batch);
    }
}

}  // namespace
}  // namespace vphi
