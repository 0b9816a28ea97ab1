/**
 * Checks a context that comes in: by hand, since it also comes with signals, which are read inside the workflow. A
 * refusal names the field. An unknown field is refused, for it may be a restriction that was spelt wrongly.
 */

import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import { isStorable } from '../value/storable-text.ts';
import { findPermissionProblem } from './permissions.ts';
import type { GivenContext } from './run-context.ts';
import { RUN_LIMITS } from './run-limit.ts';
import { MAX_TRACE_LINKS, readTraceparent } from './traceparent.ts';

export type ParsedContext =
  | { readonly ok: true; readonly context: GivenContext }
  | { readonly ok: false; readonly reason: string };

/** Returns what is wrong with a value; undefined if nothing is. */
type Check = (value: unknown) => string | undefined;

const checkText: Check = (value) =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= LIMITS.contextTextChars &&
  isStorable(value)
    ? undefined
    : `must be a string of 1 to ${LIMITS.contextTextChars} characters`;

const checkChain: Check = (value) =>
  Array.isArray(value) &&
  value.length <= LIMITS.contextAgents &&
  value.every((name) => typeof name === 'string' && name.length > 0 && name.length <= 128 && isStorable(name))
    ? undefined
    : `must be a list of at most ${LIMITS.contextAgents} names of agents`;

const checkTraceparent: Check = (value) =>
  typeof value === 'string' && readTraceparent(value)
    ? undefined
    : 'must be a traceparent, as in "00-<32 hex digits>-<16 hex digits>-01"';

const checkRecord: Check = (value) => (isRecord(value) ? undefined : 'must be an object');

const checkPermissions: Check = (value) => {
  if (!isRecord(value)) return 'must be an object';
  const problem = findPermissionProblem(value);
  return problem === undefined ? undefined : `cannot be used: ${problem}`;
};

const checkBudget: Check = (value) => {
  if (!isRecord(value)) return 'must be an object';
  for (const [name, limit] of Object.entries(value)) {
    if (!RUN_LIMITS.some((known) => known === name))
      return `has an unknown limit "${name}"; the limits are ${RUN_LIMITS.join(', ')}`;
    if (typeof limit !== 'number' || !Number.isFinite(limit) || limit < 0)
      return `has an invalid "${name}": it must be a number, 0 or more`;
  }
  return undefined;
};

const CHECKS: Readonly<Record<keyof GivenContext, Check>> = {
  runId: checkText,
  sessionId: checkText,
  traceId: checkText,
  traceparent: checkTraceparent,
  traceLinks: (value) =>
    Array.isArray(value) && value.length <= MAX_TRACE_LINKS && value.every((each) => !checkTraceparent(each))
      ? undefined
      : `must be a list of at most ${MAX_TRACE_LINKS} traceparents, as in "00-<trace>-<span>-01"`,
  workspaceUri: checkText,
  organizationId: checkText,
  parentRunId: checkText,
  agentChain: checkChain,
  permissions: checkPermissions,
  budget: checkBudget,
  canceled: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  cancelReason: checkText,
  metadata: checkRecord,
};

/** A field that is null counts as absent. */
export function parseContext(value: unknown, name = 'context'): ParsedContext {
  if (!isRecord(value)) return refuse(`"${name}" must be an object`);
  const bounds = { maxDepth: LIMITS.contextDepth, maxBytes: LIMITS.contextBytes };
  const { bytes, depth } = measureJson(value, bounds);
  if (depth > LIMITS.contextDepth)
    return refuse(`"${name}" is nested deeper than ${LIMITS.contextDepth} levels`);
  if (bytes > LIMITS.contextBytes) return refuse(`"${name}" takes more than ${LIMITS.contextBytes} bytes`);
  const given: Record<string, unknown> = {};
  for (const [field, each] of Object.entries(value)) {
    if (!Object.hasOwn(CHECKS, field))
      return refuse(
        `"${name}.${field}" is not a field of a context; put your own data into "${name}.metadata"`,
      );
    if (each === null || each === undefined) continue;
    const problem = CHECKS[field as keyof GivenContext](each);
    if (problem !== undefined) return refuse(`"${name}.${field}" ${problem}`);
    given[field] = each;
  }
  return { ok: true, context: given };
}

function refuse(reason: string): ParsedContext {
  return { ok: false, reason };
}

type ReadContext =
  | { readonly ok: true; readonly given: { readonly context?: GivenContext } }
  | { readonly ok: false; readonly reason: string };

/** Reads the context of a payload, if it has one. */
export function readContext({ context }: Readonly<Record<string, unknown>>): ReadContext {
  if (context === undefined || context === null) return { ok: true, given: {} };
  const parsed = parseContext(context);
  return parsed.ok ? { ok: true, given: { context: parsed.context } } : parsed;
}
