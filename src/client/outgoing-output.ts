/** The type that a sender gives to the last answer of an execution, as JSON schema. */
import { readOutputSchema } from '../core/answer/output-schema.ts';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import type { JsonSchema } from '../core/value/json-schema.ts';
import { toJsonObject } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';

/** A JSON schema of an object, or a zod schema of one, of which the JSON schema is sent: refinements and transforms stay here. */
export type OutputType = Readonly<Record<string, unknown>> | { readonly _zod: { readonly output: unknown } };

/** Throws `InvalidSchema`, or `InvalidValue` for what is not JSON. */
export function toOutputSchema(given: OutputType): JsonSchema {
  const bound = { name: 'output', maxBytes: 2 * LIMITS.outputSchemaBytes };
  const read = readOutputSchema(toJsonObject(isZod(given) ? fromZod(given) : given, bound));
  if (read.ok) return read.schema;
  throw new RuntimeError('InvalidSchema', `The "output" of a message ${read.reason}.`);
}

/** As `output` of the message; nothing if none is given. */
export function outputField(given: OutputType | null | undefined): { readonly output?: JsonSchema } {
  return given == null ? {} : { output: toOutputSchema(given) };
}

interface ZodSchema {
  readonly toJSONSchema?: (options: { readonly io: 'output' }) => unknown;
}

function isZod(given: OutputType): given is OutputType & ZodSchema {
  return typeof given === 'object' && given !== null && '_zod' in given;
}

/** The schema of what is stored, which is not parsed again: fields with defaults must be there, and objects are closed. */
function fromZod(given: ZodSchema): unknown {
  if (typeof given.toJSONSchema !== 'function')
    throw new RuntimeError(
      'InvalidSchema',
      'This copy of zod has no "toJSONSchema" at its schemas: give z.toJSONSchema(schema) as "output".',
    );
  try {
    return given.toJSONSchema({ io: 'output' });
  } catch (error) {
    throw new RuntimeError(
      'InvalidSchema',
      `The "output" of a message cannot be written as JSON schema: ${errorMessage(error)}.`,
    );
  }
}
