/**
 * The answer to a wait, as a person, a client or a plain signal gives it, and its validation. Hand-written: it runs
 * inside the workflow, where a bad payload must not throw.
 */
import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';

/**
 * How far an approval reaches, from the narrowest to the widest: this call, this execution, this thread, or all threads
 * of the user within its organisation.
 */
export const WAIT_SCOPES = ['once', 'execution', 'thread', 'always'] as const;
export type WaitScope = (typeof WAIT_SCOPES)[number];

/** What an approval beyond its call is for: calls with the same arguments, or every call of the tool (core/governance/grant.ts). */
export const GRANT_COVERS = ['arguments', 'tool'] as const;
export type GrantCover = (typeof GRANT_COVERS)[number];

/** What a person may grant for a call, and for its tool (core/governance/grant.ts decides it); stored with the wait. */
export interface Grantable {
  readonly arguments: WaitScope;
  readonly tool: WaitScope;
  /** Digest of the callee's schema and version: another schema is another tool. Absent for what has no schema. */
  readonly digest?: string;
}

export function isWider(scope: WaitScope, than: WaitScope): boolean {
  return WAIT_SCOPES.indexOf(scope) > WAIT_SCOPES.indexOf(than);
}

/** `scope` is `once` if absent. */
export interface Decision {
  readonly approved: boolean;
  readonly reason?: string;
  readonly scope?: WaitScope;
  /** `arguments` if absent. Only with a wider scope than `once`. */
  readonly covers?: GrantCover;
  /** When an approval beyond its call ends, in microseconds since 1970. Only with a wider scope than `once`. */
  readonly until?: number;
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
/** Characters of `by`. */
export const BY_CHARS = 256;
const FIELDS = new Set(['approved', 'reason', 'scope', 'covers', 'until', 'by', 'arguments', 'value']);

/** `{ approved, reason?, scope?, covers?, until?, by?, arguments? }` or `{ value, by? }`; null fields count as absent, except `value`. */
export function parseWaitAnswer(given: unknown): ParsedAnswer {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return refuse('the answer must be an object with "approved" or "value"');
  const answer = given as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(answer).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return refuse(`the answer has an unknown field ${JSON.stringify(unknown)}`);
  const { approved = null, by = null, value } = answer;
  if (!isTextOrNull(by, BY_CHARS)) return refuse(`"by" must be a string of at most ${BY_CHARS} characters`);
  const signed = by === null ? {} : { by };
  if (value !== undefined) {
    if (Object.entries(answer).some(([name, field]) => field != null && name !== 'value' && name !== 'by'))
      return refuse('an answer has either "value" or "approved"');
    const problem = sizeProblem('value', value);
    return problem === undefined ? { ok: true, value: { value, ...signed } } : refuse(problem);
  }
  if (typeof approved !== 'boolean')
    return refuse('the answer must have "approved": true or false, or a "value"');
  const { reason = null, scope = null, covers = null, until = null, arguments: changed = null } = answer;
  if (!isTextOrNull(reason, REASON_CHARS))
    return refuse(`"reason" must be a string of at most ${REASON_CHARS} characters`);
  if (scope !== null && !isScope(scope)) return refuse(`"scope" must be one of ${WAIT_SCOPES.join(', ')}`);
  const isWide = approved && scope !== null && scope !== 'once';
  if (covers !== null && !(isWide && GRANT_COVERS.includes(covers as GrantCover)))
    return refuse(`"covers" must be one of ${GRANT_COVERS.join(', ')}, with a wider "scope" than once`);
  if (until !== null && !(isWide && Number.isSafeInteger(until) && Number(until) > 0))
    return refuse('"until" must be microseconds since 1970, with a wider "scope" than once');
  const problem = changed === null ? undefined : changeProblem(changed, { approved, isWide });
  if (problem !== undefined) return refuse(problem);
  return {
    ok: true,
    value: {
      approved,
      ...(reason === null ? {} : { reason }),
      ...(scope === null ? {} : { scope }),
      ...(covers === null ? {} : { covers: covers as GrantCover }),
      ...(until === null ? {} : { until: Number(until) }),
      ...(changed === null ? {} : { arguments: changed as Readonly<Record<string, unknown>> }),
      ...signed,
    },
  };
}

function changeProblem(
  changed: unknown,
  { approved, isWide }: Readonly<Record<'approved' | 'isWide', boolean>>,
) {
  if (!isRecord(changed)) return '"arguments" must be an object';
  if (!approved) return '"arguments" belong to "approved": true';
  if (isWide) return '"arguments" are for this call alone: leave "scope" out';
  return sizeProblem('arguments', changed);
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
