/**
 * References within a JSON schema (`$ref`). Providers accept those to its definitions alone, and generators write others
 * too, such as `#/properties/a/items`. Pure.
 * - Each schema that is referred to is kept once, under `$defs`, so nothing grows and recursion stays.
 */
import { type JsonSchema, mapSubschemas } from './json-schema.ts';
import { isRecord } from './record.ts';

/** Undefined if the reference leads out of the document, or to nothing that is a schema. */
export function resolvePointer(root: JsonSchema, ref: string): JsonSchema | undefined {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const key = decode(step);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return isRecord(value) ? value : undefined;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

/**
 * The schema with all references below it leading to its own `$defs`, and these: `root` is the document that they were
 * written for. A reference to nothing allows anything.
 */
export function withDefinitions(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const names = new Map<string, string>();
  const open: string[] = [];

  function nameOf(ref: string): string {
    const known = names.get(ref);
    if (known !== undefined) return known;
    const plain = decode(ref.split('/').at(-1) ?? '').replace(/[^\w.-]/g, '_') || 'schema';
    const taken = new Set(names.values());
    let name = plain;
    for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`;
    names.set(ref, name);
    open.push(ref);
    return name;
  }

  function redirect(below: JsonSchema): JsonSchema {
    const { $ref: ref, ...rest } = mapSubschemas(withoutOwn(below), redirect);
    if (typeof ref !== 'string') return rest;
    if (ref === '#') return { ...rest, $ref: ref };
    return resolvePointer(root, ref) ? { ...rest, $ref: `#/$defs/${nameOf(ref)}` } : rest;
  }

  const redirected = redirect(schema);
  const definitions: [string, JsonSchema][] = [];
  // The list grows while definitions refer to others.
  for (const ref of open) definitions.push([nameOf(ref), redirect(resolvePointer(root, ref) ?? {})]);
  return definitions.length === 0 ? redirected : { ...redirected, $defs: Object.fromEntries(definitions) };
}

/** Definitions are kept by those who refer to them. */
function withoutOwn({ $defs: _, definitions: _old, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
