/**
 * The written form of a definition, kept beside its normal form (definitions §14.4): a text where the normal form has
 * parts, a name where it has an entry. Code that loads a definition gets the written form; everything else reads the
 * normal form.
 */
import type { AgentDefinition, ModelDefinition, PromptDefinition, PromptPart } from './definition.ts';

/** The same symbol in every realm, and not enumerable: it does not change how a definition prints or compares. */
const WRITTEN = Symbol.for('everthread.written');

/** Fields of an entry, as its author wrote them. */
export type EntryFields = Readonly<Record<string, unknown>>;

/** A prompt as it was written, with defaults for what was left out. */
export type LoadedPrompt = Omit<PromptDefinition, 'prompt' | 'tools'> & {
  readonly prompt: string | readonly PromptPart[];
  /** Names, or entries with their options. */
  readonly tools: readonly (string | (EntryFields & { readonly name: string }))[];
};

/** A side of a loaded agent. */
export type LoadedSide<Side> = {
  readonly [Field in keyof Side]: Field extends `session${string}` ? Side[Field] | string : Side[Field];
};

/** An agent as it was written, with defaults. A session tool is a name, or an object with its properties. */
export type LoadedAgent = Omit<AgentDefinition, 'sideA' | 'sideB'> & {
  readonly sideA: LoadedSide<AgentDefinition['sideA']>;
  readonly sideB?: LoadedSide<NonNullable<AgentDefinition['sideB']>>;
};

/** A model as it was written, with defaults. */
export type LoadedModel = ModelDefinition;

export function keepWritten(definition: object, written: unknown): void {
  Object.defineProperty(definition, WRITTEN, { value: written });
}

export function writtenOf(definition: object): unknown {
  return (definition as { readonly [WRITTEN]?: unknown })[WRITTEN];
}

/** Returns the written form with defaults, or the normal form if no written form was kept. Frozen. */
export function asWritten(definition: PromptDefinition): LoadedPrompt;
export function asWritten(definition: AgentDefinition): LoadedAgent;
export function asWritten(definition: ModelDefinition): LoadedModel;
export function asWritten(definition: object): object {
  return mergeDefaults(writtenOf(definition), definition) as object;
}

/** Adds the defaults to what was written, in objects at any depth; a list is not merged. */
function mergeDefaults(written: unknown, normal: unknown): unknown {
  if (written === undefined) return normal;
  if (!isPlain(written) || !isPlain(normal)) return written;
  const names = new Set([...Object.keys(normal), ...Object.keys(written)]);
  return Object.freeze(
    Object.fromEntries([...names].map((name) => [name, mergeDefaults(written[name], normal[name])])),
  );
}

/** True for a plain object of any realm. */
function isPlain(value: unknown): value is EntryFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
