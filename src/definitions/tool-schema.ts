/**
 * Converts a tool's zod arguments to the JSON schema that is shown to models (definitions §6.3, §8).
 *
 * - It describes what a model has to write, the *input* side: a field with a default is optional.
 * - Every object is closed (`additionalProperties: false`); a record keeps the schema of its values.
 * - `$schema` and `propertyNames` are left out: providers in strict mode reject them. A record whose keys are known is an
 *   object with these properties.
 * - For models nothing is referred to: a schema with an id is repeated where it is used.
 * - Only kinds of schema and names of arguments that every provider supports are accepted, nested at most 7 deep below the
 *   arguments.
 */
import { z } from 'zod';
import type { AuthorSchema } from '../core/author/author-schema.ts';
import { type JsonSchema, mapSubschemas } from '../core/value/json-schema.ts';
import { isRecord } from '../core/value/record.ts';
import {
  describeOldSchema,
  isZodSchema,
  objectShape,
  type SchemaDef,
  type ZodSchema,
} from './author-schema.ts';
import type { FieldProblem } from './problem.ts';

export type { JsonSchema };

export const MAX_ARGUMENT_DEPTH = 7;

const LEAVES = new Set(['string', 'number', 'boolean', 'null', 'literal', 'enum', 'any', 'unknown']);
const WRAPPERS = new Set(['optional', 'nullable', 'default', 'prefault']);
const CONTAINERS = new Set(['array', 'object', 'record', 'union']);

/** Parameters of a tool without arguments: an object without properties. */
export const NO_PARAMETERS: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** Arguments that pass as they are, of which a model is told nothing: for faces whose tools need no schema. */
export const ANY_ARGUMENTS = z.looseObject({});

/** Returns the JSON schema of the arguments. Call `checkArguments` first; unsupported schemas may throw here. */
export function toParameters(schema: unknown): JsonSchema {
  if (schema === undefined) return NO_PARAMETERS;
  if (!isZodSchema(schema)) throw new TypeError('Arguments must be a zod 4 schema');
  return { ...NO_PARAMETERS, ...closeObjects(toJsonSchema(schema, Descriptions)) };
}

/** The same for readers that follow references, which models' providers do not all: a schema with an id is a definition. */
export function toReferringParameters(schema: AuthorSchema): JsonSchema {
  return { ...NO_PARAMETERS, ...closeObjects(toJsonSchema(schema as ZodSchema, Metadata)) };
}

/** Reports parts of a `z.object(…)` that cannot be shown to a model; `root` is the name of the definition's field. */
export function checkArguments(schema: unknown, root: string): FieldProblem[] {
  return Object.entries(objectShape(schema) ?? {}).flatMap(([key, member]) => [
    ...checkArgumentName(key, `${root}.${key}`),
    ...checkNode(member, `${root}.${key}`, 0),
  ]);
}

/** Anthropic refuses others as names of arguments; within an argument it accepts any. */
const ARGUMENT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

function checkArgumentName(name: string, field: string): FieldProblem[] {
  if (ARGUMENT_NAME.test(name)) return [];
  const message =
    'is not a name that every provider accepts: use 1 to 64 letters of ASCII, digits, _, . and -; say the rest in .describe()';
  return [{ field, message }];
}

function checkNode(schema: unknown, field: string, depth: number): FieldProblem[] {
  if (!isZodSchema(schema))
    return [{ field, message: describeOldSchema(schema) ?? 'must be a zod 4 schema' }];
  const { def } = schema._zod;
  if (LEAVES.has(def.type)) return [];
  if (WRAPPERS.has(def.type)) return checkNode(def.innerType, field, depth);
  if (!CONTAINERS.has(def.type)) return [{ field, message: describeUnsupported(def.type) }];
  if (depth === MAX_ARGUMENT_DEPTH) {
    return [{ field, message: `is nested deeper than ${MAX_ARGUMENT_DEPTH} levels` }];
  }
  return listMembers(def).flatMap(([step, member]) => checkNode(member, field + step, depth + 1));
}

/** Returns the contents of a container, each with its part of the path. */
function listMembers(def: SchemaDef): [string, unknown][] {
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape ?? {}).map(([key, member]) => [`.${key}`, member]);
    case 'array':
      return [['[]', def.element]];
    case 'record':
      return [['.*', def.valueType]];
    default:
      return (def.options ?? []).map((option) => ['', option]);
  }
}

function describeUnsupported(type: string): string {
  const allowed = [...LEAVES, ...CONTAINERS, 'optional', 'nullable', 'default'];
  const advice = WAYS_OUT[type] === undefined ? '' : `; ${WAYS_OUT[type]}`;
  return `uses z.${type}, which cannot be described to models${advice}. Allowed: ${allowed.join(', ')}`;
}

const TRANSFORM = 'transform the value in execute';
/** By the types of zod. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  date: 'write z.iso.datetime(), and make the Date in execute',
  bigint: 'write z.int(), or z.string() and make the bigint in execute',
  map: 'write z.record(z.string(), …), and make the Map in execute',
  set: 'write z.array(…), and make the Set in execute',
  tuple: 'write z.object({ … }) with a name for each place, or z.array(…)',
  intersection: 'write one object: a.extend(b.shape)',
  lazy: 'write the levels that are needed, each as a schema of its own',
  template_literal: 'write z.string().regex(…)',
  undefined: 'write .optional()',
  void: 'write .optional()',
  custom: 'write what it consists of, and make the value in execute',
  file: 'write z.string() for the path of a file of the thread',
  readonly: 'leave it out',
  nonoptional: 'leave it out',
  catch: 'write .default(…)',
  pipe: TRANSFORM,
  transform: TRANSFORM,
};

/** Prefers the schema's own method: copies of zod may differ in what they keep of a schema. */
function toJsonSchema(schema: ZodSchema, Registry: typeof Metadata): JsonSchema {
  const options = { io: 'input', metadata: new Registry() } as const;
  if (typeof schema.toJSONSchema === 'function') return schema.toJSONSchema(options);
  return z.toJSONSchema(schema, options) as JsonSchema;
}

/** What the schema's own copy of zod knows of it. */
class Metadata extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get(schema: z.core.$ZodType): Record<string, unknown> | undefined {
    return isZodSchema(schema) && schema.meta ? schema.meta() : z.globalRegistry.get(schema);
  }
}

/** The same without the id: zod refers to a schema that has one. */
class Descriptions extends Metadata {
  override get(schema: z.core.$ZodType) {
    const { id: _, ...words } = super.get(schema) ?? {};
    return words;
  }
}

const OMITTED_KEYWORDS = new Set(['$schema', 'propertyNames']);

function closeObjects(given: JsonSchema): JsonSchema {
  const schema = withFields(given);
  const kept = Object.entries(schema).filter(([keyword]) => !OMITTED_KEYWORDS.has(keyword));
  const closed = mapSubschemas(Object.fromEntries(kept), closeObjects);
  if (schema.type !== 'object') return closed;
  // A loose object says `additionalProperties: {}` as a record does, but has properties.
  const isMap = isRecord(schema.additionalProperties) && schema.properties === undefined;
  return isMap ? closed : { ...closed, additionalProperties: false };
}

/** Names the fields of a record whose keys are known: `required` without `properties` is refused. */
function withFields(schema: JsonSchema): JsonSchema {
  const { propertyNames, required = [], additionalProperties: value, ...rest } = schema;
  if (!isRecord(propertyNames) || !isRecord(value)) return schema;
  const known = [required, propertyNames.enum ?? propertyNames.const ?? []].flat();
  if (known.length === 0) return schema;
  const properties = Object.fromEntries(known.map((key) => [String(key), value]));
  return { ...rest, properties, ...(schema.required === undefined ? {} : { required }) };
}
