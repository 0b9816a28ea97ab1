/**
 * Fields that several definitions share (definitions §3): names, env, variables, hooks, limits, and the
 * deprecated `tenvs`. Each is a zod schema whose output is the normalised form.
 */
import { z } from 'zod';
import type { AuthorSchema } from '../core/author/author-schema.ts';
import type { VariableDefinition } from '../core/author/variable-definition.ts';
import { describeOldSchema, isZodSchema, objectShape } from './author-schema.ts';
import type { RawFields } from './check.ts';

export const text = z.string().min(1);
export const names = z.array(text);
export const flag = z.boolean();
export const count = z.int().positive();
export const price = z.number().nonnegative();
export const options = z.record(z.string(), z.unknown());
export const env = z.record(z.string(), z.string());

/** A value that only a predicate can check, such as a function or a schema of another copy of zod. */
export function custom<T>(
  accepts: (value: unknown) => boolean,
  message: string | ((value: unknown) => string),
) {
  return z.custom<T>(accepts, {
    error: ({ input }) => {
      if (input === undefined) return 'is required';
      return typeof message === 'string' ? message : message(input);
    },
  });
}

export const objectSchema = custom<AuthorSchema>(
  (value) => objectShape(value) !== undefined,
  (value) => describeOldSchema(value) ?? 'must be a zod 4 object schema: z.object({ … })',
);

const variable = z.strictObject({
  name: text,
  // A variable without a type is secret (§22 item 35): a forgotten type hides a value and never exposes one.
  type: z.enum(['text', 'secret']).default('secret'),
  required: flag.default(false),
  scoped: flag.default(false),
  description: z.string().default(''),
});

export const variables = z.array(variable).check((context) => {
  const seen = new Set<string>();
  for (const [index, { name }] of context.value.entries()) {
    if (seen.has(name)) {
      context.issues.push({
        code: 'custom',
        input: name,
        path: [index, 'name'],
        message: `'${name}' is declared twice`,
      });
    }
    seen.add(name);
  }
});

/** Deprecated `tenvs`: a record of values, or a zod object that declares variables. */
export type Tenvs = { readonly env: Record<string, string>; readonly variables: VariableDefinition[] };

export const tenvs = custom<RawFields>(
  (value) => objectShape(value) !== undefined || env.safeParse(value).success,
  'must be a zod object or an object of strings; it is deprecated, use env or variables',
).transform(splitTenvs);

function splitTenvs(value: RawFields): Tenvs {
  const shape = objectShape(value);
  if (shape === undefined) return { env: value as Record<string, string>, variables: [] };
  return { env: {}, variables: Object.entries(shape).map(([name, schema]) => toVariable(name, schema)) };
}

function toVariable(name: string, schema: unknown): VariableDefinition {
  const required = isZodSchema(schema) && !schema.safeParse(undefined).success;
  const described = (schema as { description?: unknown }).description;
  const description = typeof described === 'string' ? described : '';
  return { name, type: 'secret', required, scoped: false, description };
}

/** Returns the declared variables, then those that only `tenvs` names. */
export function joinVariables(
  declared: readonly VariableDefinition[],
  old: Tenvs | undefined,
): readonly VariableDefinition[] {
  const known = new Set(declared.map(({ name }) => name));
  return [...declared, ...(old?.variables ?? []).filter(({ name }) => !known.has(name))];
}

export const isGiven = (value: unknown): boolean => value !== undefined;
export const TENVS_WARNING = {
  field: 'tenvs',
  message: 'is deprecated: use env for values and variables for declarations',
  holds: (input: RawFields) => isGiven(input.tenvs),
};
