/**
 * What an author wrote, beside its normal form (definitions §14.4): a text where the runtime has parts, a name where it has an entry. Code
 * that loads a definition is given the first, everything else reads the second.
 */
import type { AgentDefinition, ModelDefinition, PromptDefinition, PromptPart } from './definition.ts';

/** The same symbol in every realm, and not enumerable: a definition looks and compares as before. */
const WRITTEN = Symbol.for('everthread.written');

/** Fields of an entry, as its author chose them. */
export type EntryFields = Readonly<Record<string, unknown>>;

/** As it was written; what was left out has its default. */
export type LoadedPrompt = Omit<PromptDefinition, 'prompt' | 'tools'> & {
  readonly prompt: string | readonly PromptPart[];
  /** Names, or entries with their options. */
  readonly tools: readonly (string | (EntryFields & { readonly name: string }))[];
};

/** A side of a loaded agent. */
export type LoadedSide<Side> = {
  readonly [Field in keyof Side]: Field extends `session${string}` ? Side[Field] | string : Side[Field];
};

/** The same. A session tool is a name, or an object with its properties. */
export type LoadedAgent = Omit<AgentDefinition, 'sideA' | 'sideB'> & {
  readonly sideA: LoadedSide<AgentDefinition['sideA']>;
  readonly sideB?: LoadedSide<NonNullable<AgentDefinition['sideB']>>;
};

/** The same. */
export type LoadedModel = ModelDefinition;

export function keepWritten(definition: object, written: unknown): void {
  Object.defineProperty(definition, WRITTEN, { value: written });
}

export function writtenOf(definition: object): unknown {
  return (definition as { readonly [WRITTEN]?: unknown })[WRITTEN];
}

/** One that was not kept is answered in its normal form. Frozen. */
export function asWritten(definition: PromptDefinition): LoadedPrompt;
export function asWritten(definition: AgentDefinition): LoadedAgent;
export function asWritten(definition: ModelDefinition): LoadedModel;
export function asWritten(definition: object): object {
  return lay(writtenOf(definition), definition) as object;
}

/** Defaults below what was written, in objects at any depth; a list is the author's. */
function lay(written: unknown, normal: unknown): unknown {
  if (written === undefined) return normal;
  if (!isPlain(written) || !isPlain(normal)) return written;
  const names = new Set([...Object.keys(normal), ...Object.keys(written)]);
  return Object.freeze(
    Object.fromEntries([...names].map((name) => [name, lay(written[name], normal[name])])),
  );
}

/** Of any realm. */
function isPlain(value: unknown): value is EntryFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
