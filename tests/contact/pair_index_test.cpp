#include <tresse/contact/pair_index.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

const BodyId fibre{BodyKind::fibre, 7};
const BodyId body{BodyKind::rigid_body, 0};
const BodyId wall{BodyKind::obstacle, 0};

std::vector<int> indices(std::span<const PairIndex::Entry> entries) {
  std::vector<int> out;
  for (const PairIndex::Entry& entry : entries) out.push_back(entry.index);
  return out;
}

TEST(BodyId, stands_in_the_order_of_kinds_then_indices) {
  EXPECT_LT(fibre, body);
  EXPECT_LT(body, wall);
  EXPECT_LT((BodyId{BodyKind::fibre, 3}), fibre);
  EXPECT_EQ(fibre.fibre(), 7);
  EXPECT_EQ(fibre.obstacle(), -1);
  EXPECT_EQ(body.obstacle(), 0);
  EXPECT_TRUE(body.moves());
  EXPECT_FALSE(wall.moves());
}

TEST(PairIndex, finds_the_contacts_of_two_bodies_by_arc_length) {
  PairIndex index;
  index.add({fibre, wall}, 0.75, 0);
  index.add({fibre, body}, 0.5, 1);
  index.add({fibre, wall}, 0.25, 2);
  index.add({body, wall}, 0.25, 3);
  index.add({fibre, wall}, 0.5, 4);
  index.add({fibre, wall}, 0.5, 5);
  index.sort();
  EXPECT_EQ(indices(index.of({fibre, wall})), (std::vector<int>{2, 4, 5, 0}));
  EXPECT_EQ(indices(index.near({fibre, wall}, 0.5, 0.25)), (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(indices(index.near({fibre, wall}, 0.5, 0.125)), (std::vector<int>{4, 5}));
  EXPECT_TRUE(index.near({fibre, wall}, 1.5, 0.25).empty());
  EXPECT_TRUE(index.of({wall, fibre}).empty());
  index.clear();
  EXPECT_TRUE(index.of({fibre, wall}).empty());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
