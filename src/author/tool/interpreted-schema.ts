/**
 * Validates values against the schema of a sender (core/answer/output-schema.ts), which may hold patterns that never end and
 * references that multiply: in a thread, for a limited time. A schema that fails is reported as a problem of the value.
 */
import { extname } from 'node:path';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { withBoundedThread } from '../../store/search/bounded-thread.ts';
import type { Checked } from './check-schema.ts';

export type ToSchemaThread =
  | { readonly kind: 'schema'; readonly schema: JsonSchema }
  | { readonly kind: 'value'; readonly value: unknown };

/** What does not fit; null for a schema, and a value that fits. */
export type FromSchemaThread = string | null;

const THREAD_URL = new URL(`./schema-thread${extname(import.meta.url)}`, import.meta.url);

export async function checkInterpreted(schema: JsonSchema, value: unknown): Promise<Checked<unknown>> {
  const terms = {
    url: THREAD_URL,
    first: { kind: 'schema', schema },
    ms: LIMITS.outputSchemaMs,
    failed: (why: string) => new RuntimeError('InvalidSchema', `The schema of the answer failed: ${why}.`),
    timedOut: () =>
      new RuntimeError(
        'Timeout',
        `The check against the schema was stopped after ${LIMITS.outputSchemaMs / 1000} seconds: it has a pattern with nested repetitions, or compares too many items.`,
      ),
  } as const;
  try {
    const problems = await withBoundedThread<ToSchemaThread, FromSchemaThread, string | null>(terms, (ask) =>
      ask({ kind: 'value', value }),
    );
    return problems === null ? { ok: true, value } : { ok: false, problems };
  } catch (error) {
    return { ok: false, problems: errorMessage(error) };
  }
}
