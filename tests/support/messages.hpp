#pragma once

#include <string>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>

/// What bad input is told.
namespace tresse::test {

/// The message, one line, with which `call` refuses its input; "none" where it does not.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "none";
}

/// `call` refuses its input in one line that holds `part`.
template <class Call>
void expect_refused(Call&& call, const std::string& part) {
  const std::string message = error_of(call);
  EXPECT_NE(message.find(part), std::string::npos) << message << "; expected: " << part;
}

}  // namespace tresse::test
