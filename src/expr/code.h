#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "expr/arithmetic.h"

// What an expression is compiled to: instructions of a stack machine, in one flat array. Jumps make && || ?: and `in`
// lazy. A let is a subroutine at the end of the array; its value is kept, so that it is computed at most once in a run.

namespace ktune::expr {

enum class Op : std::uint8_t {
  kConstant,    ///< push operand
  kName,        ///< push the value of name `operand`
  kLet,         ///< push the value of let `operand`, computing it first if need be
  kReturn,      ///< the end of let `operand`, or of the whole run
  kJump,        ///< skip `operand` instructions
  kJumpIfZero,  ///< pop; skip `operand` instructions if it was 0
  kJumpIfSet,   ///< pop; skip `operand` instructions if it was not 0
  kMatch,       ///< pop; if it equals the top, replace the top by 1 and skip `operand` instructions
  kReplace,     ///< replace the top by operand
  kTruth,       ///< 1 for anything but 0
  kNegate,
  kNot,
  kComplement,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitXor,
  kBitOr,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kCdiv,
  kMin,
  kMax,
  kClamp,
  kNextPow2,
  kIsPow2,
  kGcd,
};

struct Instruction {
  Op op;
  std::uint32_t source = 0;  ///< which text it comes from: 0 the expression, 1 + i let i of the program
  std::int64_t operand = 0;
};

/// The instructions of one text, without an end. A kName's operand is an index into `names`.
struct Fragment {
  std::vector<Instruction> instructions;
  std::vector<std::pair<std::string, int>> names;  ///< each once, and where it first stands
  std::size_t depth = 0;                           ///< values on the stack at the most
};

/// A whole program: the expression first, then the lets it needs.
struct Code {
  std::vector<Instruction> instructions;
  std::vector<std::size_t> entries;  ///< where let i begins
  std::size_t depth = 0;             ///< values on the stack at the most
};

/// What a run gives: a value, or why there is none and in which text that happened.
struct Evaluation {
  std::int64_t value = 0;
  Fault fault = Fault::kNone;
  std::uint32_t source = 0;

  bool ok() const { return fault == Fault::kNone; }
};

/// Runs from an instruction to the end of its text: 0 for the expression, an entry for a let. `names` are the values
/// of the program's names.
Evaluation run(const Code& code, std::size_t start, const std::int64_t* names);

}  // namespace ktune::expr
