#include "expr/code.h"

#include <algorithm>
#include <array>

namespace ktune::expr {
namespace {

constexpr std::size_t kInPlace = 96;  // words of a frame that needs no allocation

/// A let in a run: whether it was computed, its value, and the instruction that asked for it.
struct Slot {
  std::int64_t known = 0;
  std::int64_t value = 0;
  std::int64_t asked_from = -1;
};

/// The operators and functions of two values.
Fault apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (op) {
    case Op::kAdd:
      return add(a, b, result);
    case Op::kSubtract:
      return subtract(a, b, result);
    case Op::kMultiply:
      return multiply(a, b, result);
    case Op::kDivide:
      return divide(a, b, result);
    case Op::kFloorDivide:
      return floor_divide(a, b, result);
    case Op::kModulo:
      return modulo(a, b, result);
    case Op::kShiftLeft:
      return shift_left(a, b, result);
    case Op::kShiftRight:
      return shift_right(a, b, result);
    case Op::kCdiv:
      return cdiv(a, b, result);
    default:
      return gcd(a, b, result);
  }
}

/// The same for those that always have a value.
std::int64_t apply(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::kBitAnd:
      return a & b;
    case Op::kBitXor:
      return a ^ b;
    case Op::kBitOr:
      return a | b;
    case Op::kEqual:
      return a == b ? 1 : 0;
    case Op::kNotEqual:
      return a != b ? 1 : 0;
    case Op::kLess:
      return a < b ? 1 : 0;
    case Op::kLessEqual:
      return a <= b ? 1 : 0;
    case Op::kGreater:
      return a > b ? 1 : 0;
    case Op::kGreaterEqual:
      return a >= b ? 1 : 0;
    case Op::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

/// One value in, one value out, in place.
Fault apply(Op op, std::int64_t& value) {
  switch (op) {
    case Op::kTruth:
      value = value != 0 ? 1 : 0;
      return Fault::kNone;
    case Op::kNegate:
      return negate(value, value);
    case Op::kNot:
      value = value == 0 ? 1 : 0;
      return Fault::kNone;
    case Op::kComplement:
      value = ~value;
      return Fault::kNone;
    case Op::kNextPow2:
      return next_pow2(value, value);
    default:
      value = is_pow2(value) ? 1 : 0;
      return Fault::kNone;
  }
}

class Machine {
 public:
  Machine(const Code& code, const std::int64_t* names, std::int64_t* stack, Slot* slots)
      : code_(code), names_(names), top_(stack), slots_(slots) {}

  /// `top_` points one past the top of the stack.
  Evaluation run(std::size_t start) {
    for (auto at = static_cast<std::int64_t>(start);; ++at) {
      const Instruction& step = code_.instructions[static_cast<std::size_t>(at)];
      switch (step.op) {
        case Op::kConstant:
          *top_++ = step.operand;
          break;
        case Op::kName:
          *top_++ = names_[step.operand];
          break;
        case Op::kLet:
          at = enter(slots_[step.operand], step.operand, at);
          break;
        case Op::kReturn:
          if (step.operand < 0 || slots_[step.operand].asked_from < 0) return {top_[-1], Fault::kNone, 0};
          at = leave(slots_[step.operand]);
          break;
        case Op::kJump:
          at += step.operand;
          break;
        case Op::kJumpIfZero:
          if (*--top_ == 0) at += step.operand;
          break;
        case Op::kJumpIfSet:
          if (*--top_ != 0) at += step.operand;
          break;
        case Op::kMatch:
          --top_;
          if (top_[0] != top_[-1]) break;
          top_[-1] = 1;
          at += step.operand;
          break;
        case Op::kReplace:
          top_[-1] = step.operand;
          break;
        default:
          if (const Fault fault = compute(step.op); fault != Fault::kNone) return {0, fault, step.source};
      }
    }
  }

 private:
  /// The instruction before the next one: that of the let, or the same when its value is known.
  std::int64_t enter(Slot& slot, std::int64_t let, std::int64_t at) {
    if (slot.known != 0) {
      *top_++ = slot.value;
      return at;
    }
    slot.asked_from = at;
    return static_cast<std::int64_t>(code_.entries[static_cast<std::size_t>(let)]) - 1;
  }

  /// The let's value stays on the stack for who asked.
  std::int64_t leave(Slot& slot) const {
    slot.known = 1;
    slot.value = top_[-1];
    return slot.asked_from;
  }

  Fault compute(Op op) {
    switch (op) {
      case Op::kTruth:
      case Op::kNegate:
      case Op::kNot:
      case Op::kComplement:
      case Op::kNextPow2:
      case Op::kIsPow2:
        return apply(op, top_[-1]);
      case Op::kClamp:
        top_ -= 2;
        return clamp(top_[-1], top_[0], top_[1], top_[-1]);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kFloorDivide:
      case Op::kModulo:
      case Op::kShiftLeft:
      case Op::kShiftRight:
      case Op::kCdiv:
      case Op::kGcd:
        --top_;
        return apply(op, top_[-1], top_[0], top_[-1]);
      default:
        --top_;
        top_[-1] = apply(op, top_[-1], top_[0]);
        return Fault::kNone;
    }
  }

  const Code& code_;
  const std::int64_t* names_;
  std::int64_t* top_;
  Slot* slots_;
};

}  // namespace

Evaluation run(const Code& code, std::size_t start, const std::int64_t* names) {
  std::array<std::int64_t, kInPlace> near;
  std::vector<std::int64_t> far;
  std::int64_t* stack = near.data();
  if (code.depth > near.size()) {
    far.resize(code.depth);
    stack = far.data();
  }
  if (code.entries.empty()) return Machine(code, names, stack, nullptr).run(start);
  std::vector<Slot> slots(code.entries.size());
  return Machine(code, names, stack, slots.data()).run(start);
}

}  // namespace ktune::expr
