/**
 * The answer to a wait, as a person, a client or a plain signal gives it, and its validation. Hand-written: it runs
 * inside the workflow, where a bad payload must not throw.
 */
import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';

/** How far an approval reaches, always for the same fingerprint: this call, this execution, this thread, or everywhere. */
export const WAIT_SCOPES = ['once', 'execution', 'thread', 'always'] as const;
export type WaitScope = (typeof WAIT_SCOPES)[number];

/** `scope` is `once` if absent. */
export interface Decision {
  readonly approved: boolean;
  readonly reason?: string;
  readonly scope?: WaitScope;
  /** Who answered, as the API or command that took the answer states it; at most 256 characters. */
  readonly by?: string;
  /**
   * Arguments that take the place of the call's own: all of them, as JSON of at most 64 KiB. Only with an approval of
   * this call (`scope: 'once'`), and only for a call that a model or a queued tool has made.
   */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export interface ValueAnswer {
  /** JSON. */
  readonly value: unknown;
  /** As in `Decision`. */
  readonly by?: string;
}

export type WaitAnswer = Decision | ValueAnswer;

export type ParsedAnswer =
  | { readonly ok: true; readonly value: WaitAnswer }
  | { readonly ok: false; readonly reason: string };

const REASON_CHARS = 2000;
const BY_CHARS = 256;
const FIELDS = new Set(['approved', 'reason', 'scope', 'by', 'arguments', 'value']);

/** `{ approved, reason?, scope?, by?, arguments? }` or `{ value, by? }`; null fields count as absent, except `value`. */
export function parseWaitAnswer(given: unknown): ParsedAnswer {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return refuse('the answer must be an object with "approved" or "value"');
  const answer = given as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(answer).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return refuse(`the answer has an unknown field ${JSON.stringify(unknown)}`);
  const { approved = null, reason = null, scope = null, by = null, arguments: changed = null } = answer;
  if (!isTextOrNull(by, BY_CHARS)) return refuse(`"by" must be a string of at most ${BY_CHARS} characters`);
  const signed = by === null ? {} : { by };
  if (Object.hasOwn(answer, 'value') && answer.value !== undefined) {
    if (approved !== null || reason !== null || scope !== null || changed !== null)
      return refuse('an answer has either "value" or "approved"');
    const problem = sizeProblem('value', answer.value);
    if (problem !== undefined) return refuse(problem);
    return { ok: true, value: { value: answer.value, ...signed } };
  }
  if (typeof approved !== 'boolean')
    return refuse('the answer must have "approved": true or false, or a "value"');
  if (!isTextOrNull(reason, REASON_CHARS))
    return refuse(`"reason" must be a string of at most ${REASON_CHARS} characters`);
  if (scope !== null && !isScope(scope)) return refuse(`"scope" must be one of ${WAIT_SCOPES.join(', ')}`);
  if (changed !== null) {
    if (!isRecord(changed)) return refuse('"arguments" must be an object');
    if (!approved) return refuse('"arguments" belong to "approved": true');
    if (scope !== null && scope !== 'once')
      return refuse('"arguments" are for this call alone: leave "scope" out');
    const problem = sizeProblem('arguments', changed);
    if (problem !== undefined) return refuse(problem);
  }
  return {
    ok: true,
    value: {
      approved,
      ...(reason === null ? {} : { reason }),
      ...(scope === null ? {} : { scope }),
      ...(changed === null ? {} : { arguments: changed }),
      ...signed,
    },
  };
}

function sizeProblem(field: string, given: unknown): string | undefined {
  const { depth, bytes } = measureJson(given, { maxDepth: LIMITS.jsonDepth, maxBytes: LIMITS.waitBytes });
  if (depth > LIMITS.jsonDepth) return `"${field}" is nested deeper than ${LIMITS.jsonDepth} levels`;
  return bytes > LIMITS.waitBytes ? `"${field}" is larger than ${LIMITS.waitBytes} bytes of JSON` : undefined;
}

export function isScope(value: unknown): value is WaitScope {
  return WAIT_SCOPES.includes(value as WaitScope);
}

function isTextOrNull(value: unknown, most: number): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= most);
}

function refuse(reason: string): ParsedAnswer {
  return { ok: false, reason };
}
