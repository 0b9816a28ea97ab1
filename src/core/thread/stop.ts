/**
 * Stop rules: what ends with this step, and why (runtime §6, definitions §12.5).
 * I1. Rules are tried in the order of STOP_RULES; the first answer wins. Safety limits come last (§6.4), and bind every answer
 *     after which somebody would act again.
 * I2. Pure: everything a rule may consult is in the facts.
 * I3. A session tool that was called and failed ends nothing (definitions §22.44).
 * I4. With one AI side the end of a turn ends the execution, since the person acts next. With two, the other side acts.
 */

import type { Side, StepDirective } from '../author/thread-execution.ts';
import { LIMITS } from '../value/limit.ts';

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
  /** Only of an agent with two AI sides. */
  readonly other?: { readonly maxSteps?: number; readonly maxSessionTurns?: number };
}

export interface StepFacts {
  readonly rules: StopRules;
  /** Whose step it was; `a` for one AI side. */
  readonly side: Side;
  /** The model answered with text. */
  readonly text: boolean;
  /** The step's tool calls with their outcomes, in order; a step of a queued tool has calls and no answer. */
  readonly calls: readonly { readonly name: string; readonly succeeded: boolean }[];
  /** False for a step that only ran queued tools: the model has not answered yet. */
  readonly answered: boolean;
  /** Model steps of this execution, this one included: of all sides, of the acting side, of the other side. */
  readonly steps: number;
  readonly ownSteps: number;
  readonly otherSteps: number;
  /** Turns that both sides of the session had completed before this step. */
  readonly turns: number;
  /** What code asked for in this step, the last request (`execution.stop`, `execution.forceTurn`); or that a hook refused the request. */
  readonly directive?: StepDirective;
}

export interface StopVerdict {
  /** `nothing`: the same side acts again. `turn`: the other side does, or the person where there is one AI side. */
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

/** The model answered without calling a tool. */
const yielded = ({ answered, calls }: StepFacts): boolean => answered && calls.length === 0;

/** A request by code outranks the author's rules; only the limits bind it. */
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
  // I3: the call failed, so the session goes on.
  (facts) =>
    called(facts, facts.rules.sessionFail) || called(facts, facts.rules.sessionStop) ? GOES_ON : undefined,
  byCode,
  (facts) => (succeeded(facts, facts.rules.stopTool) ? endsTurn('stop_tool') : undefined),
  (facts) =>
    facts.rules.stopOnResponse && yielded(facts) && facts.text ? endsTurn('stop_on_response') : undefined,
  // The request would be repeated unchanged up to the hard limit if neither text nor calls came.
  (facts) =>
    facts.rules.stopOnResponse && yielded(facts) && !facts.text ? endsTurn('empty_response') : undefined,
  // Without this rule the other side would never act.
  ({ rules, answered }) =>
    rules.other && answered && !rules.stopOnResponse && rules.stopTool === undefined
      ? endsTurn('no_stop_rule')
      : undefined,
];

/** I1: whether a limit forbids what the rules would let happen next. */
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
