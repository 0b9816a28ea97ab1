/**
 * Compares, at compile time, the type of a schema with the interface that documents it. Types alone.
 * A schema is assignable to `z.ZodType<Interface>` even if it lacks an optional field or has one more: so the fields
 * are compared by their names, too. Functions and schemas count as equal: no schema can check them further.
 */

/** `Schema` if its type equals `T`, else an object that nothing is assignable to, and that says where they differ. */
export type Fitting<Schema, Own, T> = [Difference<Own, T>] extends [never]
  ? Schema
  : { readonly differsAt: Difference<Own, T> };

/** `never` if both have the same fields of the same types, else where they differ. `unknown` equals anything. */
export type Difference<A, B, At extends string = ''> = unknown extends A | B
  ? never
  :
      | (Same<null extends A ? 1 : 0, null extends B ? 1 : 0> extends true ? never : `${At} or null`)
      | (Same<undefined extends A ? 1 : 0, undefined extends B ? 1 : 0> extends true ? never : `${At}?`)
      | ValueDifference<Plain<A>, Plain<B>, At>;

type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Opaque = ((...args: never) => unknown) | { readonly _zod: unknown } | { readonly safeParse: unknown };
type Plain<T> = T extends null | undefined ? never : T extends Opaque ? 'opaque' : T;

type ValueDifference<A, B, At extends string> = [A, B] extends [readonly unknown[], readonly unknown[]]
  ? Difference<A[number & keyof A], B[number & keyof B], `${At}[]`>
  : [A, B, IsUnion<A>, IsUnion<B>] extends [object, object, never, never]
    ? FieldDifference<A, B, At>
    : [A] extends [B]
      ? [Exclude<B, object>] extends [Exclude<A, object>]
        ? never
        : At
      : At;

type IsUnion<T, Each = T> = Each extends unknown ? ([T] extends [Each] ? never : true) : never;

/** The declared names, without an index signature. */
type Names<T> = keyof { [Name in keyof T as string extends Name ? never : Name]: 1 } & string;

type FieldDifference<A, B, At extends string> =
  | `${At}.${Exclude<Names<A>, Names<B>> | Exclude<Names<B>, Names<A>>}`
  | {
      [Name in Names<A> & Names<B>]: Difference<A[Name & keyof A], B[Name & keyof B], `${At}.${Name}`>;
    }[Names<A> & Names<B>];
