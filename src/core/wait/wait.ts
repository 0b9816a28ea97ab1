/**
 * A wait: an answer that a person, or another program, must give before a call, an execution or a thread goes on.
 * Questions and answers are rows of the store; this file decides which answers fit, and their outcome.
 * W1. The first answer counts. An equal second answer is a harmless duplicate; any other is too late.
 * - A wait past its expiry time is over, even if its state is still `open`.
 */

import { canonicalJson } from '../value/canonical-json.ts';
import { type Decision, type Grantable, isWider, type WaitAnswer } from './answer.ts';
import { NOTE_CHARS, readReconciliation } from './reconciliation.ts';

/**
 * `approval`: asks whether something may be done. `question`: code asks for a value. `variables`: a subagent lacks
 * variables. `paused`: work is held until a person lets it go on. `reconcile`: the outcome of an action is unknown.
 */
export const WAIT_KINDS = ['approval', 'question', 'variables', 'paused', 'reconcile'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** `answered`, `expired` and `closed` are final. */
export const WAIT_STATES = ['open', 'answered', 'expired', 'closed'] as const;
export type WaitState = (typeof WAIT_STATES)[number];

/**
 * The outcome of an answer. `taken`: it counts. `duplicate`: it is equal to the one that counts. `already_answered`:
 * another one counts. `stale`: it refers to what was shown earlier, and something else would be done now. `expired`,
 * `closed`: the wait was over. `unknown`: there is no such wait.
 */
export const WAIT_OUTCOMES = [
  'taken',
  'duplicate',
  'already_answered',
  'stale',
  'expired',
  'closed',
  'unknown',
] as const;
export type WaitOutcome = (typeof WAIT_OUTCOMES)[number];

/** The result of `answerWait`, the same for every way of answering. */
export interface WaitVerdict {
  readonly outcome: WaitOutcome;
}

/** The fields of a wait that decide the outcome of an answer. Times are microseconds since 1970. */
export interface JudgedWait {
  readonly kind: WaitKind;
  readonly state: WaitState;
  readonly fingerprint: string | null;
  readonly answer: WaitAnswer | null;
  readonly reason: string | null;
  readonly expiresAt: number | null;
}

/** An answer, and the fingerprint of what the person was shown, if known. */
export interface GivenAnswer {
  readonly answer: WaitAnswer;
  readonly fingerprint?: string;
}

/** True if an open wait has expired. `now` is in microseconds since 1970. */
export function isWaitExpired(
  { state, expiresAt }: Pick<JudgedWait, 'state' | 'expiresAt'>,
  now: number,
): boolean {
  return state === 'open' && expiresAt !== null && expiresAt <= now;
}

export function judgeAnswer(
  wait: JudgedWait | undefined,
  { answer, fingerprint }: GivenAnswer,
  now: number,
): WaitOutcome {
  if (!wait) return 'unknown';
  // W1: the first answer counts.
  if (wait.state === 'answered')
    return canonicalJson(wait.answer) === canonicalJson(answer) ? 'duplicate' : 'already_answered';
  if (wait.state === 'closed') return 'closed';
  if (wait.state === 'expired' || isWaitExpired(wait, now)) return 'expired';
  if (fingerprint !== undefined && fingerprint !== wait.fingerprint) return 'stale';
  return 'taken';
}

interface AnsweredKind {
  readonly kind: WaitKind;
  /** True if its arguments may be changed: a call of a step waits for it that no client runs. */
  readonly changeable?: boolean;
  /** How far an approval may reach; absent if only a call with the same arguments can be granted, without limit. */
  readonly grantable?: Grantable;
}

/**
 * Returns why an answer does not fit a wait; undefined if it fits. Every wait can be refused. `approval` and `paused`
 * are answered by `approved`, the others by a `value`.
 */
export function answerProblem(asked: AnsweredKind, answer: WaitAnswer): string | undefined {
  const { kind, changeable = false } = asked;
  const asksWhether = kind === 'approval' || kind === 'paused';
  if ('value' in answer)
    return asksWhether
      ? `a wait of kind "${kind}" is answered by "approved", not by a "value"`
      : reconciliationProblem(kind, answer);
  if (answer.arguments && !(kind === 'approval' && changeable))
    return 'its arguments cannot be changed: only those of a call that waits for its approval, and that no client runs, can';
  if (kind === 'approval') return grantProblem(asked, answer);
  if (asksWhether || !answer.approved) return undefined;
  return `a wait of kind "${kind}" is answered by a "value", or refused by "approved": false`;
}

function grantProblem({ grantable }: AnsweredKind, { scope = 'once', covers }: Decision): string | undefined {
  if (covers === 'tool' && !grantable)
    return 'it can be approved only for the same arguments, not for its tool';
  const widest = grantable?.[covers ?? 'arguments'];
  if (widest === undefined || !isWider(scope, widest)) return undefined;
  const what = covers === 'tool' ? 'its tool can be approved' : 'it can be approved';
  return widest === 'once' ? `${what} for one call at a time` : `${what} for the ${widest} at most`;
}

function reconciliationProblem(kind: WaitKind, answer: WaitAnswer): string | undefined {
  if (kind !== 'reconcile' || readReconciliation(answer)) return undefined;
  return `a wait of kind "reconcile" is answered by a "value" such as { "completed": true }, with an optional "note" of at most ${NOTE_CHARS} characters`;
}

/** True if the answer holds values of variables of which at least one is not declared as text. */
export function asksForSecrets({ kind, data }: { readonly kind: WaitKind; readonly data: unknown }): boolean {
  if (kind !== 'variables') return false;
  const { missing = [], types = {} } = (data ?? {}) as {
    readonly missing?: readonly string[];
    readonly types?: Readonly<Record<string, string>>;
  };
  return missing.some((name) => types[name] !== 'text');
}
