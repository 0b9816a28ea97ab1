/** What a tool states about a call before it is judged (`prepareAction`), and how that is validated. */
import { RuntimeError } from '../value/error.ts';
import { toJsonObject } from '../value/json-value.ts';
import { CAPABILITY } from './policy-rule.ts';
import type { RunContext } from './run-context.ts';

/** The place of an action, passed to `prepareAction`. */
export interface ActionContext {
  readonly actionId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  /** The run that it belongs to; null if no context was given. A copy. */
  readonly context: RunContext | null;
  /** Returns a variable, as in ThreadState. Secrets that it returns are removed from the prepared action. */
  env(name: string): Promise<string>;
  /** Fires when the work is aborted. */
  readonly signal: AbortSignal;
}

/** Something to review before the action is done. */
export interface ArtifactInput {
  /** Default `preview`. */
  kind?: string;
  name?: string;
  mediaType?: string;
  uri?: string;
  /** JSON. */
  content?: unknown;
}

/** At most 64 KiB of JSON in total. It is part of the action: if it changes, it is a different action. */
export interface PreparedAction {
  /** What would be done, in words. */
  description?: string;
  /** What would change, and how. */
  artifacts?: readonly ArtifactInput[];
  /** Capabilities in addition to those that the tool declares, which cannot be taken back. */
  capabilities?: readonly string[];
}

const MAX_BYTES = 65_536;
const FIELDS = ['description', 'artifacts', 'capabilities'];
const TEXTS = ['kind', 'name', 'mediaType', 'uri'];

/** Returns a copy. Throws `InvalidValue` or `LimitExceeded`, with the place. */
export function readPrepared(given: unknown, name = 'the value that prepareAction returned'): PreparedAction {
  if (given === undefined || given === null) return {};
  const read = toJsonObject(given, { name, maxBytes: MAX_BYTES });
  const { description, artifacts = [], capabilities = [] } = read;
  const unknown = Object.keys(read).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw invalid(name, `"${unknown}" is not a known field: the fields are ${FIELDS.join(', ')}`);
  if (description !== undefined && typeof description !== 'string')
    throw invalid(name, '"description" must be a string');
  if (!Array.isArray(capabilities) || !capabilities.every(isCapability))
    throw invalid(name, '"capabilities" must be a list of capabilities');
  if (!Array.isArray(artifacts) || !artifacts.every(isArtifact))
    throw invalid(name, `"artifacts" must be a list of objects whose ${TEXTS.join(', ')} are strings`);
  return { ...(description === undefined ? {} : { description }), artifacts, capabilities };
}

function isCapability(value: unknown): value is string {
  return typeof value === 'string' && CAPABILITY.test(value);
}

function isArtifact(value: unknown): value is ArtifactInput {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return TEXTS.every((field) =>
    ['undefined', 'string'].includes(typeof (value as Record<string, unknown>)[field]),
  );
}

function invalid(name: string, problem: string): RuntimeError {
  return new RuntimeError('InvalidValue', `In ${name}, ${problem}.`);
}
