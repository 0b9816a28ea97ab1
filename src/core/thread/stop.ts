/**
 * Stop rules: what ends with this step, and why (runtime §6, definitions §12.5). A step of queued tools is judged as one of a model.
 * - Rules are tried in the order of STOP_RULES; the first answer wins. Safety limits come last (§6.4, step-limit.ts),
 *   and apply to every answer after which a side would act again.
 * - Pure: everything a rule may consult is in the facts.
 * - A session tool that was called and failed ends nothing by itself (definitions §22.44); requests of code still
 *   apply.
 * - With one AI side the end of a turn ends the execution, since the person acts next; if the person's input is
 *   already there, the next turn begins. With two, the other side acts.
 */

import type { FlowDirective, Side, StepDirective } from '../author/thread-execution.ts';
import type { CANCELED } from '../governance/cancellation.ts';
import {
  advanceSession,
  NEW_SESSION,
  otherSide,
  type Session,
  type SideSteps,
  type StepEnding,
} from './session.ts';
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
  /** Only for an agent with two AI sides. */
  readonly other?: { readonly maxSteps?: number; readonly maxSessionTurns?: number };
}

export interface StepFacts {
  readonly rules: StopRules;
  /** The side that made the step; `a` for one AI side. */
  readonly side: Side;
  /** True if the model answered with text. */
  readonly text: boolean;
  /** The step's tool calls with their outcomes, in order; a step of a queued tool has calls and no answer. */
  readonly calls: readonly { readonly name: string; readonly succeeded: boolean }[];
  /** False for a step that only ran queued tools: the model has not answered yet. */
  readonly answered: boolean;
  /** Steps of each side (step-limit.ts, L1), this one included. */
  readonly sideSteps: SideSteps;
  /** Turns that both sides of the session had completed before this step. */
  readonly turns: number;
  /** True if the history has input that this step has not answered. */
  readonly moreInput: boolean;
  /**
   * The last request of code in this step (`execution.stop`, `execution.forceTurn`). `blocked`: a hook refused the
   * request to the model. `unanswered`: the sender of the queued tools wants no answer. `produced`: code of another
   * process has answered, and requested nothing else.
   */
  readonly directive?: StepDirective;
}

/** If `ends` is `nothing`, the same side acts again; if `turn`, the other side, or with one AI side the person. */
export interface StopVerdict extends StepEnding {
  readonly reason?: StopReason;
  /** True if another step follows in this execution. */
  readonly goesOn: boolean;
}

/** The decision of one rule. */
type Ruling = Omit<StopVerdict, 'goesOn'>;

const GOES_ON: Ruling = { ends: 'nothing', turn: false };

const endsTurn = (reason: StopReason): Ruling => ({ ends: 'turn', reason, turn: true });
const endsSession = (reason: StopReason): Ruling => ({ ends: 'session', reason, turn: true });

const succeeded = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name && call.succeeded);

const wasCalled = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name);

/** The model answered without calling a tool. */
const answeredWithoutCalls = ({ answered, calls }: StepFacts): boolean => answered && calls.length === 0;

/** Requests of code, or of a queued tool's sender, take precedence over the author's rules; only limits bind them. */
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
    case 'rejected':
      return GOES_ON;
    case 'stop':
      return endsSession('state_stop_session');
    default:
      if (directive === side) return GOES_ON;
      return endsTurn(rules.other ? 'forced_turn' : 'forced_human_turn');
  }
}

/** The call failed, so the session goes on. */
const bySessionToolThatFailed = (facts: StepFacts): Ruling | undefined =>
  wasCalled(facts, facts.rules.sessionFail) || wasCalled(facts, facts.rules.sessionStop)
    ? GOES_ON
    : undefined;

const STOP_RULES: readonly ((facts: StepFacts) => Ruling | undefined)[] = [
  (facts) => (succeeded(facts, facts.rules.sessionFail) ? endsSession('session_fail') : undefined),
  (facts) => (succeeded(facts, facts.rules.sessionStop) ? endsSession('session_stop') : undefined),
  byCode,
  bySessionToolThatFailed,
  (facts) => (succeeded(facts, facts.rules.stopTool) ? endsTurn('stop_tool') : undefined),
  (facts) =>
    facts.rules.stopOnResponse && answeredWithoutCalls(facts) && facts.text
      ? endsTurn('stop_on_response')
      : undefined,
  // The request would be repeated unchanged up to the hard limit if neither text nor calls came.
  (facts) =>
    facts.rules.stopOnResponse && answeredWithoutCalls(facts) && !facts.text
      ? endsTurn('empty_response')
      : undefined,
  // Without this rule the other side would never act.
  ({ rules, answered }) =>
    rules.other && answered && !rules.stopOnResponse && rules.stopTool === undefined
      ? endsTurn('no_stop_rule')
      : undefined,
];

/** True if a side acts again in this execution, unless a limit forbids it. */
function actsAgain({ ends }: Ruling, { rules, moreInput }: StepFacts): boolean {
  return ends === 'nothing' || (ends === 'turn' && (rules.other !== undefined || moreInput));
}

/** Whether a limit forbids what the rules would let happen next. */
function evaluateLimits(facts: StepFacts, { turn }: Ruling): LimitReason | undefined {
  const { rules, side, sideSteps } = facts;
  const next = turn && rules.other ? otherSide(side) : side;
  return findLimit(toLimits(facts), { sideSteps, turns: facts.turns + (turn ? 1 : 0) }, next);
}

function toLimits({ rules, side }: StepFacts): StepLimits {
  const { maxSteps, maxSessionTurns } = rules.other ?? {};
  return { maxSteps: { [side]: rules.maxSteps, [otherSide(side)]: maxSteps }, maxSessionTurns };
}

/** Decides whether the execution ends after a step. Limits are checked again when the next step's side is known. */
export function evaluateStop(facts: StepFacts): StopVerdict {
  const ruling = STOP_RULES.map((rule) => rule(facts)).find((each) => each !== undefined) ?? GOES_ON;
  if (!actsAgain(ruling, facts)) return { ...ruling, goesOn: false };
  const limit = evaluateLimits(facts, ruling);
  if (limit === undefined) return { ...ruling, goesOn: true };
  const ends = limit === 'max_session_turns' ? 'session' : 'execution';
  return { ends, reason: limit, turn: ruling.turn, goesOn: false };
}

/** A stored step, as far as it decides how it ends. */
type EndingStep = Omit<StepFacts, 'calls' | 'sideSteps' | 'side' | 'turns'> &
  Partial<Pick<StepFacts, 'side' | 'turns'>>;

/** A call of a step, once it has its result. */
export interface CallEnd {
  readonly name: string;
  readonly succeeded: boolean;
  readonly directive?: FlowDirective;
}

/** Progress of the turn, this step included. */
interface TurnProgress {
  readonly sideSteps: SideSteps;
  /** Absent for one AI side. */
  readonly session?: Session | null;
}

/** What ends with the step, and the session after it. */
export interface StepEnd {
  readonly verdict: StopVerdict;
  readonly session?: Session;
}

/** Combines the stop rules with the session. */
export function evaluateStepEnd(
  { rules, text, answered, side = 'a', directive, moreInput }: EndingStep,
  calls: readonly CallEnd[],
  { sideSteps, session }: TurnProgress,
): StepEnd {
  const verdict = evaluateStop({
    rules,
    side,
    text,
    answered,
    calls,
    sideSteps,
    moreInput,
    turns: (session ?? NEW_SESSION).turns,
    directive: calls.findLast((call) => call.directive)?.directive ?? directive,
  });
  return session ? { verdict, session: advanceSession(session, side, verdict) } : { verdict };
}

/** The session in which the step was made. After a reset, the store may know of turns that this run has not seen. */
export function toSession(known: Session | null | undefined, { side, turns }: EndingStep): Session | null {
  if (!side) return known ?? null;
  const session = { ...(known ?? NEW_SESSION), side };
  return turns === undefined ? session : { ...session, turns };
}
