/**
 * The type that a sender gives to the last answer of an execution: a JSON schema, untrusted, which is interpreted and never
 * compiled. What is refused is refused before anything is stored. Pure.
 * - Of a schema are kept the keywords that are checked, and those that only describe; names of documents say nothing here.
 * - References lead to its own definitions. One that leads back to itself without going down into the value would never end.
 */
import { measureJson } from '../value/json-measure.ts';
import { type JsonSchema, mapSubschemas } from '../value/json-schema.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import { resolvePointer, withDefinitions } from '../value/schema-reference.ts';

/** An object of any fields: `response_format: { type: 'json_object' }`. */
export const ANY_OBJECT: JsonSchema = { type: 'object' };

/** True if the schema says no more than that. */
export function isAnyObject(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 1 && schema.type === ANY_OBJECT.type;
}

export type ReadSchema =
  | { readonly ok: true; readonly schema: JsonSchema }
  /** `reason`: goes on after the name of the field. */
  | { readonly ok: false; readonly reason: string };

export function readOutputSchema(given: unknown): ReadSchema {
  const refused = (reason: string) => ({ ok: false, reason }) as const;
  if (!isRecord(given)) return refused('must be a JSON schema, an object');
  const { bytes, depth } = measureJson(given, {
    maxDepth: MAX_JSON_DEPTH,
    maxBytes: LIMITS.outputSchemaBytes,
  });
  if (depth > MAX_JSON_DEPTH) return refused(TOO_DEEP);
  if (bytes > LIMITS.outputSchemaBytes) return refused(TOO_LARGE);
  const problem = findProblem(given, given);
  if (problem !== undefined) return refused(problem);
  const schema = cleaned(withDefinitions(follow(given), given));
  // What a reference has led to was perhaps no schema: a default value, say.
  const hidden = findProblem(schema, schema);
  if (hidden !== undefined) return refused(hidden);
  if (schema.type !== 'object')
    return refused('must describe an object: at the top, "type" must be "object"');
  if (measureJson(schema).bytes > LIMITS.outputSchemaBytes) return refused(TOO_LARGE);
  return hasLoop(schema)
    ? refused('refers to itself without going down into the value')
    : { ok: true, schema };
}

const TOO_LARGE = `must have at most ${LIMITS.outputSchemaBytes} bytes, with what it refers to`;
const TOO_DEEP = `must be nested at most ${LIMITS.outputSchemaDepth} levels deep`;
/** A level of a schema is up to three levels of JSON. */
const MAX_JSON_DEPTH = 3 * LIMITS.outputSchemaDepth;

type Check = (value: unknown, root: JsonSchema) => string | undefined;

const shape =
  (words: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : `must be ${words}`;
const isText = (value: unknown): value is string => typeof value === 'string';
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const names = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === 'boolean';
const schema = shape('a schema', isSchema);
const schemas = shape('a list of schemas', (value) => isList(value) && value.every(isSchema));
const schemaMap = shape(
  'an object of schemas',
  (value) => isRecord(value) && Object.values(value).every(isSchema),
);
const number = shape('a number', Number.isFinite);
const count = shape(
  'a whole number, 0 or more',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function checkPattern(pattern: unknown): string | undefined {
  try {
    if (isText(pattern)) new RegExp(pattern, 'u');
    return isText(pattern) ? undefined : 'must be a text';
  } catch {
    return 'must be a regular expression of JavaScript with the flag "u"';
  }
}

const CHECKED: Readonly<Record<string, Check>> = {
  type: shape('a type, or a list of types', (value) =>
    [value].flat().every((each) => TYPES.includes(each as string)),
  ),
  enum: shape('a list of values', isList),
  const: () => undefined,
  properties: schemaMap,
  patternProperties(value) {
    const own = schemaMap(value, {});
    return (
      own ??
      Object.keys(value as object)
        .map(checkPattern)
        .find(isText)
    );
  },
  $defs: schemaMap,
  definitions: schemaMap,
  dependentSchemas: schemaMap,
  dependentRequired: shape(
    'an object of lists of names',
    (value) => isRecord(value) && Object.values(value).every(names),
  ),
  required: shape('a list of names', names),
  additionalProperties: schema,
  unevaluatedProperties: schema,
  propertyNames: schema,
  items: shape('a schema, or a list of schemas', (value) =>
    Array.isArray(value) ? value.every(isSchema) : isSchema(value),
  ),
  prefixItems: schemas,
  additionalItems: schema,
  unevaluatedItems: schema,
  contains: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: schema,
  else: schema,
  $ref: (value, root) =>
    isText(value) && resolvePointer(root, value)
      ? undefined
      : 'must lead to a schema of the same document, like "#/$defs/name"',
  pattern: checkPattern,
  format: shape('a text', isText),
  uniqueItems: shape('true or false', (value) => typeof value === 'boolean'),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: shape('a number above 0', (value) => Number(value) > 0 && Number.isFinite(value)),
  ...Object.fromEntries(
    ['Length', 'Items', 'Properties', 'Contains'].flatMap((of) => [
      [`min${of}`, count],
      [`max${of}`, count],
    ]),
  ),
};

/** Keywords that would change what is checked, and that are not interpreted. */
const UNKNOWN = /^(\$dynamicRef|\$recursiveRef|dependencies)$/;
const DESCRIBING = /^(title|description|default|examples)$/;

interface Place {
  readonly path: string;
  readonly depth: number;
}

/** The first problem of the schema, or of those below it. */
function findProblem(
  given: JsonSchema,
  root: JsonSchema,
  { path, depth }: Place = { path: '', depth: 1 },
): string | undefined {
  if (depth > LIMITS.outputSchemaDepth) return TOO_DEEP;
  for (const [keyword, value] of Object.entries(given)) {
    const at = `${path}/${keyword}`.slice(-200);
    if (UNKNOWN.test(keyword)) return `has "${at}", which is not supported`;
    const problem = Object.hasOwn(CHECKED, keyword) ? CHECKED[keyword]?.(value, root) : undefined;
    if (problem !== undefined) return `has "${at}", which ${problem}`;
  }
  let found: string | undefined;
  mapSubschemas(given, (below) => {
    found ??= findProblem(below, root, { path: `${path}/…`, depth: depth + 1 });
    return below;
  });
  return found;
}

function cleaned(given: JsonSchema): JsonSchema {
  const kept = Object.entries(given).filter(
    ([keyword]) => Object.hasOwn(CHECKED, keyword) || DESCRIBING.test(keyword),
  );
  return mapSubschemas(Object.fromEntries(kept), cleaned);
}

/** The schema at the top, where the document only refers to it. */
function follow(root: JsonSchema): JsonSchema {
  const passed = new Set<JsonSchema>();
  let at: JsonSchema | undefined = root;
  while (at && typeof at.$ref === 'string' && !passed.has(at)) {
    passed.add(at);
    at = resolvePointer(root, at.$ref);
  }
  return at ?? root;
}

/** Keywords whose schemas are about the same value. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

function hasLoop(root: JsonSchema): boolean {
  const done = new Set<JsonSchema>();
  const open = new Set<JsonSchema>();
  const leads = (from: JsonSchema): boolean => {
    if (open.has(from)) return true;
    if (done.has(from)) return false;
    open.add(from);
    const target = typeof from.$ref === 'string' ? resolvePointer(root, from.$ref) : undefined;
    const dependent = isRecord(from.dependentSchemas) ? Object.values(from.dependentSchemas) : [];
    const next = [target, ...dependent, ...SAME_VALUE.flatMap((keyword) => from[keyword])];
    const found = next.some((each) => isRecord(each) && leads(each));
    open.delete(from);
    done.add(from);
    return found;
  };
  const search = (from: JsonSchema): boolean => {
    let found = leads(from);
    mapSubschemas(from, (below) => {
      found ||= search(below);
      return below;
    });
    return found;
  };
  return search(root);
}
