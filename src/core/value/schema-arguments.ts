/**
 * What a JSON schema says of the fields of an object, read through its references and its unions at the top. Pure.
 * - A field has all that the parts of an `allOf` say of it, and what any branch of an `anyOf` or a `oneOf` says. A field
 *   is required if every branch requires it.
 * - A reference is read once, so a schema that refers to itself ends, and nothing grows beyond what was given.
 */
import { canonicalJson } from './canonical-json.ts';
import type { JsonSchema } from './json-schema.ts';
import { isRecord } from './record.ts';
import { resolvePointer } from './schema-reference.ts';

export interface ObjectFields {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** `additionalProperties`, where it says the same for all branches. */
  readonly rest?: unknown;
  /** True if the schema says more than these fields do. */
  readonly saysMore: boolean;
}

const NOTHING: ObjectFields = { properties: {}, required: [], saysMore: false };

/** Keywords at the top that say what fields cannot. */
const CONDITIONS = ['not', 'if', 'then', 'else', 'enum', 'const'] as const;

/** References that lead to one another: what follows more of them is left out, so the stack suffices. */
const MAX_REFERENCES = 64;

/** Undefined if the schema describes no object. */
export function readFields(root: JsonSchema): ObjectFields | undefined {
  const read = new Map<string, ObjectFields | undefined>();
  let following = 0;

  function ofSchema(schema: unknown): ObjectFields | undefined {
    if (!isRecord(schema)) return schema === false ? undefined : NOTHING;
    if (!mayBeObject(schema)) return undefined;
    const parts = [
      fieldsOf(schema),
      ofReference(schema.$ref),
      ...listOf(schema.allOf).map(ofSchema),
      eitherOf(schema.anyOf),
      eitherOf(schema.oneOf),
      ofThen(schema),
    ];
    return parts.every((part) => part !== undefined) ? parts.reduce(both) : undefined;
  }

  function ofReference(ref: unknown): ObjectFields | undefined {
    if (typeof ref !== 'string') return NOTHING;
    // NOTHING while it is being read.
    if (!read.has(ref) && following < MAX_REFERENCES) {
      following += 1;
      read.set(ref, NOTHING);
      read.set(ref, ofSchema(resolvePointer(root, ref) ?? {}));
      following -= 1;
    }
    return read.has(ref) ? read.get(ref) : NOTHING;
  }

  /** Branches that are no objects cannot be meant. */
  function eitherOf(branches: unknown): ObjectFields | undefined {
    const list = listOf(branches);
    if (list.length === 0) return NOTHING;
    const objects = list.map(ofSchema).filter((branch) => branch !== undefined);
    return objects.length === 0 ? undefined : either(objects);
  }

  function ofThen({ then, else: otherwise }: JsonSchema): ObjectFields {
    const branches = [then, otherwise].filter(isRecord).map((branch) => ofSchema(branch) ?? NOTHING);
    return either([...branches, NOTHING]);
  }

  return ofSchema(root);
}

export function mayBeObject({ type }: JsonSchema): boolean {
  return type === undefined || [type].flat().includes('object');
}

function fieldsOf(schema: JsonSchema): ObjectFields {
  const { properties, required, additionalProperties: rest } = schema;
  return {
    properties: isRecord(properties) ? properties : {},
    required: listOf(required).filter((name) => typeof name === 'string'),
    ...(rest === undefined ? {} : { rest }),
    saysMore: CONDITIONS.some((keyword) => schema[keyword] !== undefined),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function both(one: ObjectFields, other: ObjectFields): ObjectFields {
  const rest = one.rest ?? other.rest;
  return {
    properties: joinProperties([one, other], intersect),
    required: [...new Set([...one.required, ...other.required])],
    ...(rest === undefined ? {} : { rest }),
    saysMore: one.saysMore || other.saysMore,
  };
}

function either(branches: readonly ObjectFields[]): ObjectFields {
  const [first = NOTHING, ...others] = branches;
  if (others.length === 0) return first;
  const isSame = others.every(({ rest }) => canonicalJson(rest) === canonicalJson(first.rest));
  return {
    properties: joinProperties(branches, unite),
    required: first.required.filter((name) => others.every(({ required }) => required.includes(name))),
    ...(isSame && first.rest !== undefined ? { rest: first.rest } : {}),
    saysMore: branches.some((branch) => canonicalJson(branch) !== canonicalJson(NOTHING)),
  };
}

type Join = (schemas: readonly unknown[]) => unknown;

function joinProperties(all: readonly ObjectFields[], join: Join): Readonly<Record<string, unknown>> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of all)
    for (const [name, schema] of Object.entries(properties))
      found.set(name, [...(found.get(name) ?? []), schema]);
  return Object.fromEntries([...found].map(([name, schemas]) => [name, join(distinct(schemas))]));
}

function distinct(schemas: readonly unknown[]): readonly unknown[] {
  return [...new Map(schemas.map((schema) => [canonicalJson(schema), schema])).values()];
}

/**
 * One schema with the keywords of all; the first wins where they differ, for the original decides in the end. Nothing is
 * added to alternatives: with each level of a union they would double.
 */
const intersect: Join = (schemas) => {
  const choice = schemas.find((schema) => isRecord(schema) && schema.anyOf !== undefined);
  if (choice !== undefined || schemas.length === 1) return choice ?? schemas[0];
  return Object.assign({}, ...schemas.filter(isRecord).toReversed());
};

const unite: Join = (schemas) => {
  const branches = distinct(schemas.flatMap((schema) => branchesOf(schema)));
  return branches.length === 1 ? branches[0] : (oneEnum(branches) ?? { anyOf: branches });
};

function branchesOf(schema: unknown): readonly unknown[] {
  return isRecord(schema) && Object.keys(schema).join() === 'anyOf' ? listOf(schema.anyOf) : [schema];
}

/** Values that tell branches apart, `{ const: 'a' }` and `{ const: 'b' }`, are one choice among them. */
function oneEnum(schemas: readonly unknown[]): JsonSchema | undefined {
  const values = schemas.map((schema) => {
    const {
      const: only,
      enum: list,
      type: _,
      description: _words,
      title: _name,
      ...others
    } = recordOf(schema);
    const named = only === undefined ? listOf(list) : [only];
    return Object.keys(others).length === 0 ? named : [];
  });
  const types = distinct(schemas.map((schema) => recordOf(schema).type));
  if (types.length !== 1 || values.some((each) => each.length === 0)) return undefined;
  return { ...(types[0] === undefined ? {} : { type: types[0] }), enum: distinct(values.flat()) };
}

function recordOf(value: unknown): JsonSchema {
  return isRecord(value) ? value : { other: value };
}
