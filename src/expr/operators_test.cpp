// Every operator: its value, how tightly it binds, and what it does at the edges of 64 bits.

#include "expr/value_test.h"

namespace ktune::expr {
namespace {

TEST(Expression, PrecedenceIsThatOfCAndPython) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("20 - 4 - 3"), 13);
  EXPECT_EQ(value("100 / 10 / 2"), 5);
  EXPECT_EQ(value("2 + 17 % 5 * 3"), 8);
  EXPECT_EQ(value("1 + 1 == 2"), 1);
  EXPECT_EQ(value("1 || 0 && 0"), 1);
  EXPECT_EQ(value("!0 + 1"), 2);
  EXPECT_EQ(value("!(3 > 2)"), 0);
  EXPECT_EQ(value("!!7"), 1);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("- - 4"), 4);
  EXPECT_EQ(value("+5"), 5);
  EXPECT_EQ(value("3 - -4"), 7);
  EXPECT_EQ(value("1 ? 2 : 3 ? 4 : 5"), 2);
  EXPECT_EQ(value("0 ? 2 : 0 ? 4 : 5"), 5);
  EXPECT_EQ(value("1 + (2 > 1 ? 10 : 20)"), 11);
  EXPECT_EQ(value("(2 == 2) == 1"), 1);
  EXPECT_EQ(value("(1) != (2)"), 1);
  EXPECT_EQ(value("5 <= 5"), 1);
  EXPECT_EQ(value("5 >= 6"), 0);
}

// One row for each pair of neighbouring levels, whose other grouping would give another value.
TEST(Expression, OperatorsBindInTheOrderTheHeaderGives) {
  EXPECT_EQ(value("-2 // 3"), -1);           // (-2) // 3; -(2 // 3) is 0
  EXPECT_EQ(value("~1 * 2"), -4);            // (~1) * 2; ~(1 * 2) is -3
  EXPECT_EQ(value("2 + 7 // 2"), 5);         // (2 + 7) // 2 is 4
  EXPECT_EQ(value("100 // 7 * 2"), 28);      // 100 // (7 * 2) is 7
  EXPECT_EQ(value("1 << 2 + 1"), 8);         // (1 << 2) + 1 is 5
  EXPECT_EQ(value("64 >> 2 << 1"), 32);      // 64 >> (2 << 1) is 4
  EXPECT_EQ(value("6 & 1 << 1"), 2);         // (6 & 1) << 1 is 0
  EXPECT_EQ(value("7 ^ 3 & 4"), 7);          // (7 ^ 3) & 4 is 4
  EXPECT_EQ(value("1 | 3 ^ 1"), 3);          // (1 | 3) ^ 1 is 2
  EXPECT_EQ(value("6 & 1 == 0"), 1);         // as in Python; in C it is 6 & (1 == 0), 0
  EXPECT_EQ(value("1 | 2 == 3"), 1);         // in C: 1 | (2 == 3), which is 1 too
  EXPECT_EQ(value("4 | 2 > 5"), 1);          // in C: 4 | (2 > 5), which is 4
  EXPECT_EQ(value("not 1 == 2"), 1);         // (not 1) == 2 is 0
  EXPECT_EQ(value("!1 == 2"), 0);            // as in C
  EXPECT_EQ(value("not 0 and 0"), 0);        // not (0 and 0) is 1
  EXPECT_EQ(value("1 or 1 and 0"), 1);       // (1 or 1) and 0 is 0
  EXPECT_EQ(value("0 and 1 or 1"), 1);       // 0 and (1 or 1) is 0
  EXPECT_EQ(value("1 || 0 and 0 || 0"), 1);  // the words mix with the signs
  EXPECT_EQ(value("1 or 0 ? 5 : 6"), 5);     // 1 or (0 ? 5 : 6) is 1
  EXPECT_EQ(value("0 ? 1 : 2 or 0"), 1);     // (0 ? 1 : 2) or 0 is 1, 0 ? 1 : (2 or 0) is 1
  EXPECT_EQ(value("1 ? 7 : 2 or 0"), 7);     // (1 ? 7 : 2) or 0 is 1
  EXPECT_EQ(value("2 + 1 in [3, 4]"), 1);    // 2 + (1 in [3, 4]) is 2
  EXPECT_EQ(value("not 3 in [3, 4]"), 0);    // (not 3) in [3, 4] is 0 too
  EXPECT_EQ(value("not 0 in [1, 2]"), 1);    // (not 0) in [1, 2] is 1 too
  EXPECT_EQ(value("not 5 in [0, 1]"), 1);    // (not 5) in [0, 1] is 1 too
  EXPECT_EQ(value("1 in [1] and 2 in [3]"), 0);
  EXPECT_EQ(value("8 - 3 - 2"), 3);
}

TEST(Expression, WordsAreTheLogicalOperators) {
  EXPECT_EQ(value("3 and 4"), 1);
  EXPECT_EQ(value("3 and 0"), 0);
  EXPECT_EQ(value("0 or 7"), 1);
  EXPECT_EQ(value("0 or 0"), 0);
  EXPECT_EQ(value("not 3"), 0);
  EXPECT_EQ(value("not 0"), 1);
  EXPECT_EQ(value("not not 9"), 1);
  EXPECT_EQ(value("1 + (not 0)"), 2);
  EXPECT_EQ(error_of("1 + not 0"), "'not' needs brackets here | write (not x)");
  EXPECT_EQ(error_of("1 == not 0"), "'not' needs brackets here | write (not x)");
  EXPECT_EQ(error_of("1 and"), "the expression ends where a value is expected");
  EXPECT_EQ(error_of("and 1"), "expected a value before 'and'");
  EXPECT_EQ(error_of("or(1)"), "expected a value before 'or'");
  EXPECT_EQ(error_of("1 not 2"), "expected an operator before 'not'");
}

TEST(Expression, InIsMembershipOfAList) {
  EXPECT_EQ(value("2 in [1, 2, 3]"), 1);
  EXPECT_EQ(value("4 in [1, 2, 3]"), 0);
  EXPECT_EQ(value("5 in [4, 6]"), 0) << "a list, not a range";
  EXPECT_EQ(value("7 in [7]"), 1);
  EXPECT_EQ(value("4 not in [1, 2, 3]"), 1);
  EXPECT_EQ(value("3 not in [1, 2, 3]"), 0);
  EXPECT_EQ(value("6 in [2 * 3, 1 ? 8 : 9]"), 1);
  EXPECT_EQ(value("8 in [2 * 3, 1 ? 8 : 9]"), 1);
  EXPECT_EQ(value("1 in [1, 1 / 0]"), 1) << "what follows a match is not evaluated";
  EXPECT_EQ(error_of("2 in [1, 1 / 0]"), "division by zero in '2 in [1, 1 / 0]'");
  EXPECT_EQ(value("in in [in - 1, in]", scope_of({{"in", 5}})), 1) << "before an operator it is a name";
  EXPECT_EQ(error_of("1 in 2"), "expected '[' after 'in' | x in [1, 2]");
  EXPECT_EQ(error_of("1 in []"), "expected a value before ']'");
  EXPECT_EQ(error_of("1 in [1, 2"), "a ']' is missing");
  EXPECT_EQ(error_of("1 in [1 2]"), "expected an operator before '2'");
  EXPECT_EQ(error_of("1 in [1)"), "expected ']' before ')'");
  EXPECT_EQ(error_of("1]"), "there is no '[' for this ']'");
  EXPECT_EQ(error_of("[1]"), "expected a value before '[' | a list follows 'in': x in [1, 2]");
  EXPECT_EQ(error_of("a[1]"), "expected an operator before '[' | a list follows 'in': x in [1, 2]");
  EXPECT_EQ(error_of("1 in [1] in [2]"), "comparisons do not chain | write 'a < b && b < c', or put brackets");
  EXPECT_EQ(error_of("1 < 2 in [2]"), "comparisons do not chain | write 'a < b && b < c', or put brackets");
}

TEST(Expression, BitOperatorsWorkOnTwosComplement) {
  EXPECT_EQ(value("12 & 10"), 8);
  EXPECT_EQ(value("12 | 10"), 14);
  EXPECT_EQ(value("12 ^ 10"), 6);
  EXPECT_EQ(value("~0"), -1);
  EXPECT_EQ(value("~5"), -6);
  EXPECT_EQ(value("-1 & 0xFF"), 255);
  EXPECT_EQ(value("-8 | 1"), -7);
  EXPECT_EQ(value("-1 ^ -1"), 0);
  EXPECT_EQ(value("1 << 0"), 1);
  EXPECT_EQ(value("3 << 4"), 48);
  EXPECT_EQ(value("-3 << 4"), -48);
  EXPECT_EQ(value("0 << 63"), 0);
  EXPECT_EQ(value("-1 << 63"), kLowest);
  EXPECT_EQ(value("1 << 62"), 4611686018427387904);
  EXPECT_EQ(value("48 >> 4"), 3);
  EXPECT_EQ(value("-1 >> 63"), -1);
  EXPECT_EQ(value("-5 >> 1"), -3) << "rounds down";
  EXPECT_EQ(error_of("1 << 63"), "overflow of 64 bits in '1 << 63'");
  EXPECT_EQ(error_of("-2 << 63"), "overflow of 64 bits in '-2 << 63'");
  EXPECT_EQ(error_of("1 << 64"), "shift by less than 0 or more than 63 bits in '1 << 64'");
  EXPECT_EQ(error_of("1 << -1"), "shift by less than 0 or more than 63 bits in '1 << -1'");
  EXPECT_EQ(error_of("1 >> 64"), "shift by less than 0 or more than 63 bits in '1 >> 64'");
}

TEST(Expression, NumbersAreDecimalOrHexadecimal) {
  EXPECT_EQ(value("0x10"), 16);
  EXPECT_EQ(value("0XfF"), 255);
  EXPECT_EQ(value("-0x10"), -16);
  EXPECT_EQ(value("0x7FFFFFFFFFFFFFFF"), kHighest);
  EXPECT_EQ(value("-0x8000000000000000"), kLowest);
  EXPECT_EQ(value("010"), 10) << "no octal";
  EXPECT_EQ(error_of("0x"),
            "'0x' is not an integer | an expression works on integers: decimal, or hexadecimal as in "
            "0x1F");
  EXPECT_EQ(error_of("0x1G"),
            "'0x1G' is not an integer | an expression works on integers: decimal, or hexadecimal as "
            "in 0x1F");
  EXPECT_EQ(error_of("0xFFFFFFFFFFFFFFFF"), "'0xFFFFFFFFFFFFFFFF' is beyond 2^63 - 1");
}

TEST(Expression, DivisionTruncatesTowardZeroAndModuloFollowsIt) {
  EXPECT_EQ(value("7 / 2"), 3);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("7 / -2"), -3);
  EXPECT_EQ(value("-7 % 3"), -1);
  EXPECT_EQ(value("7 % -3"), 1);
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("7 // -2"), -4);
  EXPECT_EQ(value("-7 // -2"), 3);
  EXPECT_EQ(value("-8 // 2"), -4);
  // As a quotient of doubles it would round up to 1801439850948199.
  EXPECT_EQ(value("9007199254740991 / 5"), 1801439850948198);
}

TEST(Expression, ValuesAreExactInTheWholeOf64BitsAndRefusedBeyond) {
  EXPECT_EQ(value("9223372036854775807"), kHighest);
  EXPECT_EQ(value("-9223372036854775808"), kLowest);
  EXPECT_EQ(value("9007199254740993 - 9007199254740992"), 1) << "a double would not tell them apart";
  EXPECT_EQ(value("3037000499 * 3037000499"), 9223372030926249001);
  EXPECT_EQ(value("-9223372036854775808 + 9223372036854775807"), -1);
  EXPECT_EQ(value("-9223372036854775808 % -1"), 0);
  EXPECT_EQ(value("-9223372036854775808 // 2"), -4611686018427387904);
  EXPECT_EQ(value("N", scope_of({{"N", kLowest}})), kLowest);
  const auto overflows = [](const std::string& text) {
    EXPECT_EQ(error_of(text), "overflow of 64 bits in '" + text + "'");
  };
  overflows("9223372036854775807 + 1");
  overflows("-9223372036854775808 - 1");
  overflows("3037000500 * 3037000500");
  overflows("-9223372036854775808 / -1");
  overflows("-9223372036854775808 // -1");
  overflows("-(-9223372036854775808)");
  overflows("- -9223372036854775808");
  overflows("next_pow2(4611686018427387905)");
  overflows("gcd(-9223372036854775808, 0)");
  EXPECT_EQ(error_of("9223372036854775808"), "'9223372036854775808' is beyond 2^63 - 1");
  EXPECT_EQ(error_of("1 - 9223372036854775808"), "'9223372036854775808' is beyond 2^63 - 1");
  EXPECT_EQ(error_of("-9223372036854775809"), "'9223372036854775809' is beyond 2^63 - 1");
  EXPECT_EQ(error_of("99999999999999999999"), "'99999999999999999999' is beyond 2^63 - 1");
}

}  // namespace
}  // namespace ktune::expr
