/**
 * Checks what an author wrote against a table of fields and reports problems in terms of those fields.
 * - All problems of a definition are found at once: the rules that compare fields read the raw input, so
 *   a wrong field elsewhere does not hide them.
 * - An unknown field is a problem: the most frequent mistake is a typo, which would otherwise silently select a default.
 */
import type { z } from 'zod';
import type { Fitting } from '../core/value/type-difference.ts';
import { DefinitionError, type FieldProblem } from './problem.ts';
import { didYouMean } from './suggestion.ts';

/** What an author passed, unchecked. */
export type RawFields = Readonly<Record<string, unknown>>;

/** A condition over several fields, and the problem that is reported if it holds. */
export interface Rule {
  readonly field: string;
  readonly message: string;
  holds(input: RawFields): boolean;
}

/** `Input` is the documented interface: a schema that differs from it does not compile. */
export interface FieldTable<Schema extends z.ZodType, Input> {
  /** For the heading of an error, such as `defineAgent`. */
  readonly what: string;
  readonly fields: Fitting<Schema, z.input<Schema>, Input> & Schema;
  readonly rules: readonly Rule[];
  readonly warnings: readonly Rule[];
  /** Hints for unknown fields that authors are likely to write: where the value belongs. */
  readonly hints?: Readonly<Record<string, string>>;
  /** The field that identifies a definition in an error's heading; `name` when absent. */
  readonly identity?: string;
  /** Checks that cannot be expressed as a `Rule`. */
  readonly more?: (input: RawFields) => readonly FieldProblem[];
}

export interface CheckedFields<T> {
  readonly fields: T;
  readonly warnings: readonly FieldProblem[];
}

/** Returns the normalised fields. Throws a `DefinitionError` that lists every problem. */
export function checkFields<Schema extends z.ZodType, Input>(
  table: FieldTable<Schema, Input>,
  input: unknown,
): CheckedFields<z.output<Schema>> {
  if (!isFields(input)) {
    throw new DefinitionError(table.what, [{ field: '', message: 'takes one object with the fields' }]);
  }
  const schema: Schema = table.fields;
  const parsed = schema.safeParse(input, { error: (issue) => describeIssue(issue, table.hints ?? {}) });
  const problems = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => toProblems(issue))),
    ...brokenRules(table.rules, input),
    ...(table.more?.(input) ?? []),
  ];
  if (!parsed.success || problems.length > 0) {
    const identity = input[table.identity ?? 'name'];
    throw new DefinitionError(table.what, problems, typeof identity === 'string' ? identity : undefined);
  }
  return { fields: parsed.data, warnings: brokenRules(table.warnings, input) };
}

export function isFields(value: unknown): value is RawFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function brokenRules(rules: readonly Rule[], input: RawFields): FieldProblem[] {
  return rules.filter((rule) => rule.holds(input)).map(({ field, message }) => ({ field, message }));
}

/** `['tools', 2, 'name']` → `tools[2].name`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}

function toProblems(issue: z.core.$ZodIssue, root: readonly PropertyKey[] = []): FieldProblem[] {
  const path = [...root, ...issue.path];
  if (issue.code === 'unrecognized_keys') return unknownFields(issue, path);
  const branch = issue.code === 'invalid_union' ? meantBranch(issue.errors) : undefined;
  if (branch !== undefined) return branch.flatMap((each) => toProblems(each, path));
  return [{ field: fieldPath(path), message: issue.message }];
}

/** One problem per key; `describeIssue` wrote one line for each, in the order of the keys. */
function unknownFields(
  issue: z.core.$ZodIssueUnrecognizedKeys,
  path: readonly PropertyKey[],
): FieldProblem[] {
  const lines = issue.message.split('\n');
  return issue.keys.map((key, index) => ({
    field: fieldPath([...path, key]),
    message: lines[index] ?? 'is not a field',
  }));
}

/** Returns the alternative that accepts the value's type and rejects something inside it: probably the intended one. */
function meantBranch(branches: readonly (readonly z.core.$ZodIssue[])[]) {
  return branches.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  );
}

function describeIssue(
  issue: z.core.$ZodRawIssue,
  hints: Readonly<Record<string, string>>,
): string | undefined {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => describeUnknown(key, knownKeys(issue.inst), hints)).join('\n');
  }
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${EXPECTED[issue.expected] ?? issue.expected}, not ${nameType(issue.input)}`;
    case 'invalid_value':
      return describeChoice(issue.values, issue.input);
    case 'invalid_union':
      return describeUnion(issue);
    case 'too_small':
      return describeMinimum(issue);
    default:
      return undefined;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function describeUnknown(
  key: string,
  known: readonly string[],
  hints: Readonly<Record<string, string>>,
): string {
  const hint = hints[key];
  return hint === undefined ? `is not a field.${didYouMean(key, known)}` : `is not a field: ${hint}`;
}

/** The fields of the object schema that rejected a key. */
function knownKeys(schema: unknown): readonly string[] {
  const { _zod } = schema as { _zod?: { def?: { shape?: object } } };
  return Object.keys(_zod?.def?.shape ?? {});
}

function describeChoice(values: readonly unknown[], input: unknown): string {
  const words = values.filter((value) => typeof value === 'string');
  const given = typeof input === 'string' ? `, not '${input}'` : '';
  const hint = typeof input === 'string' ? didYouMean(input, words) : '';
  const dot = hint === '' ? '' : '.';
  return `must be one of ${values.map((value) => `'${String(value)}'`).join(', ')}${given}${dot}${hint}`;
}

/** Lists the allowed words if the union has a discriminating field; otherwise only names the type of the value. */
function describeUnion(issue: z.core.$ZodRawIssue): string {
  const { options } = issue as { options?: readonly unknown[] };
  if (options !== undefined) return describeChoice(options, (issue.input as RawFields)[DISCRIMINATOR]);
  return `cannot be ${nameType(issue.input)} here`;
}

const DISCRIMINATOR = 'type';

function describeMinimum(issue: { origin: string; minimum: number | bigint; inclusive?: boolean }): string {
  if (issue.origin !== 'number' && issue.origin !== 'int') return 'must not be empty';
  return issue.inclusive === false
    ? `must be more than ${issue.minimum}`
    : `must be ${issue.minimum} or more`;
}

function nameType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && Number.isFinite(value)) return `${value}`;
  return (
    { object: 'an object', function: 'a function', string: 'a string' }[typeof value as string] ??
    String(value)
  );
}
