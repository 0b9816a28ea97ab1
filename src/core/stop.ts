/**
 * Stop rules: what ends with this step, and why?  (runtime §6, definitions §12.5)
 * I1. Rules are tried in STOP_RULES order; the first answer wins. Safety limits come last (§6.4), and bind every answer that
 *     would let somebody act again.
 * I2. Pure: everything a rule may consult is in the facts.
 * I3. A session tool that was called and failed ends the step with no stop at all (definitions §22.44).
 * I4. What ends a turn ends the execution of one AI side, since the person acts next. With two sides, the other one acts.
 */
import { LIMITS } from './limit.ts';
import type { Side, StepDirective } from './thread-execution.ts';

export type StopReason =
  | 'session_stop'
  | 'session_fail'
  | 'state_stop_session'
  | 'hook_blocked'
  | 'forced_human_turn'
  | 'forced_turn'
  | 'stop_tool'
  | 'stop_on_response'
  | 'empty_response'
  | 'no_stop_rule'
  | 'max_session_turns'
  | 'max_side_steps'
  | 'max_total_steps';

/** The acting side's rules, as its agent defines them. */
export interface StopRules {
  readonly stopOnResponse: boolean;
  readonly stopTool?: string;
  readonly sessionStop?: string;
  readonly sessionFail?: string;
  readonly maxSteps?: number;
  /** Of an agent with two AI sides. */
  readonly other?: { readonly maxSteps?: number; readonly maxSessionTurns?: number };
}

export interface StepFacts {
  readonly rules: StopRules;
  /** Whose step it was; `a` for one AI side. */
  readonly side: Side;
  /** The model said something. */
  readonly text: boolean;
  /** Tool calls of the step with their outcome, in order; a queued tool's step has calls but no answer. */
  readonly calls: readonly { readonly name: string; readonly succeeded: boolean }[];
  /** False for a step that only ran queued tools: the model has not spoken yet. */
  readonly answered: boolean;
  /** Model steps of this execution, this one included: of all, of the acting side, of the other one. */
  readonly steps: number;
  readonly ownSteps: number;
  readonly otherSteps: number;
  /** Turns that both sides of the session had completed before this step. */
  readonly turns: number;
  /** What code asked for in this step (`execution.stop`, `execution.forceTurn`), the last word; or that a hook refused the request. */
  readonly directive?: StepDirective;
}

export interface StopVerdict {
  /** `nothing`: the same side acts again. `turn`: the other one does; the person, beside one AI side. */
  readonly ends: 'nothing' | 'turn' | 'execution' | 'session';
  readonly reason?: StopReason;
  /** The acting side has completed its turn. */
  readonly turn: boolean;
}

const GOES_ON: StopVerdict = { ends: 'nothing', turn: false };

const endsTurn = (reason: StopReason): StopVerdict => ({ ends: 'turn', reason, turn: true });
const endsSession = (reason: StopReason): StopVerdict => ({ ends: 'session', reason, turn: true });

const succeeded = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name && call.succeeded);

const called = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name);

/** The model has answered, and asked for nothing. */
const yielded = ({ answered, calls }: StepFacts): boolean => answered && calls.length === 0;

/** Code knows more than the rules that its author wrote before; only the limits bind it. */
function byCode({ directive, side, rules }: StepFacts): StopVerdict | undefined {
  switch (directive) {
    case undefined:
      return undefined;
    case 'blocked':
      return { ends: 'execution', reason: 'hook_blocked', turn: false };
    case 'stop':
      return endsSession('state_stop_session');
    default:
      if (directive === side) return GOES_ON;
      return endsTurn(rules.other ? 'forced_turn' : 'forced_human_turn');
  }
}

const STOP_RULES: readonly ((facts: StepFacts) => StopVerdict | undefined)[] = [
  (facts) => (succeeded(facts, facts.rules.sessionFail) ? endsSession('session_fail') : undefined),
  (facts) => (succeeded(facts, facts.rules.sessionStop) ? endsSession('session_stop') : undefined),
  // I3.
  (facts) =>
    called(facts, facts.rules.sessionFail) || called(facts, facts.rules.sessionStop) ? GOES_ON : undefined,
  byCode,
  (facts) => (succeeded(facts, facts.rules.stopTool) ? endsTurn('stop_tool') : undefined),
  (facts) =>
    facts.rules.stopOnResponse && yielded(facts) && facts.text ? endsTurn('stop_on_response') : undefined,
  // A model that says nothing and asks for nothing would be asked the same again until the hard cap.
  (facts) =>
    facts.rules.stopOnResponse && yielded(facts) && !facts.text ? endsTurn('empty_response') : undefined,
  // Two sides of which one has no rule take turns step by step: else the other one would never act.
  ({ rules, answered }) =>
    rules.other && answered && !rules.stopOnResponse && rules.stopTool === undefined
      ? endsTurn('no_stop_rule')
      : undefined,
];

/** I1: does a limit forbid what the rules would let happen next? */
function evaluateLimits(facts: StepFacts, verdict: StopVerdict): StopReason | undefined {
  const { rules, answered, steps, turns } = facts;
  if (!answered) return undefined;
  const { maxSessionTurns } = rules.other ?? {};
  if (verdict.turn && maxSessionTurns !== undefined && turns + 1 >= maxSessionTurns)
    return 'max_session_turns';
  const next = verdict.turn ? rules.other : rules;
  const taken = verdict.turn ? facts.otherSteps : facts.ownSteps;
  if (next?.maxSteps !== undefined && taken >= next.maxSteps) return 'max_side_steps';
  const cap = Math.max(LIMITS.stepsPerExecution, rules.maxSteps ?? 0, rules.other?.maxSteps ?? 0);
  return steps >= cap ? 'max_total_steps' : undefined;
}

export function evaluateStop(facts: StepFacts): StopVerdict {
  const verdict = STOP_RULES.map((rule) => rule(facts)).find((each) => each !== undefined) ?? GOES_ON;
  const actsAgain =
    verdict.ends === 'nothing' || (verdict.ends === 'turn' && facts.rules.other !== undefined);
  const limit = actsAgain ? evaluateLimits(facts, verdict) : undefined;
  if (limit === undefined) return verdict;
  return { ends: limit === 'max_session_turns' ? 'session' : 'execution', reason: limit, turn: verdict.turn };
}
