#include <tresse/base/interrupt.hpp>

#include <gtest/gtest.h>

#include <tresse/base/blocks.hpp>

namespace tresse {
namespace TRESSE_TEST_FILE {

TEST(Interrupt, is_thrown_where_it_was_asked_for_and_not_after_it_was_taken_back) {
  EXPECT_NO_THROW(poll_interrupt());
  request_interrupt();
  EXPECT_THROW(poll_interrupt(), Interrupted);
  EXPECT_THROW(poll_interrupt(), Interrupted);
  clear_interrupt();
  EXPECT_NO_THROW(poll_interrupt());
}

TEST(Interrupt, leaves_loops_over_blocks) {
  int visited = 0;
  request_interrupt();
  EXPECT_THROW(for_blocks(1, 1, [&](int, int, int) { ++visited; }), Interrupted);
  EXPECT_EQ(visited, 0);
  EXPECT_THROW(for_blocks(1000, 1, [](int, int, int) {}), Interrupted);
  clear_interrupt();
  EXPECT_THROW(for_blocks(1000, 1,
                          [](int k, int, int) {
                            if (k == 0) request_interrupt();
                          }),
               Interrupted);
  clear_interrupt();
  EXPECT_NO_THROW(for_blocks(1000, 1, [](int, int, int) {}));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
