/** What providers refuse in the schema of a tool's arguments, in their words. */
import { isRecord } from '../../src/core/value/record.ts';

const ONLY_BELOW = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'] as const;

/** OpenAI's refusal of a schema, without the name of the function; undefined if it is accepted. */
export function refuseSchema(schema: unknown): string | undefined {
  if (!isRecord(schema) || schema.type !== 'object')
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${isRecord(schema) ? schema.type : 'None'}"'.`;
  if (ONLY_BELOW.some((keyword) => keyword in schema))
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  if (!isRecord(schema.properties)) return 'In context=(), object schema missing properties.';
  return refuseBelow(schema, schema, []);
}

function refuseBelow(schema: unknown, root: object, path: readonly string[]): string | undefined {
  const place = `In context=(${path.map((step) => `'${step}'`).join(', ')})`;
  if (!isRecord(schema)) return `${place}, ${JSON.stringify(schema)} is not of type 'object', 'boolean'.`;
  const { type, items, $ref: ref } = schema;
  if ([type].flat().includes('array') && items === undefined) return `${place}, array schema missing items.`;
  if (Array.isArray(items)) return `${place}, a list is not of type 'object', 'boolean'.`;
  if (typeof ref === 'string' && !hasDefinition(root, ref))
    return `${place}, reference can only point to definitions defined at the top level of the schema.`;
  const { properties, $defs } = schema;
  const below = [
    ...Object.entries(isRecord(properties) ? properties : {}),
    ...Object.entries(isRecord($defs) ? $defs : {}),
    ...(items === undefined ? [] : [['items', items] as const]),
  ];
  for (const [step, each] of below) {
    const refused = refuseBelow(each, root, [...path, step]);
    if (refused) return refused;
  }
  return undefined;
}

function hasDefinition(root: object, ref: string): boolean {
  const [, name] = /^#\/\$defs\/([^/]+)$/.exec(ref) ?? [];
  const { $defs = {} } = root as { $defs?: object };
  return ref === '#' || (name !== undefined && Object.hasOwn($defs, name));
}
