/**
 * What a child tells its parent of the end of an execution (runtime §8.2, definitions §13.6, §22.22). Pure.
 * C1. An idle end without a reason makes no report: nothing was done.
 * C2. A limit, a refusal or a fault is a failure, which says why, and what the child said last.
 */
import type { RestStatus, StoredError } from '../../core/thread/step.ts';
import type { StopReason } from '../../core/thread/stop.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';

export interface ExecutionEnd {
  readonly status: RestStatus;
  readonly reason?: StopReason | string;
  readonly error?: StoredError;
}

/** What the child has left in its history. */
export interface LastWords {
  /** The result of the session tool that ended it: what its binding made of it. */
  readonly session?: { readonly content: string; readonly attachments: readonly string[] };
  /** What its model said last; empty where it said nothing. */
  readonly answer: string;
}

/** The session tools that end with each reason. */
export const SESSION_REASONS = { session_stop: 'sessionStop', session_fail: 'sessionFail' } as const;

export type Due = 'nothing' | 'answer' | 'session';

/** What must be read of the history, if anything is to be told at all. */
export function whatIsDue({ status, reason }: ExecutionEnd): Due {
  if (status === 'stopped' || status === 'failed') return 'answer';
  if (status !== 'idle' || reason === undefined) return 'nothing';
  return reason in SESSION_REASONS ? 'session' : 'answer';
}

/** Undefined where nothing is told (C1). The thread's own end is told by the store. */
export function composeReport(end: ExecutionEnd, { session, answer }: LastWords): SubagentReport | undefined {
  const { status, reason, error } = end;
  switch (whatIsDue(end)) {
    case 'nothing':
      return undefined;
    case 'session': {
      const { content, attachments } = session ?? { content: answer, attachments: [] };
      return { kind: reason === 'session_fail' ? 'failure' : 'result', content, attachments };
    }
    case 'answer':
      if (status === 'stopped') return { kind: 'stopped', content: reason ?? '', attachments: [] };
      // C2: a failure says why.
      if (status === 'failed') return failure(describeError(error), answer);
      if (isFailure(reason)) return failure(FAILURES[reason], answer);
      return { kind: 'result', content: answer, attachments: [] };
  }
}

/** Reasons that are no answer to whoever asked. */
const FAILURES = {
  max_session_turns: 'It reached the limit of turns of its session (max_session_turns).',
  max_side_steps: 'It reached the limit of steps of a side (max_side_steps).',
  max_total_steps: 'It reached the limit of steps of an execution (max_total_steps).',
  hook_blocked: 'A hook refused its request to the model (hook_blocked).',
  empty_response: 'Its model answered nothing (empty_response).',
} as const;

function isFailure(reason: string | undefined): reason is keyof typeof FAILURES {
  return reason !== undefined && Object.hasOwn(FAILURES, reason);
}

function failure(why: string, answer: string): SubagentReport {
  const said = answer === '' ? '' : `\n\nIts last output:\n${answer}`;
  return { kind: 'failure', content: why + said, attachments: [] };
}

function describeError(error: StoredError | undefined): string {
  return error ? `${error.message} (${error.code})` : 'It does not say why.';
}
