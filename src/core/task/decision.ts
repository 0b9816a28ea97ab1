/** Checks what an adapter's `decide` and `validate` return, so that the loop handles only valid answers. */
import { isRecord } from '../value/record.ts';
import { type ControlEval, EVAL_SEVERITIES, type TaskDecision } from './control.ts';

export type ReadDecision =
  | { readonly ok: true; readonly decision: TaskDecision }
  | { readonly ok: false; readonly reason: string };

const QUESTION_CHARS = 4000;
const REASON_CHARS = 2000;

/** Checks the result of `decide`. Accepted aliases: `type` for `kind`, `continue` for `act`, `finish` for `stop`. */
export function readDecision(given: unknown): ReadDecision {
  if (!isRecord(given)) return refuse('it must be an object with a "kind": act, ask, await or stop');
  const kind = given.kind ?? given.type;
  switch (kind) {
    case 'act':
    case 'continue': {
      if (given.action === undefined) return refuse('an act needs an "action"');
      const why = typeof given.reason === 'string' ? { reason: given.reason.slice(0, REASON_CHARS) } : {};
      return { ok: true, decision: { kind: 'act', action: given.action, ...why } };
    }
    case 'ask':
      return readQuestion(given);
    case 'await':
      if (typeof given.threadId !== 'string' || given.threadId === '')
        return refuse('an await needs a "threadId"');
      return { ok: true, decision: { kind: 'await', threadId: given.threadId } };
    case 'stop':
    case 'finish':
      return readStop(given);
    default:
      return refuse(`"kind" must be act, ask, await or stop, not ${JSON.stringify(kind)?.slice(0, 80)}`);
  }
}

function readQuestion({ question, data, expiresInMs }: Readonly<Record<string, unknown>>): ReadDecision {
  if (typeof question !== 'string' || question === '' || question.length > QUESTION_CHARS)
    return refuse(`"question" must be a string of 1 to ${QUESTION_CHARS} characters`);
  if (expiresInMs !== undefined && !(Number.isSafeInteger(expiresInMs) && (expiresInMs as number) > 0))
    return refuse('"expiresInMs" must be a whole number of milliseconds, 1 or more');
  return {
    ok: true,
    decision: {
      kind: 'ask',
      question,
      ...(data === undefined ? {} : { data }),
      ...(expiresInMs === undefined ? {} : { expiresInMs: expiresInMs as number }),
    },
  };
}

function readStop({ pass, reason, score, outcome }: Readonly<Record<string, unknown>>): ReadDecision {
  if (typeof pass !== 'boolean') return refuse('a stop needs "pass": true or false');
  if (score !== undefined && !isScore(score)) return refuse('"score" must be a number from 0 to 1');
  return {
    ok: true,
    decision: {
      kind: 'stop',
      pass,
      reason:
        typeof reason === 'string' && reason !== ''
          ? reason.slice(0, REASON_CHARS)
          : 'the adapter decided to stop',
      ...(score === undefined ? {} : { score }),
      ...(outcome === undefined ? {} : { outcome }),
    },
  };
}

function refuse(reason: string): ReadDecision {
  return { ok: false, reason };
}

function isScore(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

export type ReadEvals =
  | { readonly ok: true; readonly evals: readonly ControlEval[] }
  | { readonly ok: false; readonly reason: string };

/** Checks the result of `validate`; undefined or null means no evals. */
export function readEvals(given: unknown): ReadEvals {
  if (given === undefined || given === null) return { ok: true, evals: [] };
  if (!Array.isArray(given)) return { ok: false, reason: 'it must be an array of evals' };
  for (const [index, each] of given.entries()) {
    const problem = evalProblem(each);
    if (problem) return { ok: false, reason: `evals[${index}]: ${problem}` };
  }
  return { ok: true, evals: given as readonly ControlEval[] };
}

function evalProblem(given: unknown): string | undefined {
  if (!isRecord(given)) return 'must be an object';
  const { id, passed, score, severity } = given;
  if (typeof id !== 'string' || id === '') return '"id" must be a string';
  if (typeof passed !== 'boolean') return '"passed" must be true or false';
  if (score !== undefined && !isScore(score)) return '"score" must be a number from 0 to 1';
  if (severity !== undefined && !EVAL_SEVERITIES.some((each) => each === severity))
    return `"severity" must be one of ${EVAL_SEVERITIES.join(', ')}`;
  return undefined;
}
