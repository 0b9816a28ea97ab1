/**
 * Removes the secrets of a thread from texts that are about to be written (definitions §16): each becomes
 * `[secret NAME]`, in every form that docs/operations.md lists (`core/redaction`).
 * X1. Secrets shorter than four characters and JSON keywords are not removed: that would garble ordinary text.
 * X2. The redactor of a set of secrets is cached while it is small, and until KEPT_SETS other sets were used since.
 *     Sets are identified by a digest.
 */
import { createHash } from 'node:crypto';
import type { Variable } from '../core/project/env.ts';
import { buildRedactor, type Redactor } from '../core/redaction/redactor.ts';

export type Redact = (text: string) => string;

const SHORTEST_SECRET = 4;
const ORDINARY = new Set(['true', 'false', 'null']);

/** X2: bounds of the cache. */
const KEPT_SETS = 32;
const KEPT_WEIGHT = 256 * 1024;
const kept = new Map<string, Redactor>();

export function createRedactor(secrets: readonly Pick<Variable, 'name' | 'value'>[]): Redact {
  const known = secrets.filter(({ value }) => value.length >= SHORTEST_SECRET && !ORDINARY.has(value));
  if (known.length === 0) return (text) => text;
  const key = digestOf(known);
  const redactor = kept.get(key) ?? build(known);
  kept.delete(key);
  if (redactor.weight <= KEPT_WEIGHT) kept.set(key, redactor);
  const oldest = kept.keys().next();
  if (kept.size > KEPT_SETS && !oldest.done) kept.delete(oldest.value);
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
