/**
 * Stop rules: what ends with this step, and why (runtime §6, definitions §12.5). A step of queued tools is judged as one of a model.
 * I1. Rules are tried in the order of STOP_RULES; the first answer wins. Safety limits come last (§6.4, step-limit.ts), and bind
 *     every answer after which somebody would act again.
 * I2. Pure: everything a rule may consult is in the facts.
 * I3. A session tool that was called and failed ends nothing by itself (definitions §22.44); what code asks for beside it holds.
 * I4. With one AI side the end of a turn ends the execution, since the person acts next; where the person has spoken already, the
 *     next turn begins. With two, the other side acts.
 * I5. Steps that an early version answered are judged as it did: a replay must not decide differently.
 */

import type { Side, StepDirective } from '../author/thread-execution.ts';
import type { CANCELED } from '../governance/cancellation.ts';
import { otherSide, type SideSteps, type StepEnding } from './session.ts';
import { findLimit, type LimitReason, type StepLimits } from './step-limit.ts';

export type StopReason =
  | 'session_stop'
  | 'session_fail'
  | 'state_stop_session'
  | 'hook_blocked'
  | 'unanswered'
  | 'produced'
  | 'forced_human_turn'
  | 'forced_turn'
  | 'stop_tool'
  | 'stop_on_response'
  | 'empty_response'
  | 'no_stop_rule'
  | typeof CANCELED
  | LimitReason;

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
  /** Steps of each side (step-limit.ts, L1), this one included. */
  readonly sideSteps: SideSteps;
  /** Turns that both sides of the session had completed before this step. */
  readonly turns: number;
  /** Input is in the history that this step has not answered. */
  readonly moreInput: boolean;
  /**
   * What code asked for in this step, the last request (`execution.stop`, `execution.forceTurn`); that a hook refused the request; that
   * whoever has queued its tools wants no answer to them; or that code of another process has answered, and nothing else was asked of it.
   */
  readonly directive?: StepDirective;
  /** I5. An early version answered the step. */
  readonly early?: boolean;
}

/** `ends` nothing: the same side acts again. `turn`: the other side does, or the person where there is one AI side. */
export interface StopVerdict extends StepEnding {
  readonly reason?: StopReason;
  /** Another step follows in this execution (I4). */
  readonly goesOn: boolean;
}

/** What a rule says. */
type Ruling = Omit<StopVerdict, 'goesOn'>;

const GOES_ON: Ruling = { ends: 'nothing', turn: false };

const endsTurn = (reason: StopReason): Ruling => ({ ends: 'turn', reason, turn: true });
const endsSession = (reason: StopReason): Ruling => ({ ends: 'session', reason, turn: true });

const succeeded = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name && call.succeeded);

const called = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name);

/** The model answered without calling a tool. */
const yielded = ({ answered, calls }: StepFacts): boolean => answered && calls.length === 0;

/** A request by code, or by whoever has queued a tool, outranks the author's rules; only the limits bind it. */
function byCode({ directive, side, rules }: StepFacts): Ruling | undefined {
  switch (directive) {
    case undefined:
      return undefined;
    case 'blocked':
      return { ends: 'execution', reason: 'hook_blocked', turn: false };
    case 'unanswered':
      return { ends: 'execution', reason: 'unanswered', turn: false };
    case 'produced':
      return { ends: 'execution', reason: 'produced', turn: false };
    case 'stop':
      return endsSession('state_stop_session');
    default:
      if (directive === side) return GOES_ON;
      return endsTurn(rules.other ? 'forced_turn' : 'forced_human_turn');
  }
}

/** I3: the call failed, so the session goes on. */
const bySessionToolThatFailed = (facts: StepFacts): Ruling | undefined =>
  called(facts, facts.rules.sessionFail) || called(facts, facts.rules.sessionStop) ? GOES_ON : undefined;

const STOP_RULES: readonly ((facts: StepFacts) => Ruling | undefined)[] = [
  (facts) => (succeeded(facts, facts.rules.sessionFail) ? endsSession('session_fail') : undefined),
  (facts) => (succeeded(facts, facts.rules.sessionStop) ? endsSession('session_stop') : undefined),
  // I5: an early version asked the failed tool first.
  (facts) => (facts.early ? bySessionToolThatFailed(facts) : undefined),
  byCode,
  bySessionToolThatFailed,
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

/** I4: somebody acts again in this execution, if no limit forbids it. */
function actsAgain({ ends }: Ruling, { rules, moreInput }: StepFacts): boolean {
  return ends === 'nothing' || (ends === 'turn' && (rules.other !== undefined || moreInput));
}

/** I1: whether a limit forbids what the rules would let happen next. */
function evaluateLimits(facts: StepFacts, { turn }: Ruling): LimitReason | undefined {
  const { rules, side, sideSteps, answered, early } = facts;
  // I5: a step of queued tools met no limit.
  if (early && !answered) return undefined;
  const next = turn && rules.other ? otherSide(side) : side;
  const limits = toLimits(facts);
  // I5: only the end of a turn met the cap of turns.
  const maxSessionTurns = early && !turn ? undefined : limits.maxSessionTurns;
  return findLimit({ ...limits, maxSessionTurns }, { sideSteps, turns: facts.turns + (turn ? 1 : 0) }, next);
}

function toLimits({ rules, side }: StepFacts): StepLimits {
  const { maxSteps, maxSessionTurns } = rules.other ?? {};
  return { maxSteps: { [side]: rules.maxSteps, [otherSide(side)]: maxSteps }, maxSessionTurns };
}

/** Whether the execution ends after a step. Whether the next one may begin is asked again when it is known who takes it. */
export function evaluateStop(facts: StepFacts): StopVerdict {
  const ruling = STOP_RULES.map((rule) => rule(facts)).find((each) => each !== undefined) ?? GOES_ON;
  if (!actsAgain(ruling, facts)) return { ...ruling, goesOn: false };
  const limit = evaluateLimits(facts, ruling);
  if (limit === undefined) return { ...ruling, goesOn: true };
  const ends = limit === 'max_session_turns' ? 'session' : 'execution';
  return { ends, reason: limit, turn: ruling.turn, goesOn: false };
}
