/**
 * Converts a tool's zod arguments to the JSON schema that is shown to models (definitions §6.3, §8).
 *
 * - It describes what a model has to write, the *input* side: a field with a default is optional.
 * - Every object is closed (`additionalProperties: false`); a record keeps the schema of its values.
 * - `$schema` and `propertyNames` are left out: providers in strict mode reject them.
 * - Only kinds of schema that every provider supports are accepted, nested at most 7 deep below the arguments.
 */
import { z } from 'zod';
import { type JsonSchema, mapSubschemas } from '../core/value/json-schema.ts';
import { isRecord } from '../core/value/record.ts';
import { isZodSchema, objectShape, type SchemaDef, type ZodSchema } from './author-schema.ts';
import type { FieldProblem } from './problem.ts';

export type { JsonSchema };

export const MAX_ARGUMENT_DEPTH = 7;

const LEAVES = new Set(['string', 'number', 'boolean', 'null', 'literal', 'enum', 'any', 'unknown']);
const WRAPPERS = new Set(['optional', 'nullable', 'default', 'prefault']);
const CONTAINERS = new Set(['array', 'object', 'record', 'union']);

/** Parameters of a tool without arguments: an object without properties. */
export const NO_PARAMETERS: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** Returns the JSON schema of the arguments. Call `checkArguments` first; unsupported schemas may throw here. */
export function toParameters(schema: unknown): JsonSchema {
  if (schema === undefined) return NO_PARAMETERS;
  if (!isZodSchema(schema)) throw new TypeError('Arguments must be a zod 4 schema');
  return { ...NO_PARAMETERS, ...closeObjects(toJsonSchema(schema)) };
}

/** Reports parts of a `z.object(…)` that cannot be shown to a model; `root` is the name of the definition's field. */
export function checkArguments(schema: unknown, root: string): FieldProblem[] {
  return Object.entries(objectShape(schema) ?? {}).flatMap(([key, member]) =>
    checkNode(member, `${root}.${key}`, 0),
  );
}

function checkNode(schema: unknown, field: string, depth: number): FieldProblem[] {
  if (!isZodSchema(schema)) return [{ field, message: 'must be a zod 4 schema' }];
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
  const hint = type === 'pipe' || type === 'transform' ? '; transform the value in execute' : '';
  return `uses z.${type}, which cannot be described to models${hint}. Allowed: ${allowed.join(', ')}`;
}

/** Prefers the schema's own method: copies of zod may differ in what they keep of a schema. */
function toJsonSchema(schema: ZodSchema): JsonSchema {
  const options = { io: 'input', metadata: new Descriptions() } as const;
  if (typeof schema.toJSONSchema === 'function') return schema.toJSONSchema(options);
  return z.toJSONSchema(schema, options) as JsonSchema;
}

/** What the schema's own copy of zod knows of it, without the id: zod would refer to a schema with an id. */
class Descriptions extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get(schema: z.core.$ZodType) {
    const known = isZodSchema(schema) && schema.meta ? schema.meta() : z.globalRegistry.get(schema);
    const { id: _, ...words } = known ?? {};
    return words;
  }
}

const OMITTED_KEYWORDS = new Set(['$schema', 'propertyNames']);

function closeObjects(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(([keyword]) => !OMITTED_KEYWORDS.has(keyword));
  const closed = mapSubschemas(Object.fromEntries(kept), closeObjects);
  if (schema.type !== 'object') return closed;
  // A loose object says `additionalProperties: {}` as a record does, but has properties.
  const isMap = isRecord(schema.additionalProperties) && schema.properties === undefined;
  return isMap ? closed : { ...closed, additionalProperties: false };
}
