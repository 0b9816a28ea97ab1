/**
 * The mark that a define… function sets on the value that it returns, by which definitions are recognised.
 *
 * - A definition is recognised by its mark alone, never by class: an author's file may have been evaluated in
 *   another realm, or by another copy of this package. `Symbol.for` is the same symbol in all of them.
 * - What a define… function returns is deeply frozen and shares no plain object with the author's input. Values that
 *   are not plain data (zod schemas, provider factories, functions) are kept as they are.
 */
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import type { AgentDefinition, ModelDefinition, PromptDefinition } from '../core/author/definition.ts';
import type { EffectDefinition } from '../core/author/effect.ts';
import type { EndpointDefinition } from '../core/author/endpoint.ts';
import type { HookDefinition } from '../core/author/hook.ts';
import type { ManifestDefinition } from '../core/author/manifest.ts';
import type { McpServerDefinition } from '../core/author/mcp-server.ts';
import type { PolicyDefinition } from '../core/author/policy.ts';
import type { ToolDefinition } from '../core/author/registry.ts';
import type { TaskDefinition } from '../core/author/task.ts';
import { keepWritten } from '../core/author/written-definition.ts';
import type { FieldProblem } from './problem.ts';

export const DEFINITION = Symbol.for('everthread.definition');

export type Definition =
  | AgentDefinition
  | PromptDefinition
  | ModelDefinition
  | ToolDefinition
  | HookDefinition
  | EffectDefinition
  | PolicyDefinition
  | McpServerDefinition
  | A2aAgentDefinition
  | TaskDefinition
  | ManifestDefinition
  | EndpointDefinition;
export type DefinitionKind = Definition['kind'];

/** The value of the mark: the version of the contract, and warnings for the author. */
interface Mark {
  readonly specification: '0.1.0';
  readonly warnings: readonly FieldProblem[];
}

/**
 * Freezes and marks a definition. `written`: what its author wrote, kept for definitions that code can load. The mark
 * is not enumerable, so a spread copy, which is unchecked, loses it.
 */
export function markDefinition<T extends Definition>(
  definition: T,
  warnings: readonly FieldProblem[] = [],
  written?: object,
): T {
  const mark: Mark = { specification: '0.1.0', warnings };
  const copy = copyPlain(definition) as T;
  if (written) keepWritten(copy, Object.freeze(copyPlain(written)));
  return Object.freeze(Object.defineProperty(copy, DEFINITION, { value: Object.freeze(mark) }));
}

/** Returns the same definition, named after its file. */
export function nameDefinition<T extends Definition>(definition: T, name: string): T {
  return markDefinition({ ...definition, name }, definitionWarnings(definition));
}

/** True if a define… function made the value, in this or another copy of the package. */
export function isDefinition(value: unknown): value is Definition {
  return markOf(value) !== undefined;
}

export function definitionWarnings(definition: Definition): readonly FieldProblem[] {
  return markOf(definition)?.warnings ?? [];
}

function markOf(value: unknown): Mark | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as { [DEFINITION]?: Mark })[DEFINITION];
}

/** Returns a copy without `undefined` members, frozen below its first level; the caller freezes the first level. */
function copyPlain(value: object): object {
  const kept = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, frozenCopy(member)]));
}

function frozenCopy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  return isPlainObject(value) ? Object.freeze(copyPlain(value)) : value;
}

/** Does not compare the prototype with this realm's: an object of another realm has another `Object.prototype`. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
