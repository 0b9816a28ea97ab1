/**
 * Makes any JSON schema one that providers accept for the arguments of a tool: one schema that a provider refuses fails
 * the whole request. What a call's arguments are checked against stays the original. Pure.
 * - The top is an object with `properties`, and has neither a union nor a reference.
 * - An array has `items`, and they are one schema: a list of them is an older form.
 * - What is no schema where one has to stand allows anything; keywords with values of another type are left out.
 */
import { type JsonSchema, mapSubschemas } from './json-schema.ts';
import { isRecord } from './record.ts';
import { readFields } from './schema-arguments.ts';
import { withDefinitions } from './schema-reference.ts';

export interface AcceptedSchema {
  readonly schema: JsonSchema;
  /** True if the original says more: which fields belong together, or on what they depend. */
  readonly saysLess: boolean;
}

/** Undefined if the schema describes no object: a tool's arguments are one. */
export function toAcceptedSchema(given: unknown): AcceptedSchema | undefined {
  const root = clean(isRecord(given) ? given : {});
  const fields = readFields(root);
  if (!fields) return undefined;
  const { required, rest } = fields;
  // A field that is required and not described may be anything (some providers refuse it otherwise).
  const undescribed = required.filter((name) => !Object.hasOwn(fields.properties, name));
  const properties = { ...fields.properties, ...Object.fromEntries(undescribed.map((name) => [name, {}])) };
  const top = {
    ...withoutTop(root),
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(rest === undefined ? {} : { additionalProperties: rest }),
  };
  return { schema: withDefinitions(top, root), saysLess: fields.saysMore };
}

/** What the fields replace. */
const TOP =
  /^(type|properties|required|additionalProperties|\$ref|anyOf|oneOf|allOf|not|if|then|else|enum|const)$/;

function withoutTop(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !TOP.test(keyword)));
}

/** Keywords that name the document, which is another one here. */
const NAMES = /^(\$schema|\$id|\$anchor)$/;
const TYPES: ReadonlySet<unknown> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
]);

function clean(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).flatMap(([keyword, value]) => {
    const fit = NAMES.test(keyword) ? undefined : fitting(keyword, value);
    return fit === undefined ? [] : [[keyword, fit] as const];
  });
  return mapSubschemas(withItems(withLimits(Object.fromEntries(kept))), clean);
}

/** The value of a keyword, or undefined if it can have none such. */
function fitting(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case 'type':
      return typesOf(value);
    case 'required':
      return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined;
    case 'properties':
    case '$defs':
    case 'definitions':
      return isRecord(value) ? schemasOf(value) : undefined;
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return branchesIn(value);
    case 'enum':
      return Array.isArray(value) ? value : undefined;
    case 'additionalProperties':
      return isSchema(value) ? value : undefined;
    default:
      return value;
  }
}

function branchesIn(value: unknown): unknown {
  const branches = Array.isArray(value) ? value.filter(isSchema) : [];
  return branches.length > 0 ? branches : undefined;
}

function typesOf(value: unknown): unknown {
  const known = [value].flat().filter((type) => TYPES.has(type));
  return Array.isArray(value) && known.length > 1 ? known : known[0];
}

function isSchema(value: unknown): boolean {
  return isRecord(value) || typeof value === 'boolean';
}

function schemasOf(map: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(map).map(([name, schema]) => [name, isSchema(schema) ? schema : {}]),
  );
}

/** Items, and one schema of them. */
function withItems(schema: JsonSchema): JsonSchema {
  const { items, type } = schema;
  if (Array.isArray(items)) return { ...schema, items: items.length === 1 ? items[0] : { anyOf: items } };
  return [type].flat().includes('array') && !isSchema(items) ? { ...schema, items: {} } : schema;
}

/** Limits as the fourth draft wrote them: `minimum: 0, exclusiveMinimum: true`. */
function withLimits({ exclusiveMinimum, exclusiveMaximum, ...schema }: JsonSchema): JsonSchema {
  const { minimum, maximum, ...rest } = schema;
  const low = exclusiveMinimum === true ? { exclusiveMinimum: minimum } : { minimum, exclusiveMinimum };
  const high = exclusiveMaximum === true ? { exclusiveMaximum: maximum } : { maximum, exclusiveMaximum };
  const limits = Object.entries({ ...low, ...high }).filter(([, limit]) => typeof limit === 'number');
  return { ...rest, ...Object.fromEntries(limits) };
}
