/**
 * Removes the secrets of a thread from texts that are about to be written (definitions §16): each becomes
 * `[secret NAME]`, in every form that docs/operations.md lists (`core/redaction`).
 * - Secrets shorter than four characters and JSON keywords are not removed: that would garble ordinary text.
 * - The redactor of a set of secrets is cached while it is small, and until MAX_CACHED_SETS other sets were used since.
 *   Sets are identified by a digest.
 */
import { createHash } from 'node:crypto';
import type { Variable } from '../../core/project/env.ts';
import { buildRedactor, type Redactor } from '../../core/redaction/redactor.ts';

export type Redact = (text: string) => string;

const SHORTEST_SECRET = 4;
const ORDINARY_VALUES = new Set(['true', 'false', 'null']);

/** Bounds of the cache. */
const MAX_CACHED_SETS = 32;
const MAX_CACHED_WEIGHT = 256 * 1024;
const redactorCache = new Map<string, Redactor>();

export function createRedactor(secrets: readonly Pick<Variable, 'name' | 'value'>[]): Redact {
  const known = secrets.filter(({ value }) => value.length >= SHORTEST_SECRET && !ORDINARY_VALUES.has(value));
  if (known.length === 0) return (text) => text;
  const key = digestOf(known);
  const redactor = redactorCache.get(key) ?? build(known);
  redactorCache.delete(key);
  if (redactor.weight <= MAX_CACHED_WEIGHT) redactorCache.set(key, redactor);
  const oldest = redactorCache.keys().next();
  if (redactorCache.size > MAX_CACHED_SETS && !oldest.done) redactorCache.delete(oldest.value);
  return redactor.redact;
}

function build(secrets: readonly Pick<Variable, 'name' | 'value'>[]): Redactor {
  return buildRedactor(secrets.map(({ name, value }) => ({ value, mark: `[secret ${name}]` })));
}

function digestOf(secrets: readonly Pick<Variable, 'name' | 'value'>[]): string {
  const hash = createHash('sha256');
  for (const { name, value } of secrets) hash.update(JSON.stringify([name, value]));
  return hash.digest('base64');
}
