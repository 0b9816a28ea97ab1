/**
 * Reads zod 4 schemas of any copy of zod by their shape: `_zod.def` is zod's own stable contract for tools
 * (definitions §8). Class checks would refuse an author's schema whenever npm installed zod twice.
 */
import type { z } from 'zod';
import type { AuthorSchema } from '../core/author/author-schema.ts';

/** The part of a zod 4 schema's internals that is read here. */
export interface SchemaDef {
  readonly type: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly keyType?: unknown;
  readonly options?: readonly unknown[];
}

export type ZodSchema = AuthorSchema &
  z.core.$ZodType & {
    readonly _zod: { readonly def: SchemaDef };
    /** Since zod 4.2; absent in zod/mini. */
    toJSONSchema?(options: z.core.ToJSONSchemaParams): Record<string, unknown>;
    /** What its own copy of zod has registered for it; absent in zod/mini. */
    meta?(): Record<string, unknown> | undefined;
  };

export function isZodSchema(value: unknown): value is ZodSchema {
  if (typeof value !== 'object' || value === null) return false;
  const { _zod, safeParse } = value as { _zod?: { def?: { type?: unknown } }; safeParse?: unknown };
  return typeof _zod?.def?.type === 'string' && typeof safeParse === 'function';
}

/** Returns the properties of a `z.object(…)`, or undefined for anything else. */
export function objectShape(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isZodSchema(value) || value._zod.def.type !== 'object') return undefined;
  return value._zod.def.shape ?? {};
}

/** Undefined unless the value is a schema of another major version of zod, whose schemas cannot be read here. */
export function describeOldSchema(value: unknown): string | undefined {
  const { _def: def } = (value ?? {}) as { _def?: { typeName?: unknown } };
  if (isZodSchema(value) || typeof def?.typeName !== 'string' || !def.typeName.startsWith('Zod'))
    return undefined;
  return "is a schema of zod 3: install zod 4 (npm install zod@4), or import it from 'zod/v4' if that exists";
}
