/**
 * Walks JSON schemas by keyword and not by key: a *property* may be called `description`, and `default` or `enum` hold
 * values.
 */
import { canonicalJson } from './canonical-json.ts';
import { isRecord } from './record.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords that hold a schema, or a list of schemas. */
const SCHEMAS =
  /^((?:prefix|additional|unevaluated)?[iI]tems|contains|propertyNames|(?:additional|unevaluated)Properties|anyOf|allOf|oneOf|not|if|then|else)$/;
const SCHEMA_MAPS = /^(properties|patternProperties|dependentSchemas|\$defs|definitions)$/;
/** Keywords whose list has no order. */
const SETS = /^(required|enum|type)$/;
/** Keywords that only describe. */
const ANNOTATIONS = /^(title|description|examples|\$comment)$/;

/** Replaces the schemas directly below this one. */
export function mapSubschemas(schema: JsonSchema, change: (below: JsonSchema) => JsonSchema): JsonSchema {
  const member = (value: unknown) => (isRecord(value) ? change(value) : value);
  return mapValues(schema, (value, keyword) => {
    if (SCHEMAS.test(keyword)) return Array.isArray(value) ? value.map(member) : member(value);
    return SCHEMA_MAPS.test(keyword) && isRecord(value) ? mapValues(value, member) : value;
  });
}

/** Removes what only describes: schemas that differ in words alone, or in the order of a set, become equal. */
export function undescribed(schema: JsonSchema): JsonSchema {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.test(keyword)));
  const sorted = mapValues(kept, (value, keyword) =>
    SETS.test(keyword) && Array.isArray(value) ? value.map(canonicalJson).sort() : value,
  );
  return mapSubschemas(sorted, undescribed);
}

function mapValues(schema: JsonSchema, change: (value: unknown, keyword: string) => unknown): JsonSchema {
  const entries = Object.entries(schema);
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, change(value, keyword)]));
}
