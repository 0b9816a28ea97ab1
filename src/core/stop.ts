/**
 * Stop rules: does the execution end after this step, and why?  (runtime §6)
 * I1. Rules are tried in STOP_RULES order; the first answer wins.
 * I2. Pure: everything a rule may consult is in the facts.
 * I3. A session tool that was called and failed ends the step with no stop at all (definitions §22.44).
 */
import { LIMITS } from './limit.ts';

export type StopReason =
  | 'session_stop'
  | 'session_fail'
  | 'stop_tool'
  | 'stop_on_response'
  | 'empty_response'
  | 'max_side_steps'
  | 'max_total_steps';

/** The acting side's rules, as its agent defines them. */
export interface StopRules {
  readonly stopOnResponse: boolean;
  readonly stopTool?: string;
  readonly sessionStop?: string;
  readonly sessionFail?: string;
  readonly maxSteps?: number;
}

export interface StepFacts {
  readonly rules: StopRules;
  /** The model said something. */
  readonly text: boolean;
  /** Tool calls of the step with their outcome, in order; a queued tool's step has calls but no answer. */
  readonly calls: readonly { readonly name: string; readonly succeeded: boolean }[];
  /** False for a step that only ran queued tools: the model has not spoken yet. */
  readonly answered: boolean;
  /** Model steps of this execution, this one included. */
  readonly steps: number;
}

type Verdict = StopReason | 'no_stop' | undefined;

const succeeded = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name && call.succeeded);

const called = (facts: StepFacts, name: string | undefined): boolean =>
  name !== undefined && facts.calls.some((call) => call.name === name);

const STOP_RULES: readonly ((facts: StepFacts) => Verdict)[] = [
  (facts) => (succeeded(facts, facts.rules.sessionFail) ? 'session_fail' : undefined),
  (facts) => (succeeded(facts, facts.rules.sessionStop) ? 'session_stop' : undefined),
  (facts) =>
    called(facts, facts.rules.sessionFail) || called(facts, facts.rules.sessionStop) ? 'no_stop' : undefined,
  (facts) => (succeeded(facts, facts.rules.stopTool) ? 'stop_tool' : undefined),
  (facts) =>
    facts.rules.stopOnResponse && facts.answered && facts.text && facts.calls.length === 0
      ? 'stop_on_response'
      : undefined,
  // A model that says nothing and asks for nothing would be asked the same again until the hard cap.
  (facts) =>
    facts.rules.stopOnResponse && facts.answered && !facts.text && facts.calls.length === 0
      ? 'empty_response'
      : undefined,
];

/** Safety limits come last (§6.4) and hold even where rule I3 says that nothing else may stop. */
function evaluateLimits({ rules, steps, answered }: StepFacts): StopReason | undefined {
  if (!answered) return undefined;
  if (rules.maxSteps !== undefined && steps >= rules.maxSteps) return 'max_side_steps';
  if (steps >= Math.max(LIMITS.stepsPerExecution, rules.maxSteps ?? 0)) return 'max_total_steps';
  return undefined;
}

export function evaluateStop(facts: StepFacts): StopReason | undefined {
  for (const rule of STOP_RULES) {
    const verdict = rule(facts);
    if (verdict === 'no_stop') break;
    if (verdict !== undefined) return verdict;
  }
  return evaluateLimits(facts);
}
